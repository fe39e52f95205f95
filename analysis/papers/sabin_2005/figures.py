"""Figures 7 to 18 of Sabin and Sadayappan (JSSPP 2005), drawn from their numbers as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import (
    HOUR,
    STYLE,
    bar_legend,
    canvas,
    name_panel,
    own_marks,
    thin_spaced,
)
from schedfarm.analysis.papers.sabin_2005.names import KINDS, REPLANNING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

BARS = 0.8
"""Part of the room of a group that its bars fill."""

PANEL = 2.2
"""Height of a row of panels, inches."""

MARGIN = 1.2
"""Height of title and legend together, inches."""

COLORS = {
    "no guarantee": "#D55E00",
    "aggressive": "#0072B2",
    "conservative": "#009E73",
    REPLANNING: "#CC79A7",
}
"""Of the rules that are drawn, from the palette of Okabe and Ito (2008). Without backfilling SJF
is up to 4.5 times as unfair as under any other rule, which would flatten the other bars."""


class Figure(NamedTuple):
    """A row of `FIGURES`.

    Parameters
    ----------
    title : str
        First line above the panels.
    kind : str
        Of fairness, a key of `KINDS`.
    by_width : bool
        Whether a group of bars is a class of widths, under FCFS alone, or else an order.
    """

    title: str
    kind: str
    by_width: bool = False


FIGURES = {
    "figures-07-08-strict": Figure("Strict fair start (figures 7 and 8)", "strict"),
    "figures-09-10-strict-by-width": Figure(
        "Strict fair start by width, FCFS (figures 9 and 10)", "strict", by_width=True
    ),
    "figures-11-12-relaxed": Figure("Relaxed fair start (figures 11 and 12)", "relaxed"),
    "figures-13-14-relaxed-by-width": Figure(
        "Relaxed fair start by width, FCFS (figures 13 and 14)", "relaxed", by_width=True
    ),
    "figures-15-16-resource": Figure("Resource equality (figures 15 and 16)", "resource"),
    "figures-17-18-resource-by-width": Figure(
        "Resource equality by width, FCFS (figures 17 and 18)", "resource", by_width=True
    ),
}
"""The paper's figures, by the names of their files; a pair shows the medium and the high load."""


def bar_table(values: xr.DataArray, columns: str) -> pd.DataFrame:
    """Lay the numbers of a figure out as a frame, a column for each label of one dimension.

    Parameters
    ----------
    values : DataArray
        With units in its attributes.
    columns : str
        The dimension.

    Returns
    -------
    DataFrame
        A row a cell; the last column is ``units``.
    """
    frame = values.to_series().unstack(columns)[values[columns].values]
    return frame.assign(units=values.attrs["units"])


def bar_chart(
    values: xr.DataArray,
    title: str,
    edges: xr.DataArray | None = None,
    own: xr.DataArray | None = None,
) -> Drawing:
    """Draw groups of bars, one for each rule, a panel for each trace and load.

    Parameters
    ----------
    values : DataArray
        On (trace, load, a dimension of groups, rule); s or processor-seconds, drawn in hours.
        Rules without a colour in `COLORS` are not drawn.
    title : str
        First line above the panels.
    edges : DataArray, optional
        As `values`, with a first dimension of two: ends of the whisker on each bar.
    own : DataArray, optional
        As `values`: numbers of the log itself, to stand beside bars of samples.

    Returns
    -------
    Figure
        Of matplotlib's object-oriented interface, to be written by `analysis.drawing.save`.
    """
    from matplotlib import style

    rows, columns = values.sizes["trace"], values.sizes["load"]
    with style.context(STYLE):
        figure = canvas(9.0, PANEL * rows + MARGIN)
        axes: Any = figure.subplots(rows, columns, squeeze=False, sharey="row")
        for i, j in np.ndindex(rows, columns):
            here = values.isel(trace=i, load=j)
            beside = [None if x is None else x.isel(trace=i, load=j) for x in (edges, own)]
            _panel(axes[i, j], here, *beside)
            name_panel(axes[i, j], f"{here['trace'].item()}, load {_load(here['load'].item())}")
        # Only now: a limit set on one panel would fix that of its neighbour, not yet drawn.
        for place in axes[:, 0]:
            place.set_ylim(bottom=0)
        _label(figure, axes, values, title)
        there = [rule for rule in values["rule"].values.tolist() if rule in COLORS]
        marked = own is not None and bool(own.notnull().any())
        bar_legend(figure, {rule: COLORS[rule] for rule in there}, own=marked)
    return figure


def _panel(
    axes: Axes, values: xr.DataArray, edges: xr.DataArray | None, own: xr.DataArray | None
) -> None:
    groups = str(values.dims[0])
    places = np.arange(values.sizes[groups])
    rules = [rule for rule in values["rule"].values.tolist() if rule in COLORS]
    breadth = BARS / len(rules)
    for i, rule in enumerate(rules):
        height = values.sel(rule=rule).values / HOUR
        x = places + (i - (len(rules) - 1) / 2) * breadth
        axes.bar(x, np.nan_to_num(height), breadth * 0.92, color=COLORS[rule])
        if edges is not None:
            low, high = edges.sel(rule=rule).transpose(..., groups).values / HOUR
            axes.vlines(x, low, high, color="black", linewidth=1.0)
        if own is not None:
            own_marks(axes, x + 0.25 * breadth, own.sel(rule=rule).values / HOUR)
    empty = np.flatnonzero(values.isnull().all("rule").values)
    for place in empty.tolist():
        axes.text(place, 0, "no job", rotation=90, ha="center", va="bottom", color="#666666")
    axes.set_xticks(places, [str(name) for name in values[groups].values])
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(thin_spaced)


def _label(figure: Drawing, axes: Any, values: xr.DataArray, title: str) -> None:
    from matplotlib import rcParams

    wide = values.dims[2] == "width"
    for place in axes[-1]:
        place.set_xlabel("Processors of the job" if wide else "Queue order")
    measure, hours = KINDS[values.attrs["kind"]].measure, _hours(values.attrs["units"])
    figure.supylabel(f"{measure}, {hours}", fontsize=rcParams["axes.labelsize"])
    figure.suptitle(title, x=0.01, ha="left")


def _load(label: str) -> str:
    """Return a load as it stands in a title.

    Examples
    --------
    >>> _load("0.95"), _load("original")
    ('95 %', 'original')
    """
    return label if label == "original" else f"{100 * float(label):.3g} %"


def _hours(units: str) -> str:
    """Return what an axis in hours is of, given the units in seconds.

    Examples
    --------
    >>> _hours("s"), _hours("processor s")
    ('hours', 'processor-hours')
    """
    return f"{units.replace(' ', '-').removesuffix('s')}hours"

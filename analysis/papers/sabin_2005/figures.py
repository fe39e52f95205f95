"""Figures 7 to 18 of Sabin and Sadayappan (JSSPP 2005), drawn from their numbers as bars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from analysis.drawing import STYLE, THIN_SPACE, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOUR = 3600
"""Seconds in the unit of the axes."""

BARS = 0.8
"""Part of the room of a group that its bars fill."""

PANEL = 2.2
"""Height of a row of panels, inches."""

MARGIN = 1.2
"""Height of title and legend together, inches."""

MEASURES = {
    "strict": "Mean time after strict fair start",
    "relaxed": "Mean time after relaxed fair start",
    "resource": "Mean unfairness by resource equality",
}
"""What a bar is of, by kind of fairness."""

COLORS = {"no guarantee": "#D55E00", "aggressive": "#0072B2", "conservative": "#009E73"}
"""Of the rules, from the palette of Okabe and Ito (2008)."""


def draw_bars(
    values: xr.DataArray, title: str, path: Path, edges: xr.DataArray | None = None
) -> None:
    """Draw groups of bars, one for each rule, a panel for each trace and load.

    Parameters
    ----------
    values : DataArray
        On (trace, load, a dimension of groups, rule); s or processor-seconds, drawn in hours.
    title : str
        First line above the panels.
    path : Path
        A name ending in .png, .pdf or .svg.
    edges : DataArray, optional
        As `values`, with a first dimension of two: ends of the whisker on each bar.
    """
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows, columns = values.sizes["trace"], values.sizes["load"]
    with style.context(STYLE):
        figure = Figure(figsize=(9.0, PANEL * rows + MARGIN))
        FigureCanvasAgg(figure)
        axes: Any = figure.subplots(rows, columns, squeeze=False, sharey="row")
        for i, j in np.ndindex(rows, columns):
            here = values.isel(trace=i, load=j)
            whiskers = None if edges is None else edges.isel(trace=i, load=j)
            _panel(axes[i, j], here, whiskers)
            axes[i, j].set_title(f"{here['trace'].item()}, load {_load(here['load'].item())}")
        # Only now: a limit set on one panel would fix that of its neighbour, not yet drawn.
        for place in axes[:, 0]:
            place.set_ylim(bottom=0)
        _label(figure, axes, values, title)
        save(figure, path)


def _panel(axes: Axes, values: xr.DataArray, edges: xr.DataArray | None) -> None:
    groups = str(values.dims[0])
    places = np.arange(values.sizes[groups])
    rules = values["rule"].values.tolist()
    breadth = BARS / len(rules)
    for i, rule in enumerate(rules):
        height = values.sel(rule=rule).values / HOUR
        x = places + (i - (len(rules) - 1) / 2) * breadth
        axes.bar(x, np.nan_to_num(height), breadth * 0.92, color=COLORS[rule], label=rule)
        if edges is not None:
            low, high = edges.sel(rule=rule).transpose(..., groups).values / HOUR
            axes.vlines(x, low, high, color="black", linewidth=1.0)
    empty = np.flatnonzero(values.isnull().all("rule").values)
    for place in empty.tolist():
        axes.text(place, 0, "no job", rotation=90, ha="center", va="bottom", color="#666666")
    axes.set_xticks(places, [str(name) for name in values[groups].values])
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(lambda x, _: f"{x:,.10g}".replace(",", THIN_SPACE))


def _label(figure: Figure, axes: Any, values: xr.DataArray, title: str) -> None:
    from matplotlib import rcParams

    wide = values.dims[2] == "width"
    for place in axes[-1]:
        place.set_xlabel("Processors of the job" if wide else "Queue order")
    unit = "processor-hours" if values.attrs["kind"] == "resource" else "hours"
    measure = MEASURES[values.attrs["kind"]]
    figure.supylabel(f"{measure}, {unit}", fontsize=rcParams["axes.labelsize"])
    figure.suptitle(title, x=0.01, ha="left")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def _load(label: str) -> str:
    """Return a load as it stands in a title.

    Examples
    --------
    >>> _load("0.95"), _load("original")
    ('95 %', 'original')
    """
    return label if label == "original" else f"{100 * float(label):.3g} %"

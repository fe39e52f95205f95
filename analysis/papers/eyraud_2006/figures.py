"""Figure 2 of Eyraud 2006, a histogram a window, and bands over samples and growing shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import (
    OWN_LABEL,
    OWN_MARK,
    STYLE,
    band_marks,
    bar_legend,
    canvas,
    own_marks,
    thin_spaced,
)
from schedfarm.analysis.papers.eyraud_2006.differences import MEASURES
from schedfarm.analysis.papers.eyraud_2006.printed import DEMT
from schedfarm.core.arrays import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 20
"""Bars of a histogram; the paper does not print how many."""

COLUMNS = 3
"""Panels side by side, as in the paper."""

PANEL, MARGIN = 2.3, 1.0
"""Height of a row of panels, and of title and legend together, inches."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
"""Of policies and logs, from the palette of Okabe and Ito (2008)."""

Cell = tuple[str, str]
"""A trace and a load."""


def histograms(hours: Mapping[Cell, Float64]) -> pd.DataFrame:
    """Return the bars of figure 2.

    Parameters
    ----------
    hours : mapping of (str, str) to float64[k]
        By trace and load, the differences that are not 0, in hours.

    Returns
    -------
    DataFrame
        Indexed by (trace, load), a row a bar: ``from`` and ``to`` (hours) and ``jobs``.

    Examples
    --------
    >>> bars = histograms({("w", "original"): np.array([-1.0, 3.0, 3.0])})
    >>> bars.iloc[[0, -1]].values.tolist()
    [[-1.0, -0.8, 1.0], [2.8, 3.0, 2.0]]
    """
    rows = []
    for (trace, load), values in hours.items():
        counts, edges = np.histogram(values, BINS) if values.size else (np.zeros(0), np.zeros(1))
        rows += [
            {"trace": trace, "load": load, "from": low, "to": high, "jobs": int(count)}
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        ]
    frame = pd.DataFrame(rows, columns=["trace", "load", "from", "to", "jobs"])
    return frame.set_index(["trace", "load"]).round(9)


def figure_2(hours: Mapping[Cell, Float64], titles: Mapping[Cell, str], said: str) -> Figure:
    """Draw figure 2: how many jobs start so much earlier, with mean and quartiles.

    Parameters
    ----------
    hours : mapping of (str, str) to float64[k]
        As for `histograms`.
    titles : mapping of (str, str) to str
        What stands above each panel.
    said : str
        The title.

    Returns
    -------
    Figure
        Of matplotlib's object-oriented interface, to be written by `analysis.drawing.save`.
    """
    from matplotlib import style

    rows = -(-len(hours) // COLUMNS)
    with style.context(STYLE):
        figure = canvas(9.0, PANEL * rows + MARGIN)
        places = figure.subplots(rows, min(COLUMNS, len(hours)), squeeze=False).ravel().tolist()
        for place, (cell, values) in zip(places, hours.items(), strict=False):
            _histogram(place, values)
            place.set_title(titles[cell])
        for place in places[len(hours) :]:
            place.set_axis_off()
        figure.suptitle(said, x=0.01, ha="left")
        figure.supxlabel("Start earlier than under FCFS by, hours", fontsize=9)
        figure.supylabel("Jobs", fontsize=9)
    return figure


def _histogram(axes: Axes, hours: Float64) -> None:
    if not hours.size:
        axes.text(0.5, 0.5, "all start at the same time", transform=axes.transAxes, ha="center")
        axes.set(xticks=[], yticks=[])
        return
    counts, edges = np.histogram(hours, BINS)
    axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=COLORS[0])
    for quartile in np.quantile(hours, (0.25, 0.5, 0.75)).tolist():
        axes.axvline(quartile, color="black", linestyle=":", linewidth=1.1)
    # The little line under the bars, as the paper has it.
    most = counts.max()
    axes.vlines(hours.mean(), -0.09 * most, 0, color=COLORS[1], linewidth=2.2)
    axes.set_ylim(-0.1 * most, 1.05 * most)
    axes.margins(x=0.02)
    axes.xaxis.set_major_formatter(thin_spaced)


def bands_chart(found: Mapping[str, xr.Dataset], said: str) -> Figure:
    """Draw measures of samples as bands, a group of policies for each trace.

    Parameters
    ----------
    found : mapping of str to Dataset
        By a key of `MEASURES`, what `analysis.papers.spread.spread` gives on (trace, load, policy).
    said : str
        The title.

    Returns
    -------
    Figure
        As `figure_2`.
    """
    from matplotlib import style

    first = next(iter(found.values()))
    policies = [str(name) for name in first["policy"].values]
    colors = dict(zip(policies, COLORS, strict=False))
    own = bool(first["log"].notnull().any())
    with style.context(STYLE):
        figure = canvas(9.0, PANEL * len(found) + MARGIN)
        places = figure.subplots(len(found), 1, squeeze=False).ravel().tolist()
        for axes, (name, of) in zip(places, found.items(), strict=True):
            _bands(axes, of, colors)
            unit = MEASURES[name].units
            axes.set_title(MEASURES[name].meaning + (f", {unit}" if unit != "1" else ""))
        figure.suptitle(said, x=0.01, ha="left")
        bar_legend(figure, colors, own=own)
    return figure


def _bands(axes: Axes, of: xr.Dataset, colors: Mapping[str, str]) -> None:
    groups = of.stack(cell=("trace", "load"))
    labels = []
    room = 0.7 / max(1, len(colors))
    for place, cell in enumerate(groups["cell"].values.tolist()):
        trace, load = cell
        labels.append(trace if load == "original" else f"{trace}\nload {load}")
        here = of.sel(trace=trace, load=load)
        for i, (policy, color) in enumerate(colors.items()):
            x = place + (i - (len(colors) - 1) / 2) * room
            band_marks(axes, x, here.sel(policy=policy), color)
    axes.axhline(0, color="#888888", linewidth=0.8)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.grid(visible=False, axis="x")


def shares_chart(table: pd.DataFrame, said: str) -> Figure:
    """Draw mean differences against the share of jobs with properties, and with reservations.

    Parameters
    ----------
    table : DataFrame
        As `analysis.papers.eyraud_2006.shares.shares_table` returns it; of the shelves, a line for
        each log and load is drawn.
    said : str
        The title.

    Returns
    -------
    Figure
        As `figure_2`.
    """
    from matplotlib import style
    from matplotlib.lines import Line2D

    of = ("properties", "reservations")
    rows = table.reset_index()
    rows = rows[rows["policy"] == DEMT]
    lines = {
        str(log) if load == "original" else f"{log}, load {load}": line
        for (log, load), line in rows.groupby(["source", "load"], sort=False)
    }
    colors = dict(zip(lines, COLORS, strict=False))
    own = bool(table["log"].notna().any())
    with style.context(STYLE):
        figure = canvas(9.0, 1.6 * PANEL + MARGIN)
        for axes, share in zip(figure.subplots(1, 2, sharey=True), of, strict=True):
            other = of[1 - of.index(share)]
            for name, line in lines.items():
                alone = line[line[other] == line[other].min()].sort_values(share)
                _line(axes, alone, share, colors[name])
            axes.axhline(0, color="#888888", linewidth=0.8)
            axes.set_xlabel(f"Share of jobs with {share}, %")
            axes.margins(x=0.03)
        figure.supylabel(f"{MEASURES['mean_of_all'].meaning}, h", fontsize=9)
        figure.suptitle(said, x=0.01, ha="left")
        handles: list[Any] = [Line2D([], [], color=color, marker="o") for color in colors.values()]
        labels = list(colors)
        if own:
            handles.append(Line2D([], [], **OWN_MARK))
            labels.append(OWN_LABEL)
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _line(axes: Axes, line: pd.DataFrame, share: str, color: str) -> None:
    x = 100 * line[share].to_numpy()
    axes.fill_between(x, line["low"], line["high"], color=color, alpha=0.13)
    axes.plot(x, line["median"], color=color, marker="o", markersize=4)
    own_marks(axes, x, line["log"].to_numpy(), markeredgecolor=color)

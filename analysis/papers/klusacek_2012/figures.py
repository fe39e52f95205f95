"""Figures 1 and 2 of Klusacek and Rudova (JSSPP 2012): bubbles, bars and curves, a panel a log."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from schedfarm.analysis.drawing import (
    FILL,
    HOUR,
    OWN,
    OWN_LABEL,
    OWN_MARK,
    STYLE,
    bar_legend,
    canvas,
    own_marks,
    thin_spaced,
)
from schedfarm.analysis.papers.klusacek_2012.measures import MEASURES, MOST, SD
from schedfarm.analysis.papers.klusacek_2012.names import BF, CONS, EASY, FAIR, FCFS, TABU

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = {
    FCFS: "#999999",
    BF: "#D55E00",
    EASY: "#0072B2",
    CONS: "#009E73",
    FAIR: "#CC79A7",
    TABU: "#56B4E9",
}
"""Of the algorithms, from the palette of Okabe and Ito (2008)."""

COLUMNS = 3
"""Panels side by side, as in the paper."""

PANEL = 2.6
"""Height of a row of panels, inches."""

MARGIN = 1.2
"""Height of title and legend together, inches."""

LARGEST = 900.0
"""Area of the largest bubble of a panel, points^2."""

WIDTH = 1.3
"""Of a curve, points: six of them run close to each other."""

_OF_USERS = f"Normalised user wait time, {MEASURES[SD].units}"

BARS = 0.8
"""Part of the room of a group that its bars fill."""


class Shown(NamedTuple):
    """What a figure shows of numbers on (trace, load, algorithm) and maybe a further dimension.

    Parameters
    ----------
    middle : DataArray
        The log's own number, or the median of samples.
    low, high : DataArray, optional
        Ends of the band of samples.
    own : DataArray, optional
        The log's own, to stand beside those of samples.
    """

    middle: xr.DataArray
    low: xr.DataArray | None = None
    high: xr.DataArray | None = None
    own: xr.DataArray | None = None

    @classmethod
    def of_samples(cls, found: xr.Dataset) -> Shown:
        """Take what `analysis.papers.spread.spread` gives."""
        own = found["log"] if bool(found["log"].notnull().any()) else None
        return cls(found["median"], found["low"], found["high"], own)

    def at(self, **where: Any) -> Shown:
        """Return the part at some labels."""
        others = (None if x is None else x.sel(where) for x in self[1:])
        return Shown(self.middle.sel(where), *others)

    def drawn(self) -> list[str]:
        """Return the algorithms but FCFS, whose numbers are off the scale, as in the paper."""
        return [name for name in self.middle["algorithm"].values.tolist() if name != FCFS]


def wait_chart(wait: Shown, slowdown: Shown, title: str) -> Figure:
    """Draw mean waits as bubbles, whose area and label are the mean bounded slowdown (Figure 1).

    Parameters
    ----------
    wait : Shown
        s.
    slowdown : Shown
        Of the same cells.
    title : str
        First line above the panels.

    Returns
    -------
    Figure
        Of matplotlib's object-oriented interface, to be written by `analysis.drawing.save`.
    """

    def panel(axes: Axes, **cell: str) -> None:
        _bubbles(axes, wait.at(**cell), slowdown.at(**cell).middle)

    return _figure(wait, title, f"{MEASURES['wait'].meaning}, hours", panel, _mark_legend)


def response_chart(response: Shown, title: str) -> Figure:
    """Draw mean response times as bars (Figure 1).

    Parameters
    ----------
    response : Shown
        s.
    title : str
        First line above the panels.

    Returns
    -------
    Figure
        As `wait_chart`.
    """

    def panel(axes: Axes, **cell: str) -> None:
        here = response.at(**cell)
        for x, name in enumerate(here.drawn()):
            _bar(axes, x, BARS, here.at(algorithm=name), name, HOUR)
        _name(axes, here.drawn())

    return _figure(response, title, f"{MEASURES['response'].meaning}, hours", panel, _mark_legend)


def users_chart(mean: Shown, deviation: Shown, title: str) -> Figure:
    """Draw mean and standard deviation of users' normalised wait times as bars (Figure 2).

    Parameters
    ----------
    mean, deviation : Shown
        1 / processor.
    title : str
        First line above the panels.

    Returns
    -------
    Figure
        As `wait_chart`.
    """
    names = mean.drawn()
    breadth = BARS / len(names)

    def panel(axes: Axes, **cell: str) -> None:
        for place, shown in enumerate((mean, deviation)):
            here = shown.at(**cell)
            for i, name in enumerate(names):
                x = place + (i - (len(names) - 1) / 2) * breadth
                _bar(axes, x, breadth * 0.92, here.at(algorithm=name), name, 1)
        _name(axes, ["mean", "standard deviation"])

    def legend(figure: Figure, own: bool) -> None:
        bar_legend(figure, {name: COLORS[name] for name in names}, own=own)

    return _figure(mean, title, _OF_USERS, panel, legend)


def cdf_chart(shares: Shown, title: str) -> Figure:
    """Draw the distribution functions of users' normalised wait times (Figure 2).

    Parameters
    ----------
    shares : Shown
        On (trace, load, algorithm, nuwt).
    title : str
        First line above the panels.

    Returns
    -------
    Figure
        As `wait_chart`.
    """
    names = shares.middle["algorithm"].values.tolist()

    def panel(axes: Axes, **cell: str) -> None:
        here = shares.at(**cell)
        for name in names:
            _curve(axes, here.at(algorithm=name), COLORS[name])
        axes.set(xlim=(0, MOST), ylim=(0, 100))

    def legend(figure: Figure, own: bool) -> None:
        from matplotlib.lines import Line2D

        for place in figure.axes[-COLUMNS:]:
            place.set_xlabel(_OF_USERS)
        handles = [Line2D([], [], color=COLORS[name]) for name in names]
        handles += [Line2D([], [], color="black", **OWN)] if own else []
        labels = [*names, OWN_LABEL][: len(handles)]
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))

    return _figure(shares, title, "Users who have at most so much, %", panel, legend)


def _figure(
    shown: Shown,
    title: str,
    label: str,
    panel: Callable[..., None],
    legend: Callable[[Figure, bool], None],
) -> Figure:
    """Draw a panel for each log and load, `COLUMNS` side by side, and the legend below them."""
    from matplotlib import rcParams, style

    cells = list(product(*(shown.middle[axis].values.tolist() for axis in ("trace", "load"))))
    rows, columns = -(-len(cells) // COLUMNS), min(COLUMNS, len(cells))
    with style.context(STYLE):
        figure = canvas(9.0, PANEL * rows + MARGIN)
        places: list[Any] = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
        for place, (trace, load) in zip(places, cells, strict=False):
            panel(place, trace=trace, load=load)
            place.set_title(trace if load == "original" else f"{trace}, load {load}")
            place.yaxis.set_major_formatter(thin_spaced)
            place.set_ylim(bottom=0)
        for place in places[len(cells) :]:
            place.set_axis_off()
        figure.suptitle(title, x=0.01, ha="left")
        figure.supylabel(label, fontsize=rcParams["axes.labelsize"])
        legend(figure, shown.own is not None)
    return figure


def _mark_legend(figure: Figure, own: bool) -> None:
    """Say what a mark is; the algorithms are named below each panel."""
    from matplotlib.lines import Line2D

    if own:
        mark = Line2D([], [], **OWN_MARK)
        figure.legend([mark], [OWN_LABEL], loc="outside lower center")


def _bubbles(axes: Axes, wait: Shown, slowdown: xr.DataArray) -> None:
    names = wait.drawn()
    sizes = slowdown.sel(algorithm=names).values
    # The largest is the same in each panel; a log without any slowdown has none to compare.
    areas = LARGEST * sizes / np.nanmax(sizes) if np.isfinite(sizes).any() else 0.0 * sizes
    for x, (name, size, area) in enumerate(zip(names, sizes, areas, strict=True)):
        here = wait.at(algorithm=name)
        y = here.middle.item() / HOUR
        axes.scatter([x], [y], s=[np.nan_to_num(area)], color=COLORS[name], alpha=0.75, zorder=2)
        _whisker(axes, x, here, HOUR)
        axes.annotate(
            f"{size:.4g}",
            (x, y),
            xytext=(0, -4 - np.sqrt(np.nan_to_num(area)) / 2),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7.5,
        )
    axes.margins(y=0.35)
    _name(axes, names)


def _bar(axes: Axes, x: float, breadth: float, here: Shown, name: str, unit: float) -> None:
    axes.bar(x, np.nan_to_num(here.middle.item() / unit), breadth, color=COLORS[name])
    _whisker(axes, x, here, unit)


def _whisker(axes: Axes, x: float, here: Shown, unit: float) -> None:
    """Draw the band of samples as a line, and the log's own number as a mark."""
    if here.low is not None and here.high is not None:
        axes.vlines(x, here.low.item() / unit, here.high.item() / unit, color="black", linewidth=1)
    if here.own is not None:
        own_marks(axes, [x], [here.own.item() / unit])


def _curve(axes: Axes, here: Shown, color: str) -> None:
    x = here.middle["nuwt"].values
    axes.plot(x, 100 * here.middle.values, color=color, linewidth=WIDTH, zorder=3)
    if here.low is not None and here.high is not None:
        axes.fill_between(x, 100 * here.low.values, 100 * here.high.values, color=color, alpha=FILL)
    if here.own is not None:
        axes.plot(x, 100 * here.own.values, color=color, zorder=4, **OWN)


def _name(axes: Axes, names: list[str]) -> None:
    axes.set_xticks(range(len(names)), names)
    if len(names) > 2:
        # Six names have no room side by side.
        for label in axes.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")

"""Axes that several figures share: time, durations, shares, policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from schedfarm.analysis.drawing import legend_columns, shown_policies, thin_spaced
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.durations import UNITS
from schedfarm.core.numerals import lasting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Clock: TypeAlias = Callable[[Int64], Float64]
"""Function from instants, s, to positions on a time axis."""

LONG = {"d": 4 * UNITS["d"], "h": 4 * UNITS["h"], "m": 600}
"""Least length of a time axis in days, hours and minutes, s; shorter axes are in seconds."""

NAMES = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}

DURATIONS = {
    1: "1 s",
    10: "10 s",
    60: "1 min",
    600: "10 min",
    3_600: "1 h",
    21_600: "6 h",
    86_400: "1 d",
    604_800: "1 w",
    2_592_000: "30 d",
    31_536_000: "1 y",
}
"""Ticks of a logarithmic axis of durations, s."""

WIDE = 5.0
"""Least width of a figure that has more items in a row, inches."""

LETTER = 0.57
"""Mean width of a character, in units of the font size."""

FEW_DECADES = 1_000
"""Ratio of the limits of a logarithmic axis above which it has no minor ticks."""

CROWDED = 8
"""Largest number of ticks on a logarithmic axis of durations."""


def time_unit(seconds: int) -> tuple[int, str]:
    """Return the unit of a time axis, s, and the name of the unit.

    Examples
    --------
    >>> time_unit(3_000_000), time_unit(7_200)
    ((86400, 'days'), (60, 'minutes'))
    """
    unit = next((key for key, least in LONG.items() if seconds >= least), "s")
    return UNITS[unit], NAMES[unit]


def time_axis(axes: Axes, begin: int, end: int, origin: int) -> Clock:
    """Set limits and label of a time axis; return the function from instants to its positions.

    The axis shows the time since `origin`, the first submission.
    """
    unit, name = time_unit(end - begin)

    def clock(instants: Int64) -> Float64:
        return np.asarray((instants - origin) / unit, np.float64)

    axes.set_xlim(*clock(np.array([begin, end])))
    axes.xaxis.set_major_formatter(thin_spaced)
    axes.set_xlabel(f"Time since the first submission ({name})")
    return clock


def duration_axis(
    axes: Axes, along: str, largest: float, *, least: float = 1.0, ticks: int = CROWDED
) -> None:
    """Make an axis of durations logarithmic, with ticks at usual units, from 1 s or later.

    least, largest: extreme values on the axis, s.
    """
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

    axis = axes.xaxis if along == "x" else axes.yaxis
    scale, limit = (
        (axes.set_xscale, axes.set_xlim) if along == "x" else (axes.set_yscale, axes.set_ylim)
    )
    scale("log")
    low, high = 0.8 * max(least, 1.0), 1.25 * max(largest, 10.0)
    limit(low, high)
    shown = [second for second in DURATIONS if low <= second <= high]
    while len(shown) > ticks:
        shown = shown[::2]
    axis.set_major_locator(FixedLocator(shown))
    axis.set_major_formatter(lambda x, _: DURATIONS.get(round(x), lasting(x)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def log_axis(axes: Axes, along: str, *, ticks: int = 6) -> None:
    """Make an axis of plain numbers logarithmic, with ticks at powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    axis = axes.xaxis if along == "x" else axes.yaxis
    (axes.set_xscale if along == "x" else axes.set_yscale)("log")
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(numticks=ticks))
    axis.set_major_formatter(thin_spaced)
    if high / low > FEW_DECADES:
        axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def magnitudes() -> Any:
    """Return the colour map of magnitudes, from light to dark; a missing value is white."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["Blues"](np.linspace(0.1, 1.0, 256)))


def thinned(x: Float64 | Int64, y: Float64, columns: int) -> Any:
    """Return the indices of points that lie in another pixel than the point before.

    x and y are positions from 0 to 1. The first and the last point are kept.
    """
    at = np.stack((np.floor(x * columns), np.floor(y * columns)))
    moved = np.any(at[:, 1:] != at[:, :-1], axis=0)
    kept = np.concatenate(([True], moved))
    kept[-1:] = True
    return np.flatnonzero(kept)


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put a legend above all panels."""
    columns = min(legend_columns(labels, 6), 3 if figure.get_figwidth() < WIDE else 6)
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, alignment="left")


def name_figure(figure: Figure, title: str) -> None:
    """Put a title above all panels, or into the legend if there is a legend."""
    if figure.legends:
        figure.legends[0].set_title(title)
    else:
        figure.suptitle(title, x=0.01, ha="left")


def say(figure: Figure, sentences: Sequence[str]) -> None:
    """Put sentences below all panels."""
    from textwrap import wrap

    from matplotlib import rcParams

    size = 0.9 * rcParams["font.size"]
    letters = int(figure.get_figwidth() * 72 / (LETTER * size))
    lines = [line for one in sentences for line in wrap(one, letters)]
    if lines:
        figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=size, color="0.35")


def panel_rows(figure: Figure, count: int, **shared: Any) -> list[list[Axes]]:
    """Return panels in rows of at most three, or two in a narrow figure; adapt its height."""
    most = 2 if figure.get_figwidth() < WIDE else 3
    rows = -(-count // most)
    across = -(-count // rows)
    figure.set_figheight(figure.get_figheight() * (1 + 0.75 * (rows - 1)))
    grid = figure.subplots(rows, across, squeeze=False, **shared)
    for unused in grid.ravel()[count:]:
        unused.remove()
    return [list(row[: count - across * k]) for k, row in enumerate(grid)]


def curves_legend(figure: Figure, styles: Mapping[str, Mapping[str, Any]]) -> None:
    """Put a legend of curves above all panels if there are several curves."""
    from matplotlib.lines import Line2D

    if len(styles) > 1:
        legend(figure, [Line2D([], [], **look) for look in styles.values()], shown_policies(styles))

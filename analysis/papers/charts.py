"""Charts of papers: bars, bands, lines, bubbles, boxes and histograms, with a panel per cell.

Numbers are a dataset with `median`. Numbers of samples also have `low` and `high` of the band, and
`log`, the value of the log itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from schedfarm.analysis.drawing import (
    FILL,
    OWN,
    STYLE,
    band_marks,
    canvas,
    own_marks,
    thin_spaced,
)
from schedfarm.core.arrays import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, BLUE, VERMILLION, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY, GREY = "#CC79A7", "#E69F00", "#56B4E9", "#999999"
"""Colours of Okabe and Ito (2008), and a grey."""

WIDTH, COLUMN, PANEL, MARGIN, TITLE = 9.0, 2.2, 2.5, 1.0, 0.17
"""Least width of a figure and of a column of panels, height of a row, height of title and legend
together, and height of each further line of the title, inches."""

GROUP = 0.8
"""Share of a group's space that its bars or bands fill."""

WHISKER = 1.0
"""Line width of the band on a bar, points."""

LARGEST = 900.0
"""Area of the largest bubble of a panel, points^2."""

LINE = "#888888"
"""Colour of reference lines at 0 or 1."""

Series = Sequence[tuple[xr.Dataset, Any]]
"""Numbers on one dimension, each with one colour for all or one for each number."""


@contextmanager
def panels(
    count: int,
    columns: int,
    title: str,
    *,
    y: str = "",
    tall: float = 1,
    **shared: Any,
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Open a figure in the house style with `count` panels, `columns` per row, some `tall`."""
    from matplotlib import style

    columns = min(columns, count)
    rows = -(-count // columns)
    with style.context(STYLE):
        height = PANEL * tall * rows + MARGIN + TITLE * title.count("\n")
        figure = canvas(max(WIDTH, COLUMN * columns), height)
        places = figure.subplots(rows, columns, squeeze=False, **shared).ravel().tolist()
        for axes in places[count:]:
            axes.set_axis_off()
        yield figure, places[:count]
        figure.suptitle(title, x=0.01, ha="left")
        if y:
            figure.supylabel(y, fontsize="medium")


def has_log(found: Iterable[xr.Dataset]) -> bool:
    """Return whether some of the numbers include the value of the log itself."""
    return any("log" in of and bool(of["log"].notnull().any()) for of in found)


def cell_title(trace: str, load: str) -> str:
    """Return the title of a panel for a trace at a load.

    Examples
    --------
    >>> cell_title("KTH-SP2", "0.9"), cell_title("KTH-SP2", "original")
    ('KTH-SP2, load 0.9', 'KTH-SP2')
    """
    return trace if load == "original" else f"{trace}, load {load}"


def name_groups(axes: Axes, labels: Sequence[str], *, slanted: bool = False) -> None:
    """Label the groups at positions 0, 1, ... of an axis."""
    axes.set_xticks(range(len(labels)), labels)
    if slanted:
        for label in axes.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")


def side_by_side(groups: int, series: int) -> Iterator[tuple[Float64, float]]:
    """Yield the centres and the width of each series in groups at positions 0, 1, ..."""
    breadth = GROUP / max(1, series)
    for i in range(series):
        yield np.arange(float(groups)) + (i - (series - 1) / 2) * breadth, breadth


def bars(axes: Axes, labels: Sequence[str], series: Series, unit: float = 1) -> None:
    """Draw groups of bars with the band of samples as a whisker, and marks for the log itself."""
    for (of, color), (x, breadth) in zip(
        series, side_by_side(len(labels), len(series)), strict=True
    ):
        axes.bar(x, np.nan_to_num(of["median"].values / unit), breadth * 0.92, color=color)
        # A black whisker on a black bar would be invisible.
        edge = LINE if color in (BLACK, BLACK.lstrip("#")) else BLACK
        whiskers(axes, x, of, unit, color=edge, aside=0.25 * breadth)


def whiskers(
    axes: Axes, x: Any, of: xr.Dataset, unit: float, color: str = BLACK, aside: float = 0.0
) -> None:
    """Draw bands as lines, and values of the log itself as marks at a distance `aside`."""
    if "low" in of:
        low, high = of["low"].values / unit, of["high"].values / unit
        axes.vlines(x, low, high, color=color, linewidth=WHISKER)
    if has_log([of]):
        own_marks(axes, x + aside, of["log"].values / unit)


def bands(axes: Axes, labels: Sequence[str], series: Series) -> None:
    """Draw groups of bands, each a thick line with a dot for the median."""
    places = side_by_side(len(labels), len(series))
    for (of, color), (x, _) in zip(series, places, strict=True):
        band_marks(axes, x, of, color)
    name_groups(axes, labels)


def line(axes: Axes, x: Any, of: xr.Dataset, color: str, *, dots: bool = True) -> None:
    """Draw a line of medians, the band around it, and the log itself as marks or a dotted line."""
    if "low" in of:
        axes.fill_between(x, of["low"].values, of["high"].values, color=color, alpha=FILL)
    # Several curves without dots run close to each other in a panel.
    look: dict[str, Any] = {"marker": "o", "markersize": 4} if dots else {"linewidth": 1.3}
    axes.plot(x, of["median"].values, color=color, zorder=3, **look)
    if not has_log([of]):
        return
    if dots:
        own_marks(axes, x, of["log"].values, markeredgecolor=color)
    else:
        axes.plot(x, of["log"].values, color=color, zorder=4, **OWN)


def bubbles(axes: Axes, of: xr.Dataset, sizes: Float64, colors: list[str], unit: float) -> None:
    """Draw bubbles at 0, 1, ... with areas and labels `sizes`; the largest area is fixed."""
    known = np.nan_to_num(sizes)
    areas = LARGEST * known / known.max() if known.any() else known
    x, y = np.arange(len(sizes)), of["median"].values / unit
    for place, height, area, size, color in zip(x, y, areas, sizes, colors, strict=True):
        axes.scatter([place], [height], s=[area], color=color, alpha=0.75, zorder=2)
        axes.annotate(
            f"{size:.4g}",
            (place, height),
            xytext=(0, -4 - np.sqrt(area) / 2),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7.5,
        )
    whiskers(axes, x, of, unit)
    axes.margins(y=0.35)


def boxes(axes: Axes, quantiles: npt.NDArray[Any], colors: Sequence[str], own: Any) -> None:
    """Draw a box for each row of five quantiles, and the log's own medians, at 1, 2, ..."""
    names = ("whislo", "q1", "med", "q3", "whishi")
    stats = [dict(zip(names, row, strict=True)) for row in quantiles.tolist()]
    drawn = axes.bxp(stats, showfliers=False, widths=0.6, patch_artist=True)
    for box, color in zip(drawn["boxes"], colors, strict=True):
        box.set(facecolor=color, alpha=0.55)
    for edge in (*drawn["whiskers"], *drawn["caps"]):
        edge.set(color="#555555", linewidth=0.8)
    for median in drawn["medians"]:
        median.set(color="black", linewidth=1.6)
    own_marks(axes, range(1, len(stats) + 1), own)


def histogram(axes: Axes, values: Float64, bins: int) -> None:
    """Draw a histogram with dotted quartiles, and the mean as a short line below the bars."""
    counts, edges = np.histogram(values, bins)
    axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=BLUE)
    for quartile in np.quantile(values, (0.25, 0.5, 0.75)).tolist():
        axes.axvline(quartile, color="black", linestyle=":", linewidth=1.1)
    most = counts.max()
    axes.vlines(values.mean(), -0.09 * most, 0, color=VERMILLION, linewidth=2.2)
    axes.set_ylim(-0.1 * most, 1.05 * most)
    axes.margins(x=0.02)
    axes.xaxis.set_major_formatter(thin_spaced)


def logarithmic(axes: Axes) -> None:
    """Make the y axis logarithmic if it has numbers, which may span two orders of magnitude."""
    if not np.isfinite(axes.dataLim.intervaly).all():
        return
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(thin_spaced)
    axes.yaxis.set_minor_formatter(_some)


def _some(x: float, _: object = None) -> str:
    """Return 2, 3 and 5 times powers of ten as text, and an empty text for other numbers.

    Examples
    --------
    >>> [_some(x) for x in (0.2, 4.0, 50.0)]
    ['0.2', '', '50']
    """
    return thin_spaced(round(x, 9)) if f"{x:.0e}"[0] in "235" else ""

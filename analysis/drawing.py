"""Common parts of figures: styles, panels of bands, and files that are written as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import xarray as xr

from schedfarm.analysis.errors import StoreError
from schedfarm.core.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("paper.mplstyle")
"""Style of figures, except for settings that a style file cannot express."""

Styles: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Colour and line style of each policy, by the name of the policy in the legend."""

COLUMN_STYLE = Path(__file__).with_name("column.mplstyle")
"""Sizes for figures with the width of a paper's columns, in addition to `STYLE`."""

COLUMN_WIDTHS = {"one": 3.5, "two": 7.16}
"""Widths of one and of two columns of a two-column paper, inches."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2, 2, 2)))
"""Line styles by which curves can be distinguished without colour."""

MARKERS = "osD^vPX"
"""Markers by which points can be distinguished without colour."""

LAID_OUT: dict[str, Any] = {"figure.constrained_layout.use": False}
"""Settings without the layout engine, for figures that have already been laid out."""

FILL, EDGE = 0.13, 0.8
"""Opacity of a band, low enough for four to overlap, and of the edges of a band."""

EDGE_WIDTH = 0.7
"""Line width of a band's edges, points."""

OWN: dict[str, Any] = {"linestyle": ":", "linewidth": 1.4}
"""Style of the log's line, whose colour is that of the samples' line."""

OWN_MARK: dict[str, Any] = {
    "color": "black",
    "linestyle": "none",
    "marker": "D",
    "markersize": 4.5,
    "markerfacecolor": "white",
    "markeredgecolor": "black",
    "markeredgewidth": 0.9,
}
"""Mark of a number of the log where its samples have no line."""

OWN_LABEL = "the log itself"
"""Name of the log itself in the legend."""

STRIP, STRIP_COLOR = 0.12, "0.94"
"""Width of the strip of numbers over all jobs, relative to the weeks' width; fill of the strip."""

WHOLE_MARK: dict[str, Any] = {"marker": "o", "markersize": 4.0, "linestyle": "none", "zorder": 4}
"""Style of a number over all jobs."""

LEGEND_COLUMNS = 5
"""Columns of policies in the legend."""

LEGEND_LETTERS = 100
"""Number of characters per row of a legend with long labels."""

POLICY_LETTERS = 44
"""Largest number of characters of a policy in a figure, since an order may be a long expression."""

THIN_SPACE = "\N{THIN SPACE}"
"""Separator of thousands."""

HOUR = 3600
"""Number of seconds in the unit of axes of long times."""

METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    ".svg": {"Creator": None, "Date": None},
}
"""Metadata that a file of each kind lacks, so that the same store gives the same bytes."""


def canvas(width: float, height: float) -> Figure:
    """Return an empty figure of this size, inches, of matplotlib's object-oriented interface."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def name_panel(axes: Axes, title: str) -> None:
    """Set a panel's title directly above the panel, clear of the numbers of its axis.

    matplotlib's automatic position would inspect all numbers of the axis three more times, 7 % of
    the time of a report with many panels.
    """
    axes.set_title(title, y=1.0)


def policy_styles(policies: list[str]) -> dict[str, dict[str, Any]]:
    """Return each policy's line style, by its index on the axis and the current style sheet."""
    from matplotlib import rcParams

    cycle = list(rcParams["axes.prop_cycle"])
    return {policy: cycle[i % len(cycle)] for i, policy in enumerate(policies)}


def curve_styles(policies: list[str]) -> dict[str, dict[str, Any]]:
    """Return the style of each policy's curve: colour, and dashes that differ in grey print."""
    styles = policy_styles(policies)
    return {
        policy: {"color": styles[policy]["color"], "linestyle": DASHES[i % len(DASHES)]}
        for i, policy in enumerate(policies)
    }


def point_styles(policies: list[str]) -> dict[str, dict[str, Any]]:
    """Return the style of each policy's curve with points: dashes and markers differ in grey."""
    return {
        policy: {**style, "marker": MARKERS[i % len(MARKERS)], "markersize": 3.5}
        for i, (policy, style) in enumerate(curve_styles(policies).items())
    }


def thin_spaced(x: float, _: object = None) -> str:
    """Return a number of an axis as text with separated thousands.

    Examples
    --------
    >>> thin_spaced(12500.0)
    '12\u2009500'
    """
    return f"{x:,.10g}".replace(",", THIN_SPACE)


def save(figure: Figure, path: Path, *sheets: Path) -> None:
    """Write a figure as a whole, without date or program name.

    `STYLE` and the other style sheets of the figure apply to layout and output.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> save(Figure(), Path("out.jpeg"))
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: cannot write 'out.jpeg': a figure's name ends in .png,
    .pdf or .svg
    """
    from matplotlib import style

    kind, data = checked_path(path).suffix.lower(), BytesIO()
    with style.context([STYLE, *sheets, LAID_OUT]):
        _lay_out(figure)
        figure.savefig(data, format=kind[1:], metadata=METADATA[kind])
    write_whole(path, data.getvalue())


def _lay_out(figure: Figure) -> None:
    # matplotlib would draw the whole figure again for the layout, a third of the time.
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a figure.

    Raises
    ------
    StoreError
        If the name has no known suffix, or its folder does not exist.
    """
    target = Path(path)
    if target.suffix.lower() not in METADATA:
        raise StoreError(f"cannot write {str(path)!r}: a figure's name ends in .png, .pdf or .svg")
    if not target.parent.is_dir():
        raise StoreError(f"cannot write {str(path)!r}: its folder does not exist; make it first")
    return target


def band_panel(
    axes: Axes,
    bands: xr.DataArray | None,
    styles: Styles,
    *,
    own: xr.DataArray | None = None,
    log: bool = False,
) -> None:
    """Draw weekly bands in one panel: a line, a filled band and its edges for each policy.

    The log itself is a dotted line.

    Parameters
    ----------
    axes : Axes
        Axes of the panel.
    bands : DataArray or None
        Values on policy, week and a last dimension of three: low, middle and high; None for a trace
        without bands.
    styles : mapping
        Style of each policy from `policy_styles`, in the order of drawing.
    own : DataArray, optional
        The lines of the log itself, on policy and week.
    log : bool
        Whether the metric's axis is logarithmic.
    """
    from matplotlib.ticker import MaxNLocator

    absent = []
    for policy, line in styles.items():
        band = None if bands is None else bands.sel(policy=policy)
        if band is None or not bool(band.notnull().any()):
            absent.append(policy)
            continue
        weeks = band["week"].values
        low, middle, high = np.moveaxis(band.values, -1, 0)
        color = line["color"]
        axes.fill_between(weeks, low, high, color=color, alpha=FILL)
        for edge in (low, high):
            axes.plot(weeks, edge, "--", color=color, alpha=EDGE, linewidth=EDGE_WIDTH)
        alone = np.count_nonzero(np.isfinite(middle)) == 1
        axes.plot(weeks, middle, **line, zorder=3, marker="." if alone else None)
    if own is not None:
        _own_lines(axes, own, styles)
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(thin_spaced)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if absent:
        everyone = len(absent) == len(styles)
        if everyone and own is None:
            axes.set(xticks=[], yticks=[])
        if not everyone or own is None:
            _say_absent(axes, [] if everyone else absent)


def _own_lines(axes: Axes, own: xr.DataArray, styles: Styles) -> None:
    for policy, line in styles.items():
        values = own.sel(policy=policy).values
        alone = np.count_nonzero(np.isfinite(values)) == 1
        look = {**line, **OWN, "marker": "." if alone else None}
        axes.plot(own["week"].values, values, **look, zorder=4)


def _say_absent(axes: Axes, absent: list[str]) -> None:
    text = "too few samples" + (f": {', '.join(absent)}" if absent else "")
    box = {"facecolor": "white", "alpha": 0.8}
    axes.text(0.98, 0.97, text, transform=axes.transAxes, ha="right", va="top", bbox=box)


def own_marks(axes: Axes, x: Any, y: Any, **look: Any) -> None:
    """Mark numbers of the log itself next to those of the samples; NaN is not drawn."""
    axes.plot(x, y, **{**OWN_MARK, "zorder": 5, **look})


def band_marks(axes: Axes, x: Any, of: xr.Dataset, color: str) -> None:
    """Draw bands as vertical lines with a dot for the median, and numbers of the log itself.

    Parameters
    ----------
    axes : Axes
        Axes of the panel.
    x : float or float[k]
        Positions on the axis.
    of : Dataset
        ``low``, ``median``, ``high`` and ``log``, each of the shape of `x`.
    color : str
        Colours of the lines.
    """
    axes.vlines(x, of["low"].values, of["high"].values, color=color, linewidth=5)
    axes.plot(x, of["median"].values, "o", color="black", markersize=3.5, zorder=4)
    own_marks(axes, x, of["log"].values)


def bar_legend(
    figure: Figure, colors: Mapping[str, str], *, own: bool, columns: int | None = None
) -> None:
    """Put a legend of bar colours below all panels, `columns` in a row, with the log's mark."""
    from matplotlib.patches import Patch

    handles = {name: Patch(color=color) for name, color in colors.items()}
    below(figure, handles, OWN_MARK if own else None, columns)


def line_legend(
    figure: Figure, colors: Mapping[str, str], own: Mapping[str, Any] | None, **look: Any
) -> None:
    """Put a legend of lines below all panels; `own`: style of the log itself, if it is drawn."""
    from matplotlib.lines import Line2D

    below(figure, {name: Line2D([], [], color=c, **look) for name, c in colors.items()}, own)


def below(
    figure: Figure,
    handles: Mapping[str, Any],
    own: Mapping[str, Any] | None,
    columns: int | None = None,
) -> None:
    """Put a legend below all panels, with the log itself last; an empty legend is left out."""
    from matplotlib.lines import Line2D

    shown = {**handles, OWN_LABEL: Line2D([], [], **own)} if own else dict(handles)
    if shown:
        columns = min(len(shown), columns or len(shown))
        figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=columns)


def whole_marks(
    axes: Axes, bands: xr.DataArray | None, own: xr.DataArray | None, styles: Styles
) -> None:
    """Mark the numbers over all jobs in a strip at the right edge of a panel of weekly bands.

    Parameters
    ----------
    axes : Axes
        A panel that `band_panel` has drawn.
    bands : DataArray or None
        Values on policy and a last dimension of three: low, middle and high.
    own : DataArray or None
        Numbers of the log itself on policy.
    styles : mapping
        As for `band_panel`.
    """
    from matplotlib.ticker import FixedLocator

    if bands is None and own is None:
        return
    left, right = axes.get_xlim()
    step = STRIP * (right - left) / len(styles)
    ticks = [x for x in axes.get_xticks() if left <= x <= right]
    axes.axvspan(right, right + step * (len(styles) + 1), color=STRIP_COLOR, zorder=0.5)
    for place, (policy, line) in enumerate(styles.items(), 1):
        x, color = right + step * place, line["color"]
        if bands is not None and "policy" in bands.dims:
            low, middle, high = bands.sel(policy=policy).values
            axes.vlines(x, low, high, color=color, alpha=EDGE, linewidth=EDGE_WIDTH)
            axes.plot(x, middle, color=color, **WHOLE_MARK)
        if own is not None and "policy" in own.dims:
            look = {**OWN_MARK, "markersize": 3.5, "color": color, "markeredgecolor": color}
            axes.plot(x, float(own.sel(policy=policy)), **look, zorder=5)
    axes.set_xlim(left, right + step * (len(styles) + 1))
    axes.xaxis.set_major_locator(FixedLocator(ticks))


def shown_policies(policies: Iterable[object]) -> list[str]:
    """Return the labels of policies in a figure.

    A long label is reduced to its beginning and end, and numbered if it is then ambiguous.

    Examples
    --------
    >>> shown_policies(["fcfs+easy", f"({' + '.join(['procs'] * 9)})+easy"])
    ['fcfs+easy', '(procs + procs + procs… + procs + procs)+easy']
    """
    half = POLICY_LETTERS // 2
    names = [str(policy) for policy in policies]
    short = [n if len(n) <= POLICY_LETTERS else f"{n[:half]}…{n[-half:]}" for n in names]
    return [
        f"{label} #{short[: at + 1].count(label)}" if short.count(label) > 1 else label
        for at, label in enumerate(short)
    ]


def legend_columns(labels: Sequence[str], most: int = LEGEND_COLUMNS) -> int:
    """Return the number of columns of a legend that fit its width, at most `most`."""
    longest = max(map(len, labels))
    fitting = LEGEND_LETTERS // longest if longest > LEGEND_LETTERS // 3 else most
    return min(len(labels), most, max(1, fitting))


def policy_legend(
    figure: Figure, styles: Styles, *, bands: bool = True, own: bool = False, words: str = ""
) -> None:
    """Put a legend below all panels: each policy's band, or line of the log; and a caption."""
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    dotted = tuple(Line2D([], [], **{**line, **OWN}) for line in styles.values())
    handles: list[Any] = [
        (Patch(color=line["color"], alpha=FILL), Line2D([], [], **line)) for line in styles.values()
    ]
    labels, handlers = shown_policies(styles), {}
    if own and not bands:
        handles = list(dotted)
    elif own:
        handles.append(dotted)
        labels.append(OWN_LABEL)
        # The handles are next to each other, not on top of each other like a band and its line.
        handlers[handles[-1]] = HandlerTuple(ndivide=None, pad=0.3)
    figure.legend(
        handles,
        labels,
        handler_map=handlers,
        loc="outside lower center",
        ncols=legend_columns(labels),
        title=words or None,
        title_fontsize="small",
    )

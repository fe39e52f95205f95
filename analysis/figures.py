"""Figures: what a store's bands look like, one function each. Nothing here needs a display."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from analysis.bands import weekly_bands
from analysis.errors import StoreError
from analysis.rules import Rule, left_out
from analysis.store import Store, known, open_summary
from analysis.tables import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("paper.mplstyle")
"""Where the looks are, but for the few that a style file cannot say."""

COLUMNS = 3
"""At most so many panels side by side when there is one load."""

NARROWEST, PANEL, MARGIN = 2.1, 2.3, 1.45
"""Least width of a panel, height of a row, and of title and legend together, inches."""

FILL, EDGE = 0.13, 0.8
"""Opacity of a band, so that four may overlap, and of its edges."""

EDGE_WIDTH = 0.7
"""Line width of a band's edges, points."""

LAST_WEEK = "Not drawn: jobs that ended after the week of the last submission"
"""What a reader must know of the end of a line (docs/store-format.md)."""

LEGEND_COLUMNS = 5
"""Policies side by side in the legend."""

THIN_SPACE = "\N{THIN SPACE}"
"""Sets thousands apart."""

METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    ".svg": {"Creator": None, "Date": None},
}
"""What is kept out of a file, by its kind, so that the same store gives the same bytes."""


def weekly_bands_figure(
    store: Store,
    metric: str = "bounded_slowdown",
    load: str | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    kind: str = "trimmed",
    log: bool = False,
) -> Figure:
    """Draw each policy's band over the weeks, a panel for each trace and load.

    The figure 1 of Carastan-Santos et al. 2019: the cumulative mean over the jobs ended up to
    each week; a solid line for the samples' mean, a filled band with dashed edges from their
    lowest to their highest, as `weekly_bands` gives them. A policy's colour is its place on the
    store's policy axis, so all figures of a store agree.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    metric : str
        A metric that the store has by week.
    load : str, optional
        A label of the store's load axis; by default all, a row each.
    path : path, optional
        Where to write the figure: a name ending in .png, .pdf or .svg. It appears whole or not
        at all.
    kind : {"trimmed", "quantile"}
        The rule of the band; with quantiles the line is the median, the band 10 to 90 %.
    log : bool
        Whether the metric's axis is logarithmic.

    Returns
    -------
    Figure
        Of matplotlib's object-oriented interface.

    Raises
    ------
    StoreError
        If the store cannot be read, a name is unknown, no cell has samples enough, or the path
        is of no known kind.

    Examples
    --------
    >>> weekly_bands_figure("no/such/folder")
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm run wrote
    """
    from matplotlib import style

    target = None if path is None else _target(path)
    panels = _panels(store, metric, load, kind)
    policies = [str(policy) for policy in open_summary(store)["policy"].values]
    with style.context(STYLE):
        figure = _draw(panels, policies, Rule(kind), log)
        if target is not None:
            save(figure, target)
        else:
            # Ticks are made by drawing; made later, they would not have the style's looks.
            figure.draw_without_rendering()
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure under a temporary name and rename it, without date or program name.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> save(Figure(), Path("out.jpeg"))
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: cannot write 'out.jpeg': a figure's name ends in .png, .pdf or .svg
    """
    kind = _target(path).suffix.lower()
    with _whole(path) as temporary:
        figure.savefig(temporary, format=kind[1:], metadata=METADATA[kind])


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix.lower() not in METADATA:
        raise StoreError(f"cannot write {str(path)!r}: a figure's name ends in .png, .pdf or .svg")
    if not target.parent.is_dir():
        raise StoreError(f"cannot write {str(path)!r}: its folder does not exist; make it first")
    return target


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _panels(
    store: Store, metric: str, load: str | None, kind: str
) -> list[list[tuple[str, xr.Dataset | None]]]:
    """Return the grid of panels, rows of (title, band), without a band where it has none."""
    summary = open_summary(store)
    traces, loads = summary["trace"].values.tolist(), summary["load"].values.tolist()
    if load is not None:
        known(load, "load", loads)
        loads = [load]
    bands: dict[str, xr.Dataset] = {}
    refused: list[StoreError] = []
    for trace in traces:
        try:
            bands[trace] = weekly_bands(store, trace, metric, kind=kind)
        except StoreError as error:
            refused.append(error)
    if not bands:
        raise refused[0]
    rows = [
        [(trace if load else f"{trace}, load {x}", _at(bands.get(trace), x)) for trace in traces]
        for x in loads
    ]
    if len(rows) > 1:
        return rows
    across = math.ceil(len(traces) / math.ceil(len(traces) / COLUMNS))
    return [rows[0][i : i + across] for i in range(0, len(traces), across)]


def _at(band: xr.Dataset | None, load: str) -> xr.Dataset | None:
    return None if band is None else band.sel(load=load)


def _draw(
    panels: list[list[tuple[str, xr.Dataset | None]]], policies: list[str], rule: Rule, log: bool
) -> Figure:
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across = max(map(len, panels))
    width = max(rcParams["figure.figsize"][0], NARROWEST * across)
    figure = Figure(figsize=(width, PANEL * len(panels) + MARGIN))
    FigureCanvasAgg(figure)
    cycle = list(rcParams["axes.prop_cycle"])
    looks = {policy: cycle[i % len(cycle)] for i, policy in enumerate(policies)}
    axes = figure.subplots(len(panels), across, squeeze=False)
    for row, places in zip(panels, axes, strict=True):
        for place in places[len(row) :]:
            place.remove()
        for (title, band), place in zip(row, places, strict=False):
            place.set_title(title)
            _panel(place, band, looks, rule, log)
    # A figure's own label would lie on the legend, so the lowest panel of each column has one.
    for i in range(across):
        axes[sum(i < len(row) for row in panels) - 1, i].set_xlabel("Week")
    shown = [band for row in panels for _, band in row if band is not None]
    figure.suptitle(_title(shown, rule), x=0.01, ha="left")
    figure.supylabel(named(shown[0]), fontsize=rcParams["axes.labelsize"])
    _legend(figure, looks)
    return figure


def _panel(
    axes: Axes, band: xr.Dataset | None, looks: dict[str, dict[str, Any]], rule: Rule, log: bool
) -> None:
    from matplotlib.ticker import MaxNLocator

    absent = []
    for policy, look in looks.items():
        cell = None if band is None else band[str(band.attrs["metric"])].sel(policy=policy)
        if cell is None or not bool(cell.notnull().any()):
            absent.append(policy)
            continue
        weeks = cell["week"].values
        low, middle, high = np.moveaxis(cell.transpose("week", rule.dimension).values, -1, 0)
        color = look["color"]
        axes.fill_between(weeks, low, high, color=color, alpha=FILL)
        for edge in (low, high):
            axes.plot(weeks, edge, "--", color=color, alpha=EDGE, linewidth=EDGE_WIDTH)
        axes.plot(weeks, middle, **look, zorder=3, marker="." if weeks.size == 1 else None)
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda x, _: f"{x:,.10g}".replace(",", THIN_SPACE))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if absent:
        _say_absent(axes, absent, everyone=len(absent) == len(looks))


def _say_absent(axes: Axes, absent: list[str], *, everyone: bool) -> None:
    text = "too few samples"
    if everyone:
        axes.set(xticks=[], yticks=[])
    else:
        text = f"{text}: {', '.join(absent)}"
    box = {"facecolor": "white", "alpha": 0.8}
    axes.text(0.98, 0.97, text, transform=axes.transAxes, ha="right", va="top", bbox=box)


def _legend(figure: Figure, looks: dict[str, dict[str, Any]]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        (Patch(color=look["color"], alpha=FILL), Line2D([], [], **look)) for look in looks.values()
    ]
    columns = min(len(looks), LEGEND_COLUMNS)
    figure.legend(handles, list(looks), loc="outside lower center", ncols=columns)


def _title(bands: list[xr.Dataset], rule: Rule) -> str:
    loads = list(dict.fromkeys(str(band["load"].values) for band in bands))
    counts = np.concatenate([band["n"].values for band in bands])
    counts = counts[counts >= rule.need]
    name = str(bands[0][str(bands[0].attrs["metric"])].attrs["long_name"])
    plural = "s" if len(loads) > 1 else ""
    first = f"{name[:1].upper()}{name[1:]}, load{plural} {', '.join(loads)}"
    return f"{first}\n{_caption(int(counts.min()), int(counts.max()), rule)}\n{LAST_WEEK}"


def _caption(fewest: int, most: int, rule: Rule) -> str:
    samples = f"{most} samples" if fewest == most else f"{fewest} to {most} samples"
    if rule.kind == "quantile":
        return f"Line: median of {samples}; band: their 10 to 90 % quantiles"
    one = left_out([fewest, most], rule.trim).tolist() == [1, 1]
    gone = "the best and the worst" if one else "those outside the 10 to 90 % range"
    return f"Line: mean of {samples} without {gone}; band: lowest to highest of these"

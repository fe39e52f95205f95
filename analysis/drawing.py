"""What all figures share: looks, panels of bands, and files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import xarray as xr

from analysis.band_rule import Rule
from analysis.errors import StoreError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("paper.mplstyle")
"""Where the looks are, but for the few that a style file cannot say."""

Looks: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Colour and line style of each policy, by the name that the legend shows."""

FILL, EDGE = 0.13, 0.8
"""Opacity of a band, so that four may overlap, and of its edges."""

EDGE_WIDTH = 0.7
"""Line width of a band's edges, points."""

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


def canvas(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches, of the object-oriented interface."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def looks_of(policies: list[str]) -> dict[str, dict[str, Any]]:
    """Return each policy's look: its place on the store's axis, in the style that is in force."""
    from matplotlib import rcParams

    cycle = list(rcParams["axes.prop_cycle"])
    return {policy: cycle[i % len(cycle)] for i, policy in enumerate(policies)}


def thin_spaced(x: float, _: object = None) -> str:
    """Write a number of an axis, thousands set apart.

    Examples
    --------
    >>> thin_spaced(12500.0)
    '12\u2009500'
    """
    return f"{x:,.10g}".replace(",", THIN_SPACE)


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
    kind = checked_path(path).suffix.lower()
    with whole_file(path) as temporary:
        figure.savefig(temporary, format=kind[1:], metadata=METADATA[kind])


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Return where a figure goes.

    Raises
    ------
    StoreError
        If the name says no known kind of figure, or its folder does not exist.
    """
    target = Path(path)
    if target.suffix.lower() not in METADATA:
        raise StoreError(f"cannot write {str(path)!r}: a figure's name ends in .png, .pdf or .svg")
    if not target.parent.is_dir():
        raise StoreError(f"cannot write {str(path)!r}: its folder does not exist; make it first")
    return target


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a temporary name to write to, which then takes the place of the file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file that appears whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def band_panel(
    axes: Axes, band: xr.Dataset | None, looks: Looks, rule: Rule, log: bool = False
) -> None:
    """Draw a weekly band in one panel: a line, a filled band and its edges for each policy.

    Parameters
    ----------
    axes : Axes
        Where.
    band : Dataset or None
        What `weekly_bands` returned, at one load; None for a trace without one.
    looks : mapping
        The policies to draw, in order, and how, from `looks_of`.
    rule : Rule
        The band's.
    log : bool
        Whether the metric's axis is logarithmic.
    """
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
        alone = np.count_nonzero(np.isfinite(middle)) == 1
        axes.plot(weeks, middle, **look, zorder=3, marker="." if alone else None)
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(thin_spaced)
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


def policy_legend(figure: Figure, looks: Looks) -> None:
    """Put the policies below all panels."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        (Patch(color=look["color"], alpha=FILL), Line2D([], [], **look)) for look in looks.values()
    ]
    columns = min(len(looks), LEGEND_COLUMNS)
    figure.legend(handles, list(looks), loc="outside lower center", ncols=columns)

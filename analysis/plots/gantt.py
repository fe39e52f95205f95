"""Gantt charts of pools, clusters and nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedfarm.analysis.drawing import name_panel
from schedfarm.analysis.plots.axes import legend, time_axis
from schedfarm.analysis.plots.merging import Rectangles, coverage, large
from schedfarm.analysis.plots.subject import Subject
from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.numerals import counted, grouped
from schedfarm.core.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from schedfarm.core.placement import Placement

IN_ORDER, BACKFILLED = ("#002B45", "#005687", "#0F7CBF"), ("#EBA937", "#F5C76B", "#FBE0A8")
"""Tints of jobs that started in the order of the queue, and of backfilled jobs. In grey, every tint
of a backfilled job is lighter than all others. Neighbours have different tints."""

MERGED = "0.25"
"""Colour of a pixel that merged rectangles cover all the time."""

OUTLINED = 6.0
"""Least width and height of a rectangle that gets an outline, pixels."""

MOST_LABELS = 12
"""Largest number of places with printed names."""

PANEL_PIXELS = 0.86
"""Assumed share of a panel in the figure's width, from which the size of a pixel follows."""


NUMBERED = "Processor numbers are assigned by first fit, for drawing only."


def gantt(figure: Figure, subject: Subject) -> list[str]:
    """Draw each job as a rectangle of processors x time, with a panel for each policy."""
    panels = figure.subplots(len(subject.schedules), squeeze=False)[:, 0]
    windows = [subject.window(one) for one in subject.schedules.values()]
    window = min(begin for begin, _ in windows), max(end for _, end in windows)
    notes: list[str] = []
    drawn = np.zeros(0, np.bool_)
    for axes, (name, schedule) in zip(panels, subject.schedules.items(), strict=True):
        jobs, sentences = _panel(axes, subject, schedule, window)
        drawn = np.append(drawn, schedule.backfilled[jobs])
        if len(panels) > 1:
            name_panel(axes, name)
            axes.label_outer()
            sentences = [f"{name}: {one}" for one in sentences]
        notes += sentences
    if drawn.any():
        from matplotlib.patches import Patch

        handles = [Patch(color=tints[1]) for tints in (IN_ORDER, BACKFILLED)]
        legend(figure, handles, ["in the order of the queue", "backfilled"])
    stocks = next(iter(subject.schedules.values())).workload.platform.stocks
    if stocks:
        units = " and ".join(unit for _, unit, _ in stocks)
        notes.append(f"The chart shows processors; the machine's {units} are not drawn.")
    return [*notes, NUMBERED]


def _panel(
    axes: Axes, subject: Subject, schedule: Schedule, window: tuple[int, int]
) -> tuple[Int64, list[str]]:
    """Draw one schedule; return the jobs that were drawn individually, and sentences."""
    # Numba is imported only when a chart is drawn.
    from schedfarm.core.placement import place_jobs

    placed = place_jobs(schedule)
    begin, end = window
    clock = time_axis(axes, begin, end, subject.origin)
    start, stop = schedule.start[placed.job], schedule.end[placed.job]
    shown = (start < end) & (stop > begin)
    rows = int(placed.rows[-1])
    columns, lines = _pixels(axes)
    across, up = columns / (end - begin), lines / rows
    boxes = Rectangles(
        (np.maximum(start[shown], begin) - begin) * across,
        (np.minimum(stop[shown], end) - begin) * across,
        np.asarray(placed.first[shown] * up, np.float64),
        np.asarray((placed.first + placed.count)[shown] * up, np.float64),
    )
    seen = large(boxes)
    left, right = clock(np.array([begin, end]))
    if not seen.all():
        grid = np.minimum(coverage(boxes.take(~seen), columns, lines), 1.0)
        _draw_merged(axes, grid, (left, right, 0, rows))
    scale = (right - left) / columns, rows / lines, left
    jobs = placed.job[shown][seen]
    _draw_boxes(axes, boxes.take(seen), jobs, schedule, scale)
    axes.set_ylim(0, rows)
    axes.grid(visible=False)
    _places(axes, schedule, placed.rows)
    return jobs, _notes(schedule, placed, shown, seen)


def _pixels(axes: Axes) -> tuple[int, int]:
    """Return the approximate pixel columns and rows of a panel before its layout."""
    figure: Any = axes.figure
    box = axes.get_position()
    width, height = figure.get_size_inches() * figure.dpi
    return max(int(width * PANEL_PIXELS), 1), max(int(height * box.height), 1)


def _draw_merged(axes: Axes, grid: Any, extent: tuple[float, float, float, float]) -> None:
    from matplotlib.colors import to_rgba

    image = np.zeros((*grid.shape, 4))
    image[..., :3] = to_rgba(MERGED)[:3]
    image[..., 3] = grid
    axes.imshow(
        image, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=1
    )


def _draw_boxes(
    axes: Axes,
    boxes: Rectangles,
    job: Int64,
    schedule: Schedule,
    scale: tuple[float, float, float],
) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    tints = np.array([[to_rgba(color) for color in row] for row in (IN_ORDER, BACKFILLED)])
    outlined = (boxes.right - boxes.left >= OUTLINED) & (boxes.top - boxes.bottom >= OUTLINED)
    for chosen, width in ((~outlined, 0.0), (outlined, 0.35)):
        part, jobs = boxes.take(chosen), job[chosen]
        x = np.stack((part.left, part.left, part.right, part.right), axis=1) * scale[0] + scale[2]
        y = np.stack((part.bottom, part.top, part.top, part.bottom), axis=1) * scale[1]
        colors = tints[schedule.backfilled[jobs].astype(np.int64), jobs % len(IN_ORDER)]
        axes.add_collection(
            PolyCollection(
                np.stack((x, y), axis=2),  # type: ignore[arg-type]
                facecolors=colors,
                edgecolors="white",
                linewidths=width,
                zorder=2,
            ),
            autolim=False,
        )


def _places(axes: Axes, schedule: Schedule, rows: Int64) -> None:
    """Label the processors of a pool, or the places of other machines."""
    platform = schedule.workload.platform
    if len(platform.places) < 2:
        axes.set_ylabel("Processor")
        if rows[-1] > platform.size:
            axes.axhline(platform.size, color="#D55E00", linewidth=0.8, linestyle="--", zorder=3)
        return
    step = -(-len(platform.places) // MOST_LABELS)
    for bound in rows[1:-1]:
        axes.axhline(bound, color="0.45", linewidth=0.4 if step == 1 else 0.15, zorder=3)
    middles = (rows[:-1] + rows[1:]) / 2
    axes.set_yticks(middles[::step], platform.places[::step])
    axes.tick_params(axis="y", length=0)
    axes.set_ylabel(platform.part.capitalize())


def _notes(schedule: Schedule, placed: Placement, shown: Bool, seen: Bool) -> list[str]:
    jobs = np.unique(placed.job[shown]).size
    merged = int(np.count_nonzero(~seen))
    notes = []
    if merged:
        notes.append(
            f"{grouped(merged)} of {counted(int(seen.size), 'rectangle')} "
            f"({counted(jobs, 'job')}) are too small to be drawn, and merged into pixels, whose "
            "shade is the share of their processors x time in use."
        )
    size, rows = schedule.workload.platform.size, int(placed.rows[-1])
    if rows > size:
        notes.append(
            f"jobs run on up to {counted(rows, 'processor')}, where the machine has {grouped(size)}"
            "."
        )
    return notes

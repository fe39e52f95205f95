"""The figure of an explanation: a small Gantt chart of the explained job and jobs around it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from schedfarm.analysis.drawing import (
    COLUMN_WIDTHS,
    STYLE,
    canvas,
    checked_path,
    save,
    thin_spaced,
)
from schedfarm.analysis.plots.axes import time_unit
from schedfarm.core.explanation import Explanation
from schedfarm.core.explanation.report import most_important
from schedfarm.core.explanation.situation import AHEAD, LATER, PASSED, RUNNING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, MARGIN = 0.17, 1.1
"""Height of a job's row, and of title, axis and legend together, inches."""

LEAST_ROWS = 6
"""Least number of rows that the height allows, so that the label of the axis is not cut off."""

ITSELF = "explained job"

OTHER = "other"

COLORS = {
    ITSELF: "black",
    RUNNING: "#0072B2",
    AHEAD: "#F0B429",
    LATER: "#009E73",
    PASSED: "#CC79A7",
    OTHER: "0.6",
}
"""Colours of runs by the role of the job."""

WAITING = "0.75"
"""Colour of a wait."""

BEFORE, AFTER = 0.15, 0.25
"""Time before the submission and after the start in the figure, as shares of the wait."""


def explanation_figure(
    found: Explanation, path: str | os.PathLike[str] | None = None, *, top: int = 20
) -> Figure:
    """Draw the runs and waits of a job and of the jobs around it.

    Parameters
    ----------
    found : Explanation
        The result of `explain`.
    path : path, optional
        File for the figure, ending in .png, .pdf or .svg.
    top : int
        Number of other jobs to draw; jobs whose removal lets the job start earliest come first.

    Returns
    -------
    Figure
        The figure has a row for each job, with its run as a bar and its wait as a grey line. Lines
        mark the submission, the start and the fair start of the explained job. The jobs of the
        smallest set have a black edge.

    Raises
    ------
    StoreError
        If the path has another suffix.

    Examples
    --------
    >>> from schedfarm.core import Workload, explain, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 5], estimate=[9, 5], procs=[3, 4],
    ...                           processors=4)
    >>> figure = explanation_figure(explain(simulate(w, "fcfs+easy"), 1))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['2 (4)', '1 (3)']
    """
    from matplotlib import style

    target = None if path is None else checked_path(path)
    others = most_important(found, top)
    cause = {*found.cause.jobs} if found.cause else set()
    rows = [(found.job, ITSELF), *((one.job, (*one.roles, OTHER)[0]) for one in others)]
    with style.context(STYLE):
        figure = canvas(COLUMN_WIDTHS["one"], ROW * max(len(rows), LEAST_ROWS) + MARGIN)
        axes = figure.subplots()
        _draw(axes, found, rows, cause)
        if target is not None:
            save(figure, target)
        else:
            figure.draw_without_rendering()
    return figure


def _draw(axes: Axes, found: Explanation, rows: list[tuple[int, str]], cause: set[int]) -> None:
    schedule, jobs = found.schedule, found.schedule.workload
    wait = max(found.wait, 1)
    unit, name = time_unit(wait)
    left, right = -BEFORE * wait / unit, (1 + AFTER) * wait / unit
    for place, (job, role) in enumerate(rows):
        submit, start, end = (
            (int(times[job]) - found.submit) / unit
            for times in (jobs.submit, schedule.start, schedule.end)
        )
        axes.hlines(place, submit, start, color=WAITING, linewidth=1.6, zorder=1)
        axes.barh(
            place,
            end - start,
            left=start,
            height=0.72,
            color=COLORS[role],
            edgecolor="black" if job in cause else "none",
            linewidth=1.2 if job in cause else 0.0,
            zorder=2,
        )
    marks = {"submission": found.submit, "start": found.start}
    if found.fair is not None and found.fair != found.start:
        marks["fair start"] = found.fair
    for (label, instant), dashes in zip(marks.items(), ("-", "--", ":"), strict=False):
        position = (instant - found.submit) / unit
        axes.axvline(position, color="0.25", linewidth=0.8, linestyle=dashes, label=label, zorder=3)
    axes.set_xlim(left, right)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(
        np.arange(len(rows)), [f"{jobs.job[job]} ({jobs.procs[job]})" for job, _ in rows]
    )
    axes.xaxis.set_major_formatter(thin_spaced)
    axes.set_xlabel(f"Time since its submission ({name})")
    axes.set_ylabel("Job (processors)")
    axes.grid(visible=False)
    _legend(axes, {role for _, role in rows}, is_set=bool(cause))


def _legend(axes: Axes, roles: set[str], *, is_set: bool) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=color, label=role) for role, color in COLORS.items() if role in roles]
    if is_set:
        handles.append(
            Patch(facecolor="white", edgecolor="black", linewidth=1.2, label="in the set")
        )
    lines, _ = axes.get_legend_handles_labels()
    assert axes.figure is not None
    axes.figure.legend(
        handles=[*handles, *lines], loc="outside lower center", ncols=3, fontsize="small"
    )

"""Queue length and utilisation over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedfarm.analysis.drawing import FILL, curve_styles, thin_spaced
from schedfarm.analysis.plots.axes import curves_legend, time_axis
from schedfarm.analysis.plots.steps import Steps, busy_steps, queue_steps
from schedfarm.analysis.plots.subject import Subject
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.numerals import lasting, significant
from schedfarm.core.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PER_INCH, PER_INCH_OF_SEVERAL = 60, 30
"""Largest number of intervals per inch, for one policy and for several: more steps are averaged."""

LENGTHS = (
    *(1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200),
    *(86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200),
)
"""Lengths of intervals, s; longer intervals are multiples of the last length."""


class Averages(NamedTuple):
    """Hold the averages of a step function over equal intervals, and their extremes.

    edges: int64[k + 1], s. integrals: exact, [k]. least, most: int64[k].
    """

    edges: Int64
    integrals: Any
    least: Int64
    most: Int64

    @property
    def means(self) -> Float64:
        """Mean of each interval, float64[k]."""
        return np.asarray(self.integrals / np.diff(self.edges), np.float64)


def averages(steps: Steps, intervals: int) -> Averages:
    """Return averages over at most this many intervals; the last interval may be shorter.

    The integrals add up to the integral of the steps.

    Examples
    --------
    >>> found = averages(Steps(np.array([0, 3, 10]), np.array([2, 1])), 2)
    >>> found.edges.tolist(), found.integrals.tolist(), found.means.tolist()
    ([0, 5, 10], [8, 5], [1.6, 1.0])
    """
    first, last = int(steps.times[0]), int(steps.times[-1])
    least = -(-(last - first) // intervals)
    length = next((one for one in LENGTHS if one >= least), -(-least // LENGTHS[-1]) * LENGTHS[-1])
    edges = np.append(np.arange(first, last, length), last)
    return Averages(edges, steps.over(edges), *steps.extremes(edges))


def queue(figure: Figure, subject: Subject) -> list[str]:
    """Draw the number of waiting jobs."""
    return _draw(figure, subject, queue_steps, lambda _: 1, "Waiting jobs")


def utilisation(figure: Figure, subject: Subject) -> list[str]:
    """Draw the share of the processors in use."""
    return _draw(
        figure,
        subject,
        busy_steps,
        lambda schedule: schedule.workload.processors / 100,
        "Utilisation (%)",
    )


def _draw(
    figure: Figure,
    subject: Subject,
    of: Callable[[Schedule], Steps],
    whole: Callable[[Schedule], float],
    label: str,
) -> list[str]:
    from matplotlib import rcParams

    axes = figure.subplots()
    styles = curve_styles(list(subject.schedules))
    alone, width = len(styles) == 1, rcParams["lines.linewidth"]
    intervals = int(figure.get_figwidth() * (PER_INCH if alone else PER_INCH_OF_SEVERAL))
    windows = {name: subject.window(one) for name, one in subject.schedules.items()}
    begin, end = min(b for b, _ in windows.values()), max(e for _, e in windows.values())
    clock = time_axis(axes, begin, end, subject.origin)
    averaged, texts = 0, []
    for name, schedule in subject.schedules.items():
        first, last = windows[name]
        unit, look = whole(schedule), styles[name]
        steps = of(schedule).between(first, last)
        mean = significant(steps.integral() / (last - first) / unit)
        texts.append(mean if alone else f"{name} {mean}")
        if steps.values.size <= intervals:
            axes.stairs(
                steps.values / unit, clock(steps.times), baseline=None, linewidth=width, **look
            )
            continue
        found = averages(steps, intervals)
        x = clock(found.edges)
        averaged = max(averaged, int(found.edges[1] - found.edges[0]))
        axes.stairs(found.means / unit, x, baseline=None, linewidth=width, **look)
        if alone:
            axes.stairs(
                found.most / unit, x, baseline=found.least / unit,
                fill=True, color=look["color"], alpha=FILL,
            )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(thin_spaced)
    axes.set_ylabel(label)
    curves_legend(figure, styles)
    notes = [f"Mean over the time shown: {', '.join(texts)}{' %' if '%' in label else ''}."]
    if averaged:
        shaded = ", shaded from the least to the greatest value within" if alone else ""
        notes.append(f"Lines are means of {lasting(averaged)} each{shaded}.")
    return notes

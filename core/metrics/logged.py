"""Comparison of a schedule's waits with the waits in its log, by job and by group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Bool, Float64
from schedfarm.core.metrics.widths import WIDTHS, width_classes
from schedfarm.core.schedule import Schedule

ERRORS: dict[str, tuple[str, Callable[[Float64], float]]] = {
    "mean_error": ("mean error", lambda error: float(error.mean())),
    "mean_absolute_error": ("mean absolute error", lambda error: float(np.abs(error).mean())),
    "absolute_error_p50": ("median absolute error", lambda error: float(np.median(np.abs(error)))),
    "absolute_error_p90": (
        "90th percentile of the absolute error",
        lambda error: float(np.percentile(np.abs(error), 90)),
    ),
}
"""Statistics of the errors of waits, s: key, meaning, and function of float64[n]."""

GROUPS = ("width", "user", "group", "queue", "partition")
"""Groupings of jobs; all except the width are columns of a workload."""


@dataclass(frozen=True)
class GroupWait:
    """Hold the waits of a group of jobs.

    Parameters
    ----------
    name : str
        A width class, or the name or number of the group in the log.
    jobs : int
        Number of jobs with a logged wait.
    simulated, logged : float
        Mean waits, s.
    mean_absolute_error : float
        Mean absolute error of the waits, s.
    """

    name: str
    jobs: int
    simulated: float
    logged: float
    mean_absolute_error: float


def wait_errors(schedule: Schedule) -> dict[str, float]:
    """Return statistics of the differences between simulated and logged waits.

    Returns
    -------
    dict of str to float
        Statistics by the keys of `ERRORS`, s, over the started jobs with a logged wait; empty
        without such jobs. An error is positive if the job waited longer than in the log.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[10, 3], estimate=[20, 3], procs=[2, 4],
    ...                           processors=4, logged_wait=[0, 19])
    >>> wait_errors(simulate(w, "fcfs+none"))["mean_error"]
    -5.0
    """
    known = _known(schedule)
    if not known.any():
        return {}
    error = (schedule.wait - schedule.workload.logged_wait)[known].astype(np.float64)
    return {key: of(error) for key, (_, of) in ERRORS.items()}


def group_waits(schedule: Schedule, by: str) -> list[GroupWait]:
    """Return simulated and logged waits of groups of jobs.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[10, 3], estimate=[20, 3], procs=[2, 4],
    ...                           processors=4, logged_wait=[0, 19])
    >>> [(g.name, g.simulated, g.logged) for g in group_waits(simulate(w, "fcfs+none"), "width")]
    [('2', 0.0, 0.0), ('3-4', 9.0, 19.0)]
    """
    jobs, known = schedule.workload, _known(schedule)
    of_width = by == "width"
    key = width_classes(jobs.procs[known]) if of_width else getattr(jobs, by)[known]
    names = dict(enumerate(WIDTHS)) if of_width else {-1: "unknown", **jobs.names.get(by, {})}
    numbers, place = np.unique(key, return_inverse=True)
    if numbers.size < 2:
        return []
    simulated, logged = schedule.wait[known], jobs.logged_wait[known]
    counts = np.bincount(place)
    means = [
        np.bincount(place, weights=values) / counts
        for values in (simulated, logged, np.abs(simulated - logged))
    ]
    order = range(numbers.size) if of_width else np.argsort(-counts, kind="stable").tolist()
    return [
        GroupWait(
            names.get(int(numbers[k]), str(numbers[k])),
            int(counts[k]),
            *(float(values[k]) for values in means),
        )
        for k in order
    ]


def _known(schedule: Schedule) -> Bool:
    known: Bool = (schedule.workload.logged_wait >= 0) & (schedule.start >= 0)
    return known

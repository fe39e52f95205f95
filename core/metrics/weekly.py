"""Metrics of a schedule week by week, of the jobs that end in each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.checks import whole
from core.errors import InputError
from core.metrics.slowdown import TAU, slowdowns
from core.metrics.window import NO_WARMUP, window_of
from core.schedule import Schedule
from core.workload.resample_weeks import WEEK

WEEKLY = {
    "jobs": ("1", "number of jobs ended in the week"),
    "wait": ("s", "mean wait of the jobs ended in the week"),
    "bounded_slowdown": ("1", "mean bounded slowdown of the jobs ended in the week"),
    "pp_bounded_slowdown": ("1", "mean per-processor bounded slowdown of the jobs ended in it"),
}
"""Unit and long name of every series of `weekly`, in its order."""

MAX_WEEKS = 100_000
"""A longer schedule, of two thousand years, has its times in another unit."""


def weekly(
    schedule: Schedule,
    tau: float = TAU,
    weeks: int | None = None,
    warmup: float | str = NO_WARMUP,
    cooldown: bool = False,
) -> dict[str, npt.NDArray[np.generic]]:
    """Return metrics of the jobs that end in each week, by the names of `WEEKLY`.

    Weeks count from the first submission; a job that ends at the instant at which a week begins
    belongs to that week.

    Parameters
    ----------
    schedule : Schedule
        Starts of all jobs.
    tau : float
        Run times below this count as this in slowdowns, s, above 0.
    weeks : int, optional
        Length of the series, at least 1; jobs that end later count in the last week. By default
        up to the week of the last end.
    warmup, cooldown
        What is left out, as for `window_of`.

    Returns
    -------
    dict of str to array, shape (weeks,)
        ``jobs`` is int64; the means are float64, NaN in a week in which no job ends.

    Raises
    ------
    InputError
        If `tau` is not above 0, `weeks` is not at least 1, `warmup` is neither a share nor a
        duration, or the schedule lasts longer than `MAX_WEEKS`.

    Examples
    --------
    >>> from core import Workload
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> s = Schedule(w, "fcfs+none", np.array([0, 40]), np.zeros(2, bool))
    >>> weekly(s)["wait"].tolist()
    [20.0]
    """
    jobs, wait = schedule.workload, schedule.wait
    first = int(jobs.submit[0]) if len(jobs) else 0
    week = (schedule.end - first) // WEEK
    length = int(week.max(initial=-1)) + 1
    if length > MAX_WEEKS:
        raise InputError(
            f"workload {jobs.name!r}: the schedule lasts {length} weeks, more than {MAX_WEEKS}; "
            "check the units of its times"
        )
    if weeks is not None:
        length = whole("weeks", weeks, least=1)
        week = np.minimum(week, length - 1)
    run, procs, counts = jobs.run, jobs.procs, window_of(schedule, warmup, cooldown).counts
    if counts is not None:
        week, wait, run, procs = week[counts], wait[counts], run[counts], procs[counts]
    columns = (wait, slowdowns(wait, run, tau), slowdowns(wait, run, tau, procs))
    count = np.bincount(week, minlength=length)
    divisor = np.where(count > 0, count, np.nan)
    means = [np.bincount(week, weights=column, minlength=length) / divisor for column in columns]
    return dict(zip(WEEKLY, [count, *means], strict=True))

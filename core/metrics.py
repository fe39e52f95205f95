"""What a schedule cost its jobs: wait, slowdown and use of the machine, all or week by week.

Definitions are those of SEMANTICS, "Metrics of a job". Sums of seconds are exact integers; means
of slowdowns are numpy's pairwise sums in job order. So every figure is the same to the bit
wherever it is computed.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
import numpy.typing as npt

from core.checks import whole
from core.errors import InputError
from core.load import work
from core.resample import WEEK
from core.schedule import Schedule
from core.workload import HORIZON, Int64

Float64 = npt.NDArray[np.float64]

TAU = 10
"""Run times below this count as this in a bounded slowdown, s (Feitelson et al. 1997)."""

METRICS = {
    "jobs": ("1", "number of jobs"),
    "wait": ("s", "mean wait"),
    "wait_max": ("s", "longest wait"),
    "response": ("s", "mean response time"),
    "bounded_slowdown": ("1", "mean bounded slowdown"),
    "bounded_slowdown_max": ("1", "largest bounded slowdown"),
    "pp_bounded_slowdown": ("1", "mean per-processor bounded slowdown"),
    "pp_bounded_slowdown_max": ("1", "largest per-processor bounded slowdown"),
    "utilisation": ("1", "share of the processors in use from first submission to last end"),
    "makespan": ("s", "time from first submission to last end"),
    "backfilled": ("1", "number of jobs backfilled"),
    "killed": ("1", "number of jobs killed at their estimate"),
    "queue_length": ("1", "time-average number of waiting jobs"),
    "offered_load": ("1", "offered load"),
}
"""Unit and long name of every metric of `summarise`, in its order."""

WEEKLY = {
    "jobs": ("1", "number of jobs ended in the week"),
    "wait": ("s", "mean wait of the jobs ended in the week"),
    "bounded_slowdown": ("1", "mean bounded slowdown of the jobs ended in the week"),
    "pp_bounded_slowdown": ("1", "mean per-processor bounded slowdown of the jobs ended in it"),
}
"""Unit and long name of every series of `weekly`, in its order."""

MAX_WEEKS = 100_000
"""A longer schedule, of two thousand years, has its times in another unit."""


def bounded_slowdown(schedule: Schedule, tau: float = TAU) -> Float64:
    """Return max((wait + run) / max(run, tau), 1) of each job.

    Parameters
    ----------
    schedule : Schedule
        Starts of n jobs.
    tau : float
        Run times below this count as this, s, above 0.

    Returns
    -------
    float64[n]
        In the workload's order.

    Raises
    ------
    InputError
        If `tau` is not above 0.

    References
    ----------
    D. G. Feitelson et al., Theory and practice in parallel job scheduling, JSSPP 1997.

    Examples
    --------
    >>> from core import Workload
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> s = Schedule(w, "fcfs+none", np.array([0, 40]), np.zeros(2, bool), np.array([-1, -1]))
    >>> bounded_slowdown(s).tolist()
    [1.0, 4.2]
    """
    return _slowdown(schedule.wait, schedule.workload.run, tau)


def pp_bounded_slowdown(schedule: Schedule, tau: float = TAU) -> Float64:
    """Return max((wait + run) / (procs x max(run, tau)), 1) of each job.

    Parameters
    ----------
    schedule : Schedule
        Starts of n jobs.
    tau : float
        Run times below this count as this, s, above 0.

    Returns
    -------
    float64[n]
        In the workload's order.

    Raises
    ------
    InputError
        If `tau` is not above 0.

    References
    ----------
    D. Zotkin, P. J. Keleher, Job-length estimation and performance in backfilling schedulers,
    HPDC 1999.

    Examples
    --------
    >>> from core import Workload
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> s = Schedule(w, "fcfs+none", np.array([0, 40]), np.zeros(2, bool), np.array([-1, -1]))
    >>> pp_bounded_slowdown(s).tolist()
    [1.0, 2.1]
    """
    return _slowdown(schedule.wait, schedule.workload.run, tau, schedule.workload.procs)


def summarise(schedule: Schedule, tau: float = TAU) -> dict[str, float]:
    """Return the metrics of a whole schedule, by the names and in the order of `METRICS`.

    Parameters
    ----------
    schedule : Schedule
        Starts of all jobs.
    tau : float
        Run times below this count as this in slowdowns, s, above 0.

    Returns
    -------
    dict of str to float
        NaN where a metric does not exist: a mean over no jobs, a share of no time.

    Raises
    ------
    InputError
        If `tau` is not above 0.

    Examples
    --------
    >>> from core import Workload
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> s = Schedule(w, "fcfs+none", np.array([0, 40]), np.zeros(2, bool), np.array([-1, -1]))
    >>> m = summarise(s)
    >>> m["wait"], m["makespan"], m["utilisation"], m["bounded_slowdown"]
    (20.0, 42.0, 1.0, 2.6)
    """
    jobs, wait = schedule.workload, schedule.wait
    slow = _slowdown(wait, jobs.run, tau)
    per_processor = _slowdown(wait, jobs.run, tau, jobs.procs)
    waited, n, done = _total(wait), len(jobs), work(jobs)
    makespan = int(schedule.end.max() - jobs.submit[0]) if n else 0
    submitting = int(jobs.submit[-1] - jobs.submit[0]) if n else 0
    values = (
        n,
        _ratio(waited, n),
        wait.max() if n else np.nan,
        _ratio(waited + _total(jobs.run), n),
        slow.mean() if n else np.nan,
        slow.max() if n else np.nan,
        per_processor.mean() if n else np.nan,
        per_processor.max() if n else np.nan,
        _ratio(done, jobs.processors * makespan),
        makespan,
        np.count_nonzero(schedule.backfilled),
        np.count_nonzero(jobs.killed),
        # The number waiting, integrated over time, is the sum of all waits.
        _ratio(waited, makespan),
        _ratio(done, jobs.processors * submitting),
    )
    return {name: float(value) for name, value in zip(METRICS, values, strict=True)}


def weekly(
    schedule: Schedule, tau: float = TAU, weeks: int | None = None
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

    Returns
    -------
    dict of str to array, shape (weeks,)
        ``jobs`` is int64; the means are float64, NaN in a week in which no job ends.

    Raises
    ------
    InputError
        If `tau` is not above 0, `weeks` is not at least 1, or the schedule lasts longer than
        `MAX_WEEKS`.

    Examples
    --------
    >>> from core import Workload
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> s = Schedule(w, "fcfs+none", np.array([0, 40]), np.zeros(2, bool), np.array([-1, -1]))
    >>> weekly(s)["wait"].tolist()
    [20.0]
    """
    jobs, wait = schedule.workload, schedule.wait
    first = int(jobs.submit[0]) if len(jobs) else 0
    week = (schedule.end - first) // WEEK
    if week.max(initial=0) >= MAX_WEEKS:
        raise InputError(
            f"workload {jobs.name!r}: the schedule lasts {int(week.max()) + 1} weeks, more than "
            f"{MAX_WEEKS}; check the units of its times"
        )
    if weeks is not None:
        week = np.minimum(week, whole("weeks", weeks, least=1) - 1)
    count = np.bincount(week, minlength=weeks or 0)
    divisor = np.where(count > 0, count, np.nan)
    columns = (
        wait,
        _slowdown(wait, jobs.run, tau),
        _slowdown(wait, jobs.run, tau, jobs.procs),
    )
    means = [
        np.bincount(week, weights=column, minlength=weeks or 0) / divisor for column in columns
    ]
    return dict(zip(WEEKLY, [count, *means], strict=True))


def _slowdown(wait: Int64, run: Int64, tau: float, procs: Int64 | int = 1) -> Float64:
    if not (isinstance(tau, Real) and tau > 0):
        raise InputError(f"tau={tau!r}: the bound of a slowdown is a time above 0 s, such as {TAU}")
    ratio: Float64 = (wait + run) / (procs * np.maximum(run, tau))
    return np.maximum(ratio, 1.0, out=ratio)


def _total(values: Int64) -> int:
    if int(values.max(initial=0)) * values.size < HORIZON:
        return int(values.sum())
    return sum(values.tolist())


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else np.nan

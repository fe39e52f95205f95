"""Fairness of a schedule: lateness, resource equality, overtaking.

Sums of seconds are exact integers, and means of floats are numpy's pairwise sums in job order.
Therefore every value is the same to the bit on every machine.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.counted import Counted, mean, ratio, total
from schedfarm.core.metrics.declared import METRICS
from schedfarm.core.metrics.metric import Metric
from schedfarm.core.schedule import Schedule


def resource_equality(schedule: Schedule) -> Float64:
    """Return the processor time that each job deserved.

    Active jobs have arrived and not completed. At each instant the used processors are divided
    among the active jobs, in proportion to the processors that they hold or will hold. A job that
    never holds processors, such as a refused job, deserves no time. The definition limits the share
    of a job to the processors that it can use. This limit is never reached, since the used
    processors never exceed the requested processors.

    Parameters
    ----------
    schedule : Schedule
        Starts of n jobs.

    Returns
    -------
    float64[n]
        Deserved time d of each job, processor s; the job's discrimination is d - time held x procs.

    References
    ----------
    G. Sabin and P. Sadayappan, Unfairness metrics for space-sharing parallel job schedulers,
    JSSPP 2005, section 3.2.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[9, 3], estimate=[9, 3], procs=[2, 1],
    ...                           processors=2)
    >>> resource_equality(simulate(w, "fcfs+none")).tolist()
    [12.0, 9.0]
    """
    jobs, taken = schedule.workload, schedule.taken
    none = np.zeros(len(jobs), np.int64)
    instants = np.concatenate((jobs.submit, schedule.start, schedule.end))
    order = np.argsort(instants, kind="stable")
    demand = np.cumsum(np.concatenate((taken, none, -taken))[order])
    used = np.cumsum(np.concatenate((none, taken, -taken))[order])
    # Deserved time of one processor since the beginning; the same sum serves all jobs.
    share = np.divide(used, demand, out=np.zeros(demand.size), where=demand > 0)
    reached = np.zeros(demand.size)
    reached[1:] = np.cumsum(share[:-1] * np.diff(instants[order]))
    earned = np.empty(demand.size)
    earned[order] = reached
    at = earned.reshape(3, -1)
    deserved: Float64 = taken * (at[2] - at[0])
    return deserved


def discrimination(schedule: Schedule) -> Float64:
    """Return the deserved minus the received processor time, D = d - time held x procs.

    Returns
    -------
    float64[n]
        Discrimination, processor s; positive for a job that was treated unfairly (see
        `resource_equality`).

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[9, 3], estimate=[9, 3], procs=[2, 1],
    ...                           processors=2)
    >>> discrimination(simulate(w, "fcfs+none")).tolist()
    [-6.0, 6.0]
    """
    return discrimination_of(resource_equality(schedule), schedule.held, schedule.taken)


def discrimination_of(deserved: Float64, held: Int64, procs: Int64) -> Float64:
    """Return deserved - held x procs of each element, processor s.

    The sum over all jobs of a schedule is 0, since all used time is divided among the jobs. So the
    mean of abs(D) is twice the mean of max(D, 0). These relations do not hold for a subset of the
    jobs.

    Examples
    --------
    >>> discrimination_of(np.array([12.0, 9.0]), np.array([9, 3]), np.array([2, 1])).tolist()
    [-6.0, 6.0]
    """
    return deserved - held * procs


def unserved(deserved: Float64, held: Int64, procs: Int64) -> Float64:
    """Return max(deserved - held x procs, 0) of each element, processor s.

    Examples
    --------
    >>> unserved(np.array([12.0, 9.0]), np.array([9, 3]), np.array([2, 1])).tolist()
    [0.0, 6.0]
    """
    short: Float64 = np.maximum(discrimination_of(deserved, held, procs), 0.0)
    return short


def lateness(schedule: Schedule, fst: npt.ArrayLike) -> Int64:
    """Return the time by which each job starts after its fair start; 0 for earlier starts.

    A refused job is never late, since it also has no fair start.

    Parameters
    ----------
    schedule : Schedule
        Starts of n jobs.
    fst : int64[n]
        Fair start times, s (see `fair_start_times`); -1 for refused jobs.

    Returns
    -------
    int64[n]
        max(start - fst, 0), s.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 3], estimate=[9, 3], procs=[2, 1],
    ...                           processors=2)
    >>> lateness(simulate(w, "fcfs+none"), [0, 7]).tolist()
    [0, 2]
    """
    fair = np.asarray(fst)
    if fair.shape != schedule.start.shape or fair.dtype.kind not in "iu":
        raise InputError(
            f"fst has shape {fair.shape} and type {fair.dtype}; "
            f"give one whole number of seconds for each of the {len(schedule.start)} jobs"
        )
    if (missing := (fair < 0) & ~schedule.unstarted).any():
        j = int(missing.argmax())
        raise InputError(
            f"fst of job {j} is {int(fair[j])}: fair start times of all jobs that were not refused "
            "are needed, from 0"
        )
    return lateness_of(schedule.start, fair.astype(np.int64))


def lateness_of(start: Int64, fst: Int64) -> Int64:
    """Return max(start - fst, 0) of each element.

    Examples
    --------
    >>> lateness_of(np.array([0, 9]), np.array([3, 7])).tolist()
    [0, 2]
    """
    late: Int64 = np.maximum(start - fst, 0)
    return late


def unfairness(schedule: Schedule, fst: npt.ArrayLike) -> float:
    """Return the mean of `lateness` over all jobs, s; early and punctual jobs count as 0.

    Refused jobs are excluded; the result is NaN without jobs. Source: Sabin and Sadayappan (2005),
    section 3.1.3.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 3], estimate=[9, 3], procs=[2, 1],
    ...                           processors=2)
    >>> unfairness(simulate(w, "fcfs+none"), [0, 7])
    1.0
    """
    return ratio(total(lateness(schedule, fst)), _started(schedule))


def unfair_share(schedule: Schedule, fst: npt.ArrayLike) -> float:
    """Return the share of jobs that start after their fair start.

    Refused jobs are excluded; the result is NaN without jobs.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 3], estimate=[9, 3], procs=[2, 1],
    ...                           processors=2)
    >>> unfair_share(simulate(w, "fcfs+none"), [0, 7])
    0.5
    """
    return ratio(int(np.count_nonzero(lateness(schedule, fst))), _started(schedule))


def _started(schedule: Schedule) -> int:
    return int(np.count_nonzero(~schedule.unstarted))


def slips_and_skips(schedule: Schedule) -> tuple[Int64, Int64]:
    """Count, for each job, the later jobs that overtook it and the earlier jobs that it overtook.

    A job overtakes an earlier job if it starts first. Jobs with equal starts do not overtake each
    other, and refused jobs do not count. Both counts have the same sum.

    Returns
    -------
    slips, skips : int64[n]
        Number of jobs that overtook the job, and number of jobs that the job overtook.

    References
    ----------
    R. C. Larson, Perspectives on queues, Operations Research 1987, as cited by Sabin and
    Sadayappan (2005), section 2.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 7], estimate=[9, 9, 7],
    ...                           procs=[1, 2, 1], processors=2)
    >>> [x.tolist() for x in slips_and_skips(simulate(w, "fcfs+easy"))]
    [[0, 1, 0], [0, 0, 1]]
    """
    from schedfarm.core.metrics.kernels.overtaking import overtakings

    there = ~schedule.unstarted
    place = np.unique(schedule.start[there], return_inverse=True)[1]
    slips, skips = np.zeros((2, len(schedule.workload)), np.int64)
    slips[there], skips[there] = overtakings(place.astype(np.int64))
    return slips, skips


class Judged(Counted):
    """Hold a schedule with the fair start times of its jobs, if known.

    Parameters
    ----------
    schedule : Schedule
        Schedule of all jobs.
    fst : int64[n] or None
        Fair start times of one kind, s.
    least_jobs : int
        As for `Counted`.
    """

    def __init__(self, schedule: Schedule, fst: npt.ArrayLike | None, least_jobs: int) -> None:
        super().__init__(schedule, least_jobs=least_jobs)
        self.fst = fst


def _unserved(schedule: Schedule) -> Float64:
    return unserved(resource_equality(schedule), schedule.held, schedule.taken)


FAIRNESS = {
    metric.name: metric
    for metric in (
        Metric(
            "unfairness", "s", "mean time by which jobs start after their fair start, over all",
            lambda j: math.nan if j.fst is None else unfairness(j.schedule, j.fst),
        ),
        Metric(
            "unfair_share", "1", "share of jobs that start after their fair start",
            lambda j: math.nan if j.fst is None else unfair_share(j.schedule, j.fst),
        ),
        Metric(
            "resource_unfairness", "processor s", "mean time deserved and not received",
            lambda j: mean(_unserved(j.schedule)[j.kept]),
        ),
        Metric(
            "slips", "1", "mean number of later jobs that started before a job",
            lambda j: ratio(int(slips_and_skips(j.schedule)[0].sum()), len(j)),
        ),
        *(METRICS[f"nuwt_{what}"] for what in ("mean", "spread", "jain", "gini")),
        METRICS["users"],
    )
}  # fmt: skip
"""Metrics of `summarise_fairness`, by name."""


def summarise_fairness(
    schedule: Schedule, fst: npt.ArrayLike | None = None, least_jobs: int = 2
) -> dict[str, float]:
    """Return the fairness metrics of a schedule, in the order of `FAIRNESS`.

    Parameters
    ----------
    schedule : Schedule
        Starts of all jobs.
    fst : int64[n], optional
        Fair start times of one kind, s; without them, metrics that need them are NaN.
    least_jobs : int
        Least number of jobs of the users that count.

    Returns
    -------
    dict of str to float
        Values by name; NaN for a mean over no jobs or no users.

    Raises
    ------
    InputError
        As `lateness` and `user_waits`.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 3], estimate=[9, 3], procs=[2, 1],
    ...                           user=[1, 1], processors=2)
    >>> m = summarise_fairness(simulate(w, "fcfs+none"), [0, 7])
    >>> m["unfairness"], m["unfair_share"], m["users"], m["nuwt_jain"]
    (1.0, 0.5, 1.0, 1.0)
    """
    judged = Judged(schedule, fst, least_jobs)
    return {metric.name: float(metric.value(judged)) for metric in FAIRNESS.values()}

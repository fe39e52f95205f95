"""Fairness among users: normalised wait times and their spread.

D. Klusacek and H. Rudova, Performance and fairness for users in parallel job scheduling, JSSPP
2012, section 2.3 and formulas 1 to 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

if TYPE_CHECKING:
    from schedfarm.core.metrics.counted import Counted

UNKNOWN = -1
"""User number of jobs without a known user; such jobs count for no user."""

TABLE = 2**20
"""Bound of user numbers that are looked up in a table: 0.1 ms for 77,000 jobs.

A search in the sorted numbers takes 2 ms.
"""


class UserIndex(NamedTuple):
    """Hold the users, and the index of each job's user.

    label: int64[u], user numbers, ascending. place: int64[n], index of each job's user in `label`;
    u for other users. jobs, work: int64[u], number of all jobs of each user, and their work,
    processor s.
    """

    label: Int64
    place: Int64
    jobs: Int64
    work: Int64


class UserSums(NamedTuple):
    """Hold sums of each user: jobs, waits, s, and run x procs, processor s; int64[u]."""

    jobs: Int64
    wait: Int64
    work: Int64


class UserWaits(NamedTuple):
    """Hold waits and work of users, by ascending user number.

    user, jobs, wait, work: int64[u], user number, number of jobs, sum of waits, s, and sum of run x
    procs, processor s. nuwt: float64[u], wait / work.
    """

    user: Int64
    jobs: Int64
    wait: Int64
    work: Int64
    nuwt: Float64


def known_users(workload: Workload) -> Int64:
    """Return the numbers of the known users of a workload, int64[u], ascending.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[1, 1, 1], estimate=[1, 1, 1],
    ...                           procs=[1, 1, 1], user=[7, -1, 3], processors=2)
    >>> known_users(w).tolist()
    [3, 7]
    """
    users = np.unique(workload.user)
    known: Int64 = users[users != UNKNOWN]
    return known


def index_users(
    workload: Workload, label: Int64 | None = None, user: Int64 | None = None
) -> UserIndex:
    """Index the users of a workload.

    Parameters
    ----------
    workload : Workload
        Workload of n jobs.
    label : int64[u], optional
        User numbers, ascending; by default all known users of the workload.
    user : int64[n], optional
        The user of each job; by default the workload's column.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[1, 1, 1], estimate=[1, 1, 1],
    ...                           procs=[1, 1, 1], user=[7, -1, 3], processors=2)
    >>> index_users(w).place.tolist(), index_users(w, np.array([7])).place.tolist()
    ([1, 2, 0], [0, 1, 1])
    """
    label = known_users(workload) if label is None else label
    user = workload.user if user is None else user
    place, count = _places(label, user), label.size
    return UserIndex(label, place, *_got(place, count, workload.run, workload.procs))


def with_work(index: UserIndex, workload: Workload) -> UserIndex:
    """Return the index of the same jobs with other run times.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0], run=[2], estimate=[2], procs=[2], user=[7],
    ...                           processors=2)
    >>> with_work(index_users(w), w.take(slice(None), run=[1])).work.tolist()
    [2]
    """
    work = added(index.place, index.label.size, workload.run * workload.procs)
    return index._replace(work=work)


def _places(label: Int64, user: Int64) -> Int64:
    """Return the index of each user in the ascending `label`; its length for other users."""
    count = label.size
    largest = max(int(user.max(initial=0)), int(label.max(initial=0)))
    least = min(int(user.min(initial=0)), int(label.min(initial=0)))
    if largest < TABLE and least >= UNKNOWN:
        # The table has one more entry at the end, for -1.
        table = np.full(largest + 2, count)
        table[label] = np.arange(count)
        return np.asarray(table[user])
    found = np.searchsorted(label, user)
    there = np.zeros(user.size, np.bool_)
    there[found < count] = label[found[found < count]] == user[found < count]
    return np.where(there, found, count)


def sums_of_users(index: UserIndex, counted: Counted) -> UserSums:
    """Return exact sums of each user's counted jobs.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> from schedfarm.core.metrics.counted import Counted
    >>> w = Workload.from_columns(submit=[0, 0, 0], run=[4, 2, 2], estimate=[4, 2, 2],
    ...                           procs=[2, 2, 1], user=[7, 3, 3], processors=2)
    >>> sums = sums_of_users(index_users(w), Counted(simulate(w, "fcfs+none")))
    >>> sums.jobs.tolist(), sums.wait.tolist(), sums.work.tolist()
    ([2, 1], [10, 0], [6, 8])
    """
    place, count = index.place[counted.kept], index.label.size
    wait = added(place, count, counted.wait)
    if counted.window.counts is None and counted.schedule.is_as_asked:
        return UserSums(index.jobs, wait, index.work)
    jobs, work = _got(place, count, counted.held, counted.procs)
    return UserSums(jobs, wait, work)


def _got(place: Int64, count: int, held: Int64, procs: Int64) -> tuple[Int64, Int64]:
    jobs = np.bincount(place, minlength=count)[:count]
    return jobs, added(place, count, held * procs)


def added(place: Int64, count: int, values: Int64) -> Int64:
    """Return the exact sum of nonnegative values at each of `count` indices, int64[count].

    Examples
    --------
    >>> added(np.array([1, 0, 1, 2]), 2, np.array([5, 6, 7, 8])).tolist()
    [6, 12]
    """
    from schedfarm.core.metrics.kernels.sums import whole_sums_at

    return whole_sums_at(place, count + 1, values)[:count]


def nuwt_of(sums: UserSums) -> Float64:
    """Return wait / work of each user, float64[u]; NaN for users without work.

    Examples
    --------
    >>> nuwt_of(UserSums(np.array([1, 1]), np.array([6, 6]), np.array([3, 0]))).tolist()
    [2.0, nan]
    """
    nuwt: Float64 = np.full(sums.work.size, np.nan)
    np.divide(sums.wait, sums.work, out=nuwt, where=sums.work > 0)
    return nuwt


def user_waits(schedule: Schedule, least_jobs: int = 1) -> UserWaits:
    """Return the normalised wait time of every user, NUWT = sum of waits / sum of run x procs.

    Jobs of unknown users, refused jobs, and users without work are excluded.

    Parameters
    ----------
    schedule : Schedule
        Starts of all jobs.
    least_jobs : int
        Least number of jobs of a user in the result, at least 1. The published tables use 2.

    Returns
    -------
    UserWaits
        One entry for each user.

    Raises
    ------
    InputError
        If `least_jobs` is not at least 1.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0, 0], run=[4, 2, 2], estimate=[4, 2, 2],
    ...                           procs=[2, 2, 1], user=[7, 3, 3], processors=2)
    >>> waits = user_waits(simulate(w, "fcfs+none"))
    >>> waits.user.tolist(), waits.wait.tolist(), waits.nuwt.round(3).tolist()
    ([3, 7], [10, 0], [1.667, 0.0])
    >>> user_waits(simulate(w, "fcfs+none"), least_jobs=2).user.tolist()
    [3]
    """
    from schedfarm.core.metrics.counted import Counted

    least, index = whole("least_jobs", least_jobs, least=1), index_users(schedule.workload)
    sums = sums_of_users(index, Counted(schedule))
    kept = (sums.jobs >= least) & (sums.work > 0)
    jobs, wait, work = sums.jobs[kept], sums.wait[kept], sums.work[kept]
    return UserWaits(index.label[kept], jobs, wait, work, nuwt_of(sums)[kept])


def fairness_of_users(nuwt: npt.ArrayLike) -> float:
    """Return F, the sum of (UWT - NUWT)^2 over users; UWT is the mean; NaN without users.

    Examples
    --------
    >>> fairness_of_users([1.0, 3.0])
    2.0
    """
    return spread_of(_values(nuwt))


def spread_of(values: Float64) -> float:
    """Return `fairness_of_users` of nonnegative numbers."""
    return float(np.square(values - values.mean()).sum()) if values.size else np.nan


def jain_index(values: npt.ArrayLike) -> float:
    """Return Jain's index, (sum of x)^2 / (n x sum of x^2); NaN without values.

    The index is 1 if all values are equal, even if all are 0. It is 1 / n if only one value is not
    0. Source: R. Jain, D. Chiu and W. Hawe, A quantitative measure of fairness, DEC TR-301, 1984.

    Examples
    --------
    >>> jain_index([2.0, 2.0]), jain_index([0.0, 5.0]), jain_index([0.0, 0.0])
    (1.0, 0.5, 1.0)
    """
    return jain_of(_values(values))


def jain_of(x: Float64) -> float:
    """Return `jain_index` of nonnegative numbers."""
    if not x.size or not x.any():
        return 1.0 if x.size else np.nan
    x = x / x.max()
    return float(np.square(x.sum()) / (x.size * np.square(x).sum()))


def gini_index(values: npt.ArrayLike) -> float:
    """Return the Gini coefficient, half the mean absolute difference over the mean.

    The coefficient is 0 if all values are equal, even if all are 0. It is (n - 1) / n if only one
    value is not 0, and NaN without values.

    Examples
    --------
    >>> gini_index([2.0, 2.0]), gini_index([0.0, 5.0]), gini_index([1.0, 2.0, 3.0])
    (0.0, 0.5, 0.2222222222222222)
    """
    return gini_of(_values(values))


def gini_of(values: Float64) -> float:
    """Return `gini_index` of nonnegative numbers."""
    x = np.sort(values)
    if not x.size or not x.any():
        return 0.0 if x.size else np.nan
    n = x.size
    return float(((2 * np.arange(1, n + 1) - n - 1) * x).sum() / (n * x.sum()))


def _values(values: npt.ArrayLike) -> Float64:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or np.isnan(array).any() or array.min(initial=0.0) < 0:
        raise InputError(f"an index of inequality needs one row of numbers from 0, not {values!r}")
    return array

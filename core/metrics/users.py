"""How fairly a schedule treats users: normalised wait times, and how far they lie apart.

D. Klusacek and H. Rudova, Performance and fairness for users in parallel job scheduling, JSSPP
2012, section 2.3 and formulas 1 to 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.arrays import Float64, Int64
from core.checks import whole
from core.errors import InputError
from core.schedule import Schedule

UNKNOWN = -1
"""The user of a job whose log does not tell; such jobs count for no user."""


class UserWaits(NamedTuple):
    """What the users of a schedule waited and got, by ascending user number.

    user, jobs, wait, work: int64[u], user number, number of jobs, sum of waits, s, and of
    run x procs, processor s. nuwt: float64[u], wait / work.
    """

    user: Int64
    jobs: Int64
    wait: Int64
    work: Int64
    nuwt: Float64


def user_waits(schedule: Schedule, least_jobs: int = 1) -> UserWaits:
    """Return the normalised wait time of every user, NUWT = sum of waits / sum of run x procs.

    Jobs of unknown users are left out, and users whose jobs did no work: they have no NUWT.

    Parameters
    ----------
    schedule : Schedule
        Starts of all jobs.
    least_jobs : int
        Leave out users with fewer jobs, at least 1; the published tables use 2.

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
    >>> from core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0, 0], run=[4, 2, 2], estimate=[4, 2, 2],
    ...                           procs=[2, 2, 1], user=[7, 3, 3], processors=2)
    >>> waits = user_waits(simulate(w, "fcfs+none"))
    >>> waits.user.tolist(), waits.wait.tolist(), waits.nuwt.round(3).tolist()
    ([3, 7], [10, 0], [1.667, 0.0])
    >>> user_waits(simulate(w, "fcfs+none"), least_jobs=2).user.tolist()
    [3]
    """
    least = whole("least_jobs", least_jobs, least=1)
    jobs = schedule.workload
    known = jobs.user != UNKNOWN
    user, place, count = np.unique(jobs.user[known], return_inverse=True, return_counts=True)
    wait, work = np.zeros(user.size, np.int64), np.zeros(user.size, np.int64)
    np.add.at(wait, place, schedule.wait[known])
    np.add.at(work, place, (jobs.run * jobs.procs)[known])
    kept = (count >= least) & (work > 0)
    columns = (user[kept], count[kept].astype(np.int64), wait[kept], work[kept])
    return UserWaits(*columns, columns[2] / columns[3])


def fairness_of_users(nuwt: npt.ArrayLike) -> float:
    """Return F = sum over users of (UWT - NUWT)^2, where UWT is their mean; NaN without users.

    Examples
    --------
    >>> fairness_of_users([1.0, 3.0])
    2.0
    """
    values = _values(nuwt)
    return float(np.square(values - values.mean()).sum()) if values.size else np.nan


def jain_index(values: npt.ArrayLike) -> float:
    """Return Jain's index, (sum of x)^2 / (n x sum of x^2); NaN without values.

    1 where all are equal, also all 0; 1 / n where only one is not 0. R. Jain, D. Chiu and
    W. Hawe, A quantitative measure of fairness, DEC TR-301, 1984.

    Examples
    --------
    >>> jain_index([2.0, 2.0]), jain_index([0.0, 5.0]), jain_index([0.0, 0.0])
    (1.0, 0.5, 1.0)
    """
    x = _values(values)
    if not x.size or not x.any():
        return 1.0 if x.size else np.nan
    x = x / x.max()
    return float(np.square(x.sum()) / (x.size * np.square(x).sum()))


def gini_index(values: npt.ArrayLike) -> float:
    """Return the Gini coefficient, half the mean absolute difference over the mean.

    0 where all are equal, also all 0; (n - 1) / n where only one is not 0; NaN without values.

    Examples
    --------
    >>> gini_index([2.0, 2.0]), gini_index([0.0, 5.0]), gini_index([1.0, 2.0, 3.0])
    (0.0, 0.5, 0.2222222222222222)
    """
    x = np.sort(_values(values))
    if not x.size or not x.any():
        return 0.0 if x.size else np.nan
    n = x.size
    return float(((2 * np.arange(1, n + 1) - n - 1) * x).sum() / (n * x.sum()))


def _values(values: npt.ArrayLike) -> Float64:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or np.isnan(array).any() or array.min(initial=0.0) < 0:
        raise InputError(f"an index of inequality needs numbers from 0 in one row, not {values!r}")
    return array

"""A set of moldable jobs: times on each number of processors, and weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import shown
from schedfarm.core.errors import InputError
from schedfarm.core.models.speedup import breaks

MOST_WORK = 2**58
"""Largest work of all jobs on all processors, s x processors.

Every derived number, such as the area of a guess that is too long, then fits int64.
"""

MOST_WEIGHT = 2**40
"""Largest sum of weights, so that the weight of a selection fits int64."""


@dataclass(frozen=True, eq=False)
class Instance:
    """Hold moldable jobs that are all released at time 0.

    Parameters
    ----------
    times : array_like of int[n, m]
        Time of each job on 1 to m processors, s, at least 1. With more processors, a job is never
        longer, and its work (time x processors) is never less.
    weights : array_like of int[n], optional
        Cost of a second of a job's completion time, at least 1; by default 1.
    names : iterable of str, optional
        Names of the jobs; by default ``1``, ``2`` and so on.

    Raises
    ------
    InputError
        If times are not monotone or a value is out of range; the error names job and processors.

    Examples
    --------
    >>> jobs = Instance([[12, 7, 5], [4, 4, 4]], weights=[3, 1])
    >>> jobs.jobs, jobs.processors, jobs.names
    (2, 3, ('1', '2'))
    >>> Instance([[9, 5, 6]])
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: job 1: 3 processors take 6 s and 2 take 5 s; more processors
    may not \
take longer
    """

    times: Int64
    weights: Int64 = field(default_factory=lambda: np.empty(0, np.int64))
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        times = _whole("times", self.times)
        if times.ndim != 2 or not times.size:
            raise InputError(
                f"times has shape {times.shape}: give a row for each job and a column for each "
                "number of processors, at least one of both"
            )
        jobs = times.shape[0]
        names = tuple(self.names) or tuple(str(number) for number in range(1, jobs + 1))
        weights = self.weights if np.size(self.weights) else np.ones(jobs, np.int64)
        for name, value in (
            ("times", times),
            ("weights", _weights(weights, jobs)),
            ("names", _names(names, jobs)),
        ):
            object.__setattr__(self, name, value)
        _check_times(times, names)

    @property
    def jobs(self) -> int:
        """Number of jobs."""
        return int(self.times.shape[0])

    @property
    def processors(self) -> int:
        """Size of the machine."""
        return int(self.times.shape[1])

    def time(self, procs: Int64) -> Int64:
        """Return the time of each job on its number of processors, int64[n], s."""
        found: Int64 = self.times[np.arange(self.jobs), procs - 1]
        return found

    def fewest(self, length: int) -> Int64:
        """Return the fewest processors for which each job takes at most `length` s; m + 1 if none.

        Examples
        --------
        >>> Instance([[12, 7, 5], [4, 4, 4]]).fewest(6).tolist()
        [3, 1]
        """
        over: Int64 = np.count_nonzero(self.times > length, axis=1) + 1
        return over

    def only(self, chosen: Int64) -> Instance:
        """Return the instance with only the chosen jobs, in the order of `chosen`."""
        names = tuple(self.names[job] for job in chosen.tolist())
        return Instance(self.times[chosen], self.weights[chosen], names)


def break_of(times: Int64) -> tuple[int, int, str] | None:
    """Return the first violation of monotone times: job, number of processors, and a sentence.

    Examples
    --------
    >>> break_of(np.array([[9, 6], [9, 4]]))
    (1, 2, '2 processors do 8 s x processors of work and 1 do 9; more may not do less')
    """
    longer, less = breaks(times)
    found = np.argwhere(longer | less)
    if not found.size:
        return None
    job, k = found[0].tolist()
    now, before = times[job, k + 1], times[job, k]
    if longer[job, k]:
        why = f"take {now} s and {k + 1} take {before} s; more processors may not take longer"
    else:
        more, fewer = now * (k + 2), before * (k + 1)
        why = f"do {more} s x processors of work and {k + 1} do {fewer}; more may not do less"
    return job, k + 2, f"{k + 2} processors {why}"


def _whole(what: str, values: npt.ArrayLike) -> Int64:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise InputError(f"{what} are of {array.dtype}: give whole numbers below 2^63")
    fixed = array.astype(np.int64)
    fixed.flags.writeable = False
    return fixed


def _weights(values: npt.ArrayLike, jobs: int) -> Int64:
    weights = _whole("weights", values)
    if weights.shape != (jobs,):
        raise InputError(f"weights has shape {weights.shape} for {jobs} jobs: give one for each")
    if (weights < 1).any() or sum(weights.tolist()) > MOST_WEIGHT:
        raise InputError(
            f"weights are {weights.min()} to {weights.max()}, {sum(weights.tolist())} together: "
            f"give at least 1 to each job, and at most {MOST_WEIGHT} together"
        )
    return weights


def _names(names: Iterable[str], jobs: int) -> tuple[str, ...]:
    known = tuple(names)
    if len(known) != jobs:
        raise InputError(f"{len(known)} names for {jobs} jobs: give one for each")
    for name, count in Counter(known).items():
        if count > 1:
            raise InputError(f"{count} jobs are called {shown(name)}: give each a different name")
    return known


def _check_times(times: Int64, names: tuple[str, ...]) -> None:
    if times.min() < 1:
        job, k = np.argwhere(times < 1)[0].tolist()
        raise InputError(
            f"job {names[job]}: {k + 1} processors take {times[job, k]} s; give at least 1 s"
        )
    # The sums use Python's integers, since they may exceed int64.
    work = times.shape[1] * sum(times[:, 0].tolist())
    if work > MOST_WORK:
        raise InputError(
            f"the jobs take {sum(times[:, 0].tolist())} s together on one processor; give at most "
            f"{MOST_WORK // times.shape[1]} s for a machine of {times.shape[1]}"
        )
    found = break_of(times)
    if found:
        raise InputError(f"job {names[found[0]]}: {found[2]}")

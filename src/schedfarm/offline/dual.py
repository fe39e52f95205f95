"""The 3/2 dual approximation: either a schedule of at most 3/2 guess, or the guess is too short."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.checks import shown
from schedfarm.core.errors import InputError
from schedfarm.offline.bounds import makespan_bound
from schedfarm.offline.instance import Instance
from schedfarm.offline.knapsack import knapsack
from schedfarm.offline.plan import Plan

PRECISION = 0.01
"""Relative gap between the shortest accepted guess and the bound at which a search ends."""


@dataclass(frozen=True, eq=False)
class Approximation:
    """Hold the result of a search over guesses.

    Parameters
    ----------
    plan : Plan
        The shortest schedule that was found, of length at most 3/2 `guess`.
    guess : int
        The shortest accepted guess, s.
    bound : int
        Lower bound of the makespan, s: the bound of `offline.bounds`, or one more than the longest
        rejected guess.
    """

    plan: Plan
    guess: int
    bound: int

    @property
    def instance(self) -> Instance:
        """The jobs."""
        return self.plan.instance


def approximate(instance: Instance, *, precision: float = PRECISION) -> Approximation:
    """Search by bisection until the guess is at most (1 + precision) x the bound.

    The length of the plan is at most 3/2 (1 + precision) x the shortest makespan, rounded down.

    Examples
    --------
    >>> found = approximate(Instance([[12, 7, 5], [4, 4, 4]]))
    >>> found.guess, found.bound, found.plan.makespan
    (7, 7, 7)
    """
    if not 0 <= precision < math.inf:
        raise InputError(f"precision={shown(precision)}: give a finite number from 0 on")
    bound = guess = makespan_bound(instance)
    plan = dual(instance, guess)
    while plan is None:
        bound, guess = guess + 1, 2 * guess
        plan = dual(instance, guess)
    while guess - bound > precision * bound:
        middle = (bound + guess) // 2
        found = dual(instance, middle)
        if found is None:
            bound = middle + 1
        else:
            guess = middle
            plan = min(plan, found, key=lambda one: one.makespan)
    return Approximation(plan, guess, bound)


def dual(instance: Instance, guess: int) -> Plan | None:
    """Return a schedule of at most 3/2 of a guess in s; None if none is as short as the guess.

    In a schedule as long as the guess, the jobs that take more than half of the guess run side by
    side. Each of these long jobs has at least the processors that it needs to end within the guess.
    Each other job has at least the processors that it needs to end within half of the guess. A
    knapsack finds such a division of the jobs with the least work. If its work exceeds the machine,
    there is no such schedule. Otherwise the long jobs form shelf 1, as long as the guess, and the
    other jobs form shelf 2, half as long. Jobs are then moved to columns of both heights until
    shelf 2 is no wider than the machine. Jobs that take at most half the guess on one processor
    fill the gaps.

    References
    ----------
    G. Mounie, C. Rapine, D. Trystram, A 3/2-approximation algorithm for scheduling independent
    monotonic malleable tasks, SIAM Journal on Computing 37, 2007.

    Examples
    --------
    >>> jobs = Instance([[12, 7, 5], [4, 4, 4]])
    >>> dual(jobs, 6) is None, dual(jobs, 7).makespan
    (True, 7)
    """
    # The guess is capped by the time of all jobs in sequence, so that its area is an int64.
    length = min(guess, int(instance.times[:, 0].sum()))
    divided = _divided(instance, length)
    if divided is None:
        return None
    shelves = _Shelves(instance, length, *divided)
    shelves.narrow()
    return shelves.plan().compacted()


def is_small(instance: Instance, guess: int) -> Bool:
    """Return the mask of jobs that take at most half of a guess on one processor, bool[n]."""
    small: Bool = instance.times[:, 0] <= guess // 2
    return small


def _divided(instance: Instance, guess: int) -> tuple[Int64, Int64] | None:
    """Return the jobs of shelves 1 and 2 with the least work; None if this work is too much.

    Half a guess is rounded down to whole seconds: a job above it takes more than half the guess.
    """
    size, small = instance.processors, is_small(instance, guess)
    high, low = instance.fewest(guess), instance.fewest(guess // 2)
    if (high > size).any():
        return None
    forced = ~small & (low > size)
    free = ~small & ~forced
    room = size - int(high[forced].sum())
    if room < 0:
        return None
    work = high * instance.time(high)
    # The second number of a job that is forced into shelf 1 is not used.
    folded = low * instance.time(np.minimum(low, size))
    moved = np.flatnonzero(free)
    chosen = knapsack(high[moved], (folded - work)[moved], room)
    first = forced.copy()
    first[moved[chosen]] = True
    second = free & ~first
    least = work[first].sum() + folded[second].sum() + instance.times[small, 0].sum()
    if least > size * guess:
        return None
    return np.flatnonzero(first), np.flatnonzero(second)


class _Shelves:
    """Move jobs between shelves 1 and 2 and columns until shelf 2 fits next to the columns.

    A column is a processor that is busy for more than the guess; shelf 2 has no place on it. The
    moves come to an end because the work is at most guess x processors. When no move is left:

    - each column has more than the guess of work. Each other processor of shelf 1 has more than 3/4
      of the guess, except for one job of length t, next to which all others are longer than 3/2
      guess - t;
    - a job of shelf 2 on p >= 2 processors has more work than (p - 1)/2 guesses. With q processors
      free next to shelf 1, it has more work than 3/2 q guesses.

    If shelf 2 were too wide, the total work would exceed guess x processors.
    """

    def __init__(self, instance: Instance, guess: int, first: Int64, second: Int64) -> None:
        self.instance, self.guess = instance, guess
        high, low = instance.fewest(guess), instance.fewest(guess // 2)
        self.procs = np.ones(instance.jobs, np.int64)
        self.procs[first], self.procs[second] = high[first], low[second]
        self.first, self.second = first.tolist(), second.tolist()
        # Columns are: jobs that are longer than the guess; two jobs of one processor, the second on
        # top of the first; one job on top of a processor of another job, whose other processors
        # stay in shelf 1.
        self.wide: list[int] = []
        self.stacks: list[tuple[int, int]] = []
        self.riders: list[tuple[int, int]] = []
        self.highest = 3 * guess // 2

    def narrow(self) -> None:
        """Move jobs while shelf 2 is too wide."""
        while self.columns + self._width(self.second) > self.instance.processors:
            moved = self._shave() or self._stack() or self._ride() or self._raise()
            assert moved, "work at most guess x processors leaves a move"

    @property
    def columns(self) -> int:
        """Number of processors that are busy for more than the guess."""
        return self._width(self.wide) + len(self.stacks) + len(self.riders)

    def plan(self) -> Plan:
        """Return the schedule: shelf 1 begins at 0, shelf 2 ends last, small jobs in between."""
        start, time = np.zeros(self.instance.jobs, np.int64), self.instance.time(self.procs)
        busy, until = self._bottom(start, time), self._top(start, time)
        self._fill(start, busy, until)
        return Plan(self.instance, start, self.procs)

    def _bottom(self, start: Int64, time: Int64) -> Int64:
        """Start columns and then shelf 1; return the instant from which each processor is free."""
        columns = [time[job] for job in self.wide for _ in range(self.procs[job])]
        for lower, upper in self.stacks + self.riders:
            start[upper] = time[lower]
            columns.append(time[lower] + time[upper])
        carried = Counter(carrier for carrier, _ in self.riders)
        beside = [time[job] for job in self.first for _ in range(self.procs[job] - carried[job])]
        idle = self.instance.processors - len(columns) - len(beside)
        return np.array([*columns, *beside, *[0] * idle], np.int64)

    def _top(self, start: Int64, time: Int64) -> Int64:
        """Start shelf 2 on the last processors; return the instant until which each one is free."""
        end = self.instance.processors
        until = np.full(end, self.highest)
        for job in self.second:
            start[job] = self.highest - time[job]
            until[end - self.procs[job] : end] = start[job]
            end -= int(self.procs[job])
        return until

    def _fill(self, start: Int64, busy: Int64, until: Int64) -> None:
        """Put each small job on the processor with the longest remaining time."""
        time = self.instance.times[:, 0]
        gaps = [(-int(b - a), i) for i, (a, b) in enumerate(zip(busy, until, strict=True))]
        heapq.heapify(gaps)
        small = np.flatnonzero(is_small(self.instance, self.guess))
        for job in small[np.argsort(-time[small], kind="stable")].tolist():
            gap, i = gaps[0]
            start[job] = busy[i]
            busy[i] += time[job]
            heapq.heapreplace(gaps, (gap + int(time[job]), i))

    def _shave(self) -> bool:
        """Remove a processor from a job of shelf 1 that then still ends in time, on columns."""
        for job in self.first:
            if self.procs[job] > 1 and self._is_short(job):
                self.first.remove(job)
                self.procs[job] -= 1
                self.wide.append(job)
                return True
        return False

    def _stack(self) -> bool:
        """Put two short jobs of one processor on one column."""
        short = [job for job in self.first if self._is_short(job)][:2]
        if len(short) < 2:
            return False
        for job in short:
            self.first.remove(job)
        self.stacks.append((short[0], short[1]))
        return True

    def _ride(self) -> bool:
        """Put the last short job on top of a processor of another job."""
        short = next((job for job in self.first if self._is_short(job)), None)
        if short is None:
            return False
        for job in self.first:
            carried = sum(carrier == job for carrier, _ in self.riders)
            together = self._time(job) + self._time(short)
            if job != short and carried < self.procs[job] and together <= self.highest:
                self.first.remove(short)
                self.riders.append((job, short))
                return True
        return False

    def _raise(self) -> bool:
        """Move a job of shelf 2 to fewer processors, which are free next to shelf 1."""
        riders = len(self.riders)
        free = self.instance.processors - self.columns - (self._width(self.first) - riders)
        fewest = self.instance.fewest(self.highest)
        fits = [job for job in self.second if fewest[job] <= free]
        if not fits:
            return False
        job = max(fits, key=lambda one: int(self.procs[one]))
        self.second.remove(job)
        self.procs[job] = fewest[job]
        (self.wide if self._time(job) > self.guess else self.first).append(job)
        return True

    def _is_short(self, job: int) -> bool:
        return 4 * self._time(job) <= 3 * self.guess

    def _time(self, job: int) -> int:
        return int(self.instance.times[job, self.procs[job] - 1])

    def _width(self, jobs: list[int]) -> int:
        return int(self.procs[jobs].sum()) if jobs else 0

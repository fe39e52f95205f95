"""Search for the smallest set of jobs without which another job would start earlier.

Backfilling is not monotone: without some other jobs, a job may even start later. A set of jobs may
have an effect that no subset has, and a subset may have an effect that the whole set lacks.
Therefore every reported set is simulated, and every set that is reported to have no effect is
simulated too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import comb

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.cancel import underway
from schedfarm.core.explanation.window import Window, cuts_of, is_restartable
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule

LARGEST = 3
"""Largest size of sets that are tried exhaustively."""

EFFORT = 1.0
"""Default limit of a search: estimated CPU time of its simulations, s.

With estimates, the same search has the same result on every host.
"""

REDUCTION = 10.0
"""Limit of the reduction of a large set: estimated CPU time of its simulations, s."""

FEW = 64
"""Number of subsets to try even if no effort is left."""

MOST = 100_000
"""Largest number of subsets to try; a set of 17 jobs has more."""

LOOKS = (64, 512, 4_096)
"""Numbers of later jobs after which the search checks whether a removed job's effect is over."""

KINDS = {
    "smallest": "no smaller set of jobs has this effect",
    "minimal": "no part of the set has this effect; a smaller set of other jobs may exist",
    "reduced": "no job of the set can be left out; a smaller set may exist",
    "sufficient": "the search ended before it was known whether a job of the set can be left out",
    "none": "no set was found",
}
"""Meaning of each kind of set."""


@dataclass(frozen=True)
class CauseSet:
    """Hold a set of jobs without which a job starts earlier.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    jobs : tuple of int
        Indices of the jobs, ascending; empty for ``none``.
    start : int, optional
        Start of the explained job without them, s.
    tried : int
        Size up to which all sets of candidates were tried.
    candidates : int
        Number of candidates.
    of : int
        Number of other jobs that were submitted before the start.
    alone : int, optional
        Start of the explained job without all these other jobs, s, if it was simulated.
    simulations : int
        Number of simulations of the search.
    """

    kind: str
    jobs: tuple[int, ...]
    start: int | None
    tried: int
    candidates: int
    of: int
    alone: int | None
    simulations: int


@dataclass
class Trials:
    """Simulate a schedule again without sets of jobs, and return the start of one job.

    left: remaining CPU time, s. gains: for each job that was removed alone, the time by which the
    explained job starts earlier, s; 0 if it does not start earlier.
    """

    schedule: Schedule
    policy: Policy
    job: int
    left: float = EFFORT
    gains: dict[int, int] = field(default_factory=dict)
    simulations: int = 0

    def __post_init__(self) -> None:
        jobs = self.schedule.workload
        self.start = int(self.schedule.start[self.job])
        self.last = int(np.searchsorted(jobs.submit, self.start, "left"))
        restartable = is_restartable(jobs, self.policy)
        before = slice(0, self.last)
        found = cuts_of(jobs.submit[before], self.schedule.start[before])
        self.cuts = found if restartable else np.zeros(1, np.int64)
        self.windows: dict[int, Window | None] = {}

    @property
    def others(self) -> Int64:
        """Other jobs submitted before the start; later jobs cannot matter.

        Under a rule that separates the participants of a network, only jobs of the same participant
        can matter.
        """
        jobs = np.arange(self.last)
        matters = jobs != self.job
        if self.policy.row.apart:
            origin = self.schedule.workload.origin
            matters &= origin[: self.last] == origin[self.job]
        found: Int64 = jobs[matters]
        return found

    @property
    def near(self) -> Int64:
        """Earlier jobs that waited or ran while the job waited."""
        others, submit = self.others, self.schedule.workload.submit[self.job]
        found: Int64 = others[self.schedule.end[others] >= submit]
        return found

    def by_weight(self, jobs: Int64) -> Int64:
        """Sort jobs, largest first, by processors x the time during the explained job's wait.

        This is the time for which the job waited or ran while the explained job waited. The first
        jobs are the most likely to matter if the effort is not enough for all.
        """
        schedule, submit = self.schedule, self.schedule.workload.submit
        begin = np.maximum(submit[jobs], submit[self.job])
        weight = (np.minimum(schedule.end[jobs], self.start) - begin) * schedule.taken[jobs]
        found: Int64 = jobs[np.argsort(-weight, kind="stable")]
        return found

    def cut_before(self, job: int) -> int:
        """Return the last cut up to a job."""
        return int(self.cuts[np.searchsorted(self.cuts, job, "right") - 1])

    def window(self, job: int) -> Window | None:
        """Return the window from the last cut up to a job; None if its schedule differs.

        On a grid, a window may place the running jobs on other clusters; then the window is the
        whole log.
        """
        for cut in dict.fromkeys((self.cut_before(job), 0)):
            if cut not in self.windows:
                made = Window(self.schedule, self.policy, cut, self.last)
                self._spend(made.work)
                departs = made.departs(self.start) is not None
                self.windows[cut] = None if departs else made
            found = self.windows[cut]
            if found is not None:
                return found
        return None

    def start_without(self, removed: Iterable[int]) -> int | None:
        """Return the start of the explained job without some others, s.

        Return None if the policy does not reproduce the schedule since the first removed job.
        """
        removed = sorted(removed)
        window = self.window(min(removed[0], self.job))
        if window is None:
            return None
        self._spend(window.work)
        return window.start_without(self.job, removed)

    def helps(self, removed: Iterable[int]) -> bool:
        """Return whether the job starts earlier without some others."""
        found = self.start_without(removed)
        return found is not None and found < self.start

    def gain(self, removed: int) -> int:
        """Return the time by which the job starts earlier without one other, s."""
        if removed not in self.gains:
            found = self.start_without([removed])
            self.gains[removed] = max(self.start - found, 0) if found is not None else 0
        return self.gains[removed]

    def is_forgotten(self, removed: int) -> bool:
        """Return whether the effect of an early job ends before it can reach the explained job."""
        if self.cuts.size == 1:
            return False
        cut, own = self.cut_before(removed), self.cut_before(self.job)
        ends = self.cuts[np.searchsorted(self.cuts, [removed + look for look in LOOKS])
                         .clip(max=self.cuts.size - 1)]  # fmt: skip
        for end in dict.fromkeys(ends.tolist()):
            if removed < end <= own:
                window = Window(self.schedule, self.policy, cut, end)
                self._spend(window.work)
                if window.forgets(removed, self.schedule):
                    return True
        return False

    def affords(self, count: int, first: int) -> bool:
        """Return whether the remaining effort is enough for simulations from a job on."""
        window = self.window(min(first, self.job))
        return window is not None and count * window.work <= self.left

    def _spend(self, work: float) -> None:
        underway().check()
        self.left -= work
        self.simulations += 1


def cause_of(trials: Trials) -> CauseSet:
    """Return the smallest set of jobs without which the explained job starts earlier.

    Sets of up to three jobs come from exhaustive search, as far as the effort allows. Larger sets
    are reduced until no subset has the effect.
    """
    search = _Search(trials)
    return search.single() or search.several() or search.larger()


class _Search:
    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.near, self.others = trials.near, trials.others
        # Size up to which no set of candidates has the effect.
        self.tried = 0
        self.candidates: Int64 = self.others
        self.alone: int | None = None

    def made(self, kind: str, jobs: Iterable[int] = ()) -> CauseSet:
        """Return a set of causes, after one more simulation."""
        jobs, trials = tuple(sorted(jobs)), self.trials
        start = trials.start_without(jobs) if jobs else None
        counts = self.tried, self.candidates.size, self.others.size
        return CauseSet(kind, jobs, start, *counts, self.alone, trials.simulations)

    def single(self) -> CauseSet | None:
        """Try each job alone."""
        trials = self.trials
        for job in trials.by_weight(self.near).tolist():
            if trials.affords(1, job):
                trials.gain(job)
        if (best := self._best()) is not None:
            return self.made("smallest", [best])
        if len(trials.gains) < self.near.size:
            self.candidates = self.near[:0]
            return None
        self.tried, self.candidates = 1, self.near
        early = self.others[~np.isin(self.others, self.near)]
        done = 0
        for job in early[::-1].tolist():
            if trials.left < 0 or (trials.window(min(job, trials.job)) is None):
                break
            if not trials.is_forgotten(job) and trials.gain(job):
                return self.made("smallest", [job])
            done += 1
        if done == early.size:
            self.candidates = self.others
        return None

    def several(self) -> CauseSet | None:
        """Try all pairs and triples: first those of near jobs, then those with earlier jobs."""
        trials, near = self.trials, self.near
        is_all = self.candidates.size == self.others.size
        for size in range(2, LARGEST + 1):
            if self.tried < size - 1 or near.size == 0:
                return None
            if not trials.affords(comb(near.size, size), int(near[0])):
                return None
            for some in combinations(near[::-1].tolist(), size):
                if trials.helps(some):
                    return self.made("smallest" if is_all else "minimal", some)
            more = comb(self.others.size, size) - comb(near.size, size)
            if is_all and trials.affords(more, 0):
                for some in self._with_earlier(size):
                    if trials.helps(some):
                        return self.made("smallest", some)
            elif more:
                is_all, self.candidates = False, near
            self.tried = size
        return None

    def _with_earlier(self, size: int) -> Iterator[tuple[int, ...]]:
        near = {*self.near.tolist()}
        for some in combinations(self.others[::-1].tolist(), size):
            if not near.issuperset(some):
                yield some

    def larger(self) -> CauseSet:
        """Reduce a large set until no subset has the effect."""
        found = self._enough()
        if found is None:
            return self.made("none")
        spent = self.trials.left
        found, is_reduced = self._reduced(found)
        self.trials.left = spent
        if not is_reduced:
            return self.made("sufficient", found)
        least = self.tried + 1
        parts = sum(comb(len(found), size) for size in range(least, len(found)))
        affordable = self.trials.affords(parts, min(found)) and parts <= MOST
        if parts > FEW and not affordable:
            return self.made("reduced", found)
        sizes = (combinations(found, size) for size in range(least, len(found)))
        for some in chain.from_iterable(sizes):
            if self.trials.helps(some):
                # All proper subsets are smaller and were tried.
                found = list(some)
                break
        is_all = self.candidates.size == self.others.size and len(found) == self.tried + 1
        is_smallest = is_all or len(found) == 1
        return self.made("smallest" if is_smallest else "minimal", found)

    def _enough(self) -> list[int] | None:
        """Return the first of three sets of jobs without which the explained job starts earlier.

        The sets are the near jobs, the jobs since the last cut, and all other jobs.
        """
        trials, cut = self.trials, self.trials.cut_before(self.trials.job)
        since = self.others[self.others >= cut]
        for some in (self.near, since, self.others):
            if some.size and (found := trials.start_without(some.tolist())) is not None:
                if some.size == self.others.size:
                    self.alone = found
                if found < trials.start:
                    return [int(job) for job in some]
        return None

    def _reduced(self, jobs: list[int]) -> tuple[list[int], bool]:
        """Remove halves, quarters and so on, and finally single jobs, until none can be removed.

        Return the remaining jobs, and whether the effort was enough.
        """
        chunk, self.trials.left = max(len(jobs) // 2, 1), REDUCTION
        while True:
            place, had = 0, len(jobs)
            while place < len(jobs):
                if self.trials.left < 0:
                    return jobs, False
                fewer = jobs[:place] + jobs[place + chunk :]
                if fewer and self.trials.helps(fewer):
                    jobs = fewer
                else:
                    place += chunk
            if chunk == 1 and len(jobs) == had:
                return jobs, True
            chunk = max(chunk // 2, 1)

    def _best(self) -> int | None:
        gains = self.trials.gains
        best = max(gains, key=lambda job: (gains[job], job), default=None)
        return best if best is not None and gains[best] else None

"""A schedule of moldable jobs: start and processors of each job, makespan and weighted sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.offline.instance import Instance


@dataclass(frozen=True, eq=False)
class Plan:
    """Hold a schedule of an instance.

    Parameters
    ----------
    instance : Instance
        The jobs.
    start : int64[n]
        Start of each job, s.
    procs : int64[n]
        Number of processors of each job, from its start to its end.

    Examples
    --------
    >>> plan = Plan(Instance([[12, 7], [4, 4]], [3, 1]), np.array([0, 7]), np.array([2, 1]))
    >>> plan.end.tolist(), plan.makespan, plan.minsum
    ([7, 11], 11, 32)
    >>> plan.check()
    """

    instance: Instance
    start: Int64
    procs: Int64

    @property
    def end(self) -> Int64:
        """Completion time of each job, int64[n], s."""
        return self.start + self.instance.time(self.procs)

    @property
    def makespan(self) -> int:
        """Completion time of the last job, s."""
        return int(self.end.max())

    @property
    def minsum(self) -> int:
        """Weighted sum of completion times, s; exact beyond int64."""
        pairs = zip(self.instance.weights.tolist(), self.end.tolist(), strict=True)
        return sum(weight * end for weight, end in pairs)

    def check(self) -> None:
        """Check that every job runs once and that the machine is never overcommitted.

        Since processors are identical, it suffices that their number is sufficient at each instant.
        """
        jobs, size = self.instance, self.instance.processors
        if self.start.shape != (jobs.jobs,) or self.procs.shape != (jobs.jobs,):
            raise InputError(
                f"start has shape {self.start.shape} and procs {self.procs.shape}: give one of "
                f"each to {jobs.jobs} jobs"
            )
        for job, (start, procs) in enumerate(
            zip(self.start.tolist(), self.procs.tolist(), strict=True)
        ):
            if start < 0 or not 1 <= procs <= size:
                raise InputError(
                    f"job {jobs.names[job]}: starts at {start} s on {procs} processors; give an "
                    f"instant from 0 on and 1 to {size} processors"
                )
        instants = np.unique(self.start)
        for instant in instants.tolist():
            running = (self.start <= instant) & (instant < self.end)
            used = int(self.procs[running].sum())
            if used > size:
                first = [jobs.names[job] for job in np.flatnonzero(running)[:3].tolist()]
                raise InputError(
                    f"at {instant} s {used} of {size} processors are used, among others by jobs "
                    f"{', '.join(first)}; give at most {size}"
                )

    def compacted(self) -> Plan:
        """Return the plan in which each job starts as soon as its processors are free.

        Jobs are taken in the order of their starts, each on the processors that are free first.

        Examples
        --------
        >>> plan = Plan(Instance([[5, 3], [4, 4]]), np.array([0, 9]), np.array([1, 1]))
        >>> plan.compacted().start.tolist()
        [0, 0]
        """
        free = np.zeros(self.instance.processors, np.int64)
        start, time = np.empty_like(self.start), self.instance.time(self.procs)
        for job in np.argsort(self.start, kind="stable").tolist():
            procs = self.procs[job]
            start[job] = free[procs - 1]
            free[:procs] = start[job] + time[job]
            free.sort()
        return Plan(self.instance, start, self.procs)

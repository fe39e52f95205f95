"""Nodes as the auditor knows them: what is free on each of them, and which ones a job takes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.workload.workload import MILLION, Workload

NodesTaken = tuple[int, ...]
"""Indices of nodes, ascending."""


class Levels:
    """Hold the free processors of every node from an instant on.

    Row ``free[i]`` holds in [times[i], times[i + 1]); the last step lasts for ever.

    Examples
    --------
    >>> levels = Levels(0, np.array([2, 3]))
    >>> levels.take(5, 9, (1,), 2)
    >>> levels.least(0, 6).tolist(), levels.least(9, 9).tolist()
    ([2, 1], [2, 3])
    """

    def __init__(self, now: int, free: Int64) -> None:
        self.times = [now]
        self.free = free.reshape(1, -1).copy()

    def copy(self) -> Levels:
        """Return levels that can be taken from apart."""
        made = Levels(self.times[0], self.free)
        made.times, made.free = self.times.copy(), self.free.copy()
        return made

    def take(self, begin: int, end: int, nodes: NodesTaken, weight: int) -> None:
        """Take processors of each of some nodes in [begin, end)."""
        begin = max(begin, self.times[0])
        if begin < end and nodes:
            first, last = self._edge(begin), self._edge(end)
            self.free[first:last, nodes] -= weight

    def least(self, begin: int, end: int) -> Int64:
        """Return the least that is free of each node in [begin, end), or at an instant."""
        first = bisect_right(self.times, begin) - 1
        last = max(bisect_left(self.times, end), first + 1)
        least: Int64 = self.free[first:last].min(axis=0)
        return least

    def _edge(self, instant: int) -> int:
        step = bisect_left(self.times, instant)
        if step == len(self.times) or self.times[step] != instant:
            self.times.insert(step, instant)
            self.free = np.concatenate((self.free[:step], self.free[step - 1 :]))
        return step


class Asks:
    """Know of each job what it asks of nodes, and how long it takes on how many."""

    def __init__(self, work: Workload) -> None:
        assert isinstance(work.platform, Nodes)
        self.platform = work.platform
        self.submit: list[int] = work.submit.tolist()
        self.run: list[int] = work.run.tolist()
        self.estimate: list[int] = work.estimate.tolist()
        self.weight: list[int] = work.weight.tolist()
        self.asked: list[int] = (work.procs // work.weight).tolist()
        self.serial: list[int] = work.serial.tolist()
        self.reserved: list[int] = work.reserved.tolist()
        self.properties: list[int] = work.properties.tolist()
        self.members = work.platform.members
        self.number: list[int] = work.job.tolist()
        self.killed: list[bool] = work.killed.tolist()
        # How many nodes a job has, or is to have.
        self.width = self.asked.copy()
        self.capacities = np.array(work.platform.capacities, np.int64)
        candidates: dict[tuple[int, int], npt.NDArray[np.bool_]] = {}
        self.candidates: list[npt.NDArray[np.bool_]] = []
        for properties, weight in zip(work.properties.tolist(), self.weight, strict=True):
            kind = properties, weight
            if kind not in candidates:
                candidates[kind] = work.platform.candidates(properties, weight)
            self.candidates.append(candidates[kind])
        # Of nodes with the same room those in the fewest sets go first, then as declared.
        self.preferred = np.argsort(work.platform.members.sum(axis=0), kind="stable")

    def on(self, job: int, seconds: int, width: int) -> int:
        """Return how long work takes on some nodes that takes so long on those asked for, s."""
        asked, serial = self.asked[job], self.serial[job]
        if width == asked:
            return seconds
        # Speed-up by Amdahl: k / (S (k - 1) + 1), S the serial part.
        share = Fraction(serial, MILLION)
        speed_asked, speed = (k / (share * (k - 1) + 1) for k in (asked, width))
        return -int(-seconds * speed_asked // speed)

    def lasts(self, job: int) -> int:
        """Return the estimate of a job on as many nodes as it has, s."""
        return self.on(job, self.estimate[job], self.width[job])

    def runs(self, job: int) -> int:
        """Return the true run time of a job on as many nodes as it has, s."""
        return self.on(job, self.run[job], self.width[job])

    def picks(self, job: int, room: Int64) -> NodesTaken | None:
        """Return the nodes that a job takes where each has some room; None if too few have it."""
        enough = self.candidates[job] & (room >= self.weight[job])
        if np.count_nonzero(enough) < self.width[job]:
            return None
        order = self.preferred[np.argsort(room[self.preferred], kind="stable")]
        return tuple(sorted(order[enough[order]][: self.width[job]].tolist()))

    def allows(self, job: int, node: int) -> bool:
        """Whether a node is in a job's set, however many processors it has."""
        properties = self.properties[job]
        return properties < 0 or bool(self.members[properties, node])

    def says(self, job: int) -> str:
        """Name a job in a sentence."""
        return f"job {self.number[job]} ({self.width[job]} x {self.weight[job]} processors)"

    def names(self, nodes: NodesTaken) -> str:
        """Name nodes in a sentence."""
        return ", ".join(self.platform.places[node] for node in nodes)

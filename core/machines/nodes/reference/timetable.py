"""Free processors of nodes over time, and the choice of nodes for jobs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.machines.nodes.platform import ANY, Nodes
from schedfarm.core.reference.job import Job


class Timetable:
    """Hold the free processors of every node from an instant on.

    Row ``free[i]`` is valid in [times[i], times[i + 1]); the last row never ends.

    Examples
    --------
    >>> table = Timetable(0, [2, 3])
    >>> table.take(5, 9, (0,), 1)
    >>> table.take(0, 4, (1,), 2)
    >>> [table.least(*interval).tolist() for interval in ((0, 5), (0, 6), (9, 12), (5, 5))]
    [[2, 1], [1, 1], [2, 3], [1, 3]]
    """

    def __init__(self, now: int, capacities: Sequence[int]) -> None:
        self.times = [now]
        self.free = np.array([capacities], np.int64)

    def copy(self) -> Timetable:
        """Return an independent copy."""
        made = Timetable(0, ())
        made.times, made.free = self.times.copy(), self.free.copy()
        return made

    def take(self, begin: int, end: int, nodes: tuple[int, ...], weight: int) -> None:
        """Take processors on some nodes in [begin, end); time before the first row is ignored."""
        begin = max(begin, self.times[0])
        if begin < end and nodes:
            first, last = self._edge(begin), self._edge(end)
            self.free[first:last, nodes] -= weight

    def least(self, begin: int, end: int) -> Int64:
        """Return the least free processors of each node in [begin, end), or at `begin`."""
        first = self.step(begin)
        last = max(bisect_left(self.times, end), first + 1)
        least: Int64 = self.free[first:last].min(axis=0)
        return least

    def step(self, instant: int) -> int:
        """Return the row that is valid at an instant."""
        return bisect_right(self.times, instant) - 1

    def nodes_with(self, weight: int, nodes: list[int]) -> Int64:
        """Return, for each row, the number of given nodes with enough free processors."""
        found: Int64 = np.count_nonzero(self.free[:, nodes] >= weight, axis=1)
        return found

    def _edge(self, instant: int) -> int:
        step = bisect_left(self.times, instant)
        if step == len(self.times) or self.times[step] != instant:
            self.times.insert(step, instant)
            self.free = np.concatenate((self.free[:step], self.free[step - 1 :]))
        return step


class Inventory:
    """Hold the nodes, their sets, and their outages."""

    def __init__(self, platform: Nodes) -> None:
        self.capacities = list(platform.capacities)
        self.everywhere = range(len(self.capacities))
        self.sets = [{i for i in self.everywhere if row[i]} for row in platform.members.tolist()]
        self.down: set[int] = set()
        self._allowed: dict[tuple[int, int], list[int]] = {}

    def in_sets(self, node: int) -> tuple[int, ...]:
        """Return the sets that a node is in."""
        return tuple(i for i, members in enumerate(self.sets) if node in members)

    def allowed(self, job: Job) -> list[int]:
        """Return the suitable nodes of a job's set, up or down, in order of preference.

        A suitable node has enough processors. Nodes in few sets come first, then nodes in declared
        order.
        """
        kind = job.properties, job.weight
        if kind not in self._allowed:
            members = self.everywhere if job.properties == ANY else self.sets[job.properties]
            nodes = [node for node in members if self.capacities[node] >= job.weight]
            nodes.sort(key=lambda node: (len(self.in_sets(node)), node))
            self._allowed[kind] = nodes
        return self._allowed[kind]

    def picked(self, job: Job, width: int, room: Iterable[int]) -> tuple[int, ...] | None:
        """Return nodes for a job, given the nodes' free processors; None if too few have enough.

        Nodes with the fewest free processors come first; equal ones are in the order of `allowed`.
        """
        free = room.tolist() if isinstance(room, np.ndarray) else list(room)
        enough = [node for node in self.allowed(job) if free[node] >= job.weight]
        if len(enough) < width:
            return None
        enough.sort(key=free.__getitem__)
        return tuple(sorted(enough[:width]))

    def up(self, room: Int64) -> Int64:
        """Return the free processors of nodes, 0 for nodes that are down."""
        if not self.down:
            return room
        left = room.copy()
        left[list(self.down)] = 0
        return left

    def found(self, job: Job, room: Int64) -> tuple[int, ...] | None:
        """Return nodes for a job that are up; None if too few have enough free processors."""
        return self.picked(job, job.width, self.up(room))

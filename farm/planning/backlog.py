"""The tasks that a run has still to hand out, as long as its blocks and workers have them be."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from schedfarm.core.format.geometry import Block
from schedfarm.farm.planning.block_shape import LEAST_SECONDS, goal_seconds
from schedfarm.farm.planning.tasks import Portion, Task

DOUBT_SECONDS = 0.2
"""What was planned weighs against what was measured as if it had taken so long: the plan of a
trace whose queues grow may be off by a factor of 20."""

WRITE_SECONDS = 0.05
"""Time that it takes to store a block, whatever it took to make."""

STEADY_RATE = 50
"""Tasks that are to end in a second, however many workers there are: of 10 ms of CPU that
coordinator and scheduler spend on one, half a core."""

BURST_RATE = 200
"""The same of the last tasks of a run, which are short so that none is waited for."""

SHARES = 2
"""A task is at most so small a share of what is left for each worker thread: the last ones are
then over at about the same time. Tasks come to an end within a tenth or so of what is expected."""

TOO_LONG = 1.5
"""No portion is added to a task that would then take so many times what it is to take."""

Like = tuple[str, str, int, int]
"""Trace, kind, load and policy of blocks that take alike, whatever the resample."""


CLEAR_SHARE, CLEAR_SECONDS = 0.05, 60.0
"""A task of which less is done, and that has taken less time, says nothing of how long others take:
of a thousandth that is done in the two seconds in which kernels are loaded follows half an hour."""


def is_clear(seconds: float, share: float) -> bool:
    """Tell whether a task under way says how long such tasks take.

    Examples
    --------
    >>> is_clear(2.0, 0.001), is_clear(2.0, 0.2), is_clear(90.0, 0.001)
    (False, True, True)
    """
    return share >= CLEAR_SHARE or (share > 0 and seconds >= CLEAR_SECONDS)


def _like(block: Block) -> Like:
    return block.trace, block.kind, block.load, block.policy


class Backlog:
    """Hand out a run's tasks in order, joined or cut to the length that they are to have.

    By what its own blocks have taken: a plan is made of the campaign alone and may be off by some
    factor. Tasks are as long as the coordinator needs them to be, and shorter at the end, where
    the workers would wait for the last one.

    Parameters
    ----------
    tasks : iterable of Task
        Longest first.
    costs : mapping of Block to float
        CPU time that was planned for each of their blocks, s.

    Attributes
    ----------
    took : float
        CPU time that the blocks took of which it was told, s.

    Examples
    --------
    >>> len(Backlog([], {})), bool(Backlog([], {}))
    (0, False)
    """

    def __init__(self, tasks: Iterable[Task], costs: Mapping[Block, float]) -> None:
        self._tasks, self._costs = deque(tasks), costs
        self._whole = deque[Task]()
        self._measured, self._done = Measured(), set[Block]()
        self._all = len({block for task in self._tasks for block in task.blocks})
        self.took = 0.0
        self._left: dict[Like, float] = defaultdict(float)
        self._waiting: dict[tuple[str, str], float] = defaultdict(float)
        self._blocks = 0
        for task in self._tasks:
            self._count(task.portions, 1)
            for block in task.blocks:
                self._left[_like(block)] += costs.get(block, 0.0)
        self._goal = goal_seconds(math.fsum(self._left.values()))

    def __len__(self) -> int:
        return len(self._tasks) + len(self._whole)

    def take(self, threads: int = 1) -> Task:
        """Return the next task for one of so many worker threads."""
        if self._whole:
            return self._whole.popleft()
        first, wanted = self._tasks[0], self._length(threads)
        portions: list[Portion] = []
        seconds = 0.0
        while self._may_join(first, portions):
            task = self._tasks.popleft()
            for place, portion in enumerate(task.portions):
                more = self._seconds(portion)
                if portions and (seconds >= wanted or seconds + more > TOO_LONG * wanted):
                    self._tasks.appendleft(self._of(task, task.portions[place:]))
                    break
                portions.append(portion)
                seconds += more
            else:
                continue
            break
        self._count(portions, -1)
        return self._of(first, tuple(portions))

    def give_back(self, task: Task) -> None:
        """Take a task back that a worker could not do: it is the next, as it is."""
        self._whole.appendleft(task)

    def give_back_rest(self, task: Task, done: set[Block]) -> None:
        """Take back what a worker has left of a task: the next one has it, or begins with it."""
        left = (tuple(b for b in portion if b not in done) for portion in task.portions)
        if rest := tuple(portion for portion in left if portion):
            self._count(rest, 1)
            self._tasks.appendleft(self._of(task, rest))

    def learn(self, block: Block, seconds: float) -> None:
        """Take note of the CPU time that a block took, s."""
        self.took += seconds
        self._done.add(block)
        if cost := self._costs.get(block):
            like = _like(block)
            self._measured.add(like, cost, seconds)
            self._left[like] -= cost

    @property
    def lacks_any(self) -> bool:
        """Whether a block of which it knows is not done, as far as it was told."""
        return len(self._done) < self._all

    def is_done(self, blocks: Iterable[Block]) -> bool:
        """Tell whether these blocks are done, as far as it was told."""
        return self._done.issuperset(blocks)

    def expected(self, blocks: Iterable[Block]) -> float:
        """Return the CPU time of blocks by what others of their trace and kind took, s."""
        return math.fsum(
            self._costs.get(b, 0.0) * self._measured.of_kind(_like(b), LEAST_SECONDS)
            for b in blocks
        )

    def left(self, courses: Iterable[tuple[tuple[Block, ...], float, float]]) -> float | None:
        """Return the CPU time that all blocks still need, s, by what was measured.

        Parameters
        ----------
        courses : iterable of (blocks, seconds, share)
            Tasks under way: what they write, time they have taken, and share that is done.

        Returns
        -------
        float or None
            None while most of it is of traces and kinds of which nothing was measured.

        Examples
        --------
        >>> Backlog([], {}).left([]), Backlog([], {}).expected([])
        (0.0, 0.0)
        """
        known, running = self._measured.copy(), list(courses)
        for blocks, seconds, share in running:
            total = math.fsum(self._costs.get(b, 0.0) for b in blocks)
            for block in blocks if is_clear(seconds, share) else ():
                part = self._costs.get(block, 0.0) / total if total else 0.0
                known.add(_like(block), share * self._costs.get(block, 0.0), seconds * part)
        needs = {like: left * known.factor(like) for like, left in self._left.items()}
        clear = math.fsum(need for like, need in needs.items() if known.knows(like))
        all_of_it = math.fsum(needs.values())
        if 2 * clear < all_of_it:
            return None
        return max(0.0, all_of_it - math.fsum(seconds for _, seconds, _ in running))

    def _length(self, threads: int) -> float:
        """Return how long the next task is to take, s."""
        rest = self._blocks * WRITE_SECONDS + math.fsum(
            planned * self._measured.of_kind((*kind, 0, 0), LEAST_SECONDS)
            for kind, planned in self._waiting.items()
        )
        most = max(self._goal, threads / STEADY_RATE)
        return min(most, max(rest / (SHARES * threads), threads / BURST_RATE))

    def _seconds(self, portion: Portion) -> float:
        return len(portion) * WRITE_SECONDS + self.expected(portion)

    def _may_join(self, first: Task, portions: list[Portion]) -> bool:
        """Tell whether the next task may go on what is gathered of a first one, or is that."""
        if not portions:
            return True
        if not self._tasks or first.careful:
            return False
        return self._tasks[0].trace.name == first.trace.name and not self._tasks[0].careful

    def _count(self, portions: Iterable[Portion], sign: int) -> None:
        """Keep how much waits to be handed out, by trace and kind."""
        for portion in portions:
            self._blocks += sign * len(portion)
            for block in portion:
                self._waiting[_like(block)[:2]] += sign * self._costs.get(block, 0.0)

    def _of(self, task: Task, portions: tuple[Portion, ...]) -> Task:
        if portions == task.portions:
            return task
        seconds = math.fsum(self._costs[b] for portion in portions for b in portion)
        return replace(task, portions=portions, seconds=seconds)


class Measured:
    """Hold what blocks took against what was planned, by trace and kind, and by load and policy.

    Examples
    --------
    >>> known = Measured()
    >>> known.add(("m", "cells", 0, 0), planned=1.0, took=25.0)
    >>> round(known.factor(("m", "cells", 0, 0))), known.knows(("n", "cells", 0, 0))
    (24, False)
    >>> known.add(("n", "cells", 0, 0), planned=0.0, took=3.0)
    >>> known.factor(("n", "cells", 0, 0)) > 3
    True
    """

    def __init__(self) -> None:
        self._planned: dict[tuple[Any, ...], float] = defaultdict(float)
        self._took: dict[tuple[Any, ...], float] = defaultdict(float)

    def copy(self) -> Measured:
        """Return one that learns apart."""
        other = Measured()
        other._planned.update(self._planned)
        other._took.update(self._took)
        return other

    def add(self, like: Like, planned: float, took: float) -> None:
        """Take note of CPU time planned for, and taken by, blocks that are alike, s."""
        for key in (like, like[:2]):
            self._planned[key] += planned
            self._took[key] += took

    def knows(self, like: Like) -> bool:
        """Say whether anything was measured of a trace and kind."""
        return self._took[like[:2]] > 0

    def of_kind(self, like: Like, doubt: float) -> float:
        """Return the factor of a trace and kind; the plan weighs as much as so many seconds.

        So that one outlier decides nothing.
        """
        return (doubt + self._took[like[:2]]) / (doubt + self._planned[like[:2]])

    def factor(self, like: Like) -> float:
        """Return what such blocks take of what was planned."""
        before = self.of_kind(like, self._doubt(like[:2])) if self.knows(like) else 1.0
        if not self._took[like]:
            return before
        doubt = self._doubt(like)
        return (doubt * before + self._took[like]) / (doubt + self._planned[like])

    def _doubt(self, key: tuple[Any, ...]) -> float:
        # Of a task that has only begun nothing is done yet, and so nothing was planned.
        return min(DOUBT_SECONDS, self._planned[key]) or DOUBT_SECONDS

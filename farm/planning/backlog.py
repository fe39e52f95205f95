"""Queue of unsubmitted tasks, resized by measured block times and the number of workers."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from schedfarm.core.format.geometry import Block
from schedfarm.farm.planning.block_shape import LEAST_SECONDS, goal_seconds
from schedfarm.farm.planning.tasks import Batch, Task

DOUBT_SECONDS = 0.2
"""Weight of the planned time: it counts like a measurement of this duration, s. For a trace with
growing queues the planned time may be wrong by a factor of 20."""

WRITE_SECONDS = 0.05
"""Time to store a block, s."""

STEADY_RATE = 50
"""Largest number of tasks that end per second, for any number of workers. Coordinator and scheduler
spend 10 ms of CPU on each task, so this rate takes half a core."""

BURST_RATE = 200
"""Largest number of tasks that end per second near the end of a run, where tasks are short so that
all workers end at about the same time."""

SHARES = 2
"""Least number of tasks into which the remaining work of each worker thread is divided, so that the
last tasks end at about the same time. Tasks end within a tenth or so of their expected time."""

TOO_LONG = 1.5
"""A batch is not added to a task that would then exceed its intended time by this factor."""

Like = tuple[str, str, int, int]
"""Trace, kind, load and policy: blocks that differ only in their resample cost the same."""


CLEAR_SHARE, CLEAR_SECONDS = 0.05, 60.0
"""A running task is extrapolated from this finished share or this time, s, on: a share of 0.001
after two seconds of loading kernels would give half an hour."""


def is_clear(seconds: float, share: float) -> bool:
    """Return whether the progress of a running task can be extrapolated.

    Examples
    --------
    >>> is_clear(2.0, 0.001), is_clear(2.0, 0.2), is_clear(90.0, 0.001)
    (False, True, True)
    """
    return share >= CLEAR_SHARE or (share > 0 and seconds >= CLEAR_SECONDS)


def _like(block: Block) -> Like:
    return block.trace, block.kind, block.load, block.policy


class Backlog:
    """Dispatch a run's tasks in order, after joining or cutting them to a suitable length.

    The length follows from measured block times, since planned times depend only on the campaign
    and may be wrong by some factor. Tasks are long enough for the coordinator's throughput. They
    are shorter at the end, so that no worker waits long for the last task. tasks: result of `plan`.
    costs: planned CPU time of each block, s. The attribute `took` is the CPU time of all finished
    blocks, s.

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
            self._count(task.batches, 1)
            for block in task.blocks:
                self._left[_like(block)] += costs.get(block, 0.0)
        self._goal = goal_seconds(math.fsum(self._left.values()))

    def __len__(self) -> int:
        return len(self._tasks) + len(self._whole)

    def take(self, threads: int = 1) -> Task:
        """Return the next task, given the number of worker threads."""
        if self._whole:
            return self._whole.popleft()
        first, wanted = self._tasks[0], self._length(threads)
        batches: list[Batch] = []
        seconds = 0.0
        while self._may_join(first, batches):
            task = self._tasks.popleft()
            for place, batch in enumerate(task.batches):
                more = self._seconds(batch)
                if batches and (seconds >= wanted or seconds + more > TOO_LONG * wanted):
                    self._tasks.appendleft(self._of(task, task.batches[place:]))
                    break
                batches.append(batch)
                seconds += more
            else:
                continue
            break
        self._count(batches, -1)
        return self._of(first, tuple(batches))

    def give_back(self, task: Task) -> None:
        """Put back a task that a worker could not do, unchanged, at the front of the queue."""
        self._whole.appendleft(task)

    def give_back_rest(self, task: Task, done: set[Block]) -> None:
        """Put back the blocks that a worker has not done, at the front of the queue."""
        left = (tuple(b for b in batch if b not in done) for batch in task.batches)
        if rest := tuple(batch for batch in left if batch):
            self._count(rest, 1)
            self._tasks.appendleft(self._of(task, rest))

    def learn(self, block: Block, seconds: float) -> None:
        """Record the CPU time of a finished block, s."""
        self.took += seconds
        self._done.add(block)
        if cost := self._costs.get(block):
            like = _like(block)
            self._measured.add(like, cost, seconds)
            self._left[like] -= cost

    @property
    def lacks_any(self) -> bool:
        """Whether at least one block is missing."""
        return len(self._done) < self._all

    def is_done(self, blocks: Iterable[Block]) -> bool:
        """Return whether these blocks are done."""
        return self._done.issuperset(blocks)

    def expected(self, blocks: Iterable[Block]) -> float:
        """Return the expected CPU time of blocks, s, from measured blocks of the same kind."""
        return math.fsum(
            self._costs.get(b, 0.0) * self._measured.of_kind(_like(b), LEAST_SECONDS)
            for b in blocks
        )

    def left(self, running: Iterable[tuple[tuple[Block, ...], float, float]]) -> float | None:
        """Return the CPU time that all missing blocks need, s, from measured block times.

        running: blocks, elapsed time, s, and finished share of each running task. None while most
        of the remaining work is of traces and kinds without measurements.

        Examples
        --------
        >>> Backlog([], {}).left([]), Backlog([], {}).expected([])
        (0.0, 0.0)
        """
        known, running = self._measured.copy(), list(running)
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
        """Return the intended time of the next task, s."""
        rest = self._blocks * WRITE_SECONDS + math.fsum(
            planned * self._measured.of_kind((*kind, 0, 0), LEAST_SECONDS)
            for kind, planned in self._waiting.items()
        )
        most = max(self._goal, threads / STEADY_RATE)
        return min(most, max(rest / (SHARES * threads), threads / BURST_RATE))

    def _seconds(self, batch: Batch) -> float:
        return len(batch) * WRITE_SECONDS + self.expected(batch)

    def _may_join(self, first: Task, batches: list[Batch]) -> bool:
        """Return whether the next task may be joined to the batches gathered so far."""
        if not batches:
            return True
        if not self._tasks or first.isolate:
            return False
        return self._tasks[0].trace.name == first.trace.name and not self._tasks[0].isolate

    def _count(self, batches: Iterable[Batch], sign: int) -> None:
        """Add batches to the waiting work of their trace and kind; sign -1 subtracts them."""
        for batch in batches:
            self._blocks += sign * len(batch)
            for block in batch:
                self._waiting[_like(block)[:2]] += sign * self._costs.get(block, 0.0)

    def _of(self, task: Task, batches: tuple[Batch, ...]) -> Task:
        if batches == task.batches:
            return task
        seconds = math.fsum(self._costs[b] for batch in batches for b in batch)
        return replace(task, batches=batches, seconds=seconds)


class Measured:
    """Compare measured CPU time with planned CPU time, by trace and kind, and by load and policy.

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
        """Return an independent copy."""
        other = Measured()
        other._planned.update(self._planned)
        other._took.update(self._took)
        return other

    def add(self, like: Like, planned: float, took: float) -> None:
        """Record the planned and the measured CPU time of blocks of equal cost, in s."""
        for key in (like, like[:2]):
            self._planned[key] += planned
            self._took[key] += took

    def knows(self, like: Like) -> bool:
        """Return whether the trace and kind of `like` have measurements."""
        return self._took[like[:2]] > 0

    def of_kind(self, like: Like, doubt: float) -> float:
        """Return the factor of a trace and kind; planned times count as `doubt` seconds of CPU.

        With this weight, a single outlier does not determine the factor.
        """
        return (doubt + self._took[like[:2]]) / (doubt + self._planned[like[:2]])

    def factor(self, like: Like) -> float:
        """Return the expected ratio of measured to planned CPU time for blocks of this cost."""
        before = self.of_kind(like, self._doubt(like[:2])) if self.knows(like) else 1.0
        if not self._took[like]:
            return before
        doubt = self._doubt(like)
        return (doubt * before + self._took[like]) / (doubt + self._planned[like])

    def _doubt(self, key: tuple[Any, ...]) -> float:
        # At the beginning of a task, the planned time of its finished part is 0.
        return min(DOUBT_SECONDS, self._planned[key]) or DOUBT_SECONDS

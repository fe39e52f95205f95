"""What a run has to do: the tasks that lead to every missing record, longest first."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from core import own
from farm.campaign.campaign import Campaign
from farm.campaign.trace import Trace
from farm.planning.block_shape import LEAST_SECONDS, SHARD_BYTES, goal_seconds
from farm.store.geometry import Block
from farm.store.product import PRODUCTS
from farm.store.provenance import Program
from farm.store.records import Head
from farm.store.store import Store

TASK_BYTES = 8 * SHARD_BYTES
"""Memory that the unwritten blocks of one task may take."""

DOUBT_SECONDS = 0.2
"""What was planned weighs against what was measured as if it had taken so long: the plan of a
trace whose queues grow may be off by a factor of 20."""

TOO_LONG = 2.0
"""A task that should take so many times the longest one of the plan is cut."""


@dataclass(frozen=True)
class Task:
    """Ask for blocks of one trace over the same jobs: a run of resamples at a run of loads.

    Parameters
    ----------
    store : Store
        Where the blocks belong.
    trace : Trace
        Where the jobs come from.
    blocks : tuple of Block
        What to write.
    seconds : float
        CPU time that planning expects, s.
    careful : bool
        Whether the cells run in processes of their own, so that one which kills its process takes
        no other with it.
    run : str
        Name of the run that asks, without which nothing is written; see
        `farm.store.place.Place`. Empty where nobody else can be at the store.
    program : Program, optional
        That of the run, which its workers must have, too.
    """

    store: Store
    trace: Trace
    blocks: tuple[Block, ...]
    seconds: float
    careful: bool = False
    run: str = ""
    program: Program | None = None


def missing_blocks(
    store: Store, heads: Mapping[Block, Head], *, retry_failed: bool = False
) -> list[Block]:
    """Return the blocks that are not done.

    Parameters
    ----------
    store : Store
        The store, at its present axes.
    heads : mapping of Block to Head
        Heads of its records.
    retry_failed : bool
        Whether a block with failed cells counts as not done.

    Returns
    -------
    list of Block
        In the order of the axes.
    """

    def done(block: Block) -> bool:
        head = heads.get(block)
        return (
            head is not None
            and head.span == store.span_of(block)
            and head.holds == store.holding_digest(block)
            and not (retry_failed and head.failed)
        )

    return [block for block in store.blocks() if not done(block)]


def cells_missing(store: Store, block: Block, head: Head | None) -> int:
    """Return how many simulations a block still needs; what all policies share needs none."""
    if not block.product.policies:
        return 0
    span = store.span_of(block)
    return len(set(span.cells) - head.kept) if head else len(span)


def plan(store: Store, campaign: Campaign, blocks: list[Block]) -> list[Task]:
    """Gather blocks into tasks, longest first.

    Parameters
    ----------
    store : Store
        The store.
    campaign : Campaign
        Defines the traces.
    blocks : list of Block
        What is to be done.

    Returns
    -------
    list of Task
        Every block in exactly one task.
    """
    traces = {t.name: t for t in campaign.traces}
    costs = block_costs(store, blocks)
    # The last tasks must be short against the whole, or all workers wait for one.
    most = campaign.block_seconds or goal_seconds(math.fsum(costs.values()))
    alike: dict[tuple[Any, ...], list[Block]] = defaultdict(list)
    for block in blocks:
        shape = store.layouts[block.trace].shape(block.product)
        alike[block.trace, shape, block.resample, block.load].append(block)
    tasks = []
    for (trace, *_), group in alike.items():
        for batch in _batches(store, group, costs, most):
            seconds = math.fsum(costs[block] for block in batch)
            tasks.append(Task(store, traces[trace], batch, seconds))
    return sorted(tasks, key=lambda task: -task.seconds)


def block_costs(store: Store, blocks: Iterable[Block]) -> dict[Block, float]:
    """Return the CPU time to plan with for each block as a whole, s."""
    with own.sources(store.own):
        # Parsing a policy a million times would take as long as many a campaign; what a user's
        # name means may differ from store to store.
        cost = cache(_cost)
        return {block: _block_seconds(store, block, cost) for block in blocks}


def _block_seconds(store: Store, block: Block, cost: Callable[..., float]) -> float:
    span, cell = store.span_of(block), store.jobs[block.trace]
    places = store.job_range(block)
    pairs = product(span.policies, span.loads)
    each = (cost(block.kind, places.stop - places.start, *pair, cell) for pair in pairs)
    return len(span.resamples) * math.fsum(each)


def _cost(kind: str, jobs: int, policy: str, load: str, cell: int) -> float:
    return PRODUCTS[kind].cost(jobs, policy, load, cell)


def _batches(
    store: Store, blocks: list[Block], costs: Mapping[Block, float], most: float
) -> Iterator[tuple[Block, ...]]:
    batch: tuple[Block, ...] = ()
    total, held = 0.0, 0
    for block in blocks:
        size = store.block_bytes(block)
        # A workload costs nothing: it stays with the first cells that meet it.
        if total and (total + costs[block] > most or held + size > TASK_BYTES):
            yield batch
            batch, total, held = (), 0.0, 0
        batch, total, held = (*batch, block), total + costs[block], held + size
    if batch:
        yield batch


Like = tuple[str, str, int, int]
"""Trace, kind, load and policy of blocks that take alike, whatever the resample."""


def _like(block: Block) -> Like:
    return block.trace, block.kind, block.load, block.policy


class Backlog:
    """Hand out a run's tasks in order, cut where its own blocks take longer than was planned.

    A plan is made of the campaign alone and may be off by some factor, by which the last task of
    a run would be too long: the others would wait for it.

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
        self._most = max((task.seconds for task in self._tasks), default=0.0)
        self._measured, self._done = Measured(), set[Block]()
        self.took = 0.0
        self._left: dict[Like, float] = defaultdict(float)
        for task in self._tasks:
            for block in task.blocks:
                self._left[_like(block)] += costs.get(block, 0.0)

    def __len__(self) -> int:
        return len(self._tasks)

    def take(self) -> Task:
        """Return the next task; of one that has become too long, the first half."""
        task = self._tasks.popleft()
        while len(task.blocks) > 1 and self.expected(task.blocks) > TOO_LONG * self._most:
            half = len(task.blocks) // 2
            self._tasks.appendleft(self._of(task, task.blocks[half:]))
            task = self._of(task, task.blocks[:half])
        return task

    def give_back(self, task: Task, blocks: tuple[Block, ...] | None = None) -> None:
        """Take a task, or some blocks of it, back that a worker could not do: it is the next."""
        self._tasks.appendleft(task if blocks is None else self._of(task, blocks))

    def learn(self, block: Block, seconds: float) -> None:
        """Take note of the CPU time that a block took, s."""
        self.took += seconds
        self._done.add(block)
        if cost := self._costs.get(block):
            self._measured.add(_like(block), cost, seconds)
            self._left[_like(block)] -= cost

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
            for block in blocks:
                part = self._costs.get(block, 0.0) / total if total else 0.0
                known.add(_like(block), share * self._costs.get(block, 0.0), seconds * part)
        needs = {like: left * known.factor(like) for like, left in self._left.items()}
        clear = math.fsum(need for like, need in needs.items() if known.knows(like))
        all_of_it = math.fsum(needs.values())
        if 2 * clear < all_of_it:
            return None
        return max(0.0, all_of_it - math.fsum(seconds for _, seconds, _ in running))

    def _of(self, task: Task, blocks: tuple[Block, ...]) -> Task:
        return replace(task, blocks=blocks, seconds=math.fsum(self._costs[b] for b in blocks))


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

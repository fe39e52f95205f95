"""Tasks of a run: missing blocks in batches that share jobs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby, product
from operator import attrgetter
from typing import Any

from schedfarm.core import own
from schedfarm.core.format.geometry import Block, Cell, positions
from schedfarm.core.format.record import Header
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.block_shape import SHARD_BYTES, goal_seconds
from schedfarm.farm.planning.cost import SECONDS
from schedfarm.farm.store.provenance import Program
from schedfarm.farm.store.store import Store

BATCH_BYTES = 8 * SHARD_BYTES
"""Largest memory of the unwritten blocks of one batch, bytes."""

Batch = tuple[Block, ...]
"""Blocks of the same cells, or of their shared jobs, which are computed and stored together."""

Spot = tuple[Block, Cell]
"""A cell of a block that is simulated a second time for comparison."""


@dataclass(frozen=True)
class Task:
    """Order blocks of one trace in batches; each batch is stored as soon as it is done.

    If a worker dies, its current batch is lost, except for the checkpoints of long cells. seconds:
    planned CPU time, s. isolate: whether each cell runs in a separate process, so that a cell that
    kills its process affects no other cell. last: whether a cell that kills its process has failed,
    instead of going to another worker. run: name of the run, without which nothing is written (see
    `farm.store.place.Place`); empty if the store has no other user. program: program of the run,
    which workers must have, too. spots: cells of the task's blocks to simulate again without
    writing anything. maker: host and process of the first simulation of these cells, which does not
    get the task.
    """

    store: Store
    trace: Trace
    batches: tuple[Batch, ...]
    seconds: float
    isolate: bool = False
    last: bool = False
    run: str = ""
    program: Program | None = None
    spots: tuple[Spot, ...] = ()
    maker: str = ""

    @property
    def key(self) -> tuple[tuple[Block, ...], tuple[Spot, ...]]:
        """The task's identity, which all attempts at the task share."""
        return self.blocks, self.spots

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of all batches."""
        return tuple(chain.from_iterable(self.batches))


def missing_blocks(
    store: Store, heads: Mapping[Block, Header], *, retry_failed: bool
) -> list[Block]:
    """Return the missing blocks, in the order of the axes.

    heads: headers of the store's records. With `retry_failed`, a block with failed cells is
    missing.
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


def cells_missing(store: Store, block: Block, head: Header | None) -> int:
    """Return the number of simulations that a block still needs; blocks of a workload need none."""
    if not block.product.policies:
        return 0
    span = store.span_of(block)
    return len(set(span.cells) - head.succeeded) if head else len(span)


def plan(store: Store, campaign: Campaign, blocks: list[Block]) -> list[Task]:
    """Return tasks that together have every block once, the longest tasks first.

    Tasks with fair starts only are last, so that an interrupted run has answers without fair
    starts.
    """
    traces = {t.name: t for t in campaign.traces}
    costs = block_costs(store, blocks)
    # The last tasks must be short compared with the whole run, or all workers wait for one task.
    most = campaign.block_seconds or goal_seconds(math.fsum(costs.values()))
    alike: dict[tuple[Any, ...], list[Block]] = defaultdict(list)
    for block in blocks:
        shape = store.layouts[block.trace].shape(block.product)
        alike[block.trace, shape, block.resample, block.load].append(block)
    tasks = []
    for (trace, *_), group in alike.items():
        for batches in _grouped(_batches(store, group, costs, most), costs, most):
            seconds = math.fsum(costs[block] for batch in batches for block in batch)
            tasks.append(Task(store, traces[trace], batches, seconds))
    return sorted(tasks, key=lambda task: (_is_extra(task), -task.seconds))


def _is_extra(task: Task) -> bool:
    """Return whether a task has only fair starts, which take most of a run's time."""
    return all(block.product.long for block in task.blocks)


def block_costs(store: Store, blocks: Iterable[Block]) -> dict[Block, float]:
    """Return the planned CPU time of each block, s."""
    found, alike = {}, dict[tuple[Any, ...], float]()
    with own.sources(store.own):
        # Parsing a policy a million times takes as long as many campaigns. The cache is local,
        # because a plug-in's name may mean something else in another store.
        cost, samples = cache(_cost), len(store.axes["resample"])
        for block in blocks:
            # Most blocks of a campaign differ only in their resamples, and so cost the same.
            like = block.trace, block.kind, block.load, block.policy, block.piece
            if like not in alike:
                alike[like] = _sample_seconds(store, block, cost)
            length, *_ = store.layouts[block.trace].shape(block.product)
            found[block] = len(positions(block.resample, length, samples)) * alike[like]
    return found


def _sample_seconds(store: Store, block: Block, cost: Callable[..., float]) -> float:
    """Return the CPU time of one resample of a block, s."""
    span, cell = store.span_of(block), store.jobs[block.trace]
    places = store.job_range(block)
    pairs = product(span.policies, span.loads)
    return math.fsum(cost(block.kind, places.stop - places.start, *pair, cell) for pair in pairs)


def _cost(kind: str, jobs: int, policy: str, load: str, cell: int) -> float:
    return SECONDS[kind](jobs, policy, load, cell)


def _batches(
    store: Store, blocks: list[Block], costs: Mapping[Block, float], most: float
) -> Iterator[Batch]:
    """Cut blocks of the same jobs into batches, each with all kinds of blocks of a box of cells."""
    # A stable sort keeps the kinds in the order in which they are computed.
    box = attrgetter("policy", "piece")
    for _, group in groupby(sorted(blocks, key=box), key=box):
        batch: Batch = ()
        total, held = 0.0, 0
        for block in group:
            size = store.block_bytes(block)
            # A workload costs nothing; it is in the batch of the first cells that use it.
            if total and (total + costs[block] > most or held + size > BATCH_BYTES):
                yield batch
                batch, total, held = (), 0.0, 0
            batch, total, held = (*batch, block), total + costs[block], held + size
        yield batch


def _grouped(
    batches: Iterable[Batch], costs: Mapping[Block, float], most: float
) -> Iterator[tuple[Batch, ...]]:
    """Group batches of the same jobs, so that a task draws these jobs once."""
    group: tuple[Batch, ...] = ()
    total = 0.0
    for batch in batches:
        seconds = math.fsum(costs[block] for block in batch)
        if total and total + seconds > most:
            yield group
            group, total = (), 0.0
        group, total = (*group, batch), total + seconds
    if group:
        yield group

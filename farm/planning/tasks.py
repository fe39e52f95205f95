"""What a run has to do: the tasks that lead to every missing record, longest first."""

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

PORTION_BYTES = 8 * SHARD_BYTES
"""Memory that the unwritten blocks of one portion may take."""

Portion = tuple[Block, ...]
"""Blocks of the same cells, or of jobs that these share: made side by side, stored together."""


@dataclass(frozen=True)
class Task:
    """Ask for blocks of one trace, in portions of which each is stored as soon as it is done.

    Parameters
    ----------
    store : Store
        Where the blocks belong.
    trace : Trace
        Where the jobs come from.
    portions : tuple of tuple of Block
        What to write, one after the other: a worker that dies loses one of them.
    seconds : float
        CPU time that planning expects, s.
    careful : bool
        Whether the cells run in processes of their own, so that one which kills its process takes
        no other with it.
    last : bool
        Whether a cell that kills such a process has failed; otherwise another worker is asked.
    run : str
        Name of the run that asks, without which nothing is written; see
        `farm.store.place.Place`. Empty where nobody else can be at the store.
    program : Program, optional
        That of the run, which its workers must have, too.
    spot : Cell, optional
        The one cell to simulate a second time, of the one block; nothing is written then.
    maker : str
        Host and process that simulated that cell first, which does not get the task.
    """

    store: Store
    trace: Trace
    portions: tuple[Portion, ...]
    seconds: float
    careful: bool = False
    last: bool = False
    run: str = ""
    program: Program | None = None
    spot: Cell | None = None
    maker: str = ""

    @property
    def key(self) -> tuple[tuple[Block, ...], Cell | None]:
        """What tells it from other tasks, whoever attempts it."""
        return self.blocks, self.spot

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What to write."""
        return tuple(chain.from_iterable(self.portions))


def missing_blocks(
    store: Store, heads: Mapping[Block, Header], *, retry_failed: bool
) -> list[Block]:
    """Return the blocks that are not done.

    Parameters
    ----------
    store : Store
        The store, at its present axes.
    heads : mapping of Block to Header
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


def cells_missing(store: Store, block: Block, head: Header | None) -> int:
    """Return how many simulations a block still needs; what all policies share needs none."""
    if not block.product.policies:
        return 0
    span = store.span_of(block)
    return len(set(span.cells) - head.succeeded) if head else len(span)


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
        for batch in _batches(_portions(store, group, costs, most), costs, most):
            seconds = math.fsum(costs[block] for portion in batch for block in portion)
            tasks.append(Task(store, traces[trace], batch, seconds))
    return sorted(tasks, key=lambda task: -task.seconds)


def block_costs(store: Store, blocks: Iterable[Block]) -> dict[Block, float]:
    """Return the CPU time to plan with for each block as a whole, s."""
    found, alike = {}, dict[tuple[Any, ...], float]()
    with own.sources(store.own):
        # Parsing a policy a million times would take as long as many a campaign; what a user's
        # name means may differ from store to store.
        cost, samples = cache(_cost), len(store.axes["resample"])
        for block in blocks:
            # Blocks that differ in their resamples alone take alike, and are most of a campaign's.
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


def _portions(
    store: Store, blocks: list[Block], costs: Mapping[Block, float], most: float
) -> Iterator[Portion]:
    """Cut blocks of the same jobs into what is stored together: the kinds of one box of cells."""
    # Stable: kinds stay in the order in which a cell's are made.
    box = attrgetter("policy", "piece")
    for _, group in groupby(sorted(blocks, key=box), key=box):
        portion: Portion = ()
        total, held = 0.0, 0
        for block in group:
            size = store.block_bytes(block)
            # A workload costs nothing: it stays with the first cells that meet it.
            if total and (total + costs[block] > most or held + size > PORTION_BYTES):
                yield portion
                portion, total, held = (), 0.0, 0
            portion, total, held = (*portion, block), total + costs[block], held + size
        yield portion


def _batches(
    portions: Iterable[Portion], costs: Mapping[Block, float], most: float
) -> Iterator[tuple[Portion, ...]]:
    """Gather portions of the same jobs, which are drawn once for a task."""
    batch: tuple[Portion, ...] = ()
    total = 0.0
    for portion in portions:
        seconds = math.fsum(costs[block] for block in portion)
        if total and total + seconds > most:
            yield batch
            batch, total = (), 0.0
        batch, total = (*batch, portion), total + seconds
    if batch:
        yield batch

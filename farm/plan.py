"""What a run has to do: the tasks that lead to every missing record, longest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from farm.campaign import Campaign
from farm.layout import (
    SHARD_BYTES,
    WHOLE,
    WORKLOAD_BLOCK,
    Block,
    cell_seconds,
    fair_seconds,
)
from farm.records import Head
from farm.store import Store
from farm.work import Task

TASK_SECONDS = 30.0
"""CPU time that a task of several blocks should not exceed: policies that meet the same jobs
share one task, which saves drawing and scaling the jobs anew for each."""

TASK_BYTES = 8 * SHARD_BYTES
"""Memory that the unwritten blocks of one task may take."""

BYTES_PER_JOB = 17
"""Start and wait, int64, and one byte for backfilled."""


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
            and head.resamples == store.resamples_of(block)
            and not (retry_failed and head.failed)
        )

    return [block for block in store.blocks() if not done(block)]


def cells_missing(store: Store, block: Block, head: Head | None) -> int:
    """Return how many simulations a block still needs; the workload's own block needs none."""
    if block.policy == WORKLOAD_BLOCK:
        return 0
    kept = head.kept if head else set()
    return len(set(store.resamples_of(block)) - kept)


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
    alike: dict[tuple[str, str, int], list[Block]] = defaultdict(list)
    for block in blocks:
        alike[block.trace, block.load, block.number].append(block)
    tasks = []
    for (trace, _, _), group in alike.items():
        cells = len(store.resamples_of(group[0]))
        room = max(1, TASK_BYTES // (cells * store.layouts[trace].job_shard * BYTES_PER_JOB))
        for batch, seconds in _batches(store, group, cells, room):
            tasks.append(Task(store, traces[trace], batch, seconds))
    return sorted(tasks, key=lambda task: -task.seconds)


def block_seconds(store: Store, block: Block, cells: int) -> float:
    """Return the CPU time to plan with for a block of so many cells, s."""
    if block.policy == WORKLOAD_BLOCK:
        return 0.0
    base = cells * cell_seconds(store.jobs[block.trace], block.policy)
    if block.kind in ("", WHOLE):
        return base
    piece = store.job_range(block)
    return base + cells * fair_seconds(piece.stop - piece.start, block.policy)


def _batches(
    store: Store, blocks: list[Block], cells: int, room: int
) -> list[tuple[tuple[Block, ...], float]]:
    batches: list[tuple[tuple[Block, ...], float]] = []
    batch: tuple[Block, ...] = ()
    total = 0.0
    for block in blocks:
        seconds = block_seconds(store, block, cells)
        if _is_cut(store, block):
            batches.append(((block,), seconds))
            continue
        if batch and (total + seconds > TASK_SECONDS or len(batch) >= room):
            batches.append((batch, total))
            batch, total = (), 0.0
        batch, total = (*batch, block), total + seconds
    return [*batches, (batch, total)] if batch else batches


def _is_cut(store: Store, block: Block) -> bool:
    """Tell whether a block is one of several pieces of a cell: these spread over the workers."""
    fair_jobs = store.layouts[block.trace].fair_jobs
    return block.kind not in ("", WHOLE) and store.jobs[block.trace] > fair_jobs

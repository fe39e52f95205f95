"""What a worker does: simulate the cells of one task and commit its blocks."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from core.workload import Workload
from farm.cell import Metrics, Rows, cell_jobs, cell_values
from farm.draft import Draft
from farm.fair import fair_values
from farm.isolate import isolated
from farm.layout import WORKLOAD_BLOCK, Block
from farm.store import Store
from farm.traces import Trace

T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """Ask for blocks over the same jobs: one trace, one load and one run of resamples.

    Parameters
    ----------
    store : Store
        Where the blocks belong.
    trace : Trace
        Where the jobs come from.
    blocks : tuple of Block
        What to write; they differ in policy, kind and piece only.
    seconds : float
        CPU time that planning expects, s.
    careful : bool
        Whether each cell runs in a process of its own, so that one which kills its process takes
        no other with it.
    run : str
        Name of the run that asks, without which nothing is written; see `farm.lock.check_turn`.
        Empty where nobody else can be at the store.
    """

    store: Store
    trace: Trace
    blocks: tuple[Block, ...]
    seconds: float
    careful: bool = False
    run: str = ""


@dataclass(frozen=True)
class Done:
    """Report one block that is on the disk and has its record.

    Parameters
    ----------
    block : Block
        Which.
    cells : int
        Cells of a policy that were simulated now; none in the workload's own block.
    failed : int
        How many of them failed.
    seconds : float
        CPU time of their simulations, s.
    worker : str
        Host and process that did it.
    """

    block: Block
    cells: int
    failed: int
    seconds: float
    worker: str


def run_task(task: Task) -> list[Done]:
    """Simulate a task's cells and store them, block by block, each block's record last.

    Parameters
    ----------
    task : Task
        What to do.

    Returns
    -------
    list of Done
        One entry per block.

    Raises
    ------
    OSError
        If the store cannot be written. A cell that fails does not raise: its error is recorded.
    """
    drafts = [Draft(task.store, block, task.run) for block in task.blocks]
    missing = [set(draft.missing) for draft in drafts]
    for cell in sorted(set().union(*missing)):
        _fill(task, cell, [d for d, cells in zip(drafts, missing, strict=True) if cell in cells])
    done, worker = [], f"{platform.node()}:{os.getpid()}"
    for draft in drafts:
        draft.commit()
        workload = draft.block.policy == WORKLOAD_BLOCK
        counts = (0, 0) if workload else (len(draft.missing), draft.failed)
        done.append(Done(draft.block, *counts, round(draft.seconds, 6), worker))
    return done


def _fill(task: Task, cell: int, drafts: list[Draft]) -> None:
    store, load, resample = task.store, task.blocks[0].load, drafts[0].resamples[cell]
    try:
        if task.careful:
            isolated(cell_jobs, store, task.trace, load, resample)
        jobs = cell_jobs(store, task.trace, load, resample)
    except Exception as error:  # a cell's failure is data, whatever its kind
        for draft in drafts:
            draft.fail(cell, error)
        return
    for draft in drafts:
        begun = time.process_time()
        try:
            call = isolated if task.careful else _call
            count, rows, metrics = call(block_values, store, draft.block, jobs)
        except Exception as error:
            draft.fail(cell, error)
        else:
            draft.put(cell, count, rows, metrics, time.process_time() - begun)


def _call(function: Callable[..., T], *arguments: Any) -> T:
    return function(*arguments)


def block_values(store: Store, block: Block, jobs: Workload) -> tuple[int, Rows, Metrics]:
    """Return what a block keeps of one cell: its jobs there, values and metrics.

    Parameters
    ----------
    store : Store
        Where the block belongs.
    block : Block
        Which block.
    jobs : Workload
        All jobs of the cell.

    Returns
    -------
    count : int
        How many jobs the block covers.
    rows : dict of str to ndarray
        Values of each array, without padding.
    metrics : dict of str to float
        Values of the summary.
    """
    if not block.kind:
        return len(jobs), *cell_values(store, block.trace, block.policy, jobs)
    piece = store.job_range(block)
    count = max(0, min(piece.stop, len(jobs)) - piece.start)
    return count, *fair_values(block.policy, jobs, block.kind, piece)

"""What a worker does: simulate the cells of one task and commit its blocks."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass

from farm.cell import cell_jobs, cell_values
from farm.draft import Draft
from farm.isolate import isolated
from farm.layout import WORKLOAD_BLOCK, Block
from farm.store import Store
from farm.traces import Trace


@dataclass(frozen=True)
class Task:
    """Ask for the blocks of some policies over the same jobs: one trace, load and run of resamples.

    Parameters
    ----------
    store : Store
        Where the blocks belong.
    trace : Trace
        Where the jobs come from.
    load : str
        Label of the load.
    number : int
        Number of the blocks.
    policies : tuple of str
        Policies, and `WORKLOAD_BLOCK` for the workload's own columns.
    seconds : float
        CPU time that planning expects, s.
    careful : bool
        Whether each cell runs in a process of its own, so that one which kills its process takes
        no other with it.
    """

    store: Store
    trace: Trace
    load: str
    number: int
    policies: tuple[str, ...]
    seconds: float
    careful: bool = False

    @property
    def blocks(self) -> list[Block]:
        """The blocks that the task writes."""
        return [Block(self.trace.name, self.load, p, self.number) for p in self.policies]


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
    drafts = {block.policy: Draft(task.store, block) for block in task.blocks}
    missing = {policy: set(draft.missing) for policy, draft in drafts.items()}
    for cell in sorted(set().union(*missing.values())):
        _fill(task, cell, {p: d for p, d in drafts.items() if cell in missing[p]})
    done, worker = [], f"{platform.node()}:{os.getpid()}"
    for policy, draft in drafts.items():
        draft.commit()
        counts = (0, 0) if policy == WORKLOAD_BLOCK else (len(draft.missing), draft.failed)
        done.append(Done(draft.block, *counts, round(draft.seconds, 6), worker))
    return done


def _fill(task: Task, cell: int, drafts: dict[str, Draft]) -> None:
    resample = next(iter(drafts.values())).resamples[cell]
    try:
        if task.careful:
            isolated(cell_jobs, task.store, task.trace, task.load, resample)
        jobs = cell_jobs(task.store, task.trace, task.load, resample)
    except Exception as error:  # a cell's failure is data, whatever its kind
        for draft in drafts.values():
            draft.fail(cell, error)
        return
    for policy, draft in drafts.items():
        begun = time.process_time()
        try:
            arguments = task.store, task.trace.name, policy, jobs
            if task.careful:
                rows, metrics = isolated(cell_values, *arguments)
            else:
                rows, metrics = cell_values(*arguments)
        except Exception as error:
            draft.fail(cell, error)
        else:
            draft.put(cell, len(jobs), rows, metrics, time.process_time() - begun)

"""What a worker does: simulate the cells of one task and commit its blocks."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.load import offered_load
from core.metrics import summarise, weekly
from core.schedule import Schedule
from core.simulate import simulate
from core.workload import Workload
from farm.draft import Draft
from farm.layout import WORKLOAD_BLOCK, Block
from farm.store import Store, load_log
from farm.summary import PER_SAMPLE
from farm.traces import Trace, at_load, sample


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
    """

    store: Store
    trace: Trace
    load: str
    number: int
    policies: tuple[str, ...]
    seconds: float

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
    simulated = {policy: len(draft.missing) for policy, draft in drafts.items()}
    for cell in sorted({cell for draft in drafts.values() for cell in draft.missing}):
        _fill(task, cell, {p: d for p, d in drafts.items() if cell in d.missing})
    done, worker = [], f"{platform.node()}:{os.getpid()}"
    for policy, draft in drafts.items():
        draft.commit()
        counts = (0, 0) if policy == WORKLOAD_BLOCK else (simulated[policy], draft.failed)
        done.append(Done(draft.block, *counts, round(draft.seconds, 6), worker))
    return done


def _fill(task: Task, cell: int, drafts: dict[str, Draft]) -> None:
    resample = next(iter(drafts.values())).resamples[cell]
    try:
        jobs = _jobs(task, resample)
    except Exception as error:  # a cell's failure is data, whatever its kind
        for draft in drafts.values():
            draft.fail(cell, error)
        return
    weeks = task.store.layouts[task.trace.name].weeks
    tau = int(task.store.settings["tau"])
    for policy, draft in drafts.items():
        begun = time.process_time()
        try:
            if policy == WORKLOAD_BLOCK:
                rows, metrics = _workload_rows(jobs), {"offered_load": offered_load(jobs)}
            else:
                rows, metrics = _decision_rows(simulate(jobs, policy), tau, weeks)
        except Exception as error:
            draft.fail(cell, error)
        else:
            draft.put(cell, len(jobs), rows, metrics, time.process_time() - begun)


def _jobs(task: Task, resample: int) -> Workload:
    settings = task.store.settings
    path = task.store.log_path(task.trace.name)
    log = _log(path) if path else None
    original = sample(
        task.trace, log, seed=settings["seed"], resample=resample, draw=settings["draw"]
    )
    return at_load(original, task.load)


@lru_cache(maxsize=8)
def _log(path: Path) -> Workload:
    return load_log(path)


def _workload_rows(jobs: Workload) -> dict[str, npt.NDArray[Any]]:
    names = {
        "submit": "submit",
        "run": "run",
        "estimate": "estimate",
        "procs": "procs",
        "user": "user",
        "number": "job",
    }
    rows = {name: getattr(jobs, column) for name, column in names.items()}
    return {"jobs": np.asarray(len(jobs)), **rows}


def _decision_rows(
    schedule: Schedule, tau: int, weeks: int
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, float]]:
    metrics = {k: v for k, v in summarise(schedule, tau).items() if k not in PER_SAMPLE}
    by_week = {f"week_{k}": v for k, v in weekly(schedule, tau, weeks).items()}
    rows = {"start": schedule.start, "wait": schedule.wait, "backfilled": schedule.backfilled}
    return {**rows, **by_week}, metrics

"""One cell: the jobs that it meets, and every value that a store keeps of it."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.metrics.summary import summarise
from core.metrics.weekly import weekly
from core.metrics.window import NO_WARMUP
from core.schedule import Schedule
from core.simulation.simulate import simulate
from core.workload.load import offered_load
from core.workload.workload import Workload
from farm.campaign.samples import at_load, sample, users_at
from farm.campaign.trace import Trace
from farm.execution.fair_start import fair_values
from farm.store.geometry import CELLS, WORKLOAD_BLOCK, Block, Cell
from farm.store.logs import load_log
from farm.store.store import Store
from farm.store.summary import PER_SAMPLE

Rows = dict[str, npt.NDArray[Any]]
Metrics = dict[str, float]

COLUMN_OF = {
    "submit": "submit",
    "run": "run",
    "estimate": "estimate",
    "procs": "procs",
    "user": "user",
    "number": "job",
}
"""Where each array of the workload's own block comes from."""


class Bench:
    """Make what a run of one trace's cells needs, once for all consecutive cells that share it.

    Drawing a sample takes as long as some simulations do: it is drawn once for all loads. A pure
    function of its arguments otherwise.

    Parameters
    ----------
    store : Store
        Says seed, draw, what reaches a load, tau, and what warm-up and cool-down leave out.
    trace : Trace
        Where the jobs come from.
    """

    def __init__(self, store: Store, trace: Trace) -> None:
        self._store, self._trace = store, trace
        path = store.log_path(trace.name)
        self._log = _log(path) if path else None
        self._drawn: tuple[tuple[int, float], Workload] | None = None
        self._met: tuple[tuple[int, str], Workload] | None = None
        self._made: tuple[Cell, Schedule] | None = None

    def jobs(self, resample: int, load: str) -> Workload:
        """Return the jobs of one resample at one load.

        Raises
        ------
        InputError
            If there are none, say since the load cannot be reached.
        """
        if self._met is None or self._met[0] != (resample, load):
            self._met = (resample, load), self._at_load(resample, load)
        return self._met[1]

    def schedule(self, cell: Cell) -> Schedule:
        """Return what a policy makes of the jobs of its cell.

        Raises
        ------
        InputError
            As `jobs`. What a user's own order raises passes through.
        """
        if self._made is None or self._made[0] != cell:
            resample, load, policy = cell
            self._made = cell, simulate(self.jobs(resample, load), policy)
        return self._made[1]

    def values(self, block: Block, cell: Cell) -> tuple[int, Rows, Metrics]:
        """Return what a block keeps of one cell: its jobs there, values and metrics.

        Returns
        -------
        count : int
            How many jobs of the cell the block covers.
        rows : dict of str to ndarray
            Values of each array, without padding.
        metrics : dict of str to float
            Values of the summary.

        Raises
        ------
        InputError
            As `schedule`.
        """
        if block.kind == WORKLOAD_BLOCK:
            jobs = self.jobs(*cell[:2])
            return len(jobs), *_workload_values(jobs)
        schedule = self.schedule(cell)
        if block.kind == CELLS:
            weeks = self._store.week_entries(block.trace, cell)
            return len(schedule.workload), *_schedule_values(self._store, schedule, weeks)
        piece = self._store.job_range(block)
        count = max(0, min(piece.stop, len(schedule.workload)) - piece.start)
        return count, *fair_values(schedule, block.kind, piece)

    def _at_load(self, resample: int, load: str) -> Workload:
        known = self._store.settings
        draw, load_by = known["draw"], known["load_by"]
        users = users_at(
            self._trace, self._log, resample=resample, draw=draw, load=load, load_by=load_by
        )
        if self._drawn is None or self._drawn[0] != (resample, users):
            one = sample(
                self._trace,
                self._log,
                seed=known["seed"],
                resample=resample,
                draw=draw,
                users=users,
            )
            self._drawn = (resample, users), one
        return at_load(self._drawn[1], load, load_by)


def _workload_values(jobs: Workload) -> tuple[Rows, Metrics]:
    rows: Rows = {name: getattr(jobs, column) for name, column in COLUMN_OF.items()}
    # Jobs of one instant have no offered load, and can be simulated all the same.
    spread = len(jobs) > 1 and jobs.submit[-1] > jobs.submit[0]
    load = offered_load(jobs) if spread else math.nan
    return {"jobs": np.asarray(len(jobs)), **rows}, {"offered_load": load}


def _schedule_values(store: Store, schedule: Schedule, weeks: int) -> tuple[Rows, Metrics]:
    settings, tau = store.settings, int(store.settings["tau"])
    ends = settings.get("warmup", NO_WARMUP), bool(settings.get("cooldown"))
    metrics = {k: v for k, v in summarise(schedule, tau, *ends).items() if k not in PER_SAMPLE}
    by_week = {f"week_{k}": v for k, v in weekly(schedule, tau, weeks, *ends).items()}
    rows = {"start": schedule.start, "wait": schedule.wait, "backfilled": schedule.backfilled}
    return {**rows, **by_week}, metrics


@lru_cache(maxsize=8)
def _log(path: Path) -> Workload:
    return load_log(path)

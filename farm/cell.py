"""One cell: the jobs that it meets, and every value that a store keeps of it."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.load import offered_load
from core.metrics import summarise
from core.simulate import simulate
from core.weekly import weekly
from core.window import NO_WARMUP
from core.workload import Workload
from farm.layout import WORKLOAD_BLOCK
from farm.samples import jobs_of
from farm.store import Store, load_log
from farm.summary import PER_SAMPLE
from farm.traces import Trace

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


def cell_jobs(store: Store, trace: Trace, load: str, resample: int) -> Workload:
    """Return the jobs of one resample of a trace at one load; a pure function of its arguments."""
    settings = store.settings
    path = store.log_path(trace.name)
    log = _log(path) if path else None
    return jobs_of(
        trace,
        log,
        seed=settings["seed"],
        resample=resample,
        draw=settings["draw"],
        load=load,
        load_by=settings["load_by"],
    )


def cell_values(store: Store, trace: str, policy: str, jobs: Workload) -> tuple[Rows, Metrics]:
    """Simulate a cell, or describe its jobs, and return what its store keeps.

    Parameters
    ----------
    store : Store
        Says tau, the number of weeks, and what warm-up and cool-down leave out.
    trace, policy : str
        Labels; `WORKLOAD_BLOCK` for the workload's own columns.
    jobs : Workload
        From `cell_jobs`.

    Returns
    -------
    rows : dict of str to ndarray
        Values of each array, without padding.
    metrics : dict of str to float
        Values of the summary.
    """
    if policy == WORKLOAD_BLOCK:
        rows: Rows = {name: getattr(jobs, column) for name, column in COLUMN_OF.items()}
        # Jobs of one instant have no offered load, and can be simulated all the same.
        spread = len(jobs) > 1 and jobs.submit[-1] > jobs.submit[0]
        load = offered_load(jobs) if spread else math.nan
        return {"jobs": np.asarray(len(jobs)), **rows}, {"offered_load": load}
    settings, weeks = store.settings, store.layouts[trace].weeks
    tau = int(settings["tau"])
    ends = settings.get("warmup", NO_WARMUP), bool(settings.get("cooldown"))
    schedule = simulate(jobs, policy)
    metrics = {k: v for k, v in summarise(schedule, tau, *ends).items() if k not in PER_SAMPLE}
    by_week = {f"week_{k}": v for k, v in weekly(schedule, tau, weeks, *ends).items()}
    rows = {"start": schedule.start, "wait": schedule.wait, "backfilled": schedule.backfilled}
    return {**rows, **by_week}, metrics


@lru_cache(maxsize=8)
def _log(path: Path) -> Workload:
    return load_log(path)

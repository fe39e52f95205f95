"""Single cells of a store as schedules."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.logs import log_text
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.store import LOG, check_held, known_label, open_trace, source_of
from schedfarm.core.machines.platform import platform_from_dict
from schedfarm.core.schedule import Schedule, segments_of
from schedfarm.core.workload.columns import COLUMNS
from schedfarm.core.workload.workload import Workload

UNSCALED = "original"
"""Label of the load at which jobs are submitted as in the log."""


def cell_jobs(store: StoreName, trace: str, load: str, resample: int) -> Workload:
    """Return the jobs that every policy schedules in a cell."""
    return _jobs(store, trace, _at(open_trace(store, trace), load, resample))


def cell_schedule(store: StoreName, trace: str, load: str, resample: int, policy: str) -> Schedule:
    """Return the schedule of one cell, equal to the simulated schedule except for counters."""
    group = open_trace(store, trace)
    check_held(group, "wait", "submit")
    policy = known_label("policy", policy, group["policy"].values.tolist())
    at = _at(group, load, resample)
    jobs = _jobs(store, trace, at)
    rows = at.sel(policy=policy).isel(job=slice(len(jobs)))
    start = rows["start"].values
    given: dict[str, Any] = {
        name: rows[name].values for name in jobs.platform.keeps if name != "segments"
    }
    if "segments" in jobs.platform.keeps:
        given["segments"] = segments_of(rows["on"].values)
    if bool(np.any((start < 0) & (given.get("state", 0) == 0))):
        raise StoreError(
            f"policy {policy!r} of trace {trace!r} at load {load} and resample {resample} has not "
            "been simulated, or failed; run the campaign first"
        )
    backfilled = rows["backfilled"].values.astype(np.bool_)
    return Schedule(jobs, policy, start, backfilled, given=given)


def _at(group: xr.Dataset, load: str, resample: int) -> xr.Dataset:
    labels = group["resample"].values.tolist()
    if resample not in labels:
        samples = f"{labels[0]} to {labels[-1]}"
        raise StoreError(f"the store has no resample {resample}; its resamples are {samples}")
    load = known_label("load", load, group["load"].values.tolist())
    return group.sel(load=load, resample=resample)


def _jobs(store: StoreName, trace: str, at: xr.Dataset) -> Workload:
    check_held(at, "submit")
    count = int(at["jobs"])
    if not count:
        raise StoreError(f"trace {trace!r} has no simulated job there; run the campaign first")
    source = source_of(store, trace)
    columns: dict[str, Any] = {
        name: at[row.stored].values[:count].astype(row.dtype)
        for name, row in COLUMNS.items()
        if row.stored in at
    }
    as_logged = int(at["resample"]) == LOG and str(at["load"].values) == UNSCALED
    about = json.loads(log_text(store, trace, "about") or "{}") if as_logged else {}
    return Workload.from_columns(
        **columns,
        platform=platform_from_dict(source["platform"]),
        name=trace,
        max_estimate=int(at["max_estimate"]),
        epoch=about.get("epoch", -1),
    )

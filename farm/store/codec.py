"""Codec of schedules: conversion to the arrays of a store, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.schedule import Schedule, segments_of, starts_of
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.store.product import PRODUCTS

Rows = Mapping[str, npt.NDArray[Any]]


def encode_schedule(schedule: Schedule) -> dict[str, npt.NDArray[Any]]:
    """Return the values of a schedule by the names of the store's arrays.

    Starts are left out, since `core.schedule.starts_of` derives them from the waits. Waits are
    small numbers and take a quarter of the space.
    """
    jobs = schedule.workload
    wait = np.where(schedule.start < 0, -1, schedule.start - jobs.submit)
    own = {
        array: _packed(schedule, name)
        for name, array in _names().items()
        if name in jobs.platform.keeps
    }
    return {"wait": wait, "backfilled": schedule.backfilled, **own}


def has_schedule(rows: Rows) -> bool:
    """Return whether these rows of a store's arrays contain a schedule."""
    return "wait" in rows


def decode_schedule(jobs: Workload, policy: str, rows: Rows, counts: Mapping[str, int]) -> Schedule:
    """Return the schedule with these rows of a store; rows have no padding and any shape."""
    names, platform = _names(), jobs.platform
    given: dict[str, Any] = {name: rows[names[name]] for name in platform.keeps}
    if "segments" in given:
        on = given["segments"].reshape(len(jobs), len(platform.places))
        given["segments"] = segments_of(on)
    return Schedule(
        jobs,
        policy,
        starts_of(jobs.submit, rows["wait"]),
        rows["backfilled"].astype(np.bool_),
        counts=counts or None,
        given=given,
    )


def _names() -> dict[str, str]:
    """Return the name of the array of each attribute that only some platforms have."""
    rows = (one for row in PRODUCTS.values() if row.simulates for one in row.kept)
    return {name: variable.name for name, variable in rows}


def _packed(schedule: Schedule, name: str) -> npt.NDArray[Any]:
    parts = schedule.segments
    if name != "segments" or parts is None:
        values: npt.NDArray[Any] = getattr(schedule, name)
        return values
    jobs = schedule.workload
    on = np.zeros((len(jobs), len(jobs.platform.places)), np.int32)
    np.add.at(on, (parts.job, parts.place), parts.procs)
    return on

"""Simulation of policies on a pool with several resources, by kernels."""

from __future__ import annotations

from functools import partial

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.run import Door, idle_jobs
from schedfarm.core.engine.world import AGGRESSIVE, EASY, NONE
from schedfarm.core.errors import InputError
from schedfarm.core.machines.resources import book, kernel, plans, usage
from schedfarm.core.machines.resources.book import StockKeeper, stock_keeper
from schedfarm.core.machines.resources.kernel import Stock, idle_stock
from schedfarm.core.machines.resources.plans import Plan, empty_plan
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.machines.resources.timetable import timetable_of
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

STEPS = (book, kernel, plans, usage)
"""Modules with the implementations of generic steps for several resources."""


def _check(policy: Policy) -> None:
    if policy.events != "instant":
        raise InputError(
            f"policy {policy.name!r}: events={policy.events} is for one pool of processors; "
            "on a machine with several resources or partitions leave it out"
        )
    if policy.predict is not None:
        raise InputError(
            f"policy {policy.name!r}: predict={policy.predict} is for one pool of processors; "
            "on a machine with several resources or partitions leave it out"
        )


def _resources(workload: Workload) -> Resources:
    platform = workload.platform
    assert isinstance(platform, Resources)
    return platform


def _stock(workload: Workload, unit: int) -> Stock:
    platform = _resources(workload)
    amounts, requests = np.array(platform.amounts, np.int64), platform.requests(workload)
    if not platform.windows:
        return idle_stock(amounts, requests, platform.shared)
    # With windows, the kind of a job includes its estimate, which determines whether the job ends
    # before a window.
    stock = idle_stock(amounts, np.column_stack((requests, workload.estimate)), platform.shared)
    requested, lasting = stock.request[:, :-1].copy(), stock.request[:, -1].copy()
    return stock._replace(
        level=stock.level[:, :-1].copy(),
        request=requested,
        table=timetable_of(amounts, *platform.intervals, lasting),
    )


def _plan(workload: Workload, unit: int, widest: int) -> Plan:
    # The number of kinds is the number of distinct requests, at most n.
    platform, n = _resources(workload), len(workload)
    return empty_plan(n, len(platform.amounts), n, 2 * platform.intervals.begin.size)


def _kinds(workload: Workload, machine: Machine, unit: int) -> Int64:
    kind: Int64 = machine.kind
    return kind


def _has_unions(workload: Workload) -> bool:
    platform = _resources(workload)
    return platform.shared < len(platform.names)


def _has_windows(workload: Workload) -> bool:
    return bool(_resources(workload).windows)


def _keeper(workload: Workload) -> StockKeeper:
    stock, changes = _stock(workload, 1), _resources(workload).intervals.begin.size
    promised = np.full(len(workload), NO_PROMISE, np.int64)
    return stock_keeper(idle_jobs(workload, stock.kind), stock, changes, promised)


DOOR = Door(_check, _stock, _plan, lambda machine: None, _kinds, _has_unions, _has_windows, _keeper)

none = partial(DOOR.schedule, code=NONE)
aggressive = partial(DOOR.schedule, code=AGGRESSIVE)
easy = partial(DOOR.schedule, code=EASY)
reserving, promise_reserving = DOOR.reserving, DOOR.promise_reserving
planned, promise_planned = DOOR.planned, DOOR.promise_planned
slurm = DOOR.slurm

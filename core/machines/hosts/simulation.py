"""Mapping of a policy to the kernels that simulate it on hosts."""

from __future__ import annotations

from functools import partial

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.run import Door, idle_jobs, keep_plan
from schedfarm.core.engine.world import AGGRESSIVE, EASY, NONE
from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts import book, kernel, plans, usage
from schedfarm.core.machines.hosts.book import HostKeeper, host_keeper
from schedfarm.core.machines.hosts.kernel import Fleet, idle_fleet
from schedfarm.core.machines.hosts.plans import Plan, empty_plan
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

STEPS = (book, kernel, plans, usage)
"""Modules with the steps of this machine."""


def _check(policy: Policy) -> None:
    for option, default in (("events", "instant"), ("predict", None)):
        value = getattr(policy, option)
        if value != default:
            raise InputError(
                f"policy {policy.name!r}: {option}={value} is for one pool of processors; on hosts "
                "leave it out"
            )


def _fleet(workload: Workload, unit: int) -> Fleet:
    platform = workload.platform
    assert isinstance(platform, Hosts)
    count, share = platform.requests(workload)
    capacity = platform.capacity
    if platform.exclusive:
        # One more resource, of which each host has one and each job takes it.
        capacity = np.column_stack((capacity, np.ones(capacity.shape[0], np.int64)))
        share = np.column_stack((share, np.ones(share.shape[0], np.int64)))
    return idle_fleet(np.ascontiguousarray(capacity), count, share)


def _plan(workload: Workload, unit: int, widest: int) -> Plan:
    return empty_plan(len(workload))


def _kinds(workload: Workload, machine: Machine, unit: int) -> Int64:
    kind: Int64 = machine.kind
    return kind


DOOR = Door(_check, _fleet, _plan, lambda machine: None, _kinds)

none = partial(DOOR.schedule, code=NONE)
aggressive = partial(DOOR.schedule, code=AGGRESSIVE)
easy = partial(DOOR.schedule, code=EASY)
reserving, promise_reserving = DOOR.reserving, DOOR.promise_reserving
slurm = DOOR.slurm


def planned(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``planned``."""
    keeper = _keeper(workload, policy)
    return Schedule(workload, policy.name, keeper.jobs.start, keeper.jobs.backfilled)


def promise_planned(workload: Workload, policy: Policy) -> Int64:
    """Return the starts that ``planned`` reserves at arrival, s."""
    return _keeper(workload, policy).promised


def _keeper(workload: Workload, policy: Policy) -> HostKeeper:
    """Return the machine after the last completion under ``planned``."""
    _check(policy)
    fleet = _fleet(workload, 1)
    promised = np.full(len(workload), NO_PROMISE, np.int64)
    keeper = host_keeper(idle_jobs(workload, fleet.kind), fleet, promised)
    keep_plan(keeper, workload, policy)
    return keeper

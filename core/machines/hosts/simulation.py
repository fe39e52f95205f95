"""Mapping of a policy to the kernels that simulate it on hosts."""

from __future__ import annotations

from functools import partial

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.run import Door
from schedfarm.core.engine.world import AGGRESSIVE, EASY, NONE
from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts import kernel, plans, usage
from schedfarm.core.machines.hosts.kernel import Fleet, idle_fleet
from schedfarm.core.machines.hosts.plans import Plan, empty_plan
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

STEPS = (kernel, plans, usage)
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

"""Mapping of a policy to the kernels that simulate it on a pool with several resources."""

from __future__ import annotations

from functools import partial

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.run import Door
from schedfarm.core.engine.world import AGGRESSIVE, EASY, NONE
from schedfarm.core.errors import InputError
from schedfarm.core.machines.resources import kernel, plans, usage
from schedfarm.core.machines.resources.kernel import Stock, idle_stock
from schedfarm.core.machines.resources.plans import Plan, empty_plan
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

STEPS = (kernel, plans, usage)
"""Modules with the steps of this machine."""


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
    amounts = np.array(platform.amounts, np.int64)
    return idle_stock(amounts, platform.requests(workload), platform.shared)


def _plan(workload: Workload, unit: int, widest: int) -> Plan:
    # As many kinds as there are distinct requests, of which n is a bound.
    return empty_plan(len(workload), len(_resources(workload).amounts), len(workload))


def _kinds(workload: Workload, machine: Machine, unit: int) -> Int64:
    kind: Int64 = machine.kind
    return kind


def _has_unions(workload: Workload) -> bool:
    platform = _resources(workload)
    return platform.shared < len(platform.names)


DOOR = Door(_check, _stock, _plan, lambda machine: None, _kinds, _has_unions)

none = partial(DOOR.schedule, code=NONE)
aggressive = partial(DOOR.schedule, code=AGGRESSIVE)
easy = partial(DOOR.schedule, code=EASY)
reserving, promise_reserving = DOOR.reserving, DOOR.promise_reserving
slurm = DOOR.slurm

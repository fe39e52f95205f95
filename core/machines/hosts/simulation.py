"""Simulation of policies on hosts, by kernels."""

from __future__ import annotations

from functools import partial

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.run import Door, idle_jobs
from schedfarm.core.engine.world import AGGRESSIVE, EASY, NONE
from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts import book, closings, kernel, plans, usage
from schedfarm.core.machines.hosts.book import HostKeeper, host_keeper
from schedfarm.core.machines.hosts.closings import closings_of
from schedfarm.core.machines.hosts.kernel import Fleet, idle_fleet
from schedfarm.core.machines.hosts.plans import Plan, empty_plan
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

STEPS = (book, closings, kernel, plans, usage)
"""Modules with the implementations of generic steps for hosts."""


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
    hosts, n = capacity.shape[0], len(workload)
    # Each label has one more resource: its hosts have enough of it for all jobs, and other hosts
    # have none. One last resource is for windows: each job takes 1 of it, and a window takes all.
    all_jobs = 1 if platform.exclusive else max(n, 1)
    members = platform.members
    label = platform.label_of(workload)
    apart = np.flatnonzero(~members.all(axis=1))
    if platform.exclusive or platform.windows or apart.size:
        capacity = np.column_stack(
            (capacity, members[apart].T * max(n, 1), np.full(hosts, all_jobs))
        )
        share = np.column_stack((share, label[:, None] == apart, np.ones(n, np.int64)))
    capacity, share = np.ascontiguousarray(capacity), np.ascontiguousarray(share)
    if not platform.windows:
        return idle_fleet(capacity, count, share, apart.size)
    # With windows, the kind of a job includes its estimate, which determines whether a host is open
    # for the job.
    lasting = np.column_stack((share, workload.estimate))
    fleet = idle_fleet(capacity, count, lasting, apart.size)
    shares, lasts = fleet.share[:, :-1].copy(), fleet.share[:, -1].copy()
    ends = [end for begin, until, _ in platform.intervals for end in (begin, until)]
    instants = np.unique(np.array(ends, np.int64))
    table = closings_of(platform.spans, instants, hosts, all_jobs, lasts)
    return fleet._replace(share=shares, table=table)


def _plan(workload: Workload, unit: int, widest: int) -> Plan:
    return empty_plan(len(workload))


def _kinds(workload: Workload, machine: Machine, unit: int) -> Int64:
    kind: Int64 = machine.kind
    return kind


def _has_windows(workload: Workload) -> bool:
    platform = workload.platform
    assert isinstance(platform, Hosts)
    return bool(platform.windows)


def _has_parts(workload: Workload) -> bool:
    platform = workload.platform
    assert isinstance(platform, Hosts)
    return not platform.members.all()


def _keeper(workload: Workload) -> HostKeeper:
    fleet = _fleet(workload, 1)
    promised = np.full(len(workload), NO_PROMISE, np.int64)
    return host_keeper(idle_jobs(workload, fleet.kind), fleet, promised)


DOOR = Door(
    _check,
    _fleet,
    _plan,
    lambda machine: None,
    _kinds,
    has_parts=_has_parts,
    replans=_has_windows,
    keeper=_keeper,
)

none = partial(DOOR.schedule, code=NONE)
aggressive = partial(DOOR.schedule, code=AGGRESSIVE)
easy = partial(DOOR.schedule, code=EASY)
reserving, promise_reserving = DOOR.reserving, DOOR.promise_reserving
planned, promise_planned = DOOR.planned, DOOR.promise_planned
slurm = DOOR.slurm

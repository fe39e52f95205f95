"""Room of jobs next to windows: whether a machine holds jobs that ran during maintenance."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Bool
from schedfarm.core.machines.hosts.platform import COUNT, Hosts
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.windows import run_of


def has_room(jobs: Workload, platform: Platform) -> Bool:
    """Return whether each job fits next to the windows that its logged run overlaps, bool[n]."""
    if isinstance(platform, Hosts):
        return _has_hosts(jobs, platform)
    found: Bool = np.ones(len(jobs), np.bool_)
    if not isinstance(platform, Resources) or not platform.windows:
        return found
    begin, end = run_of(jobs)
    requests, amounts = platform.requests(jobs), np.array(platform.amounts, np.int64)
    for first, last, amount in zip(*platform.intervals, strict=True):
        inside = np.flatnonzero((begin < last) & (end > first))
        found[inside] &= (requests[inside] <= amounts - amount).all(axis=1)
    return found


def _has_hosts(jobs: Workload, machine: Hosts) -> Bool:
    """Return whether enough hosts outside of windows hold the shares of each job, bool[n]."""
    found: Bool = np.ones(len(jobs), np.bool_)
    if not machine.windows:
        return found
    begin, end = run_of(jobs)
    count, share = machine.requests(jobs)
    # The first host represents its group.
    firsts = np.cumsum([0, *(dict(group)[COUNT] for group in machine.groups[:-1])])
    able = (machine.capacity[firsts] >= share[:, np.newaxis]).all(axis=2)
    members = machine.members if machine.labels else np.ones((1, machine.count), np.bool_)
    label = machine.label_of(jobs)
    for first, last, hosts in machine.intervals:
        left = members.astype(np.int64)
        left[:, np.array(hosts)] = 0
        inside = np.flatnonzero((begin < last) & (end > first))
        open_hosts = np.add.reduceat(left, firsts, axis=1)[label[inside]]
        found[inside] &= (able[inside] * open_hosts).sum(axis=1) >= count[inside]
    return found

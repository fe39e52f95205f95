"""Jobs that leave the queue at a known instant unless they have started before.

Kernels are compiled for one of two types: `Leaving`, or `Staying`, with empty steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, generic
from schedfarm.core.engine.queue import dequeue
from schedfarm.core.workload.workload import Workload


class Staying(NamedTuple):
    """Stand for a workload in which no job leaves the queue before it starts."""

    none: int


class Leaving(NamedTuple):
    """Hold the jobs that may leave, int64[k], by (instant, position), and their instants, s.

    passed: int64[1], the number of leading jobs that have started or left.
    """

    job: Int64
    instant: Int64
    passed: Int64


STAYING = Staying(0)
"""The value for most workloads."""


def leaving_of(workload: Workload) -> Staying | Leaving:
    """Return the jobs that may leave the queue before they start.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[0, 5, 0], estimate=[5, 5, 5],
    ...                           procs=[1, 1, 1], leave=[9, -1, 3], processors=1)
    >>> leaving_of(w).job.tolist(), leaving_of(w).instant.tolist()
    ([2, 0], [5, 9])
    """
    if not workload.has_leaving:
        return STAYING
    job = np.flatnonzero(workload.leave >= 0)
    instant = workload.submit[job] + workload.leave[job]
    order = np.argsort(instant, kind="stable")
    return Leaving(job[order], instant[order], np.zeros(1, np.int64))


def true_starts(workload: Workload, start: Int64) -> Int64:
    """Return the starts of a kernel's jobs, -1 for withdrawn jobs.

    Kernels mark a withdrawn job with its leaving instant as its start. No job starts at its own
    leaving instant.
    """
    if not workload.has_leaving:
        return start
    left = (workload.leave >= 0) & (start == workload.submit + workload.leave)
    return np.where(left, -1, start)


@generic
def next_leave(leaving: Staying | Leaving, start: Int64) -> int:
    """Return the next instant, s, at which a waiting job leaves, or NEVER."""
    raise NotImplementedError


@generic
def next_due(leaving: Staying | Leaving, start: Int64, now: int) -> int:
    """Return the next job that leaves now, or -1; mark the job with this instant as its start.

    The mark is unambiguous: no job starts at its own leaving instant.
    """
    raise NotImplementedError


@generic
def withdraw_due(leaving: Staying | Leaving, world: Any, now: int) -> None:
    """Remove the jobs that leave now from the queue of a `core.engine.world.World`."""
    raise NotImplementedError


@next_leave.of(Staying)
def never_leave(leaving: Staying, start: Int64) -> int:
    """Return NEVER."""
    return NEVER


@next_due.of(Staying)
def none_due(leaving: Staying, start: Int64, now: int) -> int:
    """Return -1."""
    return -1


@withdraw_due.of(Staying)
def withdraw_none(leaving: Staying, world: Any, now: int) -> None:
    """Do nothing."""


@next_leave.of(Leaving)
def next_leave_of(leaving: Leaving, start: Int64) -> int:
    """Skip the jobs that have started or left; return the leaving instant of the next job."""
    k = leaving.passed[0]
    while k < leaving.job.size and start[leaving.job[k]] >= 0:
        k += 1
    leaving.passed[0] = k
    return int(leaving.instant[k]) if k < leaving.job.size else NEVER


@next_due.of(Leaving)
def next_due_of(leaving: Leaving, start: Int64, now: int) -> int:
    """Skip the jobs that have started, and return the next job."""
    k, found = leaving.passed[0], -1
    while found < 0 and k < leaving.job.size and leaving.instant[k] == now:
        if start[leaving.job[k]] < 0:
            found = leaving.job[k]
            start[found] = now
        k += 1
    leaving.passed[0] = k
    return int(found)


@withdraw_due.of(Leaving)
def withdraw_leaving(leaving: Leaving, world: Any, now: int) -> None:
    """Remove the jobs one by one."""
    j = next_due_of(leaving, world.jobs.start, now)
    while j >= 0:
        dequeue(world.queue, world.key, j)
        j = next_due_of(leaving, world.jobs.start, now)

"""Jobs that are withdrawn from the queue at a known instant if they have not started by then.

Kernels are compiled for one of two types: without such jobs the steps below are empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, generic
from schedfarm.core.engine.queue import dequeue
from schedfarm.core.workload.workload import Workload


class Staying(NamedTuple):
    """Every job waits until it starts."""

    none: int


class Leaving(NamedTuple):
    """The jobs that may leave, int64[k], by (instant, position), their instants, and a place.

    passed: int64[1], the number of jobs that have started or left, from the first on.
    """

    job: Int64
    instant: Int64
    passed: Int64


STAYING = Staying(0)
"""The jobs of most workloads."""


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
    """Return the starts of a kernel's jobs, -1 of those that were withdrawn.

    Kernels give those the instant at which they left. No job starts at that instant.
    """
    if not workload.has_leaving:
        return start
    left = (workload.leave >= 0) & (start == workload.submit + workload.leave)
    return np.where(left, -1, start)


@generic
def next_leave(leaving: Staying | Leaving, start: Int64) -> int:
    """Return the next instant, s, at which a job leaves that has not started, or NEVER."""
    raise NotImplementedError


@generic
def next_due(leaving: Staying | Leaving, start: Int64, now: int) -> int:
    """Return the next job that leaves now, marked by a start at this instant; -1 for none.

    Nothing is lost: no job with that instant starts at it.
    """
    raise NotImplementedError


@generic
def withdraw_due(leaving: Staying | Leaving, world: Any, now: int) -> None:
    """Take the waiting jobs that leave now out of the queue of a `core.engine.world.World`."""
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
    """Pass over the jobs that have started or left, and return the instant of the next."""
    k = leaving.passed[0]
    while k < leaving.job.size and start[leaving.job[k]] >= 0:
        k += 1
    leaving.passed[0] = k
    return int(leaving.instant[k]) if k < leaving.job.size else NEVER


@next_due.of(Leaving)
def next_due_of(leaving: Leaving, start: Int64, now: int) -> int:
    """Pass over the jobs that have started, and take the next."""
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

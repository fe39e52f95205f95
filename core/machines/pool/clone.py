"""Clones of one pool of processors."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clone import machine as clone
from schedfarm.core.engine.running import Jobs, Running


@clone.copy_machine.of(Running)
def copy_running(running: Running, jobs: Jobs, start: Int64, other: Running) -> None:
    """Copy the running jobs and their starts; the end of a job is found by its start."""
    count = running.count[0]
    for p in range(count):
        j = running.job[p]
        other.end[p], other.job[p] = running.end[p], j
        other.predicted[p], other.width[p] = running.predicted[p], running.width[p]
        start[j] = jobs.start[j]
    other.count[0], other.free[0], other.given[0] = count, running.free[0], running.given[0]


@clone.withdraw.of(Running)
def withdraw(other: Running, jobs: Jobs, bar: int) -> None:
    """Remove the jobs with index `bar` or above, as if they had not started."""
    kept, count = 0, other.count[0]
    for p in range(count):
        j = other.job[p]
        if j < bar:
            other.end[kept], other.job[kept] = other.end[p], j
            kept += 1
            continue
        q = count - 1 - (p - kept)
        predicted, width = jobs.start[j] + jobs.estimate[j], jobs.procs[j]
        time, procs = other.predicted[q], other.width[q]
        while time != predicted or procs != width:
            q -= 1
            time, other.predicted[q] = other.predicted[q], time
            procs, other.width[q] = other.width[q], procs
        other.free[0] += width
    other.count[0] = kept


@clone.latest_running.of(Running)
def latest_running(running: Running, j: int) -> int:
    """Return the latest of the running jobs, or j if no later job runs."""
    for p in range(running.count[0]):
        j = max(j, running.job[p])
    return int(j)

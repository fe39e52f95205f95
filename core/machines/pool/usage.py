"""Completions on one pool of processors, charged to their users."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import limits, priority, usage
from schedfarm.core.engine.running import Jobs, Running
from schedfarm.core.engine.usage import SETTLED, Shares


@usage.follow.of(Running)
def follow(running: Running, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the jobs after the end of the list."""
    count = running.count[0]
    for p in range(begun - shares.passed[SETTLED] - 1, count - 1, -1):
        usage.count_ended(shares, jobs, running.job[p], running.end[p])
    usage.refresh(shares, now - jobs.submit[0])


@priority.list_ended.of(Running)
def list_ended(running: Running, begun: int, active: Int64, at: int) -> int:
    """Write the jobs after the end of the list."""
    ended = begun - running.count[0]
    for p in range(ended):
        active[at + p] = running.job[running.count[0] + p]
    return int(ended)


@priority.list_running.of(Running)
def list_running(running: Running, active: Int64) -> int:
    """Write the list."""
    for p in range(running.count[0]):
        active[p] = running.job[p]
    return int(running.count[0])


@limits.forget_ended.of(Running)
def forget_ended(running: Running) -> None:
    """Do nothing: released jobs are behind the end of the list."""

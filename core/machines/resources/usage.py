"""Completions on a pool with several resources, charged to their users."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import limits, priority, usage
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.usage import SETTLED, Shares
from schedfarm.core.machines.resources.kernel import Stock


@usage.follow.of(Stock)
def follow(stock: Stock, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the jobs after the end of the list."""
    running = stock.running
    count = running.count[0]
    for p in range(begun - shares.passed[SETTLED] - 1, count - 1, -1):
        usage.count_ended(shares, jobs, running.job[p], running.end[p])
    usage.refresh(shares, now - jobs.submit[0])


@priority.list_ended.of(Stock)
def list_ended(stock: Stock, begun: int, active: Int64, at: int) -> int:
    """Write the jobs after the end of the list."""
    running = stock.running
    ended = begun - running.count[0]
    for p in range(ended):
        active[at + p] = running.job[running.count[0] + p]
    return int(ended)


@priority.list_running.of(Stock)
def list_running(stock: Stock, active: Int64) -> int:
    """Write the list."""
    running = stock.running
    for p in range(running.count[0]):
        active[p] = running.job[p]
    return int(running.count[0])


@limits.forget_ended.of(Stock)
def forget_ended(stock: Stock) -> None:
    """Do nothing: released jobs are behind the end of the list."""

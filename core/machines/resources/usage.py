"""Completions on a pool with several resources, counted for their users."""

from __future__ import annotations

from schedfarm.core.engine import usage
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

"""Usage of users from completions on a pool with several resources."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import priority, usage
from schedfarm.core.engine.running import Jobs, write_ended, write_running
from schedfarm.core.engine.usage import Shares, charge_ended
from schedfarm.core.machines.resources.kernel import Stock


@usage.follow.of(Stock)
def follow(stock: Stock, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the ended jobs, which are behind the end of the list."""
    charge_ended(stock.running, shares, jobs, begun, now)


@priority.list_ended.of(Stock)
def list_ended(stock: Stock, begun: int, active: Int64, at: int) -> int:
    """Write the ended jobs, which are behind the end of the list."""
    return write_ended(stock.running, begun, active, at)


@priority.list_running.of(Stock)
def list_running(stock: Stock, active: Int64) -> int:
    """Write the running jobs."""
    return write_running(stock.running, active)

"""Updates of users' usage when jobs on a pool complete."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import priority, usage
from schedfarm.core.engine.running import Jobs, Running, write_ended, write_running
from schedfarm.core.engine.usage import Shares, charge_ended


@usage.follow.of(Running)
def follow(running: Running, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the ended jobs, which are behind the end of the list."""
    charge_ended(running, shares, jobs, begun, now)


@priority.list_ended.of(Running)
def list_ended(running: Running, begun: int, active: Int64, at: int) -> int:
    """Write the ended jobs, which are behind the end of the list."""
    return write_ended(running, begun, active, at)


@priority.list_running.of(Running)
def list_running(running: Running, active: Int64) -> int:
    """Write the running jobs."""
    return write_running(running, active)

"""Usage of users from completions on hosts."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import priority, usage
from schedfarm.core.engine.running import Jobs, write_ended, write_running
from schedfarm.core.engine.usage import Shares, charge_ended
from schedfarm.core.machines.hosts.kernel import Fleet


@usage.follow.of(Fleet)
def follow(fleet: Fleet, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the ended jobs, which are behind the end of the list."""
    charge_ended(fleet.running, shares, jobs, begun, now)


@priority.list_ended.of(Fleet)
def list_ended(fleet: Fleet, begun: int, active: Int64, at: int) -> int:
    """Write the ended jobs, which are behind the end of the list."""
    return write_ended(fleet.running, begun, active, at)


@priority.list_running.of(Fleet)
def list_running(fleet: Fleet, active: Int64) -> int:
    """Write the running jobs."""
    return write_running(fleet.running, active)

"""Completions on one pool of processors, charged to their users."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import priority, usage
from schedfarm.core.engine.running import Jobs, Running, write_ended, write_running
from schedfarm.core.engine.usage import Shares, charge_ended


@usage.follow.of(Running)
def follow(running: Running, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the jobs after the end of the list."""
    charge_ended(running, shares, jobs, begun, now)


@priority.list_ended.of(Running)
def list_ended(running: Running, begun: int, active: Int64, at: int) -> int:
    """Write the jobs after the end of the list."""
    return write_ended(running, begun, active, at)


@priority.list_running.of(Running)
def list_running(running: Running, active: Int64) -> int:
    """Write the list."""
    return write_running(running, active)

"""The steps of a clone that depend on the machine; see `core.engine.machine`."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import generic
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.running import Jobs


@generic
def copy_machine(machine: Machine, jobs: Jobs, start: Int64, other: Machine) -> None:
    """Copy the running jobs, and their starts, by which a completion finds its job."""
    raise NotImplementedError


@generic
def withdraw(machine: Machine, jobs: Jobs, bar: int) -> None:
    """Remove the jobs from `bar` on from the machine, as if they had not started."""
    raise NotImplementedError


@generic
def latest_running(machine: Machine, j: int) -> int:
    """Return the latest of the running jobs, or j if no running job came after j."""
    raise NotImplementedError

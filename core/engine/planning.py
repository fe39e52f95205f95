"""The steps of a plan that depend on the machine: profiles, and the search for gaps in them.

The plan of a machine is a `core.engine.plan.Plan`, or has its fields. As for `core.engine.machine`,
each type of machine has its own implementation. A step of a profile is given by its index. The
profile is that of the place c that is given or returned with the step.
"""

from __future__ import annotations

from typing import Any

from schedfarm.core.engine.jit import generic, optional
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.running import Jobs

AnyPlan = Any
"""The plan of a machine, of a type for which all steps here are implemented."""


@generic
def lay_out(machine: Machine, plan: AnyPlan, now: int) -> None:
    """Lay out the profiles of the running jobs by their predicted ends."""
    raise NotImplementedError


@generic
def lay_out_rounded(machine: Machine, plan: AnyPlan, now: int, unit: int) -> None:
    """Lay out the profiles of the running jobs by their predicted ends, rounded up to a unit, s."""
    raise NotImplementedError


@generic
def go_on(machine: Machine, plan: AnyPlan, now: int) -> None:
    """Drop the steps of the profiles before now."""
    raise NotImplementedError


@generic
def earliest(machine: Machine, plan: AnyPlan, i: int, now: int) -> tuple[int, int, int]:
    """Return the earliest place and start of the job at place i of the queue, and the step there.

    The job has to fit next to the reservations so far; ties go to the first place.
    """
    raise NotImplementedError


@generic
def place_now(machine: Machine, plan: AnyPlan, now: int, i: int) -> int:
    """Return the first place where the job at place i of the queue may start now, or -1."""
    raise NotImplementedError


@generic
def last_candidate(
    machine: Machine, plan: AnyPlan, now: int, first: int, last: int
) -> tuple[int, int]:
    """Return the last of first..last of the queue whose job may start now, and the place c for it.

    Return first - 1 if there is no such job, and `last` if `last` is before `first`.
    """
    raise NotImplementedError


@generic
def last_rival(
    machine: Machine, plan: AnyPlan, c: int, now: int, first: int, last: int, end: int
) -> int:
    """Return the last in first..last - 1 whose job may start at c before `end`, or first - 1.

    Return `last` itself if a place before c has room for the job of `last` in the profile: a job
    without duration has just taken the free processors there. This cannot occur on a machine with
    one place.
    """
    raise NotImplementedError


@generic
def step_now(machine: Machine, plan: AnyPlan, c: int) -> int:
    """Return the first step of the profile of place c."""
    raise NotImplementedError


@generic
def step_of(machine: Machine, plan: AnyPlan, c: int, t: int) -> int:
    """Return the step that holds at t at place c."""
    raise NotImplementedError


@generic
def take(
    machine: Machine, plan: AnyPlan, c: int, step: int, t: int, length: int, need: int
) -> None:
    """Reserve processors at place c from t on; the given step contains t."""
    raise NotImplementedError


@generic
def leaves_room(machine: Machine, plan: AnyPlan, c: int, step: int, need: int, end: int) -> bool:
    """Return whether this many processors are free at place c from a step on until `end`."""
    raise NotImplementedError


@generic
def place_of(machine: Machine, plan: AnyPlan, i: int) -> int:
    """Return the place of the reservation of the job at place i of the queue."""
    raise NotImplementedError


@optional
def put_down(machine: Machine, plan: AnyPlan, i: int, c: int) -> None:
    """Record the place of the reservation of the job at place i of the queue.

    By default a machine has only one place.
    """


@optional
def strike_out(machine: Machine, plan: AnyPlan, i: int) -> None:
    """Forget the place of the reservation at place i of the queue, whose job is to be removed.

    By default there is none.
    """


@optional
def start_in(machine: Machine, plan: AnyPlan, i: int, now: int) -> None:
    """Start the job at place i of the queue in the snapshots of the profiles.

    By default there are no snapshots.
    """


@optional
def give_early(machine: Machine, plan: AnyPlan, jobs: Jobs, now: int, one: bool) -> None:
    """Free the processors of the jobs that end early now, or of the first one, in the profiles.

    These jobs are still in the machine. By default nothing is done, because `reconsider` drops the
    profiles.
    """


@generic
def reconsider(machine: Machine, plan: AnyPlan, now: int) -> None:
    """Invalidate the first reservation that an early end moves, and all later reservations."""
    raise NotImplementedError


@optional
def resume(machine: Machine, plan: AnyPlan) -> None:
    """Return to the last snapshot of the profiles, if there is one. By default there is none."""


@optional
def keep(machine: Machine, plan: AnyPlan) -> None:
    """Save the profiles if this saves time. By default no profiles are saved."""

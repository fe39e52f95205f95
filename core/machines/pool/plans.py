"""Plan on a pool of processors, with one profile and one place, 0."""

from __future__ import annotations

from schedfarm.core.engine import (
    early_completions,
    plan as plans,
    planning,
    profile as profiles,
    snapshots,
)
from schedfarm.core.engine.plan import Plan
from schedfarm.core.engine.profile import HEAD
from schedfarm.core.engine.running import Jobs, Running


@planning.lay_out.of(Running)
def lay_out(running: Running, plan: Plan, now: int) -> None:
    """Lay out the profile."""
    plans.load(plan, running, now)


@planning.lay_out_rounded.of(Running)
def lay_out_rounded(running: Running, plan: Plan, now: int, unit: int) -> None:
    """Lay out the profile, with ends rounded up to a unit."""
    plans.load_rounded(plan, running, now, unit)


@planning.go_on.of(Running)
def go_on(running: Running, plan: Plan, now: int) -> None:
    """Drop the steps before now; floors do not hold for steps that have been moved."""
    plan.state[0].layout += profiles.advance(plan.profile, now)


@planning.earliest.of(Running)
def earliest(running: Running, plan: Plan, i: int, now: int) -> tuple[int, int, int]:
    """Return the earliest start and its step."""
    t, step = plans.earliest_start(plan, i, now)
    return 0, t, step


@planning.place_now.of(Running)
def place_now(running: Running, plan: Plan, now: int, i: int) -> int:
    """Return 0 if the job may start now, else -1."""
    return 0 if plans.may_start(plan, running, now, i) else -1


@planning.last_candidate.of(Running)
def last_candidate(
    running: Running, plan: Plan, now: int, first: int, last: int
) -> tuple[int, int]:
    """Return the last job that may start now."""
    return plans.last_candidate(plan, running, now, first, last), 0


@planning.last_rival.of(Running)
def last_rival(
    running: Running, plan: Plan, c: int, now: int, first: int, last: int, end: int
) -> int:
    """Return the last job that may start before `end`."""
    return plans.last_rival(plan, now, first, last, end)


@planning.step_now.of(Running)
def step_now(running: Running, plan: Plan, c: int) -> int:
    """Return the first step."""
    return int(plan.profile.mark[HEAD])


@planning.step_of.of(Running)
def step_of(running: Running, plan: Plan, c: int, t: int) -> int:
    """Return the step at t."""
    return profiles.step_at(plan.profile, t)


@planning.take.of(Running)
def take(running: Running, plan: Plan, c: int, step: int, t: int, length: int, need: int) -> None:
    """Reserve processors."""
    profiles.reserve_at(plan.profile, step, t, length, need)


@planning.leaves_room.of(Running)
def leaves_room(running: Running, plan: Plan, c: int, step: int, need: int, end: int) -> bool:
    """Return whether processors are free until an instant."""
    return profiles.has_room(plan.profile, step, need, end)


@planning.place_of.of(Running)
def place_of(running: Running, plan: Plan, i: int) -> int:
    """Return the only place."""
    return 0


@planning.start_in.of(Running)
def start_in(running: Running, plan: Plan, i: int, now: int) -> None:
    """Start the job in every snapshot."""
    cell = plan.front[0] + i
    snapshots.start_in(plan.snapshots, i, now, plan.length[cell], plan.need[cell])


@planning.give_early.of(Running)
def give_early(running: Running, plan: Plan, jobs: Jobs, now: int, one: bool) -> None:
    """Free the processors of early completions in the profile and its snapshots."""
    early_completions.give_early(plan, running, jobs, now, one)


@planning.reconsider.of(Running)
def reconsider(running: Running, plan: Plan, now: int) -> None:
    """Return to the profile before the first reservation that moves."""
    early_completions.reconsider(plan, now)


@planning.resume.of(Running)
def resume(running: Running, plan: Plan) -> None:
    """Return to the last snapshot."""
    early_completions.resume_last(plan)


@planning.keep.of(Running)
def keep(running: Running, plan: Plan) -> None:
    """Save a snapshot."""
    early_completions.keep(plan)

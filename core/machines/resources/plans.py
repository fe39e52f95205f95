"""Plan on a pool with several resources, with one profile and one place, 0."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import planning, requests
from schedfarm.core.engine.changes import change_at, next_change
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import room
from schedfarm.core.engine.plan import PlanState, rounded, void
from schedfarm.core.engine.profile import HEAD, TAIL, Profile, step_at, step_from
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.requests import FREE
from schedfarm.core.engine.snapshots import Snapshots, no_snapshots
from schedfarm.core.machines.resources.kernel import Stock, fits, is_enough
from schedfarm.core.machines.resources.profile import (
    advance,
    empty_levels,
    fit_before,
    has_room,
    take_at,
)
from schedfarm.core.machines.resources.timetable import change_of


class Plan(NamedTuple):
    """Hold the queue in order, and the profile with the reservations of its first jobs.

    The fields are those of `core.engine.plan.Plan`; needs are kinds.
    """

    job: Int64
    need: Int64
    length: Int64
    submit: Int64
    front: Int64
    at: Int64
    profile: Profile
    floor: Int64
    snapshots: Snapshots
    state: Record[PlanState]


def empty_plan(n: int, resources: int, kinds: int, changes: int) -> Plan:
    """Return a plan with room for n waiting jobs, kinds, and changes of capacities."""
    n, steps = room(n), 4 * n + 8 + changes
    return Plan(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.zeros(1, np.int64),
        np.empty(n, np.int64),
        empty_levels(resources, steps),
        np.zeros((kinds + 1, 4), np.int64),
        no_snapshots()[1],
        record(PlanState),
    )


@verb
def lay_out_levels(levels: Profile, stock: Stock, now: int, unit: int) -> None:
    """Lay out the profile of windows and running jobs.

    Ends of jobs are rounded up to multiples of `unit`, s.
    """
    times, free, mark = levels
    running, table, request, resources = stock.running, stock.table, stock.request, free.shape[0]
    i, t, p, k = 0, now, running.count[0] - 1, next_change(table)
    times[0] = t
    for r in range(resources):
        free[r, 0] = stock.level[FREE, r]
    while p >= 0 or change_at(table, k) < NEVER:
        end, change = NEVER, change_at(table, k)
        if p >= 0:
            end = rounded(running.predicted[p], unit)
        if min(end, change) > t:
            i, t = i + 1, min(end, change)
            times[i] = t
            for r in range(resources):
                free[r, i] = free[r, i - 1]
        for r in range(resources):
            free[r, i] += request[running.width[p], r] if end <= change else change_of(table, k, r)
        if end <= change:
            p -= 1
        else:
            k += 1
    mark[HEAD], mark[TAIL] = 0, i + 1


@planning.lay_out.of(Stock)
def lay_out(stock: Stock, plan: Plan, now: int) -> None:
    """Lay out the profile."""
    lay_out_rounded(stock, plan, now, 1)


@planning.lay_out_rounded.of(Stock)
def lay_out_rounded(stock: Stock, plan: Plan, now: int, unit: int) -> None:
    """Lay out the profile, with ends rounded up to a unit."""
    lay_out_levels(plan.profile, stock, now, unit)
    plan.state[0].loaded, plan.state[0].due = 1, NEVER
    plan.state[0].layout += 1


@planning.go_on.of(Stock)
def go_on(stock: Stock, plan: Plan, now: int) -> None:
    """Drop the steps before now."""
    advance(plan.profile, now)


@planning.earliest.of(Stock)
def earliest(stock: Stock, plan: Plan, i: int, now: int) -> tuple[int, int, int]:
    """Return the earliest start and its step, with floors as in `core.engine.plan`."""
    levels, floor = plan.profile, plan.floor
    cell, after, step = plan.front[0] + i, now, levels.mark[HEAD]
    need, length = plan.need[cell], plan.length[cell]
    if floor[need, 0] == plan.state[0].layout and floor[need, 1] <= length:
        after, step = max(now, floor[need, 2]), max(step, floor[need, 3])
    step = step_from(levels, step, after)
    t, step = fit_before(levels, step, stock.request, need, length, after, NEVER)
    floor[need, 0], floor[need, 1] = plan.state[0].layout, length
    floor[need, 2], floor[need, 3] = t, step
    return 0, t, step


@requests.may_start.of(Stock)
def may_start(stock: Stock, plan: Plan, now: int, i: int) -> bool:
    """Return whether the job at place i fits now next to the present reservations.

    A job with estimate 0 needs only physically free resources, since it delays no other job.
    """
    cell = plan.front[0] + i
    need, length = plan.need[cell], plan.length[cell]
    if not is_enough(stock, FREE, need):
        return False
    if plan.state[0].loaded == 0 or length == 0:
        return fits(stock, need, now)
    levels = plan.profile
    return has_room(levels, levels.mark[HEAD], stock.request, need, now + length)


@planning.last_rival.of(Stock)
def last_rival(stock: Stock, plan: Plan, c: int, now: int, first: int, last: int, end: int) -> int:
    """Return the last job that may start before `end`."""
    levels, front = plan.profile, plan.front[0]
    for i in range(last - 1, first - 1, -1):
        need, length = plan.need[front + i], plan.length[front + i]
        step = levels.mark[HEAD]
        if fit_before(levels, step, stock.request, need, length, now, end)[0] < end:
            return i
    return first - 1


@planning.step_now.of(Stock)
def step_now(stock: Stock, plan: Plan, c: int) -> int:
    """Return the first step."""
    return int(plan.profile.mark[HEAD])


@planning.step_of.of(Stock)
def step_of(stock: Stock, plan: Plan, c: int, t: int) -> int:
    """Return the step at t."""
    return step_at(plan.profile, t)


@planning.take.of(Stock)
def take(stock: Stock, plan: Plan, c: int, step: int, t: int, length: int, need: int) -> None:
    """Reserve a request."""
    if length > 0:
        take_at(plan.profile, step, t, t + length, stock.request, need, 1)


@planning.leaves_room.of(Stock)
def leaves_room(stock: Stock, plan: Plan, c: int, step: int, need: int, end: int) -> bool:
    """Return whether a request is free until an instant."""
    return has_room(plan.profile, step, stock.request, need, end)


@planning.place_of.of(Stock)
def place_of(stock: Stock, plan: Plan, i: int) -> int:
    """Return the only place."""
    return 0


@planning.reconsider.of(Stock)
def reconsider(stock: Stock, plan: planning.AnyPlan, now: int) -> None:
    """Invalidate all reservations."""
    void(plan)


planning.place_now.of(Stock)(requests.place_now)
planning.last_candidate.of(Stock)(requests.last_candidate)

"""The plan that backfilling with reservations keeps between passes: a prefix of the reservations.

Only starts are observable, so a pass makes reservations in queue order no further than the last
job that may still start now. What it made stays true in the next pass, unless a job completed
before its predicted end (all of it is void) or the queue changed inside the prefix (the rest is
void). Mu'alem and Feitelson (2001), section 2.2, make them all anew; the starts are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.arrays import Int64
from core.kernels.jit import NEVER, verb
from core.kernels.machine import Jobs, Running, launch
from core.kernels.profile import HEAD, TAIL, Profile, earliest_fit, reserve

COUNT, PLANNED, KEPT, DUE, LOADED, TOP, STARVING, POINTS, LAYOUT = range(9)
"""Places in a plan's state: jobs that wait; how many of them, from the first, hold a reservation in
the profile; how many have one that is still true; the earliest in the profile, s; whether the
profile is laid out; the largest need with a limit; how many jobs at the front starve; how many
jobs have estimate 0; how often the profile was laid out."""


class Plan(NamedTuple):
    """The queue in order, and the profile with the reservations of its first jobs.

    job, need, length, at: int64[n], of each waiting job its index, processors, estimate, s, and
    reserved start, s. limit: int64[widest + 1], by need: the
    instant until which so many processors stay free from now on, s; 0 where they are not free.
    floor: int64[3, widest + 1], by need: layout, estimate, s, and start, s, of its latest
    reservation, before which no longer job of that need can start.
    """

    job: Int64
    need: Int64
    length: Int64
    at: Int64
    profile: Profile
    limit: Int64
    floor: Int64
    state: Int64


def empty_plan(n: int, widest: int) -> Plan:
    """Return a plan with room for n waiting jobs of at most so many processors."""
    steps = 4 * n + 8
    return Plan(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        Profile(np.empty(steps, np.int64), np.empty(steps, np.int64), np.zeros(2, np.int64)),
        np.zeros(widest + 1, np.int64),
        np.zeros((3, widest + 1), np.int64),
        np.zeros(LAYOUT + 1, np.int64),
    )


@verb
def cut(plan: Plan, place: int) -> None:
    """Give up the reservations from this place on: another job goes before theirs.

    The profile is laid out again when next needed: that is cheaper than to lift them out.
    """
    if place < plan.state[KEPT]:
        plan.state[KEPT] = place
        if place < plan.state[PLANNED]:
            plan.state[PLANNED] = 0
            plan.state[LOADED] = 0


@verb
def void(plan: Plan) -> None:
    """Give up every reservation: the profile of the running jobs has changed."""
    plan.state[KEPT] = 0
    plan.state[PLANNED] = 0
    plan.state[LOADED] = 0


@verb
def load(plan: Plan, running: Running, now: int) -> None:
    """Lay out the profile of the running jobs by their predicted ends."""
    times, free, mark = plan.profile
    predicted, width = running.predicted, running.width
    times[0], free[0] = now, running.free[0]
    i = 0
    for p in range(running.count[0] - 1, -1, -1):
        if predicted[p] > times[i]:
            i += 1
            times[i], free[i] = predicted[p], free[i - 1]
        free[i] += width[p]
    mark[HEAD], mark[TAIL] = 0, i + 1
    plan.state[LOADED], plan.state[DUE] = 1, NEVER
    plan.state[LAYOUT] += 1


@verb
def look_ahead(plan: Plan) -> None:
    """Find for each need until when so many processors stay free from now on."""
    times, free, mark = plan.profile
    limit = plan.limit
    low = min(free[mark[HEAD]], limit.size - 1)
    for q in range(low + 1, plan.state[TOP] + 1):
        limit[q] = 0
    plan.state[TOP] = low
    i = mark[HEAD] + 1
    while i < mark[TAIL] and low > 0:
        while low > free[i]:
            limit[low] = times[i]
            low -= 1
        i += 1
    for q in range(1, low + 1):
        limit[q] = NEVER


@verb
def earliest_start(plan: Plan, i: int, now: int) -> int:
    """Return the first instant at which the job at place i fits beside the reservations so far.

    Reservations only take processors, so that the search begins where it ended for a job as
    wide and no longer: CTC has many alike.
    """
    need, length, floor = plan.need[i], plan.length[i], plan.floor
    after = now
    if floor[0, need] == plan.state[LAYOUT] and floor[1, need] <= length:
        after = max(now, floor[2, need])
    t = earliest_fit(plan.profile, need, length, after)
    floor[0, need], floor[1, need], floor[2, need] = plan.state[LAYOUT], length, t
    return t


@verb
def hold(plan: Plan, t: int, length: int, need: int) -> None:
    """Reserve, and cut the limits of the needs that no longer fit beside it."""
    times, free, _ = plan.profile
    limit, top = plan.limit, plan.state[TOP]
    i = reserve(plan.profile, t, length, need)
    end = t + length
    while times[i] < end:
        q = max(free[i], 0) + 1
        while q <= top and limit[q] > times[i]:
            limit[q] = times[i]
            q += 1
        i += 1


@verb
def remove(plan: Plan, i: int) -> None:
    """Take the job at place i out of the queue."""
    job, need, length, at, state = plan.job, plan.need, plan.length, plan.at, plan.state
    last = state[COUNT] - 1
    state[COUNT] = last
    state[POINTS] -= length[i] == 0
    state[STARVING] -= i < state[STARVING]
    for k in range(i, last):
        job[k], need[k], length[k] = job[k + 1], need[k + 1], length[k + 1]
    state[PLANNED] -= i < state[PLANNED]
    if i < state[KEPT]:
        state[KEPT] -= 1
        for k in range(i, state[KEPT]):
            at[k] = at[k + 1]


@verb
def start_at(plan: Plan, jobs: Jobs, running: Running, i: int, now: int) -> None:
    """Start the job at place i: it leaves the queue and runs."""
    j = plan.job[i]
    jobs.backfilled[j] = i > 0
    remove(plan, i)
    launch(jobs, running, j, now)


@verb
def may_start(plan: Plan, running: Running, now: int, i: int) -> bool:
    """Tell whether the job at place i fits now beside the reservations made so far.

    One with estimate 0 needs no more than the processors: it delays nobody.
    """
    need, length = plan.need[i], plan.length[i]
    beside = plan.state[LOADED] == 0 or length == 0 or now + length <= plan.limit[need]
    return bool(beside and need <= running.free[0])


@verb
def last_candidate(plan: Plan, running: Running, now: int, lowest: int, highest: int) -> int:
    """Return the last place in lowest..highest whose job may still start now, or lowest - 1."""
    i = highest
    while i >= lowest and not may_start(plan, running, now, i):
        i -= 1
    return i

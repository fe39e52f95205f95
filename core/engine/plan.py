"""The plan that backfilling with reservations keeps between passes: a prefix of the reservations.

Mu'alem and Feitelson (2001), section 2.2, make all reservations again at each pass. Only starts are
observable, so a pass makes reservations in queue order, and only up to the last job that may still
start now.

Invariant: at each pass the first KEPT reservations equal those that would be made again. A
reservation depends only on the running jobs' predicted ends and on the reservations before it. A
reservation does not move with time: as long as every job ends at its prediction, a job that starts
at its reservation becomes a running job with the same end. So an end before its prediction
invalidates the plan (`void`), or, where the machine has snapshots of its profile, the first
reservation that moves and all later ones (`core.engine.early_completions`). A change of the queue
at a place invalidates the reservations from this place on (`cut`). While a job with estimate 0
waits, which reserves nothing, each event invalidates the plan. The profile holds the first PLANNED
of the kept reservations, PLANNED <= KEPT.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import WORD, first_places, highest, room, slide, up_to
from schedfarm.core.engine.profile import (
    HEAD,
    TAIL,
    Profile,
    earlier_fit,
    first_short,
    fit_from,
    has_room,
    step_from,
)
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.running import Running
from schedfarm.core.engine.snapshots import Snapshots, forget_after, no_snapshots

KINDS, HOUR = 4, 3600
"""Kinds of estimates, each with a floor, and an hour, s; see `kind_of`."""

STAIRS = 8
"""Most free-capacity steps (stairs) to extract; jobs that pass them are tested one by one."""


class PlanState:
    """State of a plan.

    waiting: number of waiting jobs. planned: number of reservations in the profile, from the first
    job on. kept: number of reservations that are still true. due: the earliest reservation in the
    profile, s. loaded: whether the profile is laid out. starving: number of starving jobs at the
    front.
    points: number of jobs with estimate 0. layout: number of layouts so far.
    """

    waiting: int
    planned: int
    kept: int
    due: int
    loaded: int
    starving: int
    points: int
    layout: int


class Plan(NamedTuple):
    """The queue in order, and the profile with the reservations of its first jobs.

    job, need, length, submit: int64[room(n)], of each waiting job its index, processors, estimate,
    s, and submit time, s, the first in cell front[0]. front: int64[1]. at: int64[room(n)], the
    reserved start at each place of the queue, s. floor: int64[KINDS * (widest + 1), 4], by need and
    kind of estimate: layout, estimate, s, start, s, and the profile's step there, of the latest
    reservation; see `floor_of`. stair: int64[2, STAIRS], free-capacity steps: their time, s from
    now, and the free processors from there on; see `find_stairs`. snapshots: profiles of the first
    reservations.
    """

    job: Int64
    need: Int64
    length: Int64
    submit: Int64
    front: Int64
    at: Int64
    profile: Profile
    floor: Int64
    stair: Int64
    snapshots: Snapshots
    state: Record[PlanState]


def empty_plan(n: int, widest: int) -> Plan:
    """Return a plan with room for n waiting jobs of at most `widest` processors."""
    profile, snapshots = no_snapshots(n, widest)
    n = room(n)
    return Plan(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.zeros(1, np.int64),
        np.empty(n, np.int64),
        profile,
        np.zeros((KINDS * (widest + 1), 4), np.int64),
        np.empty((2, STAIRS), np.int64),
        snapshots,
        record(PlanState),
    )


@verb
def columns_of(plan: Plan) -> tuple[Int64, Int64, Int64, Int64]:
    """Return the columns of the waiting jobs."""
    return plan.job, plan.need, plan.length, plan.submit


@verb
def cut(plan: Plan, place: int) -> None:
    """Invalidate the reservations from this place on, where another job now precedes.

    The profile is laid out again when it is needed: this is cheaper than the removal of the
    reservations from the profile.
    """
    if place < plan.state[0].kept:
        plan.state[0].kept = place
        forget_after(plan.snapshots, place)
        if place < plan.state[0].planned:
            plan.state[0].planned = 0
            plan.state[0].loaded = 0


@verb
def void(plan: Plan) -> None:
    """Invalidate every reservation: the profile of the running jobs has changed."""
    plan.state[0].kept = 0
    plan.state[0].planned = 0
    plan.state[0].loaded = 0
    plan.snapshots.state[0].saved = 0


@verb
def load(plan: Plan, running: Running, now: int) -> None:
    """Lay out the profile of the running jobs by their predicted ends."""
    times, free, mark = plan.profile
    predicted, width = running.predicted, running.width
    i, t, level = 0, now, running.free[0]
    times[0], free[0] = t, level
    for p in range(running.count[0] - 1, -1, -1):
        i += predicted[p] > t
        t, level = max(t, predicted[p]), level + width[p]
        times[i], free[i] = t, level
    mark[HEAD], mark[TAIL] = 0, i + 1
    plan.state[0].loaded, plan.state[0].due = 1, NEVER
    plan.state[0].layout += 1


@verb
def rounded(instant: int, unit: int) -> int:
    """Return the first multiple of a unit from an instant on."""
    return (instant + unit - 1) // unit * unit


@verb
def load_rounded(plan: Plan, running: Running, now: int, unit: int) -> None:
    """Lay out the profile of the running jobs by their predicted ends, rounded up to a unit."""
    times, free, mark = plan.profile
    i, t, level = 0, now, running.free[0]
    times[0], free[0] = t, level
    for p in range(running.count[0] - 1, -1, -1):
        end = rounded(running.predicted[p], unit)
        i += end > t
        t, level = max(t, end), level + running.width[p]
        times[i], free[i] = t, level
    mark[HEAD], mark[TAIL] = 0, i + 1
    plan.state[0].loaded, plan.state[0].due = 1, NEVER
    plan.state[0].layout += 1


@verb
def kind_of(plan: Plan, length: int) -> int:
    """Return the kind of an estimate: below 1, 4 and 16 hours, and longer.

    Without snapshots there is one kind: with four, the KTH log takes a twentieth longer.
    """
    if plan.snapshots.state[0].saved == 0:
        return 0
    return int(length >= HOUR) + int(length >= 4 * HOUR) + int(length >= 16 * HOUR)


@verb
def floor_of(plan: Plan, need: int, length: int, now: int) -> tuple[int, int]:
    """Return a lower bound of the earliest start of a job, s, and a step from which to look for it.

    Invariant: after floor[KINDS * need + kind] = (layout, length, t, step), as long as the layout
    is the same, no job of this need and of at least this length can start before t. In one layout
    reservations only take processors, and a gap for a longer job contains one for a shorter job.
    Reservations only add steps, so that the step of t is `step` or a later one; if `advance` moves
    steps, a new layout begins. Widths are repeated in logs, so that most searches begin where the
    last search for the same width ended.
    """
    floor, after, step = plan.floor, now, plan.profile.mark[HEAD]
    first = KINDS * need
    for k in range(first, first + kind_of(plan, length) + 1):
        if floor[k, 0] == plan.state[0].layout and floor[k, 1] <= length and floor[k, 2] > after:
            after, step = floor[k, 2], max(step, floor[k, 3])
    return after, step


@verb
def earliest_start(plan: Plan, i: int, now: int) -> tuple[int, int]:
    """Return the first instant at which the job at place i fits next to the reservations so far.

    Also return the profile's step there.
    """
    profile, floor, cell = plan.profile, plan.floor, plan.front[0] + i
    need, length = plan.need[cell], plan.length[cell]
    after, step = floor_of(plan, need, length, now)
    t, step = fit_from(profile, step_from(profile, step, after), need, length, after)
    k = KINDS * need + kind_of(plan, length)
    floor[k, 0], floor[k, 1], floor[k, 2], floor[k, 3] = plan.state[0].layout, length, t, step
    return t, step


@verb
def remove(plan: Plan, i: int) -> None:
    """Remove the job at place i from the queue."""
    state, first, cell = plan.state, plan.front[0], plan.front[0] + i
    stop = first + state[0].waiting
    state[0].points -= plan.length[cell] == 0
    state[0].starving -= i < state[0].starving
    # The shorter side moves: on CTC at load 0.9 under SPF, 200 of the 1670 waiting jobs.
    if 2 * i < state[0].waiting:
        plan.front[0] = first + 1
        slide(columns_of(plan), first, cell, 1)
    else:
        slide(columns_of(plan), cell + 1, stop, -1)
    state[0].waiting -= 1
    state[0].planned -= i < state[0].planned
    if i < state[0].kept:
        slide((plan.at,), i + 1, state[0].kept, -1)
        state[0].kept -= 1


@verb
def may_start(plan: Plan, running: Running, now: int, i: int) -> bool:
    """Return whether the job at place i fits now next to the reservations made so far.

    A job with estimate 0 only needs free processors: it delays no other job.
    """
    cell = plan.front[0] + i
    need, length = plan.need[cell], plan.length[cell]
    if need > running.free[0]:
        return False
    if plan.state[0].loaded == 0 or length == 0:
        return True
    return has_room(plan.profile, plan.profile.mark[HEAD], need, now + length)


@verb
def find_stairs(plan: Plan, i: int, free: int, now: int, after: int) -> int:
    """Extract stairs from the steps from step i on; return their number, at most STAIRS.

    A stair (s, f) is a step with fewer free processors, f, than `free` and than each stair before;
    the step holds at now + s. Invariant: if step i contains `after`, a job that can start in [now,
    after] needs at most f processors or lasts at most s, for every stair. Proof: only f processors
    are free at the instant u = max(time of the step, after) = now + s. A job that lasts longer than
    s has started by `after` <= u and ends after u, so it needs its processors at u.
    """
    stair, level, mark = plan.stair, plan.profile.free, plan.profile.mark
    count = 0
    while plan.state[0].loaded == 1 and count < STAIRS:
        i = first_short(plan.profile, i, free, NEVER)
        if i >= mark[TAIL]:
            break
        free = level[i]
        stair[0, count], stair[1, count] = max(plan.profile.times[i], after) - now, free
        count += 1
    return count


@verb
def within_stairs(plan: Plan, begin: int, stairs: int, word: int) -> int:
    """Return the jobs of a lane mask that are short or narrow enough for all stairs."""
    stair, k = plan.stair, 0
    while word != 0 and k < stairs:
        word &= up_to(plan.length, begin, stair[0, k]) | up_to(plan.need, begin, stair[1, k])
        k += 1
    return word


@verb
def last_candidate(plan: Plan, running: Running, now: int, first: int, last: int) -> int:
    """Return the last place in first..last whose job may still start now, or first - 1.

    Stairs are necessary conditions: jobs that violate them are discarded a lane mask at a time, and
    `may_start` decides on the other jobs.
    """
    if last < first or may_start(plan, running, now, last):
        return last
    free, front = running.free[0], plan.front[0]
    stairs = find_stairs(plan, plan.profile.mark[HEAD], free, now, now)
    lowest, stop = front + first, front + last
    while stop > lowest:
        begin = max(stop - WORD, lowest)
        fits = up_to(plan.need, begin, free) & first_places(stop - begin)
        fits = within_stairs(plan, begin, stairs, fits)
        while fits != 0:
            place = highest(fits)
            if may_start(plan, running, now, begin + place - front):
                return int(begin + place - front)
            fits ^= 1 << place
        stop = begin
    return first - 1


@verb
def last_rival(plan: Plan, now: int, first: int, last: int, end: int) -> int:
    """Return the last place in first..last - 1 whose job may start before `end`, or first - 1.

    Invariant: as long as reservations are only added, no place after the returned one gets a rival,
    since added reservations only take processors. The result stays an upper bound, which `extend`
    uses until the queue's places change. Stairs are computed for starts up to `end` - 1. On a grid
    some waiting jobs are wider than the cluster of this profile; its last step has all processors.
    """
    profile, front = plan.profile, plan.front[0]
    step = step_from(profile, profile.mark[HEAD], end - 1)
    stairs = find_stairs(plan, step, NEVER, now, end - 1)
    lowest, stop = front + first, front + last
    while stop > lowest:
        begin = max(stop - WORD, lowest)
        word = within_stairs(plan, begin, stairs, first_places(stop - begin))
        while word != 0:
            place = highest(word)
            cell = begin + place
            need, length = plan.need[cell], plan.length[cell]
            fits = need <= profile.free[profile.mark[TAIL] - 1]
            if fits and earlier_fit(profile, need, length, now, end, NEVER)[0] < end:
                return int(cell - front)
            word ^= 1 << place
        stop = begin
    return first - 1

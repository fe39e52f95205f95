"""Backfilling with reservations: for the first K waiting jobs, or conservatively for all.

Source: Mu'alem and Feitelson (2001), section 2.2, for all; Srinivasan, Kettimuthu, Subramani and
Sadayappan (2002), Selective reservation strategies for backfill job scheduling, for some. Every
pass makes its reservations anew in queue order (SEMANTICS: backfilling), by what it can keep.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.clock import ARRIVED, NOW
from schedfarm.core.engine.jit import NEVER, kernel, verb
from schedfarm.core.engine.machine import (
    Machine,
    begin,
    free_on,
    give_back,
    next_end,
    place_for,
    release_due,
)
from schedfarm.core.engine.plan import (
    COUNT,
    DUE,
    KEPT,
    LOADED,
    PLANNED,
    POINTS,
    remove,
    void,
)
from schedfarm.core.engine.plan_queue import insert, place_by_key, resort, starve
from schedfarm.core.engine.planning import (
    AnyPlan,
    earliest,
    go_on,
    last_candidate,
    last_rival,
    lay_out,
    leaves_room,
    place_now,
    place_of,
    put_down,
    step_now,
    step_of,
    strike_out,
    take,
)
from schedfarm.core.engine.ranking import Rankings, goes_before
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import Options, starving_before

BEFORE, SEEN, ANEW, LOWEST, HIGHEST, TURNED, CLOCK = range(2, 9)
"""Further fields of a clock: jobs that arrived before the instant; jobs known to starve or to have
started; whether the pass must look at every job, else at which places; whether the pass of this
instant is still to come. The number of all fields."""

UNSEEN = -2
"""Promise of a job that no pass has seen yet."""


class Planner(NamedTuple):
    """A machine, its queue with reservations, its clock, and the starts promised at arrival."""

    jobs: Jobs
    machine: Machine
    plan: AnyPlan
    clock: Int64
    promised: Int64


@verb
def complete(plan: AnyPlan, jobs: Jobs, machine: Machine, now: int, per_event: bool) -> None:
    """Release what completes now; before its predicted end it makes room, and the plan is void."""
    if release_due(machine, jobs, now, per_event):
        void(plan)


@verb
def admit(planner: Planner, rankings: Rankings, per_event: bool) -> None:
    """Queue what arrives now; a moving order sorts it later."""
    jobs, _, plan, clock, _ = planner
    lowest, highest = plan.state[COUNT], -1
    while clock[ARRIVED] < jobs.submit.size and jobs.submit[clock[ARRIVED]] == clock[NOW]:
        j = clock[ARRIVED]
        place = plan.state[COUNT] if rankings.moves else place_by_key(plan, rankings.queue.key, j)
        insert(plan, jobs, j, place)
        clock[ARRIVED] += 1
        lowest = min(lowest, place)
        highest = max(highest + (place <= highest), place)
        if per_event:
            break
    clock[LOWEST], clock[HIGHEST] = lowest, highest


@verb
def turn(planner: Planner, rankings: Rankings, per_event: bool) -> bool:
    """Go to the next instant or event, its completions and arrivals; return False at the end."""
    jobs, machine, plan, clock, _ = planner
    arrival = jobs.submit[clock[ARRIVED]] if clock[ARRIVED] < jobs.submit.size else NEVER
    end = next_end(machine)
    now = min(arrival, end)
    if now == NEVER:
        return False
    clock[NOW], clock[BEFORE] = now, clock[ARRIVED]
    ended = end == now and not (per_event and arrival == now)
    clock[ANEW] = ended
    if per_event and give_back(machine, now):
        clock[ANEW] = 1
    # A job with estimate 0 reserves nothing: those behind it may have moved it. Begin anew.
    if plan.state[POINTS] > 0:
        void(plan)
        clock[ANEW] = 1
    if ended:
        complete(plan, jobs, machine, now, per_event)
    loaded = plan.state[LOADED]
    admit(planner, rankings, per_event)
    clock[ANEW] |= plan.state[LOADED] < loaded
    return True


@verb
def arrange(planner: Planner, rankings: Rankings, limit: int) -> None:
    """Bring the queue into its order at this instant; jobs submitted before `limit` starve."""
    jobs, _, plan, clock, _ = planner
    loaded, changed = plan.state[LOADED], plan.state[COUNT]
    if rankings.moves:
        changed = resort(plan, jobs, rankings.queue, clock[NOW], limit)
    elif limit >= 0:
        clock[SEEN], changed = starve(plan, jobs, clock[SEEN], limit)
    if changed < plan.state[COUNT]:
        clock[LOWEST] = min(clock[LOWEST], changed)
        clock[HIGHEST] = plan.state[COUNT] - 1
    clock[ANEW] |= plan.state[LOADED] < loaded or clock[LOWEST] == 0


@verb
def start_at(planner: Planner, i: int, c: int, now: int) -> None:
    """Start the job at place i of the queue at place c of the machine."""
    jobs, machine, plan, _, _ = planner
    j = plan.job[plan.front[0] + i]
    jobs.backfilled[j] = i > 0
    strike_out(machine, plan, i)
    remove(plan, i)
    begin(machine, jobs, c, j, now)


@verb
def start_ready(planner: Planner, now: int, must: int) -> int:
    """Start the jobs whose reservation has come; without a profile, from the front while they fit.

    Returns the place that `must` has become. A job without duration takes processors and reserves
    none: behind one that has just started, the first place with free processors may not be the
    first with room in its profile.
    """
    _, machine, plan, _, promised = planner
    due, i, loaded = NEVER, 0, plan.state[LOADED] == 1
    while i < (plan.state[PLANNED] if loaded else plan.state[COUNT]):
        cell = plan.front[0] + i
        need = plan.need[cell]
        c = place_of(machine, plan, i) if loaded else place_for(machine, need)
        if c >= 0 and need <= free_on(machine, c) and (not loaded or plan.at[i] <= now):
            if promised[plan.job[cell]] == UNSEEN:
                promised[plan.job[cell]] = now
            goes_on = loaded or plan.length[cell] > 0
            start_at(planner, i, c, now)
            must -= i <= must
            if goes_on:
                continue
        if not loaded:
            break
        due = min(due, plan.at[i])
        i += 1
    plan.state[DUE] = due
    return must


@verb
def next_backfill(
    planner: Planner, rankings: Rankings, limit: int, last: int, where: int
) -> tuple[int, int]:
    """Return which job to backfill next, behind those that hold reservations, and where.

    One that may not start now may not later in this pass either: backfills only take processors.
    `last` may, at `where`.
    """
    jobs, machine, plan, clock, _ = planner
    now, ranking = clock[NOW], rankings.backfill
    front, best = plan.front[0], last
    for i in range(last - 1, plan.state[PLANNED] - 1, -1):
        c = place_now(machine, plan, now, i)
        if c >= 0 and (
            not rankings.differ
            or goes_before(ranking, jobs, now, limit, plan.job[front + i], plan.job[front + best])
        ):
            best, where = i, c
    return best, where


@verb
def guard_points(machine: Machine, plan: AnyPlan) -> None:
    """Let no backfill delay a reservation without duration: it counts as the second it is in.

    Those before it in the queue hold theirs against each other only for their durations; easy,
    which is depth(1), guards the shadow time of a head with estimate 0.
    """
    for i in range(plan.state[PLANNED]):
        cell = plan.front[0] + i
        if plan.length[cell] == 0:
            c, t = place_of(machine, plan, i), plan.at[i]
            take(machine, plan, c, step_of(machine, plan, c, t), t, 1, plan.need[cell])


@verb
def next_to_place(
    machine: Machine, plan: AnyPlan, now: int, depth: int, last: int, where: int, rival: int
) -> tuple[int, int, int, int, int]:
    """Return which job is next, where and from when, the step there, and the last rival.

    That is the first job without a reservation; or `last`, at `where` and at once, where it has no
    rival: no job before it may start there until it would end. The last rival is -1 if not known.

    Invariant: in a pass reservations only take processors. So a job that cannot start at `where`
    before `end` with the reservations so far cannot with all of them, and is neither in the way of
    one that ends there by `end`, nor has that one in its own; and no place before `where` gets
    room for `last`. To place it out of turn leaves every start as it is: on CTC at load 0.9 under
    FCFS a sixth of the reservations need not be made, under LXF 29 %. A job without duration may be
    denied what others, of no duration either, have just taken: it waits for its turn.
    """
    i = plan.state[PLANNED]
    if i < plan.state[KEPT]:
        c, t = place_of(machine, plan, i), plan.at[i]
        step = step_of(machine, plan, c, t)
    else:
        c, t, step = earliest(machine, plan, i, now)
    length = plan.length[plan.front[0] + last] if i < last < depth else 0
    if length > 0 and t >= now + length:
        if rival < 0:
            rival = last_rival(machine, plan, where, now, i + 1, last, now + length)
        if rival <= i:
            i, c, t, step = last, where, now, step_now(machine, plan, where)
    return i, c, t, step, rival


@verb
def may_still_start(
    machine: Machine, plan: AnyPlan, now: int, last: int, where: int, c: int, step: int, end: int
) -> bool:
    """Say whether a reservation at c from a step until `end` leaves room for `last` at `where`."""
    if last < plan.state[PLANNED]:
        return False
    if c != where:
        return True
    cell = plan.front[0] + last
    end = min(end, now + plan.length[cell])
    return leaves_room(machine, plan, c, step, plan.need[cell], end)


@verb
def extend(
    planner: Planner, rankings: Rankings, depth: int, limit: int, last: int, where: int, must: int
) -> None:
    """Reserve in queue order while a job up to `last` may start now, and up to `must` in any case.

    At the beginning there is room now for `last` itself, first at `where`, or it is -1; where it
    has no rival it goes first. A job whose reservation is now starts. Behind `depth` reservations
    only backfills are left.
    """
    _, machine, plan, clock, promised = planner
    now, rival = clock[NOW], -1
    while plan.state[PLANNED] <= max(last, min(must, depth - 1)):
        i, t = plan.state[PLANNED], now
        if i >= depth:
            i, c = next_backfill(planner, rankings, limit, last, where)
            step = step_now(machine, plan, c)
        else:
            i, c, t, step, rival = next_to_place(machine, plan, now, depth, last, where, rival)
        cell = plan.front[0] + i
        j, need, length = plan.job[cell], plan.need[cell], plan.length[cell]
        if i < depth and promised[j] == UNSEEN:
            promised[j] = t
        starts = t == now and need <= free_on(machine, c)
        take(machine, plan, c, step, t, length, need)
        if starts:
            start_at(planner, i, c, now)
            last -= 1
            must -= i <= must
        else:
            plan.at[i] = t
            put_down(machine, plan, i, c)
            plan.state[PLANNED] = i + 1
            plan.state[KEPT] = max(plan.state[KEPT], i + 1)
            plan.state[DUE] = min(plan.state[DUE], t)
            if i + 1 == depth and plan.state[POINTS] > 0:
                guard_points(machine, plan)
        if (
            starts
            or i + 1 == depth
            or not may_still_start(machine, plan, now, last, where, c, step, t + length)
        ):
            last, where = last_candidate(machine, plan, now, plan.state[PLANNED], last)
            rival = -1


@verb
def make_pass(planner: Planner, rankings: Rankings, depth: int, limit: int, promises: bool) -> None:
    """Start every job whose reservation is now."""
    _, machine, plan, clock, _ = planner
    now, anew = clock[NOW], clock[ANEW] == 1
    must = clock[HIGHEST] if promises and clock[ARRIVED] > clock[BEFORE] else -1
    if plan.state[LOADED] == 1:
        go_on(machine, plan, now)
        anew |= plan.state[DUE] <= now
    if anew:
        must = start_ready(planner, now, must)
    lowest = plan.state[PLANNED] if anew else clock[LOWEST]
    highest = plan.state[COUNT] - 1 if anew else clock[HIGHEST]
    last, where = last_candidate(machine, plan, now, lowest, highest)
    if last < lowest and min(must, depth - 1) < plan.state[PLANNED]:
        return
    if plan.state[LOADED] == 0:
        lay_out(machine, plan, now)
    extend(planner, rankings, depth, limit, last if last >= lowest else -1, where, must)


@verb
def pass_over(planner: Planner, rankings: Rankings, options: Options, promises: bool) -> None:
    """Make the pass of this instant, in the order that the queue then has."""
    limit = starving_before(options, planner.clock[NOW])
    arrange(planner, rankings, limit)
    make_pass(planner, rankings, options.depth, limit, promises)


@kernel
def run_reserving(
    planner: Planner, rankings: Rankings, options: Options, promises: bool, stepwise: bool
) -> bool:
    """Run every event and its pass, to the last completion; return False at the end, or if left.

    Stepwise, return True before each pass, for the keys of the waiting jobs to be evaluated.
    """
    jobs, _, plan, clock, promised = planner
    while True:
        if clock[TURNED] == 0:
            if jobs.leave[0] != 0 or not turn(planner, rankings, options.per_event):
                return False
            if stepwise:
                clock[TURNED] = 1
                return True
        clock[TURNED] = 0
        if plan.state[COUNT] == 0:
            continue
        pass_over(planner, rankings, options, promises)
        if promises:
            for j in range(clock[BEFORE], clock[ARRIVED]):
                promised[j] = max(promised[j], NO_PROMISE)

"""Backfilling with reservations: for the first K waiting jobs, or conservatively for all.

Source: Mu'alem and Feitelson (2001), section 2.2, for all; Srinivasan, Kettimuthu, Subramani and
Sadayappan (2002), Selective reservation strategies for backfill job scheduling, for some. Every
pass makes its reservations anew in queue order (SEMANTICS: backfilling), by what it can keep.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.clock import ARRIVED, NOW, next_end
from schedfarm.core.engine.jit import NEVER, kernel, verb
from schedfarm.core.engine.plan import (
    COUNT,
    DUE,
    KEPT,
    LOADED,
    PLANNED,
    POINTS,
    Plan,
    last_candidate,
    load,
    may_start,
    next_to_place,
    start_at,
    void,
)
from schedfarm.core.engine.plan_queue import insert, place_by_key, resort, starve
from schedfarm.core.engine.profile import HEAD, advance, has_room, reserve, reserve_at
from schedfarm.core.engine.ranking import Rankings, goes_before
from schedfarm.core.engine.running import Jobs, Running, give_back, release
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
    running: Running
    plan: Plan
    clock: Int64
    promised: Int64


@verb
def complete(plan: Plan, jobs: Jobs, running: Running, now: int, per_event: bool) -> None:
    """Release what completes now; before its predicted end it makes room, and the plan is void."""
    while next_end(running) == now:
        j = running.job[running.count[0] - 1]
        if jobs.start[j] + jobs.estimate[j] > now:
            void(plan)
        release(jobs, running)
        if per_event:
            return


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
    jobs, running, plan, clock, _ = planner
    arrival = jobs.submit[clock[ARRIVED]] if clock[ARRIVED] < jobs.submit.size else NEVER
    now = min(arrival, next_end(running))
    if now == NEVER:
        return False
    clock[NOW], clock[BEFORE] = now, clock[ARRIVED]
    clock[ANEW] = next_end(running) == now and not (per_event and arrival == now)
    if per_event and give_back(running, now):
        clock[ANEW] = 1
    # A job with estimate 0 reserves nothing: those behind it may have moved it. Begin anew.
    if plan.state[POINTS] > 0:
        void(plan)
        clock[ANEW] = 1
    if not (per_event and arrival == now):
        complete(plan, jobs, running, now, per_event)
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
def start_ready(planner: Planner, now: int, must: int) -> int:
    """Start the jobs whose reservation has come; without a profile, from the front while they fit.

    Returns the place that `must` has become.
    """
    jobs, running, plan, _, promised = planner
    due, i, loaded = NEVER, 0, plan.state[LOADED] == 1
    while i < (plan.state[PLANNED] if loaded else plan.state[COUNT]):
        cell = plan.front[0] + i
        if plan.need[cell] <= running.free[0] and (not loaded or plan.at[i] <= now):
            if promised[plan.job[cell]] == UNSEEN:
                promised[plan.job[cell]] = now
            start_at(plan, jobs, running, i, now)
            must -= i <= must
            continue
        if not loaded:
            break
        due = min(due, plan.at[i])
        i += 1
    plan.state[DUE] = due
    return must


@verb
def next_backfill(planner: Planner, rankings: Rankings, limit: int, last: int) -> int:
    """Return the place of the job to backfill next, behind those that hold reservations.

    One that may not start now may not later in this pass either: backfills only take processors.
    """
    jobs, running, plan, clock, _ = planner
    now, ranking = clock[NOW], rankings.backfill
    front, best = plan.front[0], last
    for i in range(last - 1, plan.state[PLANNED] - 1, -1):
        if may_start(plan, running, now, i) and (
            not rankings.differ
            or goes_before(ranking, jobs, now, limit, plan.job[front + i], plan.job[front + best])
        ):
            best = i
    return best


@verb
def guard_points(plan: Plan) -> None:
    """Let no backfill delay a reservation without duration: it counts as the second it is in.

    Those before it in the queue hold theirs against each other only for their durations; easy,
    which is depth(1), guards the shadow time of a head with estimate 0.
    """
    for i in range(plan.state[PLANNED]):
        cell = plan.front[0] + i
        if plan.length[cell] == 0:
            reserve(plan.profile, plan.at[i], 1, plan.need[cell])


@verb
def may_still_start(plan: Plan, now: int, last: int, step: int, end: int) -> bool:
    """Tell whether a reservation from a step until `end` leaves room for the job at `last`."""
    if last < plan.state[PLANNED]:
        return False
    cell = plan.front[0] + last
    return has_room(plan.profile, step, plan.need[cell], min(end, now + plan.length[cell]))


@verb
def extend(
    planner: Planner, rankings: Rankings, depth: int, limit: int, last: int, must: int
) -> None:
    """Reserve in queue order while a job up to `last` may start now, and up to `must` in any case.

    At the beginning there is room now for `last` itself, or it is -1; where it has no rival it goes
    first. A job whose reservation is now starts. Behind `depth` reservations only backfills are
    left.
    """
    jobs, running, plan, clock, promised = planner
    now, rival = clock[NOW], -1
    while plan.state[PLANNED] <= max(last, min(must, depth - 1)):
        i, t, step = plan.state[PLANNED], now, plan.profile.mark[HEAD]
        if i >= depth:
            i = next_backfill(planner, rankings, limit, last)
        else:
            i, t, step, rival = next_to_place(plan, now, depth, last, rival)
        cell = plan.front[0] + i
        j, need, length = plan.job[cell], plan.need[cell], plan.length[cell]
        if i < depth and promised[j] == UNSEEN:
            promised[j] = t
        starts = t == now and need <= running.free[0]
        reserve_at(plan.profile, step, t, length, need)
        if starts:
            start_at(plan, jobs, running, i, now)
            last -= 1
            must -= i <= must
        else:
            plan.at[i] = t
            plan.state[PLANNED] = i + 1
            plan.state[KEPT] = max(plan.state[KEPT], i + 1)
            plan.state[DUE] = min(plan.state[DUE], t)
            if i + 1 == depth and plan.state[POINTS] > 0:
                guard_points(plan)
        if starts or i + 1 == depth or not may_still_start(plan, now, last, step, t + length):
            last, rival = last_candidate(plan, running, now, plan.state[PLANNED], last), -1


@verb
def make_pass(planner: Planner, rankings: Rankings, depth: int, limit: int, promises: bool) -> None:
    """Start every job whose reservation is now."""
    _, running, plan, clock, _ = planner
    now, anew = clock[NOW], clock[ANEW] == 1
    must = clock[HIGHEST] if promises and clock[ARRIVED] > clock[BEFORE] else -1
    if plan.state[LOADED] == 1:
        advance(plan.profile, now)
        anew |= plan.state[DUE] <= now
    if anew:
        must = start_ready(planner, now, must)
    lowest = plan.state[PLANNED] if anew else clock[LOWEST]
    highest = plan.state[COUNT] - 1 if anew else clock[HIGHEST]
    last = last_candidate(plan, running, now, lowest, highest)
    if last < lowest and min(must, depth - 1) < plan.state[PLANNED]:
        return
    if plan.state[LOADED] == 0:
        load(plan, running, now)
    extend(planner, rankings, depth, limit, last if last >= lowest else -1, must)


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

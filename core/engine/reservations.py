"""Backfilling with reservations: for the first K waiting jobs, or conservatively for all.

Source: Mu'alem and Feitelson (2001), section 2.2, for all; Srinivasan, Kettimuthu, Subramani and
Sadayappan (2002), Selective reservation strategies for backfill job scheduling, for some. Every
pass makes its reservations again in queue order (SEMANTICS: backfilling), except those of the last
pass that are still valid (`core.engine.plan`).
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.clock import Clock
from schedfarm.core.engine.jit import NEVER, rolled_kernel, verb
from schedfarm.core.engine.leaving import next_due, next_leave
from schedfarm.core.engine.machine import (
    Machine,
    begin,
    give_back,
    has_free,
    next_end,
    place_for,
    release_due,
)
from schedfarm.core.engine.plan import cut, remove, void
from schedfarm.core.engine.plan_queue import insert, place_by_key, resort, starve
from schedfarm.core.engine.planning import (
    AnyPlan,
    earliest,
    give_early,
    go_on,
    keep,
    last_candidate,
    last_rival,
    lay_out,
    leaves_room,
    place_now,
    place_of,
    put_down,
    reconsider,
    resume,
    start_in,
    step_now,
    step_of,
    strike_out,
    take,
)
from schedfarm.core.engine.rank import AnyRankings, begun_by, follow_up, rank_list
from schedfarm.core.engine.ranking import goes_before
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import Options, starving_before

UNSEEN = -2
"""Promise of a job before its first pass."""


class PlannerClock(Clock):
    """Clock of a machine with reservations.

    before: number of jobs that arrived before the instant. seen: number of jobs, from the first on,
    that are known to starve or to have started. full: whether the pass has to examine every job.
    lowest, highest: otherwise, the first and last place to examine. turned: whether the pass of
    this instant is pending.
    """

    before: int
    seen: int
    full: int
    lowest: int
    highest: int
    turned: int


class Planner(NamedTuple):
    """A machine, its queue with reservations, its clock, and the starts promised at arrival."""

    jobs: Jobs
    machine: Machine
    plan: AnyPlan
    clock: Record[PlannerClock]
    promised: Int64


@verb
def complete(plan: AnyPlan, jobs: Jobs, machine: Machine, now: int, per_event: bool) -> None:
    """Release the jobs that complete now; ends before their predictions move reservations."""
    give_early(machine, plan, jobs, now, per_event)
    if release_due(machine, jobs, now, per_event):
        reconsider(machine, plan, now)


@verb
def admit(planner: Planner, rankings: AnyRankings, per_event: bool) -> None:
    """Queue the jobs that arrive now; a moving order sorts them later."""
    jobs, _, plan, clock, _ = planner
    lowest, highest = plan.state[0].waiting, -1
    while clock[0].arrived < jobs.submit.size and jobs.submit[clock[0].arrived] == clock[0].now:
        j = clock[0].arrived
        place = (
            plan.state[0].waiting if rankings.moves else place_by_key(plan, rankings.queue.key, j)
        )
        insert(plan, jobs, j, place)
        clock[0].arrived += 1
        lowest = min(lowest, place)
        highest = max(highest + (place <= highest), place)
        if per_event:
            break
    clock[0].lowest, clock[0].highest = lowest, highest


@verb
def withdraw(planner: Planner) -> None:
    """Remove the jobs that leave now; invalidate their reservations and all later ones."""
    jobs, machine, plan, clock, _ = planner
    j = next_due(jobs.leaving, jobs.start, clock[0].now)
    while j >= 0:
        i = 0
        while plan.job[plan.front[0] + i] != j:
            i += 1
        cut(plan, i)
        strike_out(machine, plan, i)
        remove(plan, i)
        clock[0].highest -= i <= clock[0].highest
        clock[0].full = 1
        j = next_due(jobs.leaving, jobs.start, clock[0].now)


@verb
def turn(planner: Planner, rankings: AnyRankings, per_event: bool) -> bool:
    """Go to the next instant or event, its completions and arrivals; return False at the end."""
    jobs, machine, plan, clock, _ = planner
    arrival = jobs.submit[clock[0].arrived] if clock[0].arrived < jobs.submit.size else NEVER
    end = next_end(machine)
    now = min(min(arrival, end), next_leave(jobs.leaving, jobs.start))
    if now == NEVER:
        return False
    clock[0].now, clock[0].before = now, clock[0].arrived
    ended = end == now and not (per_event and arrival == now)
    clock[0].full = ended
    if per_event and give_back(machine, now):
        clock[0].full = 1
    # A job with estimate 0 reserves nothing, so later jobs may have delayed it: reserve again.
    if plan.state[0].points > 0:
        void(plan)
        clock[0].full = 1
    begun = begun_by(rankings, machine)
    if ended:
        complete(plan, jobs, machine, now, per_event)
    follow_up(rankings, machine, jobs, begun, now)
    loaded = plan.state[0].loaded
    admit(planner, rankings, per_event)
    clock[0].full |= plan.state[0].loaded < loaded
    withdraw(planner)
    return True


@verb
def arrange(planner: Planner, rankings: AnyRankings, limit: int) -> None:
    """Bring the queue into its order at this instant; jobs submitted before `limit` starve."""
    jobs, _, plan, clock, _ = planner
    loaded, changed = plan.state[0].loaded, plan.state[0].waiting
    if rankings.moves:
        changed = resort(plan, jobs, rankings.queue, clock[0].now, limit)
    elif limit >= 0:
        clock[0].seen, changed = starve(plan, jobs, clock[0].seen, limit)
    if changed < plan.state[0].waiting:
        clock[0].lowest = min(clock[0].lowest, changed)
        clock[0].highest = plan.state[0].waiting - 1
    clock[0].full |= plan.state[0].loaded < loaded or clock[0].lowest == 0


@verb
def start_at(planner: Planner, i: int, c: int, now: int) -> None:
    """Start the job at place i of the queue at place c of the machine."""
    jobs, machine, plan, _, _ = planner
    j = plan.job[plan.front[0] + i]
    jobs.backfilled[j] = i > 0
    start_in(machine, plan, i, now)
    strike_out(machine, plan, i)
    remove(plan, i)
    begin(machine, jobs, c, j, now)


@verb
def start_ready(planner: Planner, now: int, must: int) -> int:
    """Start the jobs whose reserved start has come.

    Without a profile, start jobs from the front while they fit. Returns the present place of the
    job at `must`. A job without duration takes processors but reserves none: after one has just
    started, the first place with free processors need not be the first with room in its profile.
    """
    _, machine, plan, _, promised = planner
    due, i, loaded = NEVER, 0, plan.state[0].loaded == 1
    while i < (plan.state[0].planned if loaded else plan.state[0].waiting):
        cell = plan.front[0] + i
        need = plan.need[cell]
        c = place_of(machine, plan, i) if loaded else place_for(machine, need, now)
        if c >= 0 and has_free(machine, c, need) and (not loaded or plan.at[i] <= now):
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
    plan.state[0].due = due
    return must


@verb
def next_backfill(
    planner: Planner, rankings: AnyRankings, limit: int, last: int, where: int
) -> tuple[int, int]:
    """Return the job to backfill next, after the jobs with reservations, and its place.

    Invariant: a job that may not start now may not start later in this pass, since backfills only
    take processors. `last` may start at `where`.
    """
    jobs, machine, plan, clock, _ = planner
    now, ranking = clock[0].now, rankings.backfill
    front, best = plan.front[0], last
    for i in range(last - 1, plan.state[0].planned - 1, -1):
        c = place_now(machine, plan, now, i)
        if c >= 0 and (
            not rankings.differ
            or goes_before(ranking, jobs, now, limit, plan.job[front + i], plan.job[front + best])
        ):
            best, where = i, c
    return best, where


@verb
def guard_points(machine: Machine, plan: AnyPlan) -> None:
    """Protect a reservation without duration from backfills; it counts as one second.

    Jobs with reservations delay each other only by their durations; easy, which is depth(1),
    guards the shadow time of a head with estimate 0.
    """
    for i in range(plan.state[0].planned):
        cell = plan.front[0] + i
        if plan.length[cell] == 0:
            c, t = place_of(machine, plan, i), plan.at[i]
            take(machine, plan, c, step_of(machine, plan, c, t), t, 1, plan.need[cell])


@verb
def next_to_place(
    machine: Machine, plan: AnyPlan, now: int, depth: int, last: int, where: int, rival: int
) -> tuple[int, int, int, int, int]:
    """Return the next job to reserve for, its place and start, the step then, and the last rival.

    A rival of `last` is a job before it that can start at `where` before `last` ends. If `last` has
    no rival, it is the next job, and starts now at `where`. Otherwise the next job is the first
    without a reservation. The last rival is -1 if it is not known.

    Invariant: reserving for `last` out of turn changes no start. In a pass reservations only take
    processors. So (1) a job that cannot start at `where` before the end of `last` now cannot do so
    after further reservations either: this job takes no processors during `last`, and `last` does
    not delay it. (2) No place before `where` gets room for `last`. The first job without a
    reservation is no rival if its earliest start t is not before `last` ends. Under FCFS at load
    0.9 a sixth of the reservations on CTC need not be made, under LXF 29 %. A job without duration
    is excluded: it may be denied processors that other such jobs have just taken.
    """
    i = plan.state[0].planned
    if i < plan.state[0].kept:
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
    """Return whether a reservation at c, from a step until `end`, leaves enough for `last`."""
    if last < plan.state[0].planned:
        return False
    if c != where:
        return True
    cell = plan.front[0] + last
    end = min(end, now + plan.length[cell])
    return leaves_room(machine, plan, c, step, plan.need[cell], end)


@verb
def extend(
    planner: Planner,
    rankings: AnyRankings,
    depth: int,
    limit: int,
    last: int,
    where: int,
    must: int,
) -> None:
    """Reserve in queue order while a job up to `last` may start now, and up to `must` in any case.

    A job whose reservation is now starts. After `depth` reservations only backfills remain.

    Invariant: `last` is the last place whose job may start now, first at `where`, or -1. This
    remains true while each reservation leaves room for `last` (`may_still_start`), since other jobs
    only lose room; otherwise `last` is searched again. `rival` bounds the places of the rivals of
    `last` (`last_rival`), and is reset when `last` or the places of the queue change.
    """
    _, machine, plan, clock, promised = planner
    now, rival = clock[0].now, -1
    while plan.state[0].planned <= max(last, min(must, depth - 1)):
        i, t = plan.state[0].planned, now
        if i >= depth:
            i, c = next_backfill(planner, rankings, limit, last, where)
            step = step_now(machine, plan, c)
        else:
            i, c, t, step, rival = next_to_place(machine, plan, now, depth, last, where, rival)
        cell = plan.front[0] + i
        j, need, length = plan.job[cell], plan.need[cell], plan.length[cell]
        if i < depth and promised[j] == UNSEEN:
            promised[j] = t
        starts = t == now and has_free(machine, c, need)
        take(machine, plan, c, step, t, length, need)
        if starts:
            start_at(planner, i, c, now)
            last -= 1
            must -= i <= must
        else:
            plan.at[i] = t
            put_down(machine, plan, i, c)
            plan.state[0].planned = i + 1
            plan.state[0].kept = max(plan.state[0].kept, i + 1)
            plan.state[0].due = min(plan.state[0].due, t)
            keep(machine, plan)
            if i + 1 == depth and plan.state[0].points > 0:
                guard_points(machine, plan)
        if (
            starts
            or i + 1 == depth
            or not may_still_start(machine, plan, now, last, where, c, step, t + length)
        ):
            last, where = last_candidate(machine, plan, now, plan.state[0].planned, last)
            rival = -1


@verb
def make_pass(
    planner: Planner, rankings: AnyRankings, depth: int, limit: int, promises: bool
) -> None:
    """Start every job whose reservation is now."""
    _, machine, plan, clock, _ = planner
    now, full = clock[0].now, clock[0].full == 1
    must = clock[0].highest if promises and clock[0].arrived > clock[0].before else -1
    if plan.state[0].loaded == 0:
        resume(machine, plan)
    if plan.state[0].loaded == 1:
        go_on(machine, plan, now)
        full |= plan.state[0].due <= now
    if full and (plan.state[0].loaded == 0 or plan.state[0].due <= now):
        must = start_ready(planner, now, must)
    lowest = plan.state[0].planned if full else clock[0].lowest
    highest = plan.state[0].waiting - 1 if full else clock[0].highest
    last, where = last_candidate(machine, plan, now, lowest, highest)
    if last < lowest and min(must, depth - 1) < plan.state[0].planned:
        return
    if plan.state[0].loaded == 0:
        lay_out(machine, plan, now)
        keep(machine, plan)
    extend(planner, rankings, depth, limit, last if last >= lowest else -1, where, must)


@verb
def pass_over(planner: Planner, rankings: AnyRankings, options: Options, promises: bool) -> None:
    """Make the pass of this instant, in the present order of the queue."""
    plan, limit = planner.plan, starving_before(options, planner.clock[0].now)
    rank_list(rankings, plan.job[plan.front[0] :], plan.state[0].waiting)
    arrange(planner, rankings, limit)
    make_pass(planner, rankings, options.depth, limit, promises)


@rolled_kernel
def run_reserving(
    planner: Planner, rankings: AnyRankings, options: Options, promises: bool, stepwise: bool
) -> bool:
    """Run every event and its pass to the last completion; return False at the end or if cancelled.

    Stepwise, return True before each pass, so that the caller computes the keys of the waiting
    jobs.
    """
    jobs, _, plan, clock, promised = planner
    while True:
        if clock[0].turned == 0:
            if jobs.leave[0] != 0 or not turn(planner, rankings, options.per_event):
                return False
            if stepwise:
                clock[0].turned = 1
                return True
        clock[0].turned = 0
        if plan.state[0].waiting == 0:
            continue
        pass_over(planner, rankings, options, promises)
        if promises:
            for j in range(clock[0].before, clock[0].arrived):
                promised[j] = max(promised[j], NO_PROMISE)

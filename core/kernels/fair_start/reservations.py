"""Fair start times under depth(K) and conservative, in any order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.arrays import NO_PROMISE, Int64
from core.kernels.fair_start.state import (
    GONE,
    Fair,
    coming,
    copy_running,
    fill_in,
    forks_at_arrival,
    forks_before_next,
    is_over,
    latest_running,
    needs_copy,
    withdraw,
)
from core.kernels.jit import NEVER, kernel, verb
from core.kernels.machine import Jobs, Running, idle_machine, next_end
from core.kernels.moving_order import Order
from core.kernels.plan import (
    COUNT,
    POINTS,
    STARVING,
    Plan,
    empty_plan,
    void,
)
from core.kernels.plan_queue import insert, place_by_key
from core.kernels.reservations import (
    ANEW,
    ARRIVED,
    BEFORE,
    CLOCK,
    NOW,
    STARVED,
    arrange,
    complete,
    make_pass,
    turn,
)


class Planner(NamedTuple):
    """A machine, its queue with reservations, its clock, and the starts that it has seen."""

    jobs: Jobs
    running: Running
    plan: Plan
    clock: Int64
    promised: Int64


class Rule(NamedTuple):
    """The options of a rule with reservations."""

    orders: tuple[Order, Order]
    moving: bool
    threshold: int
    depth: int
    other: bool
    per_event: bool


@verb
def copy_plan(plan: Plan, other: Plan, start: Int64, rank: Int64, bar: int) -> None:
    """Copy the waiting jobs whose rank is at most `bar`; their reservations are made anew."""
    state, kept, starving = other.state, 0, 0
    state[POINTS] = 0
    for i in range(plan.state[COUNT]):
        j = plan.job[i]
        if rank[j] > bar:
            start[j] = GONE
            continue
        start[j] = -1
        other.job[kept], other.need[kept], other.length[kept] = j, plan.need[i], plan.length[i]
        state[POINTS] += plan.length[i] == 0
        starving += i < plan.state[STARVING]
        kept += 1
    state[COUNT], state[STARVING] = kept, starving
    void(other)


@verb
def enter(copy: Planner, rule: Rule, j: int) -> None:
    """Queue job j; a moving order sorts it later."""
    copy.jobs.start[j] = -1
    last = copy.plan.state[COUNT]
    place = last if rule.moving else place_by_key(copy.plan, rule.orders[0].key, j)
    insert(copy.plan, copy.jobs, j, place)


@verb
def turn_alone(copy: Planner, rule: Rule, fair: Fair, k: int, j: int) -> int:
    """Go to the next instant, or event, of a copy for job j; return who comes next."""
    jobs, running, plan, clock, _ = copy
    k = coming(fair, jobs.start, k, j)
    due = jobs.submit[k] if k < fair.until[j] else NEVER
    now = min(due, next_end(running))
    clock[NOW] = now
    if plan.state[POINTS] > 0:
        void(plan)
    if not (rule.per_event and due == now):
        complete(plan, jobs, running, now, rule.per_event)
    while k < fair.until[j] and jobs.submit[k] == now:
        enter(copy, rule, k)
        k = coming(fair, jobs.start, k + 1, j)
        if rule.per_event:
            break
    return k


@verb
def pass_over(world: Planner, rule: Rule) -> None:
    """Make one pass."""
    jobs, running, plan, clock, promised = world
    limit = clock[NOW] - rule.threshold if rule.threshold < NEVER else -1
    arrange(plan, jobs, clock, rule.orders[0], rule.moving, limit)
    make_pass(
        plan, jobs, running, clock, promised, rule.orders[1], limit, rule.depth, rule.other, False
    )


@kernel
def fork(here: Planner, whole: Planner, fair: Fair, rule: Rule, j: int, look: bool) -> int:
    """Return when job j, which has arrived, starts on a copy of what is here, s.

    The pass of this instant is still to come where `look` says so.
    """
    submit, run, estimate, procs, start, backfilled = whole.jobs
    # Starvation looks at every job of the columns: none may be there that does not exist.
    jobs = Jobs(submit[: fair.until[j]], run, estimate, procs, start, backfilled)
    copy = Planner(jobs, whole.running, whole.plan, whole.clock, whole.promised)
    joined, k = not fair.relaxed, here.clock[ARRIVED]
    copy.clock[NOW], copy.clock[STARVED] = here.clock[NOW], here.clock[STARVED]
    copy_running(here.jobs, here.running, start, copy.running)
    if fair.patient:
        withdraw(here.jobs, copy.running, j + joined)
    if rule.threshold < NEVER:
        for i in range(here.clock[STARVED], k):
            start[i] = here.jobs.start[i]
    copy_plan(here.plan, copy.plan, start, fair.rank, fair.rank[j] - (not joined))
    while True:
        if look and copy.plan.state[COUNT] > 0:
            copy.clock[ANEW] = 1
            pass_over(copy, rule)
        look = True
        if not joined:
            if copy.plan.state[COUNT] == 0:
                joined = True
                enter(copy, rule, j)
                continue
        elif start[j] >= 0:
            return int(start[j])
        k = turn_alone(copy, rule, fair, k, j)


@verb
def settle(here: Planner, copy: Planner, fair: Fair, rule: Rule, fst: Int64, known: int) -> int:
    """Copy for the jobs from `known` on that a later one has now passed; return the next.

    First come first served, no job that waits moves one before it: the schedule stays every
    job's own copy until a later one starts, and the pass in which it does decides on the
    earlier ones as its own would.
    """
    latest = latest_running(here.running, known - 1)
    head = here.plan.job[0] if here.plan.state[COUNT] > 0 else fst.size
    for j in range(known, min(latest + 1, fair.last)):
        if needs_copy(here.jobs, fair, j, head):
            fst[j] = fork(here, copy, fair, rule, j, False)
    return latest + 1


@kernel
def empty_planner(
    submit: Int64, run: Int64, estimate: Int64, procs: Int64, processors: int
) -> Planner:
    """Return an idle machine with an empty plan."""
    n = submit.size
    start, backfilled = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    jobs = Jobs(submit, run, estimate, procs, start, backfilled)
    plan, clock = empty_plan(n, processors), np.zeros(CLOCK, np.int64)
    return Planner(jobs, idle_machine(processors, n), plan, clock, np.full(n, NO_PROMISE, np.int64))


@kernel
def fair_depth(here: Planner, copy: Planner, fair: Fair, rule: Rule, fst: Int64) -> None:
    """Fill `fst`, all -1, for the jobs wanted: the schedule and beside it copies as needed."""
    jobs, running, plan, clock, _ = here
    known = 0
    while True:
        if not fair.patient and forks_before_next(jobs, running, fair, fst, clock[ARRIVED]):
            j = clock[ARRIVED] - 1
            fst[j] = fork(here, copy, fair, rule, j, False)
        if is_over(jobs, fair, fst, clock[ARRIVED]):
            break
        turn(plan, jobs, running, clock, rule.orders[0].key, rule.moving, rule.per_event)
        if not fair.patient:
            for j in range(clock[BEFORE], clock[ARRIVED]):
                if forks_at_arrival(fair, j, clock[ARRIVED]):
                    fst[j] = fork(here, copy, fair, rule, j, True)
        if plan.state[COUNT] > 0:
            pass_over(here, rule)
        if fair.patient:
            known = settle(here, copy, fair, rule, fst, known)
    fill_in(jobs, fair, fst)

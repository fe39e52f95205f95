"""Fair start times under depth(K) and conservative, in any order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.kernels._jit import NEVER, kernel, verb
from core.kernels.depth import (
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
from core.kernels.fst_state import GONE, Fair, coming, copy_running, forks_at_arrival
from core.kernels.moving_order import Order
from core.kernels.reserve_plan import (
    COUNT,
    POINTS,
    STARVING,
    Plan,
    empty_plan,
    void,
)
from core.kernels.reserve_queue import insert, place_by_key
from core.kernels.running import Jobs, Running, idle_machine, next_end
from core.schedule import NO_PROMISE
from core.workload import Int64


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
def run_alone(
    whole: Planner, fair: Fair, rule: Rule, j: int, k: int, joined: bool, look: bool
) -> int:
    """Run a copy until job j starts, and return when; it joins an empty queue if not yet there."""
    # Starvation looks at every job of the columns: none may be there that does not exist.
    submit, run, estimate, procs, start, backfilled = whole.jobs
    jobs = Jobs(submit[: fair.until[j]], run, estimate, procs, start, backfilled)
    copy = Planner(jobs, whole.running, whole.plan, whole.clock, whole.promised)
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
        elif copy.jobs.start[j] >= 0:
            return int(copy.jobs.start[j])
        k = turn_alone(copy, rule, fair, k, j)


@kernel
def fork(here: Planner, copy: Planner, fair: Fair, rule: Rule, j: int, arrives: bool) -> int:
    """Return the fair start of job j, which waits and arrives now, or came last, s.

    The pass of its arrival is still to come, that of another instant is not.
    """
    start, arrived = copy.jobs.start, here.clock[ARRIVED]
    copy.clock[NOW], copy.clock[STARVED] = here.clock[NOW], here.clock[STARVED]
    if rule.threshold < NEVER:
        for i in range(here.clock[STARVED], arrived):
            start[i] = here.jobs.start[i]
    copy_running(here.jobs, here.running, start, copy.running)
    joined = not (arrives and fair.relaxed)
    copy_plan(here.plan, copy.plan, start, fair.rank, fair.rank[j] - (not joined))
    return run_alone(copy, fair, rule, j, arrived, joined, arrives)


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
    """Fill `fst`, all -1, for the jobs wanted: the schedule and beside it a copy for each."""
    jobs, running, plan, clock, _ = here
    n = jobs.submit.size
    while clock[ARRIVED] < fair.last or jobs.start[fair.last - 1] < 0:
        due = jobs.submit[clock[ARRIVED]] if clock[ARRIVED] < n else NEVER
        j = clock[ARRIVED] - 1
        if (
            j >= 0 and due <= next_end(running) and fair.wanted[j] and fst[j] < 0
            and jobs.start[j] < 0
        ):  # fmt: skip
            fst[j] = fork(here, copy, fair, rule, j, False)
        if clock[ARRIVED] >= fair.last and fst[fair.last - 1] >= 0:
            break
        turn(plan, jobs, running, clock, rule.orders[0].key, rule.moving, rule.per_event)
        for j in range(clock[BEFORE], clock[ARRIVED]):
            if forks_at_arrival(fair, j, clock[ARRIVED]):
                fst[j] = fork(here, copy, fair, rule, j, True)
        if plan.state[COUNT] > 0:
            pass_over(here, rule)
    for j in range(fair.last):
        if fair.wanted[j] and fst[j] < 0:
            fst[j] = jobs.start[j]

"""Backfilling with reservations over clusters: for the first K waiting jobs, or for all.

Every pass reserves in queue order, each job on the cluster where it can start first, and only as
far as the last job that may still start now. What it made stays true as on one machine
(`core.engine.plan`): a job that completes before its predicted end, on whichever cluster, voids
all of it, since those reserved on the others may then go there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.clock import ARRIVED, NOW, next_end
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.lanes import room
from schedfarm.core.engine.plan import (
    COUNT,
    DUE,
    KEPT,
    LAYOUT,
    LOADED,
    PLANNED,
    POINTS,
    STAIRS,
    Plan,
    earliest_start,
    load,
    may_start,
    remove,
    void,
)
from schedfarm.core.engine.plan_queue import insert, place_by_key, resort, starve
from schedfarm.core.engine.profile import Profile, advance, reserve
from schedfarm.core.engine.ranking import Rankings, goes_before
from schedfarm.core.engine.reservations import UNSEEN
from schedfarm.core.engine.running import Jobs, release
from schedfarm.core.engine.world import Options, starving_before
from schedfarm.core.machines.grid.kernels.machines import (
    Machines,
    launch_on,
    most_free,
    on_cluster,
    soonest_end,
)

BEFORE, SEEN, TURNED, CLOCK = range(2, 6)
"""Further fields of a clock: jobs that arrived before the instant; jobs known to starve or to have
started; whether the pass of this instant is still to come. The number of all fields."""


class Plans(NamedTuple):
    """The queue in order, with the cluster of each reservation, and the plan of each cluster.

    Fields are those of `Plan`, with a row a cluster for what is of one cluster; the queue and the
    reservations are counted in the first one's state. on: int64[n], of the reservations their
    clusters.
    """

    job: Int64
    need: Int64
    length: Int64
    submit: Int64
    front: Int64
    at: Int64
    on: Int64
    times: Int64
    free: Int64
    mark: Int64
    floor: Int64
    stair: Int64
    state: Int64


class Planner(NamedTuple):
    """Clusters, the queue with reservations, their clock, and the starts promised at arrival."""

    jobs: Jobs
    machines: Machines
    plans: Plans
    clock: Int64
    promised: Int64


def empty_plans(clusters: int, n: int, widest: int) -> Plans:
    """Return plans with room for n waiting jobs of at most so many processors."""
    n, steps = room(n), room(4 * n + 8)
    return Plans(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.zeros(1, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty((clusters, steps), np.int64),
        np.empty((clusters, steps), np.int64),
        np.zeros((clusters, 2), np.int64),
        np.zeros((clusters, widest + 1, 4), np.int64),
        np.empty((2, STAIRS), np.int64),
        np.zeros((clusters, LAYOUT + 1), np.int64),
    )


@verb
def plan_of(plans: Plans, c: int) -> Plan:
    """Return the plan of cluster `c`; of the first, also the queue. Lent as by `on_cluster`."""
    return Plan(
        plans.job,
        plans.need,
        plans.length,
        plans.submit,
        plans.front,
        plans.at,
        Profile(plans.times[c], plans.free[c], plans.mark[c]),
        plans.floor[c],
        plans.stair,
        plans.state[c],
    )


@verb
def void_all(planner: Planner) -> None:
    """Give up every reservation on every cluster."""
    for c in range(planner.machines.size.size):
        void(plan_of(planner.plans, c))


@verb
def lay_out(planner: Planner, now: int) -> None:
    """Lay out the profile of every cluster by the predicted ends of its running jobs."""
    for c in range(planner.machines.size.size):
        plan = plan_of(planner.plans, c)
        load(plan, on_cluster(planner.machines, c), now)


@verb
def cluster_for(planner: Planner, i: int) -> int:
    """Return the first cluster where the job at place i fits now beside all reservations, or -1."""
    machines, plans, now = planner.machines, planner.plans, planner.clock[NOW]
    need = plans.need[plans.front[0] + i]
    for c in range(machines.size.size):
        if need <= machines.free[c, 0] and may_start(
            plan_of(plans, c), on_cluster(machines, c), now, i
        ):
            return c
    return -1


@verb
def last_candidate(planner: Planner, lowest: int, highest: int) -> int:
    """Return the last place in lowest..highest whose job may still start now, or lowest - 1."""
    plans, i, most = planner.plans, highest, most_free(planner.machines)
    front = plans.front[0]
    while i >= lowest and (plans.need[front + i] > most or cluster_for(planner, i) < 0):
        i -= 1
    return i


@verb
def earliest_cluster(planner: Planner, i: int) -> tuple[int, int]:
    """Return where the job at place i can start first beside the reservations, and when, s."""
    machines, plans, now = planner.machines, planner.plans, planner.clock[NOW]
    cluster, earliest, need = -1, NEVER, plans.need[plans.front[0] + i]
    for c in range(machines.size.size):
        if need <= machines.size[c] and earliest > now:
            t, _ = earliest_start(plan_of(plans, c), i, now)
            if t < earliest:
                cluster, earliest = c, t
    return cluster, earliest


@verb
def take(planner: Planner, i: int, c: int, t: int) -> None:
    """Reserve for the job at place i on cluster `c` from `t` on."""
    plans, cell = planner.plans, planner.plans.front[0] + i
    reserve(plan_of(plans, c).profile, t, plans.length[cell], plans.need[cell])


@verb
def start_on(planner: Planner, i: int, c: int) -> None:
    """Start the job at place i on cluster `c`: it leaves the queue and runs."""
    jobs, plans = planner.jobs, planner.plans
    j = plans.job[plans.front[0] + i]
    jobs.backfilled[j] = i > 0
    remove(plan_of(plans, 0), i)
    for k in range(i, plans.state[0, KEPT]):
        plans.on[k] = plans.on[k + 1]
    launch_on(jobs, planner.machines, c, j, planner.clock[NOW])


@verb
def go_on(planner: Planner, must: int) -> int:
    """Bring the profiles to this instant, and start the jobs whose reservation has come.

    Returns the place that `must` has become.
    """
    machines, plans, now = planner.machines, planner.plans, planner.clock[NOW]
    for c in range(machines.size.size):
        advance(plan_of(plans, c).profile, now)
    i, due = 0, plans.state[0, DUE]
    if due <= now:
        due = NEVER
        while i < plans.state[0, PLANNED]:
            c, need = plans.on[i], plans.need[plans.front[0] + i]
            if plans.at[i] <= now and need <= machines.free[c, 0]:
                start_on(planner, i, c)
                must -= i <= must
            else:
                due = min(due, plans.at[i])
                i += 1
    plans.state[0, DUE] = due
    return must


@verb
def guard_points(planner: Planner) -> None:
    """Let no backfill delay a reservation without duration: it counts as the second it is in."""
    plans = planner.plans
    for i in range(plans.state[0, PLANNED]):
        cell = plans.front[0] + i
        if plans.length[cell] == 0:
            reserve(plan_of(plans, plans.on[i]).profile, plans.at[i], 1, plans.need[cell])


@verb
def reserve_in_order(planner: Planner, depth: int, last: int, must: int) -> int:
    """Reserve while a job up to `last` may start now, and up to `must` in any case.

    A job whose reservation is now starts. Returns the last place behind the reservations whose
    job may still start now.
    """
    machines, plans, now = planner.machines, planner.plans, planner.clock[NOW]
    state = plans.state[0]
    while state[PLANNED] < depth and state[PLANNED] <= max(last, must):
        i = state[PLANNED]
        if i < state[KEPT]:
            c, t = plans.on[i], plans.at[i]
        else:
            c, t = earliest_cluster(planner, i)
        j, need = plans.job[plans.front[0] + i], plans.need[plans.front[0] + i]
        if planner.promised[j] == UNSEEN:
            planner.promised[j] = t
        take(planner, i, c, t)
        if t == now and need <= machines.free[c, 0]:
            start_on(planner, i, c)
            last, must = last - 1, must - 1
        else:
            plans.on[i], plans.at[i] = c, t
            state[PLANNED], state[KEPT] = i + 1, max(state[KEPT], i + 1)
            state[DUE] = min(state[DUE], t)
        last = last_candidate(planner, state[PLANNED], last)
    return last


@verb
def next_backfill(planner: Planner, rankings: Rankings, limit: int, last: int) -> int:
    """Return the place of the job to backfill next, behind those that hold reservations."""
    plans, ranking, now = planner.plans, rankings.backfill, planner.clock[NOW]
    job, front, best = plans.job, plans.front[0], last
    for i in range(last - 1, plans.state[0, PLANNED] - 1, -1):
        if cluster_for(planner, i) >= 0 and (
            not rankings.differ
            or goes_before(ranking, planner.jobs, now, limit, job[front + i], job[front + best])
        ):
            best = i
    return best


@verb
def last_unseen(planner: Planner) -> int:
    """Return the last place whose job no pass has seen yet, -1 if there is none."""
    plans, i = planner.plans, planner.plans.state[0, COUNT] - 1
    while i >= 0 and planner.promised[plans.job[plans.front[0] + i]] != UNSEEN:
        i -= 1
    return int(i)


@verb
def make_pass(planner: Planner, rankings: Rankings, depth: int, limit: int, must: int) -> None:
    """Start every job whose reservation is now; reserve up to the place `must` in any case."""
    now, state = planner.clock[NOW], planner.plans.state[0]
    if state[LOADED] == 1:
        must = go_on(planner, must)
    else:
        # What changed the queue knows of the first cluster only.
        planner.plans.state[:, LOADED] = 0
    last = last_candidate(planner, state[PLANNED], state[COUNT] - 1)
    if last < state[PLANNED] and min(must, depth - 1) < state[PLANNED]:
        return
    if state[LOADED] == 0:
        lay_out(planner, now)
    last = reserve_in_order(planner, depth, last, must)
    if state[PLANNED] < depth or last < depth:
        return
    if state[POINTS] > 0:
        guard_points(planner)
        last = last_candidate(planner, depth, last)
    while last >= depth:
        i = next_backfill(planner, rankings, limit, last)
        c = cluster_for(planner, i)
        take(planner, i, c, now)
        start_on(planner, i, c)
        last = last_candidate(planner, depth, last - 1)


@verb
def complete(planner: Planner) -> None:
    """Release what completes now; before its predicted end it makes room, and all is void."""
    jobs, machines, now = planner.jobs, planner.machines, planner.clock[NOW]
    early = planner.plans.state[0, POINTS] > 0
    for c in range(machines.size.size):
        running = on_cluster(machines, c)
        while next_end(running) == now:
            j = running.job[running.count[0] - 1]
            early |= jobs.start[j] + jobs.estimate[j] > now
            release(jobs, running)
    # A job with estimate 0 reserves nothing: those behind it may have moved it.
    if early:
        void_all(planner)


@verb
def turn(planner: Planner, rankings: Rankings) -> bool:
    """Go to the next instant, its completions and arrivals; return False at the end."""
    jobs, machines, plans, clock, _ = planner
    n, queue = jobs.submit.size, plan_of(plans, 0)
    clock[BEFORE] = clock[ARRIVED]
    arrival = jobs.submit[clock[ARRIVED]] if clock[ARRIVED] < n else NEVER
    clock[NOW] = min(arrival, soonest_end(machines))
    if clock[NOW] == NEVER:
        return False
    complete(planner)
    while clock[ARRIVED] < n and jobs.submit[clock[ARRIVED]] == clock[NOW]:
        j, last = clock[ARRIVED], queue.state[COUNT]
        insert(
            queue, jobs, j, last if rankings.moves else place_by_key(queue, rankings.queue.key, j)
        )
        clock[ARRIVED] += 1
    return True


@verb
def pass_over(planner: Planner, rankings: Rankings, options: Options, promises: bool) -> None:
    """Make the pass of this instant, in the order that the queue then has."""
    jobs, _, plans, clock, promised = planner
    queue, limit = plan_of(plans, 0), starving_before(options, clock[NOW])
    if rankings.moves:
        resort(queue, jobs, rankings.queue, clock[NOW], limit)
    elif limit >= 0:
        clock[SEEN], _ = starve(queue, jobs, clock[SEEN], limit)
    must = last_unseen(planner) if promises else -1
    make_pass(planner, rankings, options.depth, limit, must)
    if promises:
        for j in range(clock[BEFORE], clock[ARRIVED]):
            promised[j] = max(promised[j], NO_PROMISE)


@routine
def run_events(
    planner: Planner, rankings: Rankings, options: Options, promises: bool, stepwise: bool
) -> bool:
    """Go through the events, each with its pass, to the end or, stepwise, to the next pass."""
    clock = planner.clock
    while True:
        if clock[TURNED] == 0:
            if planner.jobs.leave[0] != 0 or not turn(planner, rankings):
                return False
            if stepwise:
                clock[TURNED] = 1
                return True
        clock[TURNED] = 0
        if planner.plans.state[0, COUNT] > 0:
            pass_over(planner, rankings, options, promises)


@kernel
def run_reserving(
    planner: Planner, rankings: Rankings, options: Options, promises: bool, stepwise: bool
) -> bool:
    """Run every event and its pass, to the last completion; return False at the end, or if left.

    Stepwise, return True before each pass, for the keys of the waiting jobs to be evaluated.
    """
    return run_events(planner, rankings, options, promises, stepwise)

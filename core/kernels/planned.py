"""Classical conservative backfilling: a reservation at arrival, kept, moved only earlier.

Source: Mu'alem and Feitelson (2001), section 2.2; the walk by start is the compression of
Klusacek and Rudova (2012), Performance and fairness for users in parallel job scheduling,
section 3; the walk by arrival is that of the pyss simulators.
"""

from __future__ import annotations

import numpy as np

from core.arrays import Int64
from core.kernels.clock import next_end
from core.kernels.jit import NEVER, kernel, verb
from core.kernels.machine import Jobs, Running, release
from core.kernels.plan import COUNT, DUE, KEPT, Plan, start_at
from core.kernels.profile import advance, clear, earliest_fit, lift, reserve
from core.kernels.reservations import Planner


@verb
def complete(plan: Plan, jobs: Jobs, running: Running, now: int, per_event: bool) -> bool:
    """Release what completes now; give back what was predicted beyond; tell if anything was."""
    early = False
    while next_end(running) == now:
        j = running.job[running.count[0] - 1]
        left = jobs.start[j] + jobs.estimate[j] - now
        release(jobs, running)
        if left > 0:
            lift(plan.profile, now, left, jobs.procs[j])
            early = True
        if per_event:
            break
    return early


@verb
def sort_by_start(plan: Plan, walk: Int64) -> None:
    """List the places of the queue by reserved start; ties by (submit, position)."""
    for i in range(plan.state[COUNT]):
        k = i
        while k > 0 and plan.at[walk[k - 1]] > plan.at[i]:
            walk[k] = walk[k - 1]
            k -= 1
        walk[k] = i


@verb
def place(plan: Plan, i: int, now: int) -> None:
    """Reserve the earliest gap for the job at this place."""
    need, length = plan.need[i], plan.length[i]
    t = earliest_fit(plan.profile, need, length, now)
    reserve(plan.profile, t, length, need)
    plan.at[i] = t
    plan.state[DUE] = min(plan.state[DUE], t)


@verb
def enter(plan: Plan, jobs: Jobs, j: int) -> int:
    """Queue job j behind all others; return its place."""
    i = plan.state[COUNT]
    plan.job[i], plan.need[i], plan.length[i] = j, jobs.procs[j], jobs.estimate[j]
    plan.state[COUNT] = plan.state[KEPT] = i + 1
    return int(i)


@verb
def start_due(plan: Plan, jobs: Jobs, running: Running, now: int) -> None:
    """Start the jobs whose reservation has come, in order of arrival."""
    due, i = NEVER, 0
    while i < plan.state[COUNT]:
        if plan.at[i] <= now and plan.need[i] <= running.free[0]:
            start_at(plan, jobs, running, i, now)
            continue
        due = min(due, plan.at[i])
        i += 1
    plan.state[DUE] = due


@kernel
def run_planned(planner: Planner, processors: int, per_event: bool, by_start: bool) -> None:
    """Run every event and its pass, to the last completion."""
    jobs, running, plan, _, promised = planner
    n, arrived = jobs.submit.size, 0
    walk = np.arange(n)
    clear(plan.profile, 0, processors)
    while True:
        arrival = jobs.submit[arrived] if arrived < n else NEVER
        now = min(arrival, next_end(running))
        if now == NEVER:
            return
        advance(plan.profile, now)
        alone = per_event and arrival == now
        early = not alone and complete(plan, jobs, running, now, per_event)
        if early and by_start:
            sort_by_start(plan, walk)
        # An early end compresses: each reservation is lifted out and put into its earliest gap.
        waiting = plan.state[COUNT]
        first = 0 if early else waiting
        while arrived < n and jobs.submit[arrived] == now:
            enter(plan, jobs, arrived)
            arrived += 1
            if per_event:
                break
        for k in range(first, plan.state[COUNT]):
            i = walk[k] if by_start and k < waiting else k
            if k < waiting:
                lift(plan.profile, plan.at[i], plan.length[i], plan.need[i])
            place(plan, i, now)
            if k >= waiting:
                promised[plan.job[i]] = plan.at[i]
        if plan.state[DUE] <= now:
            start_due(plan, jobs, running, now)

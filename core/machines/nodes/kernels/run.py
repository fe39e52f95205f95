"""Events and passes of nodes, under `conservative` and between renewals of shelves."""

from __future__ import annotations

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.ranking import Rankings
from schedfarm.core.engine.reservations import UNSEEN
from schedfarm.core.engine.world import Options, starving_before
from schedfarm.core.machines.nodes.kernels.clock import next_reset, turn
from schedfarm.core.machines.nodes.kernels.machine import Site, launch
from schedfarm.core.machines.nodes.kernels.plan import Plan, lay, may_start, place_after, put
from schedfarm.core.machines.nodes.kernels.world import (
    REMADE,
    TURNED,
    Shelves,
    Waiting,
    World,
    arrange,
    dequeue,
)

END, CALL, RENEW = 0, 1, 2
"""Reasons for a return of the kernel.

END: no job is left, or the run was cancelled. CALL: the caller must compute keys before a pass.
RENEW: the caller must renew the shelves, from an empty plan.
"""


@routine
def start_found(site: Site, plan: Plan, j: int, now: int) -> bool:
    """Start a job with a planned start now, on its nodes in the plan.

    The job waits if another job of this instant, with length 0, still occupies one of the nodes.
    """
    asks, machine, outcome = site.asks, site.machine, site.outcome
    if asks[j].length > 0:
        first = plan.mark[place_after(plan, now) - 1]
        for i in range(asks[j].nodes):
            plan.found[i] = plan.holds.record[first + i].node
    for i in range(asks[j].nodes):
        if machine.free[plan.found[i]] < asks[j].weight:
            return False
    for i in range(asks[j].nodes):
        outcome.node[outcome.first[j] + i] = plan.found[i]
    outcome.count[j] = asks[j].nodes
    launch(site, j, now)
    return True


@routine
def last_candidate(
    site: Site, plan: Plan, waiting: Waiting, now: int, last: int, least: int
) -> int:
    """Return the last place in least..last with a job that may start; else least - 1."""
    while last >= least and not may_start(site, plan, waiting.job[last], now):
        last -= 1
    return last


@verb
def last_unseen(waiting: Waiting, promised: Int64) -> int:
    """Return the last place with a job that was in no pass yet, or -1."""
    i = waiting.count[0] - 1
    while i >= 0 and promised[waiting.job[i]] != UNSEEN:
        i -= 1
    return int(i)


@routine
def make_pass(
    site: Site, plan: Plan, shelves: Shelves, waiting: Waiting, promised: Int64, now: int, must: int
) -> None:
    """Make a new plan up to the last job that may start now, and start the due jobs.

    The plan includes all places up to `must`.
    """
    i = 0
    lay(site, plan, now)
    last = last_candidate(site, plan, waiting, now, waiting.count[0] - 1, 0)
    while i <= max(last, must):
        j = waiting.job[i]
        t = put(site, plan, j, now)
        if promised[j] == UNSEEN and t < NEVER:
            promised[j] = t
        if t == now and start_found(site, plan, j, now):
            site.jobs.backfilled[j] = i > 0
            dequeue(shelves, waiting, i)
            last, must = last - 1, must - 1
        else:
            i += 1
        last = last_candidate(site, plan, waiting, now, last, i)


@verb
def pass_over(world: World, rankings: Rankings, options: Options, promises: bool) -> None:
    """Make the pass of this instant, in the queue's present order."""
    site, plan, _, shelves, waiting, clock, promised = world
    now = clock[0].now
    limit = starving_before(options, now)
    if rankings.moves or limit >= 0:
        arrange(site.jobs, shelves, waiting, rankings.queue, now, limit, 1)
    must = last_unseen(waiting, promised) if promises else -1
    make_pass(site, plan, shelves, waiting, promised, now, must)
    if promises:
        for j in range(clock[0].before, clock[0].arrived):
            promised[j] = max(promised[j], NO_PROMISE)


@routine
def run_events(
    world: World, rankings: Rankings, options: Options, promises: bool, stepwise: bool
) -> int:
    """Process events and passes until the end, or until the caller must act."""
    clock = world.clock
    while True:
        if clock[0].step == 0:
            if world.site.jobs.leave[0] != 0 or not turn(world, rankings.queue):
                return END
            clock[0].step = TURNED
            if clock[0].reset == clock[0].now:
                clock[0].reset = next_reset(world.shelves.resets, clock[0].now + 1)
                if world.waiting.count[0] > 0:
                    clock[0].step = REMADE
                    lay(world.site, world.plan, clock[0].now)
                    return RENEW
        if clock[0].step == TURNED and stepwise:
            clock[0].step = REMADE
            return CALL
        clock[0].step = 0
        if world.waiting.count[0] > 0:
            pass_over(world, rankings, options, promises)


@kernel
def run_nodes(
    world: World, rankings: Rankings, options: Options, promises: bool, stepwise: bool
) -> int:
    """Run events and passes; return the reason for the return. A further call continues."""
    return run_events(world, rankings, options, promises, stepwise)

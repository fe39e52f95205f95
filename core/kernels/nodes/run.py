"""The events of nodes and their passes, under `conservative` and between shelves made anew."""

from __future__ import annotations

from core.arrays import NO_PROMISE
from core.kernels.jit import NEVER, kernel, routine, verb
from core.kernels.nodes.clock import next_reset, turn
from core.kernels.nodes.machine import Site, launch
from core.kernels.nodes.plan import Plan, lay, may_start, place_after, put
from core.kernels.nodes.world import (
    ARRIVED,
    BEFORE,
    NOW,
    REMADE,
    RESET,
    STEP,
    TURNED,
    World,
    arrange,
    dequeue,
)
from core.kernels.ranking import Rankings
from core.kernels.reservations import UNSEEN
from core.kernels.world import Options, starving_before

END, CALL, RENEW = 0, 1, 2
"""Why the kernel stops: nobody is left, or it was left; keys are to be filled in before a pass;
shelves are to be made anew, from a plan that is laid out."""


@routine
def start_found(site: Site, plan: Plan, j: int, now: int) -> bool:
    """Start a job whose start in the plan is now, on the nodes that it has found there.

    Not where another job of this instant, without length, still has one of them.
    """
    asks, machine, outcome = site.asks, site.machine, site.outcome
    found, first = plan.found, 0
    if asks.length[j] > 0:
        found, first = plan.holds.node, plan.mark[place_after(plan, now) - 1]
    for i in range(asks.nodes[j]):
        if machine.free[found[first + i]] < asks.weight[j]:
            return False
    for i in range(asks.nodes[j]):
        outcome.node[outcome.first[j] + i] = found[first + i]
    outcome.count[j] = asks.nodes[j]
    launch(site, j, now)
    return True


@verb
def last_candidate(world: World, last: int, least: int) -> int:
    """Return the last place, from `least` on, up to `last`, whose job may start; else least - 1."""
    now = world.clock[NOW]
    while last >= least and not may_start(world.site, world.plan, world.queue[last], now):
        last -= 1
    return last


@verb
def last_unseen(world: World) -> int:
    """Return the last place whose job no pass has seen yet, -1 if there is none."""
    i = world.count[0] - 1
    while i >= 0 and world.promised[world.queue[i]] != UNSEEN:
        i -= 1
    return int(i)


@verb
def make_pass(world: World, promises: bool) -> None:
    """Put who waits into a new plan, as far as somebody may start now, and start who may."""
    site, plan, _, _, queue, count, clock, promised = world
    now, i = clock[NOW], 0
    must = last_unseen(world) if promises else -1
    lay(site, plan, now)
    last = last_candidate(world, count[0] - 1, 0)
    while i <= max(last, must):
        j = queue[i]
        t = put(site, plan, j, now)
        if promised[j] == UNSEEN and t < NEVER:
            promised[j] = t
        if t == now and start_found(site, plan, j, now):
            site.jobs.backfilled[j] = i > 0
            dequeue(world, i)
            last, must = last - 1, must - 1
        else:
            i += 1
        last = last_candidate(world, last, i)


@verb
def pass_over(world: World, rankings: Rankings, options: Options, promises: bool) -> None:
    """Make the pass of this instant, in the order that the queue then has."""
    clock, promised = world.clock, world.promised
    limit = starving_before(options, clock[NOW])
    if rankings.moves or limit >= 0:
        arrange(world, rankings.queue, limit, 1)
    make_pass(world, promises)
    if promises:
        for j in range(clock[BEFORE], clock[ARRIVED]):
            promised[j] = max(promised[j], NO_PROMISE)


@routine
def run_events(
    world: World, rankings: Rankings, options: Options, promises: bool, stepwise: bool
) -> int:
    """Go through the events, each with its pass, to the end or to what the caller is to do."""
    clock = world.clock
    while True:
        if clock[STEP] == 0:
            if world.site.jobs.leave[0] != 0 or not turn(world, rankings.queue):
                return END
            clock[STEP] = TURNED
            if clock[RESET] == clock[NOW]:
                clock[RESET] = next_reset(world.shelves.resets, clock[NOW] + 1)
                if world.count[0] > 0:
                    clock[STEP] = REMADE
                    lay(world.site, world.plan, clock[NOW])
                    return RENEW
        if clock[STEP] == TURNED and stepwise:
            clock[STEP] = REMADE
            return CALL
        clock[STEP] = 0
        if world.count[0] > 0:
            pass_over(world, rankings, options, promises)


@kernel
def run_nodes(
    world: World, rankings: Rankings, options: Options, promises: bool, stepwise: bool
) -> int:
    """Run every event and its pass; return why it stops, and go on when called again."""
    return run_events(world, rankings, options, promises, stepwise)

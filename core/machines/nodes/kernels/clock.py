"""Clock of nodes: the events of an instant before the reset and the pass."""

from __future__ import annotations

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.durations import DAY
from schedfarm.core.engine.jit import NEVER, routine, verb
from schedfarm.core.engine.ranking import Ranking
from schedfarm.core.engine.record import Record
from schedfarm.core.machines.nodes.kernels.machine import (
    Site,
    book,
    launch,
    leave,
    next_end,
    note_booked,
)
from schedfarm.core.machines.nodes.kernels.plan import Plan, find, lay
from schedfarm.core.machines.nodes.kernels.shelves import shelve
from schedfarm.core.machines.nodes.kernels.world import Clock, Outages, World, enqueue

REFUSED, LOST = 2, 3
"""Codes of `core.schedule.State`."""


@verb
def next_reset(resets: Int64, now: int) -> int:
    """Return the first instant from now on at which shelves are renewed, s, or NEVER."""
    soonest = NEVER
    for k in range(resets.size):
        soonest = min(soonest, now + (resets[k] - now) % DAY)
    return soonest


@verb
def next_instant(world: World) -> int:
    """Return the next instant with an event, s; NEVER if no job is left."""
    site, outages, clock = world.site, world.outages, world.clock
    submit, booked = site.jobs.submit, site.booked
    arrival = submit[clock[0].arrived] if clock[0].arrived < submit.size else NEVER
    soonest = min(arrival, next_end(site.running))
    if booked.count[0] > 0:
        soonest = min(soonest, site.asks[booked.job[booked.count[0] - 1]].due)
    if soonest == NEVER and world.waiting.count[0] == 0:
        return NEVER
    if clock[0].risen < outages.rises.size:
        soonest = min(soonest, outages.rises[clock[0].risen])
    if clock[0].fallen < outages.falls.size:
        soonest = min(soonest, outages.falls[clock[0].fallen])
    return min(soonest, clock[0].reset) if world.waiting.count[0] > 0 else soonest


@routine
def complete(site: Site, now: int) -> None:
    """Complete the jobs that end now."""
    while next_end(site.running) == now:
        leave(site, site.running.count[0] - 1)


@verb
def runs_on(site: Site, j: int, v: int) -> bool:
    """Return whether job `j` has node `v`."""
    first, found = site.outcome.first[j], False
    for i in range(first, first + site.outcome.count[j]):
        found |= site.outcome.node[i] == v
    return found


@routine
def take_down(site: Site, v: int, now: int) -> None:
    """Take a node down and end the jobs that run on it."""
    site.machine.up[v] = False
    for p in range(site.running.count[0] - 1, -1, -1):
        if runs_on(site, site.running.job[p], v):
            j = leave(site, p)
            site.outcome.end[j], site.outcome.state[j] = now, LOST


@verb
def change_nodes(site: Site, outages: Outages, clock: Record[Clock], now: int) -> None:
    """Bring nodes up, then take nodes down."""
    while clock[0].risen < outages.rises.size and outages.rises[clock[0].risen] <= now:
        site.machine.up[outages.risen[clock[0].risen]] = True
        clock[0].risen += 1
    while clock[0].fallen < outages.falls.size and outages.falls[clock[0].fallen] <= now:
        take_down(site, outages.fallen[clock[0].fallen], now)
        clock[0].fallen += 1


@routine
def consider(site: Site, plan: Plan, promised: Int64, j: int, now: int) -> None:
    """Accept or refuse an advance reservation."""
    asks, outcome = site.asks, site.outcome
    lay(site, plan, now)
    if not find(site, plan, j, asks[j].due):
        outcome.end[j], outcome.state[j], promised[j] = -1, REFUSED, NO_PROMISE
        return
    outcome.count[j] = asks[j].nodes
    for i in range(asks[j].nodes):
        outcome.node[outcome.first[j] + i] = plan.found[i]
    promised[j] = asks[j].due
    book(site, j)


@verb
def stands(site: Site, j: int) -> bool:
    """Return whether all nodes of an accepted reservation are up."""
    first, standing = site.outcome.first[j], True
    for i in range(first, first + site.outcome.count[j]):
        standing &= site.machine.up[site.outcome.node[i]]
    return standing


@routine
def start_booked(site: Site, now: int) -> None:
    """Start the due reservations, except reservations with a node that is down."""
    jobs, asks, _, _, booked, outcome = site
    changed = False
    while booked.count[0] > 0 and asks[booked.job[booked.count[0] - 1]].due == now:
        booked.count[0] -= 1
        j = booked.job[booked.count[0]]
        changed = True
        if stands(site, j):
            launch(site, j, now)
        else:
            outcome.count[j] = 0
            jobs.start[j], outcome.end[j], outcome.state[j] = now, now, LOST
    if changed:
        note_booked(site)


@verb
def turn(world: World, ranking: Ranking) -> bool:
    """Go to the next instant; process events up to due reservations; return False at the end."""
    site, clock = world.site, world.clock
    jobs, asks = site.jobs, site.asks
    now = next_instant(world)
    if now == NEVER:
        return False
    if now > clock[0].reset:
        clock[0].reset = next_reset(world.shelves.resets, now)
    clock[0].now, clock[0].before = now, clock[0].arrived
    complete(site, now)
    change_nodes(site, world.outages, clock, now)
    while clock[0].arrived < jobs.submit.size and jobs.submit[clock[0].arrived] == now:
        j = clock[0].arrived
        clock[0].arrived += 1
        if asks[j].due >= 0:
            consider(site, world.plan, world.promised, j, now)
        else:
            shelve(site, world.plan, world.shelves, world.waiting, j)
            enqueue(world, ranking, j)
    start_booked(site, now)
    return True

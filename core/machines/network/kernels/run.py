"""Events and passes of a network: own jobs, migration, co-allocation.

Source: Jones and Ligon (2005), sections 3.2 to 3.4.

Invariant: a job that was found not to start is examined again only after processors or links have
become freer (`renew`, and `own` and `fresh` of `core.machines.network.kernels.waiting`). Between
two events on a cluster none of its reservations becomes due, since the first one is due at a
predicted end there; so the plan remains valid, and a job that did not fit before still does not
fit.
"""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.queue import precedes
from schedfarm.core.engine.running import next_end, release
from schedfarm.core.machines.grid.kernel import (
    Clusters,
    launch_on,
    most_free,
    on_cluster,
    soonest_end,
)
from schedfarm.core.machines.network.kernels import spread as spread_jobs
from schedfarm.core.machines.network.kernels.rooms import (
    ALL,
    ONE,
    earliest,
    load,
    measure,
    room_beside,
    room_of,
    tabulate,
    take,
)
from schedfarm.core.machines.network.kernels.split import find_split
from schedfarm.core.machines.network.kernels.spread import drop, reshare
from schedfarm.core.machines.network.kernels.waiting import (
    NOT_RESERVED,
    forget,
    hold,
    insert,
    place_of,
    remove,
)
from schedfarm.core.machines.network.kernels.world import (
    FIRST_ROOM,
    IGNORED,
    LEAST_ROOM,
    MOST_ROOM,
    NOWHERE,
    OVER_LINKS,
    UNUSED,
    Options,
    World,
    note_overtaken,
    renew,
    start,
)


@verb
def start_own(world: World, c: int, place: int, now: int) -> None:
    """Start the job at a place of queue `c` on its own cluster, whose plan contains it."""
    waiting, notes = world.waiting, world.notes
    j = waiting.job[waiting.first[c] + place]
    remove(waiting, c, place)
    launch_on(world.jobs, world.machines, c, j, now)
    notes.begun[notes.many[0]] = j
    notes.many[0] += 1


@verb
def start_due(world: World, c: int, now: int) -> None:
    """Start the jobs of queue `c` with a due reservation."""
    waiting, machines = world.waiting, world.machines
    i = 0
    while i < waiting.state[c].edge:
        at = waiting.first[c] + i
        t = waiting.reserved[waiting.job[at]]
        if t != NOT_RESERVED and t <= now and waiting.need[at] <= machines.free[c, 0]:
            start_own(world, c, i, now)
        else:
            i += 1


@verb
def plan_own(world: World, c: int, now: int, depth: int) -> None:
    """Update the plan of cluster `c`: its first jobs start or get reservations."""
    waiting, machines, plans = world.waiting, world.machines, world.plans
    state, base = waiting.state, waiting.first[c]
    if state[c].void == 1:
        forget(waiting, c)
        load(plans, machines, world.spread, c, now)
        state[c].void = 0
    else:
        start_due(world, c, now)
    i = state[c].edge
    while i < state[c].count and state[c].held < depth:
        need, length = waiting.need[base + i], waiting.length[base + i]
        if need > machines.size[c]:
            i += 1
            continue
        t = earliest(plans, c, need, length, now)
        take(plans, c, t, length, need)
        if t == now and need <= machines.free[c, 0]:
            start_own(world, c, i, now)
        else:
            hold(waiting, c, i, t)
            i += 1
    if state[c].points > 0:
        guard_points(world, c)


@verb
def guard_points(world: World, c: int) -> None:
    """Protect reservations with length 0 from other jobs; each counts as one second."""
    waiting = world.waiting
    for at in range(waiting.first[c], waiting.first[c] + waiting.state[c].edge):
        t = waiting.reserved[waiting.job[at]]
        if t != NOT_RESERVED and waiting.length[at] == 0:
            take(world.plans, c, t, 1, waiting.need[at])


@verb
def measure_anew(world: World, c: int, now: int, depth: int) -> None:
    """Update the plan and the room of cluster `c` after a change on this cluster."""
    state = world.waiting.state
    if state[c].void == 1 or state[c].due == 1:
        if depth > 0:
            plan_own(world, c, now, depth)
        measure(world.plans, world.machines, c, now, depth)
    state[c].due = 0


@routine
def schedule_own(world: World, c: int, now: int, depth: int) -> None:
    """Make the first part of a pass on cluster `c`, for its own jobs."""
    waiting, machines, plans = world.waiting, world.machines, world.plans
    state, base = waiting.state, waiting.first[c]
    measure_anew(world, c, now, depth)
    i = max(state[c].edge, state[c].own)
    while i < state[c].count:
        need, length = waiting.need[base + i], waiting.length[base + i]
        if need <= machines.free[c, 0] and (length == 0 or need <= room_of(plans, c, now + length)):
            start_own(world, c, i, now)
            if depth > 0:
                take(plans, c, now, length, need)
            measure(plans, machines, c, now, depth)
        else:
            i += 1
    state[c].own = state[c].count


@verb
def find_rooms(world: World, c: int, at: int, now: int) -> int:
    """Write the room of each cluster for a job of queue `c`; return the sum."""
    waiting, plans, room, total = world.waiting, world.plans, world.split.room, 0
    length, t = waiting.length[at], waiting.reserved[waiting.job[at]]
    for d in range(room.size):
        if d == c and t != NOT_RESERVED:
            own = (t, t + max(length, 1), waiting.need[at])
            room[d] = room_beside(plans, world.machines, d, now, length, own)
        else:
            room[d] = room_of(plans, d, now + length)
        total += room[d]
    return total


@verb
def chosen_cluster(room: Int64, need: int, to: int) -> int:
    """Return the destination of a job among the clusters with room for it."""
    chosen = NOWHERE
    for d in range(room.size):
        if room[d] < need:
            continue
        better = chosen < 0
        if to == MOST_ROOM:
            better = better or room[d] > room[chosen]
        elif to == LEAST_ROOM:
            better = better or room[d] < room[chosen]
        if better:
            chosen = d
    return chosen


@verb
def is_hopeless(world: World, j: int) -> bool:
    """Return whether links certainly have no room for a job.

    Invariant: if `version` of a kind (equal processors, bandwidth and alltoall) is the present
    `sooner`, no room has been gained since the links had no room for a job of this kind with
    estimate `least`, and a job with at least that estimate needs the same room for longer. A job
    with a reservation is never hopeless, since the processors of its own reservation count as free.
    """
    failed = world.notes.failed[world.asks.kind[j]]
    known = failed.version == world.notes.sooner[0]
    return bool(
        known
        and world.jobs.estimate[j] >= failed.least
        and world.waiting.reserved[j] == NOT_RESERVED
    )


@verb
def note_failure(world: World, j: int) -> None:
    """Record that links have no room for a job."""
    failed, length = world.notes.failed[world.asks.kind[j]], world.jobs.estimate[j]
    if failed.version == world.notes.sooner[0]:
        length = min(length, failed.least)
    failed.version, failed.least = world.notes.sooner[0], length


@verb
def co_allocation(world: World, j: int, ignored: bool) -> int:
    """Split a job for which all clusters together have room; return its destination."""
    asks, spread, split, need = world.asks, world.spread, world.split, world.jobs.procs[j]
    inside = chosen_cluster(split.room, need, FIRST_ROOM)
    if inside != NOWHERE:
        return inside
    for d in range(split.room.size):
        free = ignored or spread.link[d] == NEVER
        split.spare[d] = NEVER if free else spread.link[d] - spread.asked[d]
    if find_split(split, need, asks.bandwidth[j], asks.alltoall[j]):
        return OVER_LINKS
    note_failure(world, j)
    return NOWHERE


@verb
def destination(world: World, part: int, c: int, now: int, options: Options) -> int:
    """Return the destination of the next job of queue `c` in one part of a pass."""
    waiting, split = world.waiting, world.split
    at = waiting.first[c] + waiting.state[c].at
    j, need = waiting.job[at], waiting.need[at]
    if part == ALL and is_hopeless(world, j):
        return NOWHERE
    total = find_rooms(world, c, at, now)
    if part == ONE:
        return chosen_cluster(split.room, need, options.to)
    return co_allocation(world, j, options.links == IGNORED) if total >= need else NOWHERE


@verb
def seek(world: World, c: int, now: int, table: Int64, most: int) -> None:
    """Go to the next job of queue `c` for which there may be room, by a table of needs.

    A job with a reservation may have more room than the table gives, but at most `most`.
    """
    waiting = world.waiting
    need, length, state, base = waiting.need, waiting.length, waiting.state, waiting.first[c]
    i, edge = base + state[c].at, base + state[c].edge
    while i < edge:
        if now + length[i] <= table[need[i]]:
            break
        if need[i] <= most and waiting.reserved[waiting.job[i]] != NOT_RESERVED:
            break
        i += 1
    if i >= edge:
        end = base + state[c].count
        while i < end and now + length[i] > table[need[i]]:
            i += 1
    state[c].at = i - base


@verb
def next_of(world: World, now: int, table: Int64, most: int) -> int:
    """Return the queue with the next job for which there may be room, or -1."""
    waiting, found, first = world.waiting, -1, -1
    for c in range(waiting.first.size):
        seek(world, c, now, table, most)
        if waiting.state[c].at < waiting.state[c].count:
            j = waiting.job[waiting.first[c] + waiting.state[c].at]
            if found < 0 or precedes(waiting.key, j, first):
                found, first = c, j
    return found


@verb
def all_free(machines: Clusters) -> int:
    """Return the free processors of all clusters."""
    total = 0
    for c in range(machines.size.size):
        total += machines.free[c, 0]
    return total


@routine
def walk(world: World, part: int, now: int, options: Options) -> None:
    """Make the part of a pass for migration or the part for co-allocation."""
    waiting, plans, notes = world.waiting, world.plans, world.notes
    state, table = waiting.state, plans.one if part == ONE else plans.all
    for c in range(waiting.first.size):
        state[c].at = state[c].fresh
    while True:
        machines = world.machines
        c = next_of(world, now, table, most_free(machines) if part == ONE else all_free(machines))
        if c < 0:
            return
        to = destination(world, part, c, now, options)
        if to == NOWHERE:
            state[c].at += 1
            continue
        before, j = notes.sooner[0], waiting.job[waiting.first[c] + state[c].at]
        start(world, c, state[c].at, to, now, options.depth)
        tabulate(plans)
        if notes.sooner[0] != before:
            for d in range(waiting.first.size):
                state[d].at = place_of(waiting, d, j)


@verb
def is_somebody_to_look_at(world: World) -> bool:
    """Return whether a waiting job must still be examined."""
    state, found = world.waiting.state, False
    for c in range(state.size):
        found |= state[c].fresh < state[c].count
    return found


@verb
def make_pass(world: World, now: int, options: Options) -> None:
    """Make all parts of a pass."""
    state, notes, depth = world.waiting.state, world.notes, options.depth
    for c in range(state.size):
        # A job with estimate 0 reserves nothing, so that later jobs may have delayed this job.
        if state[c].points > 0:
            state[c].void = 1
            renew(world)
    for c in range(state.size):
        if not options.local:
            measure_anew(world, c, now, depth)
        elif state[c].void + state[c].due > 0 or state[c].own < state[c].count:
            schedule_own(world, c, now, depth)
    before = notes.sooner[0]
    if is_somebody_to_look_at(world) and all_free(world.machines) > 0:
        tabulate(world.plans)
        walk(world, ONE, now, options)
        if options.links != UNUSED:
            walk(world, ALL, now, options)
    if notes.sooner[0] == before:
        for c in range(state.size):
            state[c].fresh = state[c].count
    note_overtaken(world, options.local)


@verb
def free_up(world: World, c: int, now: int, predicted: int, depth: int) -> None:
    """Update the state of cluster `c` after the end of a job with a predicted end."""
    state = world.waiting.state
    state[c].due, state[c].own = 1, 0
    if predicted > now and depth > 0:
        state[c].void = 1


@verb
def complete(world: World, now: int, depth: int) -> None:
    """Complete the jobs that end now."""
    jobs, machines, spread, notes = world.jobs, world.machines, world.spread, world.notes
    ended = False
    for c in range(machines.size.size):
        running = on_cluster(machines, c)
        while next_end(running) == now:
            j = running.job[running.count[0] - 1]
            release(jobs, running)
            notes.end[j] = now
            free_up(world, c, now, jobs.start[j] + jobs.estimate[j], depth)
            ended = True
    p, state = 0, spread.state
    while p < spread.count[0]:
        s = spread.line[p]
        if state[s].end > now:
            p += 1
            continue
        notes.end[state[s].job] = now
        for c in range(machines.size.size):
            procs = spread.parts[state[s].number, c]
            if procs > 0:
                machines.free[c, 0] += procs
                free_up(world, c, now, state[s].predicted, depth)
        drop(spread, p)
        ended = True
    if ended:
        renew(world)


@routine
def share_anew(world: World, now: int, depth: int) -> None:
    """Compute the shares of links again, and invalidate plans with moved predicted ends."""
    state, slid = world.waiting.state, world.notes.slid
    for c in range(slid.size):
        slid[c] = 0
    reshare(world.spread, world.asks.communication, now, slid)
    moved = False
    for c in range(slid.size):
        if slid[c] > 0 and depth > 0:
            state[c].void, state[c].own, moved = 1, 0, True
    if moved:
        renew(world)


@verb
def admit(world: World, j: int, depth: int) -> None:
    """Queue an arriving job; invalidate the plan if the job precedes a reservation."""
    c, state = world.asks.origin[j], world.waiting.state
    place = insert(world.waiting, world.jobs, c, j)
    if depth == 0 or world.jobs.procs[j] > world.machines.size[c]:
        return
    if place < state[c].edge:
        state[c].void = 1
        renew(world)
    elif state[c].held < depth:
        state[c].due = 1


@routine
def run_events(world: World, options: Options) -> None:
    """Process all events, each with its pass."""
    jobs, spread, depth = world.jobs, world.spread, options.depth
    n, arrived = jobs.submit.size, 0
    while jobs.leave[0] == 0:
        ends = min(soonest_end(world.machines), spread_jobs.soonest_end(spread))
        now = min(jobs.submit[arrived] if arrived < n else NEVER, ends)
        if now == NEVER:
            break
        spread_before = spread.count[0]
        complete(world, now, depth)
        if options.shared and spread.count[0] < spread_before:
            share_anew(world, now, depth)
        while arrived < n and jobs.submit[arrived] == now:
            admit(world, arrived, depth)
            arrived += 1
        begun = spread.number[0]
        make_pass(world, now, options)
        if options.shared and spread.number[0] > begun:
            share_anew(world, now, depth)


@kernel
def run_network(world: World, options: Options) -> None:
    """Fill in starts (all -1), `backfilled` (all False), ends and places of the jobs."""
    run_events(world, options)

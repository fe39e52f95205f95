"""Plan: executable starts of waiting jobs, in order of start, with their nodes.

Source: Eyraud (2006), sections 3 and 4: OAR's conservative backfilling. The nodes of a job depend
on the preceding jobs, so after an insertion the later jobs are replayed.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.profile import Profile, clear, earliest_fit, reserve, step_at
from schedfarm.core.engine.record import Record, Records
from schedfarm.core.machines.nodes.kernels.holds import (
    Holds,
    held,
    push,
    settle,
)
from schedfarm.core.machines.nodes.kernels.machine import Ask, Site, end_of_booked
from schedfarm.core.machines.nodes.kernels.rooms import measure, pick, room_beside


class Many:
    """Numbers of used entries in the arrays `turned` (jobs) and `listed` (nodes)."""

    turned: int
    listed: int


class Plan(NamedTuple):
    """Hold the jobs of the plan in order of execution, with their holds above running jobs'.

    job, start: int64[n], in order of start, then of insertion. mark: int64[n + 1], number of holds
    before each job; the last entry counts all holds. count: int64[1]. profile: sum of free
    processors on the nodes that are up; if this sum is too small, nodes need not be examined. room,
    found: int64[nodes], room for, and nodes of, the job that was examined last. spare: int64[room],
    saved nodes of the jobs behind an inserted job.

    seen: int64[2, n, nodes], the room of each node for each job of the plan, in the layer given by
    `side`, int64[n]; edge: int64[2, 2, n], in each layer the largest (room, node) that the job
    took.
    turned: int64[n], jobs whose side has changed during an insertion. differs: int64[nodes], time,
    s, until which the holds of a node differ from those before the insertion, 0 for no difference;
    listed: int64[nodes], the nodes with a difference. many: the numbers of jobs in `turned` and of
    nodes in `listed`.

    Invariant: a job takes exactly the eligible nodes (room >= weight) with (room, node) up to its
    edge, since `pick` takes the nodes with the least room first, then by number. If each changed
    node stays on the same side of the edge, the job takes the same nodes. The edge then remains an
    upper bound of the taken nodes and a lower bound of the other nodes.
    """

    job: Int64
    start: Int64
    mark: Int64
    count: Int64  # type: ignore[assignment]
    holds: Holds
    profile: Profile
    room: Int64
    found: Int64
    spare: Int64
    seen: Int64
    side: Int64
    edge: Int64
    turned: Int64
    differs: Int64
    listed: Int64
    many: Record[Many]


@verb
def asked(asks: Records[Ask], j: int) -> int:
    """Return the total processors of job `j`."""
    return int(asks[j].nodes * asks[j].weight)


@routine
def lay(site: Site, plan: Plan, now: int) -> None:
    """Begin an empty plan next to running jobs, by predicted ends, and advance reservations."""
    _, asks, machine, running, booked, outcome = site
    holds, total = plan.holds, 0
    holds.size[0] = 0
    for v in range(machine.capacity.size):
        holds.top[v] = -1
        total += machine.capacity[v] if machine.up[v] else 0
    clear(plan.profile, now, total)
    for p in range(running.count[0]):
        j = running.job[p]
        until = site.jobs.start[j] + asks[j].length
        if until > now:
            for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
                push(holds, outcome.node[i], until, asks[j].weight)
            reserve(plan.profile, now, until - now, asked(asks, j))
    for p in range(booked.count[0]):
        j, standing = booked.job[p], 0
        for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
            standing += machine.up[outcome.node[i]]
        begin = asks[j].due
        if standing > 0:
            length = end_of_booked(asks, j) - begin
            reserve(plan.profile, begin, length, standing * asks[j].weight)
    plan.count[0], plan.mark[0] = 0, holds.size[0]


@verb
def find(site: Site, plan: Plan, j: int, t: int) -> bool:
    """Find the nodes of job `j` at t next to the current holds, and write them to `found`."""
    asks, machine = site.asks, site.machine
    row = asks[j].row
    measure(machine, plan.holds, site.booked, row, t, asks[j].length, plan.room)
    return pick(machine.members, plan.room, row, asks[j].weight, asks[j].nodes, plan.found)


@verb
def place_after(plan: Plan, t: int) -> int:
    """Return the place behind the last entry that starts by t."""
    low, high = 0, plan.count[0]
    while low < high:
        middle = (low + high) >> 1
        if plan.start[middle] <= t:
            low = middle + 1
        else:
            high = middle
    return int(low)


@routine
def end_after(site: Site, plan: Plan, t: int) -> int:
    """Return the next end after t, s, of running, reserved and planned jobs."""
    jobs, asks, _, running, booked, _ = site
    soonest = NEVER
    for p in range(running.count[0]):
        end = jobs.start[running.job[p]] + asks[running.job[p]].length
        if t < end < soonest:
            soonest = end
    for p in range(booked.count[0]):
        end = end_of_booked(asks, booked.job[p])
        if t < end < soonest:
            soonest = end
    for p in range(plan.count[0]):
        end = plan.start[p] + asks[plan.job[p]].length
        if t < end < soonest:
            soonest = end
    return int(soonest)


@verb
def open_place(plan: Plan, place: int, j: int, t: int) -> None:
    """Insert job `j` as an entry at a place."""
    for k in range(plan.count[0], place, -1):
        plan.job[k], plan.start[k] = plan.job[k - 1], plan.start[k - 1]
    plan.job[place], plan.start[place] = j, t
    plan.count[0] += 1


@verb
def close_place(plan: Plan, place: int) -> None:
    """Delete the entry at a place."""
    plan.count[0] -= 1
    for k in range(place, plan.count[0]):
        plan.job[k], plan.start[k] = plan.job[k + 1], plan.start[k + 1]


@verb
def hold_again(site: Site, plan: Plan, place: int, written: int) -> None:
    """Restore the saved nodes of the entries from a place on.

    Holds from `written` on have not been overwritten.
    """
    asks, holds, p, k = site.asks, plan.holds, place, 0
    settle(holds, plan.mark[place])
    while p < plan.count[0] and holds.size[0] < written:
        j = plan.job[p]
        plan.mark[p] = holds.size[0]
        for _ in range(asks[j].nodes):
            push(holds, plan.spare[k], plan.start[p] + asks[j].length, asks[j].weight)
            k += 1
        p += 1
    plan.mark[p] = holds.size[0]


@verb
def differ(plan: Plan, v: int, until: int) -> None:
    """Record an instant until which the holds of node `v` differ from before."""
    if plan.differs[v] == 0:
        plan.listed[plan.many[0].listed] = v
        plan.many[0].listed += 1
    plan.differs[v] = max(plan.differs[v], until)


@verb
def forget_equal(plan: Plan, t: int) -> None:
    """Remove the nodes with unchanged holds from t on from the list."""
    kept = 0
    for k in range(plan.many[0].listed):
        v = plan.listed[k]
        if plan.differs[v] > t:
            plan.listed[kept] = v
            kept += 1
        else:
            plan.differs[v] = 0
    plan.many[0].listed = kept


@verb
def turn_side(plan: Plan, j: int) -> int:
    """Copy the room of job `j` to its other layer, for changes; return this layer."""
    side = 1 - plan.side[j]
    for v in range(plan.room.size):
        plan.seen[side, j, v] = plan.seen[1 - side, j, v]
    plan.edge[side, 0, j] = plan.edge[1 - side, 0, j]
    plan.edge[side, 1, j] = plan.edge[1 - side, 1, j]
    plan.side[j] = side
    plan.turned[plan.many[0].turned] = j
    plan.many[0].turned += 1
    return int(side)


@verb
def takes(plan: Plan, side: int, j: int, v: int, room: int, weight: int) -> bool:
    """Return whether node `v` with some room precedes or equals the edge of job `j`."""
    edge, last = plan.edge[side, 0, j], plan.edge[side, 1, j]
    return bool(room >= weight and (room < edge or (room == edge and v <= last)))


@verb
def note_edge(plan: Plan, j: int, side: int, count: int) -> None:
    """Record the edge of job `j`: the largest (room, node) of its nodes."""
    edge, last = 0, 0
    for i in range(count):
        room = plan.seen[side, j, plan.found[i]]
        if room >= edge:
            edge, last = room, plan.found[i]
    plan.edge[side, 0, j], plan.edge[side, 1, j] = edge, last


@verb
def look_again(site: Site, plan: Plan, j: int, t: int) -> bool:
    """Update the room of job `j`, planned at t; return whether the job must pick nodes again.

    At t only listed nodes may have changed holds, and therefore changed room.
    """
    asks, machine, holds, booked = site.asks, site.machine, plan.holds, site.booked
    matters, side, before, weight = False, plan.side[j], plan.side[j], asks[j].weight
    for k in range(plan.many[0].listed):
        v = plan.listed[k]
        if not (machine.members[asks[j].row, v] and machine.up[v]):
            continue
        if booked.top[v] < 0:
            room = machine.capacity[v] - held(holds, v, t)
        else:
            room = room_beside(machine.capacity[v], holds, booked, v, t, asks[j].length)
        old = plan.seen[before, j, v]
        if room != old:
            if side == before:
                side = turn_side(plan, j)
            plan.seen[side, j, v] = room
            matters |= takes(plan, side, j, v, room, weight) != takes(plan, side, j, v, old, weight)
    return matters


@verb
def compare_nodes(plan: Plan, first: int, count: int, until: int) -> None:
    """Record the differences between the found and the saved nodes; both ascend."""
    a, b = 0, 0
    while a < count or b < count:
        x = plan.found[a] if a < count else NEVER
        y = plan.spare[first + b] if b < count else NEVER
        if x != y:
            differ(plan, min(x, y), until)
        a += x <= y
        b += y <= x


@verb
def carry_on(site: Site, plan: Plan, p: int, first: int) -> bool:
    """Replay the p-th job of the plan; its former nodes are saved from `first` on."""
    asks, holds = site.asks, plan.holds
    j, t = plan.job[p], plan.start[p]
    until, weight, count = t + asks[j].length, asks[j].weight, asks[j].nodes
    plan.mark[p] = holds.size[0]
    forget_equal(plan, t)
    if look_again(site, plan, j, t):
        room = plan.seen[plan.side[j], j]
        if not pick(site.machine.members, room, asks[j].row, weight, count, plan.found):
            return False
        note_edge(plan, j, plan.side[j], count)
        compare_nodes(plan, first, count, until)
        for i in range(count):
            push(holds, plan.found[i], until, weight)
    else:
        for i in range(count):
            push(holds, plan.spare[first + i], until, weight)
    return True


@verb
def take_back(plan: Plan) -> None:
    """Restore the former room of all jobs."""
    for k in range(plan.many[0].turned):
        plan.side[plan.turned[k]] = 1 - plan.side[plan.turned[k]]


@verb
def insert(site: Site, plan: Plan, place: int, j: int, t: int) -> bool:
    """Insert job `j` on the nodes in `found`, unless a later job then finds no nodes.

    The present holds are those before the place. Later jobs are placed again. Each of them examines
    only nodes with changed holds, which takes three quarters of the time if 50 jobs wait.
    """
    holds, mark, until = plan.holds, plan.mark, t + site.asks[j].length
    first, spared = mark[place], 0
    for i in range(first, mark[plan.count[0]]):
        plan.spare[i - first] = holds.record[i].node
    open_place(plan, place, j, t)
    forget_equal(plan, NEVER)
    plan.many[0].turned, plan.side[j] = 0, 0
    for v in range(plan.room.size):
        plan.seen[0, j, v] = plan.room[v]
    note_edge(plan, j, 0, site.asks[j].nodes)
    for i in range(site.asks[j].nodes):
        differ(plan, plan.found[i], until)
        push(holds, plan.found[i], until, site.asks[j].weight)
    for p in range(place + 1, plan.count[0]):
        if not carry_on(site, plan, p, spared):
            take_back(plan)
            close_place(plan, place)
            hold_again(site, plan, place, holds.size[0])
            return False
        spared += site.asks[plan.job[p]].nodes
    mark[plan.count[0]] = holds.size[0]
    return True


@routine
def put(site: Site, plan: Plan, j: int, now: int) -> int:
    """Insert job `j` at the earliest start that keeps the plan executable; return this start, s.

    If too many nodes are down, the start is NEVER, and the job is not inserted. A job with length 0
    does not become an entry of the plan; its nodes are in `found`.
    """
    asks, profile = site.asks, plan.profile
    procs, length, t = asked(asks, j), asks[j].length, now
    if profile.free[profile.mark[1] - 1] < procs:
        return NEVER
    while t < NEVER:
        t = earliest_fit(profile, procs, length, t)
        place = place_after(plan, t)
        settle(plan.holds, plan.mark[place])
        if find(site, plan, j, t):
            if length == 0:
                return int(t)
            if insert(site, plan, place, j, t):
                reserve(profile, t, length, procs)
                return int(t)
        t = end_after(site, plan, t)
    return NEVER


@kernel
def put_each(site: Site, plan: Plan, jobs: Int64, now: int) -> int:
    """Insert jobs one after the other; return the last end of the inserted jobs, s, or -1."""
    last = -1
    for j in jobs:
        t = put(site, plan, j, now)
        if t < NEVER:
            last = max(last, t + site.asks[j].length)
    return last


@kernel
def room_over(site: Site, plan: Plan, t: int, length: int) -> int:
    """Write the room of each node over [t, t + length); return the next end after t, s.

    All jobs of the plan have begun by t.
    """
    settle(plan.holds, plan.mark[plan.count[0]])
    measure(site.machine, plan.holds, site.booked, 0, t, length, plan.room)
    return end_after(site, plan, t)


@routine
def may_start(site: Site, plan: Plan, j: int, now: int) -> bool:
    """Return whether job `j` may start now next to the present plan."""
    asks, profile = site.asks, plan.profile
    procs, end = asked(asks, j), now + max(asks[j].length, 1)
    i = step_at(profile, now)
    while i < profile.mark[1] and profile.times[i] < end:
        if profile.free[i] < procs:
            return False
        i += 1
    settle(plan.holds, plan.mark[place_after(plan, now)])
    return find(site, plan, j, now)

"""A plan: starts of waiting jobs that can be carried out, in order of start, node by node.

Source: Eyraud (2006), sections 3 and 4: OAR's conservative backfilling. What a job finds depends
on who comes before it, so that each job that is put in has those behind it carried out again.
"""

from __future__ import annotations

from typing import NamedTuple

from core.arrays import Int64
from core.kernels.jit import NEVER, kernel, routine, verb
from core.kernels.nodes.holds import Holds, push, settle
from core.kernels.nodes.machine import Asks, Site, end_of_booked
from core.kernels.nodes.rooms import measure, pick
from core.kernels.profile import Profile, clear, earliest_fit, reserve, step_at


class Plan(NamedTuple):
    """The jobs of the plan as they are carried out, and their holds above those of who runs.

    job, start: int64[n], in order of start, of one start as they were put in. mark: int64[n + 1],
    the holds before each; after the last, all holds. count: int64[1]. profile: processors
    that are free on nodes that are up, whatever nodes they are on: where these are too few nobody
    need look at nodes. room, found: int64[nodes], of the latest job that was looked at. spare:
    int64[room], nodes of those behind a job that is being put in.
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


@verb
def asked(asks: Asks, j: int) -> int:
    """Return the processors that job `j` takes in all."""
    return int(asks.nodes[j] * asks.weight[j])


@routine
def lay(site: Site, plan: Plan, now: int) -> None:
    """Begin an empty plan beside who runs, by predicted ends, and reservations in advance."""
    _, asks, machine, running, booked, outcome = site
    holds, total = plan.holds, 0
    holds.size[0] = 0
    for v in range(machine.capacity.size):
        holds.top[v] = -1
        total += machine.capacity[v] if machine.up[v] else 0
    clear(plan.profile, now, total)
    for p in range(running.count[0]):
        j = running.job[p]
        until = site.jobs.start[j] + asks.length[j]
        if until > now:
            for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
                push(holds, outcome.node[i], until, asks.weight[j])
            reserve(plan.profile, now, until - now, asked(asks, j))
    for p in range(booked.count[0]):
        j, standing = booked.job[p], 0
        for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
            standing += machine.up[outcome.node[i]]
        begin = asks.due[j]
        if standing > 0:
            length = end_of_booked(asks, j) - begin
            reserve(plan.profile, begin, length, standing * asks.weight[j])
    plan.count[0], plan.mark[0] = 0, holds.size[0]


@routine
def find(site: Site, plan: Plan, j: int, t: int) -> bool:
    """Find the nodes of job `j` at t beside the holds that count; they are then in `found`."""
    asks, machine = site.asks, site.machine
    row = asks.row[j]
    measure(machine, plan.holds, site.booked, row, t, asks.length[j], plan.room)
    return pick(machine.members, plan.room, row, asks.weight[j], asks.nodes[j], plan.found)


@verb
def hold_found(site: Site, plan: Plan, j: int, t: int) -> None:
    """Hold the nodes that job `j` has found at t."""
    asks = site.asks
    for i in range(asks.nodes[j]):
        push(plan.holds, plan.found[i], t + asks.length[j], asks.weight[j])


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
    """Return the next end after t: of who runs, is reserved in advance or in the plan, s."""
    jobs, asks, _, running, booked, _ = site
    soonest = NEVER
    for p in range(running.count[0]):
        end = jobs.start[running.job[p]] + asks.length[running.job[p]]
        if t < end < soonest:
            soonest = end
    for p in range(booked.count[0]):
        end = end_of_booked(asks, booked.job[p])
        if t < end < soonest:
            soonest = end
    for p in range(plan.count[0]):
        end = plan.start[p] + asks.length[plan.job[p]]
        if t < end < soonest:
            soonest = end
    return int(soonest)


@verb
def open_place(plan: Plan, place: int, j: int, t: int) -> None:
    """Make job `j` an entry at this place."""
    for k in range(plan.count[0], place, -1):
        plan.job[k], plan.start[k] = plan.job[k - 1], plan.start[k - 1]
    plan.job[place], plan.start[place] = j, t
    plan.count[0] += 1


@verb
def close_place(plan: Plan, place: int) -> None:
    """Drop the entry at this place."""
    plan.count[0] -= 1
    for k in range(place, plan.count[0]):
        plan.job[k], plan.start[k] = plan.job[k + 1], plan.start[k + 1]


@verb
def hold_again(site: Site, plan: Plan, place: int) -> None:
    """Let the entries from this place on hold the nodes that are spared for them."""
    asks, holds, k = site.asks, plan.holds, 0
    settle(holds, plan.mark[place])
    for p in range(place, plan.count[0]):
        j = plan.job[p]
        plan.mark[p] = holds.size[0]
        for _ in range(asks.nodes[j]):
            push(holds, plan.spare[k], plan.start[p] + asks.length[j], asks.weight[j])
            k += 1
    plan.mark[plan.count[0]] = holds.size[0]


@routine
def insert(site: Site, plan: Plan, place: int, j: int, t: int) -> bool:
    """Put job `j`, which has found its nodes, into the plan, unless one behind it then finds none.

    The holds are those before this place.
    """
    holds, mark = plan.holds, plan.mark
    first = mark[place]
    for i in range(first, mark[plan.count[0]]):
        plan.spare[i - first] = holds.node[i]
    open_place(plan, place, j, t)
    hold_found(site, plan, j, t)
    for p in range(place + 1, plan.count[0]):
        mark[p] = holds.size[0]
        if not find(site, plan, plan.job[p], plan.start[p]):
            close_place(plan, place)
            hold_again(site, plan, place)
            return False
        hold_found(site, plan, plan.job[p], plan.start[p])
    mark[plan.count[0]] = holds.size[0]
    return True


@routine
def put(site: Site, plan: Plan, j: int, now: int) -> int:
    """Put job `j` into the plan as early as it can be carried out; return its start, s.

    That is NEVER, and the job is not in the plan, while too many nodes are down. The nodes of a job
    without length, which is no entry, are in `found`.
    """
    asks, profile = site.asks, plan.profile
    procs, length, t = asked(asks, j), asks.length[j], now
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
    """Put jobs into the plan one after the other; return the last end of those that are in it, s.

    That is -1 if none is.
    """
    last = -1
    for j in jobs:
        t = put(site, plan, j, now)
        if t < NEVER:
            last = max(last, t + site.asks.length[j])
    return last


@kernel
def room_over(site: Site, plan: Plan, t: int, length: int) -> int:
    """Write the room of each node over [t, t + length) into the plan; return the next end after t.

    All of the plan has begun by t.
    """
    settle(plan.holds, plan.mark[plan.count[0]])
    measure(site.machine, plan.holds, site.booked, 0, t, length, plan.room)
    return end_after(site, plan, t)


@routine
def may_start(site: Site, plan: Plan, j: int, now: int) -> bool:
    """Tell whether job `j` may start now, for all that the plan says so far."""
    asks, profile = site.asks, plan.profile
    procs, end = asked(asks, j), now + max(asks.length[j], 1)
    i = step_at(profile, now)
    while i < profile.mark[1] and profile.times[i] < end:
        if profile.free[i] < procs:
            return False
        i += 1
    settle(plan.holds, plan.mark[place_after(plan, now)])
    return find(site, plan, j, now)

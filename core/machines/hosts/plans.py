"""A plan on hosts: searches through ends of running jobs, bookings of waiting jobs, and windows.

There is no profile: each new step of a profile would need a copy of the amounts of all hosts,
whereas an end or a booking changes only a few hosts. A search processes these changes in order of
time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import planning, requests
from schedfarm.core.engine.changes import change_at, next_change
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import room
from schedfarm.core.engine.plan import PlanState, rounded, void
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.requests import FREE
from schedfarm.core.engine.snapshots import Snapshots, no_snapshots
from schedfarm.core.machines.hosts.bookings import (
    assign,
    book,
    forget_all,
    unbook,
)
from schedfarm.core.machines.hosts.closings import amount_of, exact_length, first_of, host_of
from schedfarm.core.machines.hosts.kernel import (
    Fleet,
    change,
    is_enough,
    pick,
)


class Plan(NamedTuple):
    """Hold the queue in order, and the reserved starts of its first jobs.

    The fields are those of `core.engine.plan.Plan`; needs are kinds. The fleet has the booked
    hosts.
    """

    job: Int64
    need: Int64
    length: Int64
    submit: Int64
    front: Int64
    at: Int64
    snapshots: Snapshots
    state: Record[PlanState]


def empty_plan(n: int) -> Plan:
    """Return a plan with room for n waiting jobs."""
    n = room(n)
    job, need, length, submit = np.empty((4, n), np.int64)
    return Plan(
        job,
        need,
        length,
        submit,
        np.zeros(1, np.int64),
        np.empty(n, np.int64),
        no_snapshots()[1],
        record(PlanState),
    )


@verb
def next_time(fleet: Fleet, p: int, b: int, e: int, w: int) -> int:
    """Return the next instant at which a job, a booking or a window changes hosts, s.

    p: place in the list of running jobs. b, e: places in the lists of bookings by begin and end. w:
    index of the next change by a window.
    """
    running, bookings, t = fleet.running, fleet.bookings, change_at(fleet.table, w)
    if p >= 0:
        t = min(t, rounded(running.predicted[p], bookings.state[0].unit))
    if b < bookings.state[0].live:
        t = min(t, bookings.begin[bookings.by_begin[b]])
    if e < bookings.state[0].live:
        t = min(t, bookings.end[bookings.by_end[e]])
    return int(t)


@verb
def move(fleet: Fleet, h: int, kind: int, by: int, need: int, t: int) -> int:
    """Change a host of a search at t; return the change of the number of suitable hosts."""
    change(fleet.ahead, h, fleet.share, kind, by)
    return counted(fleet, h, need, t)


@verb
def counted(fleet: Fleet, h: int, need: int, t: int) -> int:
    """Update `since` of a host at t; return the change of the number of suitable hosts."""
    enough, since = is_enough(fleet.ahead, h, fleet.share, need), fleet.since[h]
    if enough == (since < NEVER):
        return 0
    if enough:
        fleet.since[h] = t
        return 1
    fleet.since[h] = NEVER
    fleet.sought[0].lost = min(fleet.sought[0].lost, since)
    return -1


@verb
def pass_instant(
    fleet: Fleet, need: int, t: int, p: int, b: int, e: int, w: int
) -> tuple[int, int, int, int, int]:
    """Make all changes of an instant; return the new places, and the change of suitable hosts.

    A host is suitable if it has the share. Invariant: `since` is the instant since which a host has
    been suitable without interruption, or NEVER if it is not suitable. Ends come before begins, so
    that a host does not lose the share for a moment while it passes from one job to another.
    """
    running, bookings, table, found = fleet.running, fleet.bookings, fleet.table, 0
    while p >= 0 and rounded(running.predicted[p], bookings.state[0].unit) == t:
        j = running.width[p]
        for q in range(fleet.first[j], fleet.first[j] + fleet.count[fleet.kind[j]]):
            found += move(fleet, fleet.host[q], fleet.kind[j], 1, need, t)
        p -= 1
    while e < bookings.state[0].live and bookings.end[bookings.by_end[e]] == t:
        one = bookings.by_end[e]
        kind, first = bookings.kind[one], bookings.first[one]
        for q in range(first, first + fleet.count[kind]):
            found += move(fleet, bookings.host[q], kind, 1, need, t)
        e += 1
    if change_at(table, w) == t:
        for q in range(first_of(table, w), first_of(table, w + 1)):
            h = host_of(table, q)
            fleet.ahead[h, fleet.ahead.shape[1] - 1] += amount_of(table, q)
            found += counted(fleet, h, need, t)
        w += 1
    while b < bookings.state[0].live and bookings.begin[bookings.by_begin[b]] == t:
        one = bookings.by_begin[b]
        kind, first = bookings.kind[one], bookings.first[one]
        for q in range(first, first + fleet.count[kind]):
            found += move(fleet, bookings.host[q], kind, -1, need, t)
        b += 1
    return p, b, e, w, found


@verb
def look_ahead(fleet: Fleet, need: int, now: int) -> int:
    """Begin a search now; return the number of hosts with the share."""
    ahead, found = fleet.ahead, 0
    for h in range(ahead.shape[0]):
        for r in range(ahead.shape[1]):
            ahead[h, r] = fleet.free[h, r]
        enough = is_enough(ahead, h, fleet.share, need)
        fleet.since[h] = now if enough else NEVER
        found += enough
    return found


@verb
def count_since(since: Int64, t: int) -> int:
    """Return the number of hosts with the share since t or longer."""
    found = 0
    for h in range(since.size):
        found += since[h] <= t
    return found


@verb
def first_since(since: Int64, want: int, first: int, last: int) -> int:
    """Return the first instant in first..last since which enough hosts have the share.

    Enough hosts have the share since `last`.
    """
    while first < last:
        middle = first + ((last - first) >> 1)
        if count_since(since, middle) >= want:
            last = middle
        else:
            first = middle + 1
    return int(first)


@verb
def earliest_start(fleet: Fleet, need: int, now: int, length: int) -> int:
    """Return the first instant from which enough hosts have the share for `length` seconds.

    Let k be the number of hosts that the kind needs. Invariant: before the changes at t, `start` is
    the k-th smallest of `since`: k hosts have had the share from `start` on (NEVER if fewer than k
    have it). `start` changes if a host that had the share since `start` or longer loses the share,
    or if the k-th host gets the share; any further host gets the share later. So a start at `start`
    is possible if start + length <= t. Proof that it is the first possible start: suppose that a
    start at u < start is possible. At the last instant of changes before u + length, the k hosts of
    this start have had the share since u, and the next changes are at u + length or later. So the
    search would have ended at this instant or before.
    """
    want, p, b, e = fleet.count[need], fleet.running.count[0] - 1, 0, 0
    found, w, sought = look_ahead(fleet, need, now), next_change(fleet.table), fleet.sought
    start = now if found >= want else NEVER
    while True:
        t = next_time(fleet, p, b, e, w)
        if start < NEVER and start + length <= t:
            return int(start)
        sought[0].lost = NEVER
        p, b, e, w, more = pass_instant(fleet, need, t, p, b, e, w)
        found += more
        if found < want:
            start = NEVER
        elif start == NEVER:
            start = t
        elif sought[0].lost <= start:
            start = first_since(fleet.since, want, start, t)


@verb
def choose(fleet: Fleet, need: int, t: int) -> bool:
    """Pick the lowest-numbered hosts with the share since t; return whether they suffice."""
    found = 0
    for h in range(fleet.since.size):
        if fleet.since[h] <= t:
            fleet.picked[found] = h
            found += 1
            if found == fleet.count[need]:
                return True
    return False


@verb
def pick_at(fleet: Fleet, need: int, t: int, length: int) -> bool:
    """Pick the hosts with the lowest numbers that have the share in [t, t + length)."""
    p, b, e, w = fleet.running.count[0] - 1, 0, 0, next_change(fleet.table)
    look_ahead(fleet, need, t)
    instant = next_time(fleet, p, b, e, w)
    while instant < t + length:
        p, b, e, w, _ = pass_instant(fleet, need, instant, p, b, e, w)
        instant = next_time(fleet, p, b, e, w)
    return choose(fleet, need, t)


@planning.lay_out.of(Fleet)
def lay_out(fleet: Fleet, plan: Plan, now: int) -> None:
    """Delete all bookings; hosts have no profile to lay out."""
    lay_out_rounded(fleet, plan, now, 1)


@planning.lay_out_rounded.of(Fleet)
def lay_out_rounded(fleet: Fleet, plan: Plan, now: int, unit: int) -> None:
    """Delete all bookings; searches round ends of running jobs up to multiples of `unit`, s."""
    forget_all(fleet.bookings, unit)
    plan.state[0].loaded, plan.state[0].due = 1, NEVER
    plan.state[0].layout += 1


@planning.go_on.of(Fleet)
def go_on(fleet: Fleet, plan: Plan, now: int) -> None:
    """Do nothing, because there is no profile."""


@planning.earliest.of(Fleet)
def earliest(fleet: Fleet, plan: Plan, i: int, now: int) -> tuple[int, int, int]:
    """Return the earliest start, also as the step, and pick its hosts.

    Invariant: let t be the found start. After the search, the hosts with the share since t are the
    hosts with the share in all of [t, t + length). Proof: the next changes are at t + length or
    later, and the last changes were before t + length, because the search would otherwise have
    ended before them.
    """
    cell = plan.front[0] + i
    need = plan.need[cell]
    t = earliest_start(fleet, need, now, plan.length[cell])
    choose(fleet, need, t)
    fleet.sought[0].kind, fleet.sought[0].start = need, t
    return 0, t, t


@requests.may_start.of(Fleet)
def may_start(fleet: Fleet, plan: Plan, now: int, i: int) -> bool:
    """Return whether the job at place i fits now next to the present reservations.

    Invariant: if a kind does not fit for some length, it does not fit for this or a greater length
    at the same instant, until a job or a window ends. In between, reservations are only added.
    """
    cell = plan.front[0] + i
    need, length = plan.need[cell], plan.length[cell]
    if not pick(fleet, need, now):
        return False
    bookings = fleet.bookings
    if plan.state[0].loaded == 0 or bookings.state[0].live == 0:
        return True
    if bookings.begin[bookings.by_begin[0]] >= now + length:
        return True
    failed, age = fleet.failed[need], fleet.level[FREE].age
    if failed.age == age and failed.now == now and failed.length <= length:
        return False
    if pick_at(fleet, need, now, length):
        return True
    failed.age, failed.now, failed.length = age, now, length
    return False


@planning.last_rival.of(Fleet)
def last_rival(fleet: Fleet, plan: Plan, c: int, now: int, first: int, last: int, end: int) -> int:
    """Return a bound, the last job: an exact search takes as long as the reservation."""
    return last - 1


@planning.step_now.of(Fleet)
def step_now(fleet: Fleet, plan: Plan, c: int) -> int:
    """Return 0: steps are instants, and 0 precedes all of them."""
    return 0


@planning.step_of.of(Fleet)
def step_of(fleet: Fleet, plan: Plan, c: int, t: int) -> int:
    """Return the instant `t` as the step."""
    return t


@planning.take.of(Fleet)
def take(fleet: Fleet, plan: Plan, c: int, step: int, t: int, length: int, need: int) -> None:
    """Book the hosts of the lowest numbers; the end of the booking may be rounded."""
    if fleet.sought[0].kind != need or fleet.sought[0].start != t:
        pick_at(fleet, need, t, exact_length(fleet.table, need, length))
    fleet.sought[0].kind = -1
    book(fleet.bookings, t, t + length, need, fleet.picked, fleet.count[need])


@planning.leaves_room.of(Fleet)
def leaves_room(fleet: Fleet, plan: Plan, c: int, step: int, need: int, end: int) -> bool:
    """Return whether the reservation begins at `end` or later; otherwise jobs are searched again.

    Enough remaining hosts during the reservation are not sufficient: other hosts may lack the share
    before or after the reservation.
    """
    return step >= end


@planning.place_of.of(Fleet)
def place_of(fleet: Fleet, plan: Plan, i: int) -> int:
    """Pick the booked hosts of a job, if there are any."""
    bookings = fleet.bookings
    b = bookings.of[plan.job[plan.front[0] + i]]
    bookings.state[0].pending = fleet.sought[0].kind = -1
    if b >= 0:
        for q in range(fleet.count[bookings.kind[b]]):
            fleet.picked[q] = bookings.host[bookings.first[b] + q]
    return 0


@planning.put_down.of(Fleet)
def put_down(fleet: Fleet, plan: Plan, i: int, c: int) -> None:
    """Assign the pending booking to the job."""
    assign(fleet.bookings, plan.job[plan.front[0] + i])


@planning.strike_out.of(Fleet)
def strike_out(fleet: Fleet, plan: Plan, i: int) -> None:
    """Remove the job's booking, if there is one."""
    unbook(fleet.bookings, fleet.bookings.of[plan.job[plan.front[0] + i]])


@planning.reconsider.of(Fleet)
def reconsider(fleet: Fleet, plan: planning.AnyPlan, now: int) -> None:
    """Invalidate all reservations."""
    void(plan)


planning.place_now.of(Fleet)(requests.place_now)
planning.last_candidate.of(Fleet)(requests.last_candidate)

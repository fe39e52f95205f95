"""Hosts for the engine's passes: a machine with a single place, 0, in which jobs have hosts.

A job's width is the index of its kind, as in `core.machines.resources`. Jobs have the same kind if
their requests are equal and, if there are windows, their estimates are equal. Kinds are numbered
from 1 by their processors, so that a lane mask discards the kinds that need more than the free
processors. For the others, each host is tested.

Each test writes the found hosts into `picked`; `begin` gives a job the hosts of the last test.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import machine, requests
from schedfarm.core.engine.changes import (
    CONSTANT,
    change_at,
    next_change,
    pass_change,
)
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.machine import Hold
from schedfarm.core.engine.record import Record, Records, record, records
from schedfarm.core.engine.requests import EXTRA, FREE
from schedfarm.core.engine.running import Jobs, Running, idle_machine, next_end
from schedfarm.core.engine.world import EASY
from schedfarm.core.machines.hosts.bookings import Bookings, no_bookings, unbook
from schedfarm.core.machines.hosts.closings import (
    amount_of,
    first_of,
    host_of,
    is_open,
    set_next,
)

PARTS, ASIDE = 0, 1
"""Places in `aside`: the number of partitions, and the value of the first partition."""


class Level:
    """Totals of the free amounts of all hosts, or of the amounts that a reservation leaves.

    total: processors of all hosts. narrow: the last kind that takes at most `total`, -1 if unknown.
    age: number of releases and changes of windows, for `EXTRA` also the number of reservations of
    the head.
    """

    total: int
    narrow: int
    age: int


class Failure:
    """The last tests in which a kind did not fit.

    free, both: the ages of the levels at which the kind found too few hosts in `free`, and in both
    `free` and `extra`; -1 for none. age, now, length: the age and the instant, s, at which the kind
    did not fit next to reservations, and the length of the job, s.
    """

    free: int
    both: int
    age: int
    now: int
    length: int


class Sought:
    """The last search for a reservation.

    kind: the kind, -1 if its hosts are no longer those in `picked`. start: the start that the
    search found, s. lost: of the hosts that lose the share at an instant of the search, the
    earliest instant since which one of them had the share, s.
    """

    kind: int
    start: int
    lost: int


class Fleet(NamedTuple):
    """Hold the running jobs with their hosts, the amounts of each host, and the kinds of jobs.

    running: the jobs, with jobs for widths; its `free` is unused. free, extra, ahead: int64[hosts,
    resources], free amounts, amounts that the head's reservation leaves at its shadow time, and
    room for a search. since: int64[hosts], of a search. level: of `free` and `extra`. count, held:
    int64[kinds + 1], number of hosts of each kind, and processors that a job of this kind takes.
    share: int64[kinds + 1, resources]; kind 0 does not occur. kind: int64[n], of each job. first:
    int64[n], place of a job's hosts in `host`, int64[sum of counts]. picked: int64[hosts]. failed:
    of each kind. aside: int64[parts + 1], the number of resources that stand for partitions, before
    the last one, and for each how often it is set aside, so that its hosts lack the last resource.
    table: `core.machines.hosts.closings.Closings` if there are windows, else `Constant`.
    """

    running: Running
    free: Int64
    extra: Int64
    ahead: Int64
    since: Int64
    level: Records[Level]
    count: Int64  # type: ignore[assignment]
    held: Int64
    share: Int64
    kind: Int64
    first: Int64
    host: Int64
    picked: Int64
    failed: Records[Failure]
    sought: Record[Sought]
    aside: Int64
    bookings: Bookings
    table: Any

    def running_jobs(self) -> Int64:
        """Return the running jobs, int64[k]."""
        return self.running.running_jobs()


def idle_fleet(capacity: Int64, count: Int64, share: Int64, parts: int = 0) -> Fleet:
    """Return idle hosts with a capacity, for jobs with some numbers of hosts and shares.

    No host is withheld. parts: the number of resources that stand for partitions; they precede the
    last resource.

    Examples
    --------
    >>> fleet = idle_fleet(np.array([[4], [4]]), np.array([1, 2, 1]), np.array([[3], [2], [3]]))
    >>> fleet.kind.tolist(), fleet.count.tolist(), fleet.held.tolist()
    ([1, 2, 1], [0, 1, 2], [0, 3, 4])
    """
    n, hosts = count.size, capacity.shape[0]
    rows = np.column_stack((count * share[:, 0], count, share))
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    # Kinds are numbered from 1.
    kinds = np.concatenate((np.zeros((1, rows.shape[1]), np.int64), kinds))
    first = np.cumsum(count) - count
    most = int(count.max(initial=0))
    level, failed, sought = records(Level, 2), records(Failure, kinds.shape[0]), record(Sought)
    level["narrow"], level[FREE].total = -1, int(capacity[:, 0].sum())
    for name in ("free", "both", "age"):
        failed[name] = -1
    sought[0].kind = -1
    return Fleet(
        idle_machine(0, n),
        capacity.copy(),
        np.zeros_like(capacity),
        np.zeros_like(capacity),
        np.zeros(hosts, np.int64),
        level,
        kinds[:, 1].copy(),
        kinds[:, 0].copy(),
        kinds[:, 2:].copy(),
        kind.reshape(-1).astype(np.int64) + 1,
        first.astype(np.int64),
        np.zeros(int(count.sum()), np.int64),
        np.zeros(hosts, np.int64),
        failed,
        sought,
        np.array([parts, *[0] * parts], np.int64),
        no_bookings(n, int(count.sum()) + most),
        CONSTANT,
    )


@verb
def is_enough(amounts: Int64, h: int, share: Int64, kind: int) -> bool:
    """Return whether a host has the share of a kind."""
    r = 0
    while r < share.shape[1] and share[kind, r] <= amounts[h, r]:
        r += 1
    return bool(r == share.shape[1])


@verb
def change(amounts: Int64, h: int, share: Int64, kind: int, by: int) -> None:
    """Add `by` times the share of a kind to the amounts of a host."""
    for r in range(share.shape[1]):
        amounts[h, r] += by * share[kind, r]


@verb
def change_total(fleet: Fleet, row: int, by: int) -> None:
    """Change the processors of all hosts in `free` or `extra`."""
    fleet.level[row].total += by
    fleet.level[row].narrow = -1


@requests.fits.of(Fleet)
def pick(fleet: Fleet, kind: int, now: int) -> bool:
    """Pick the free hosts with the lowest numbers for a kind; return whether they suffice.

    A pending booking is forgotten. Invariant: a kind that found too few hosts does not find enough
    hosts before a job or a window ends, since starts only reduce the free amounts, and the time
    until the next window only becomes shorter.
    """
    fleet.bookings.state[0].pending = fleet.sought[0].kind = -1
    found, want = 0, fleet.count[kind]
    if (
        fleet.failed[kind].free == fleet.level[FREE].age
        or fleet.held[kind] > fleet.level[FREE].total
    ):
        return False
    for h in range(fleet.free.shape[0]):
        if is_enough(fleet.free, h, fleet.share, kind) and is_open(fleet.table, h, kind, now):
            fleet.picked[found] = h
            found += 1
            if found == want:
                return True
    fleet.failed[kind].free = fleet.level[FREE].age
    return False


@requests.fits_beside.of(Fleet)
def pick_beside(fleet: Fleet, kind: int) -> bool:
    """Pick, as `pick` does, hosts that are free now and also next to the reservation."""
    fleet.bookings.state[0].pending = fleet.sought[0].kind = -1
    found, want = 0, fleet.count[kind]
    known = fleet.failed[kind].free == fleet.level[FREE].age
    if known or fleet.failed[kind].both == fleet.level[EXTRA].age:
        return False
    if fleet.held[kind] > min(fleet.level[FREE].total, fleet.level[EXTRA].total):
        return False
    for h in range(fleet.free.shape[0]):
        now = is_enough(fleet.free, h, fleet.share, kind)
        if now and is_enough(fleet.extra, h, fleet.share, kind):
            fleet.picked[found] = h
            found += 1
            if found == want:
                return True
    fleet.failed[kind].both = fleet.level[EXTRA].age
    return False


@requests.narrow_enough.of(Fleet)
def narrow_enough(fleet: Fleet, row: int) -> int:
    """Return the last kind that takes at most the processors of all hosts."""
    if fleet.level[row].narrow < 0:
        low, high = 0, fleet.held.size - 1
        while low < high:
            middle = (low + high + 1) >> 1
            if fleet.held[middle] <= fleet.level[row].total:
                low = middle
            else:
                high = middle - 1
        fleet.level[row].narrow = low
    return int(fleet.level[row].narrow)


@verb
def launch(fleet: Fleet, jobs: Jobs, j: int, now: int) -> None:
    """Start job `j`, and record its end and predicted end; the soonest are last in the lists."""
    running = fleet.running
    jobs.start[j] = now
    count = running.count[0]
    end, p = now + jobs.run[j], count
    while p > 0 and running.end[p - 1] <= end:
        running.end[p], running.job[p] = running.end[p - 1], running.job[p - 1]
        p -= 1
    running.end[p], running.job[p] = end, j
    end, p = now + jobs.estimate[j], count
    while p > 0 and running.predicted[p - 1] < end:
        running.predicted[p], running.width[p] = running.predicted[p - 1], running.width[p - 1]
        p -= 1
    running.predicted[p], running.width[p] = end, j
    running.count[0] = count + 1


@verb
def release(fleet: Fleet, jobs: Jobs) -> bool:
    """End the next job and free its hosts; return whether the end is early."""
    running, last = fleet.running, fleet.running.count[0] - 1
    j = running.job[last]
    p = last
    predicted, job = running.predicted[p], running.width[p]
    while job != j:
        p -= 1
        predicted, running.predicted[p] = running.predicted[p], predicted
        job, running.width[p] = running.width[p], job
    running.count[0] = last
    kind = jobs.procs[j]
    for q in range(fleet.first[j], fleet.first[j] + fleet.count[kind]):
        change(fleet.free, fleet.host[q], fleet.share, kind, 1)
    change_total(fleet, FREE, fleet.held[kind])
    fleet.level[FREE].age += 1
    fleet.level[EXTRA].age += 1
    return bool(predicted > running.end[last])


@machine.next_end.of(Fleet)
def next_end_of(fleet: Fleet) -> int:
    """Return the next end of a job, or beginning or end of a window, s."""
    return min(next_end(fleet.running), change_at(fleet.table, next_change(fleet.table)))


@machine.release_due.of(Fleet)
def release_due(fleet: Fleet, jobs: Jobs, now: int, one: bool) -> bool:
    """End the jobs that end now, and withhold or give back the hosts of windows."""
    early, table = False, fleet.table
    while next_end(fleet.running) == now:
        early |= release(fleet, jobs)
    k = next_change(table)
    if change_at(table, k) == now:
        for q in range(first_of(table, k), first_of(table, k + 1)):
            fleet.free[host_of(table, q), fleet.free.shape[1] - 1] += amount_of(table, q)
            set_next(table, q)
        pass_change(table)
        fleet.level[FREE].age += 1
        fleet.level[EXTRA].age += 1
    return early


@machine.running_count.of(Fleet)
def running_count(fleet: Fleet) -> int:
    """Return the number of running jobs."""
    return int(fleet.running.count[0])


@machine.has_free.of(Fleet)
def has_free(fleet: Fleet, c: int, need: int) -> bool:
    """Return True: hosts that are free next to the reservations are also free now.

    Proof: every job has an estimate of at least 1 s. So the running jobs have predicted ends after
    now, and count in all searches.
    """
    return True


@machine.place_for.of(Fleet)
def place_for(fleet: Fleet, need: int, now: int) -> int:
    """Return 0 if a job of this kind fits."""
    return 0 if pick(fleet, need, now) else -1


@machine.begin.of(Fleet)
def begin(fleet: Fleet, jobs: Jobs, c: int, j: int, now: int) -> None:
    """Start a job on the picked hosts; first remove its booking if this has just been made."""
    unbook(fleet.bookings, fleet.bookings.state[0].pending)
    launch(fleet, jobs, j, now)
    kind, first = jobs.procs[j], fleet.first[j]
    for q in range(fleet.count[kind]):
        h = fleet.picked[q]
        fleet.host[first + q] = h
        change(fleet.free, h, fleet.share, kind, -1)
    change_total(fleet, FREE, -fleet.held[kind])


@verb
def withhold(fleet: Fleet, r: int, by: int) -> None:
    """Add `by` to the last resource, on all hosts of the partition that resource `r` stands for."""
    free, last = fleet.free, fleet.free.shape[1] - 1
    for h in range(free.shape[0]):
        if free[h, r] > 0:
            free[h, last] += by


@machine.set_aside.of(Fleet)
def set_aside(fleet: Fleet, need: int) -> bool:
    """Withhold the hosts of the job's partition; return False if the job may use all hosts.

    Invariant: the hosts of a partition always have a positive amount of its resource. They have one
    unit for each job of the workload, and the job that does not fit holds no unit.
    """
    first = fleet.share.shape[1] - 1 - fleet.aside[PARTS]
    for r in range(first, first + fleet.aside[PARTS]):
        if fleet.share[need, r] > 0:
            withhold(fleet, r, -fleet.kind.size)
            fleet.aside[ASIDE + r - first] += 1
            return True
    return False


@machine.put_back.of(Fleet)
def put_back(fleet: Fleet) -> None:
    """Give back the hosts of all partitions."""
    first = fleet.share.shape[1] - 1 - fleet.aside[PARTS]
    for r in range(first, first + fleet.aside[PARTS]):
        if fleet.aside[ASIDE + r - first] > 0:
            withhold(fleet, r, fleet.aside[ASIDE + r - first] * fleet.kind.size)
            fleet.aside[ASIDE + r - first] = 0
            # Kinds that found too few hosts may find them now.
            fleet.level[FREE].age += 1


@verb
def find_shadow(fleet: Fleet, need: int) -> int:
    """Return the shadow time of a request that does not fit, s; set the extra amounts."""
    running, extra, share, ok = fleet.running, fleet.extra, fleet.share, 0
    fleet.level[EXTRA].age += 1
    for h in range(extra.shape[0]):
        for r in range(share.shape[1]):
            extra[h, r] = fleet.free[h, r]
        ok += is_enough(extra, h, share, need)
    change_total(fleet, EXTRA, fleet.level[FREE].total - fleet.level[EXTRA].total)
    p, shadow, want = running.count[0], 0, fleet.count[need]
    while ok < want or (p > 0 and running.predicted[p - 1] == shadow):
        p -= 1
        j, shadow = running.width[p], running.predicted[p]
        kind = fleet.kind[j]
        for q in range(fleet.first[j], fleet.first[j] + fleet.count[kind]):
            h = fleet.host[q]
            ok -= is_enough(extra, h, share, need)
            change(extra, h, share, kind, 1)
            ok += is_enough(extra, h, share, need)
        change_total(fleet, EXTRA, fleet.held[kind])
    h = 0
    while want > 0:
        if is_enough(extra, h, share, need):
            change(extra, h, share, need, -1)
            want -= 1
        h += 1
    change_total(fleet, EXTRA, -fleet.held[need])
    return int(shadow)


@machine.reserve.of(Fleet)
def reserve(fleet: Fleet, hold: Record[Hold], rule: int, need: int) -> None:
    """Make the head's reservation."""
    hold[0].shadow = find_shadow(fleet, need) if rule == EASY else NEVER
    hold[0].known = 1


@machine.place_beside.of(Fleet)
def place_beside(fleet: Fleet, hold: Record[Hold], now: int, need: int, estimate: int) -> int:
    """Return 0 if a job fits without affecting the reservation; charge the extra amounts."""
    if now + estimate <= hold[0].shadow:
        return 0 if pick(fleet, need, now) else -1
    if not pick_beside(fleet, need):
        return -1
    for q in range(fleet.count[need]):
        change(fleet.extra, fleet.picked[q], fleet.share, need, -1)
    change_total(fleet, EXTRA, -fleet.held[need])
    return 0


machine.most_free.of(Fleet)(requests.most_free)
machine.candidates.of(Fleet)(requests.candidates)
machine.within_reach.of(Fleet)(requests.within_reach)

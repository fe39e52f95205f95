"""Classical conservative backfilling on hosts, by `core.engine.planned`.

Every job has an estimate of at least 1 s, and no job runs beyond its estimate. So the hosts of a
reservation are free at its start: running jobs and other reservations have released these hosts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import planned
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import room
from schedfarm.core.engine.machine import begin, release_due
from schedfarm.core.engine.planned import BookState, KeeperClock, first_reservation
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.machines.hosts.bookings import hold, unbook
from schedfarm.core.machines.hosts.kernel import Fleet
from schedfarm.core.machines.hosts.plans import earliest_start, pick_at


class HostBook(NamedTuple):
    """Hold the waiting jobs' reservations, in the order of the walk; the fleet has their hosts.

    job, need, length, at: int64[room(n)], for each waiting job its index, kind, estimate, s, and
    reserved start, s.
    """

    job: Int64
    need: Int64
    length: Int64
    at: Int64
    state: Record[BookState]


class HostKeeper(NamedTuple):
    """Hold a `core.engine.planned.Bookkeeper` of hosts."""

    jobs: Jobs
    running: Fleet
    book: HostBook
    clock: Record[KeeperClock]
    promised: Int64


def host_keeper(jobs: Jobs, fleet: Fleet, promised: Int64) -> HostKeeper:
    """Return an empty reservation table of idle hosts."""
    n = jobs.submit.size
    job, need, length, at = (np.zeros(room(n), np.int64) for _ in range(4))
    state = record(BookState)
    state[0].due = NEVER
    book = HostBook(job, need, length, at, state)
    return HostKeeper(jobs, fleet, book, record(KeeperClock), promised)


@planned.columns_of.of(HostKeeper)
def columns_of(keeper: HostKeeper) -> tuple[Int64, Int64, Int64, Int64]:
    """Return the columns of the book."""
    book = keeper.book
    return book.job, book.need, book.length, book.at


@planned.complete.of(HostKeeper)
def complete(keeper: HostKeeper, per_event: bool) -> None:
    """End the jobs that complete now."""
    clock = keeper.clock
    clock[0].early = int(release_due(keeper.running, keeper.jobs, clock[0].now, False))


@verb
def book_at(keeper: HostKeeper, i: int, t: int) -> None:
    """Book the free hosts with the lowest numbers for the job at place i, from t on."""
    book, fleet = keeper.book, keeper.running
    j, need, length = book.job[i], book.need[i], book.length[i]
    pick_at(fleet, need, t, length)
    for q in range(fleet.count[need]):
        fleet.bookings.host[fleet.first[j] + q] = fleet.picked[q]
    book.at[i] = t


@verb
def settle(keeper: HostKeeper, i: int) -> None:
    """Insert the booking of the job at place i into the lists of bookings."""
    book, fleet = keeper.book, keeper.running
    j, at = book.job[i], book.at[i]
    hold(fleet.bookings, j, fleet.first[j], at, at + book.length[i], book.need[i])


@planned.place.of(HostKeeper)
def place(keeper: HostKeeper, i: int, now: int) -> None:
    """Book hosts for a job in the earliest gap."""
    book = keeper.book
    book_at(keeper, i, earliest_start(keeper.running, book.need[i], now, book.length[i]))
    settle(keeper, i)
    book.state[0].due = min(book.state[0].due, book.at[i])


@planned.compress.of(HostKeeper)
def compress(keeper: HostKeeper, now: int) -> None:
    """Search an earlier gap for each job, given the bookings of all other jobs."""
    book, fleet = keeper.book, keeper.running
    for i in range(book.state[0].waiting):
        unbook(fleet.bookings, book.job[i])
        t = earliest_start(fleet, book.need[i], now, book.length[i])
        if t < book.at[i]:
            book_at(keeper, i, t)
        settle(keeper, i)
    book.state[0].due = first_reservation(book, -1)


@planned.start_at.of(HostKeeper)
def start_at(keeper: HostKeeper, i: int, now: int) -> bool:
    """Start a job on its booked hosts."""
    book, fleet = keeper.book, keeper.running
    j = book.job[i]
    for q in range(fleet.count[book.need[i]]):
        fleet.picked[q] = fleet.bookings.host[fleet.first[j] + q]
    unbook(fleet.bookings, j)
    begin(fleet, keeper.jobs, 0, j, now)
    return True

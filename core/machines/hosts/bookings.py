"""Bookings, which are reservations of hosts: the times and the hosts of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.record import Record, record


class BookingsState:
    """State of the bookings.

    made: number of bookings since the last layout. live: number of bookings that are still valid.
    used: number of places of `host` that bookings use. pending: the booking that has just been
    made, -1 if it has a job or there is none. unit: unit to which ends of running jobs are rounded
    up, s.
    """

    made: int
    live: int
    used: int
    pending: int
    unit: int


class Bookings(NamedTuple):
    """Hold the bookings of waiting jobs: hosts that are reserved in [begin, end).

    begin, end, kind, first: int64[n + 1], by number of the booking, in the order in which they were
    made: its times, s, its kind, and the place of its hosts in `host`. by_begin, by_end: int64[n +
    1], numbers of the bookings that are still valid, by their times. of: int64[n], the booking of
    each job, -1 if there is none; job: int64[n + 1], the job of each booking, -1 for none. host:
    int64[places], the hosts.
    """

    begin: Int64
    end: Int64
    kind: Int64
    first: Int64
    by_begin: Int64
    by_end: Int64
    job: Int64
    of: Int64
    host: Int64
    state: Record[BookingsState]


def no_bookings(n: int, places: int) -> Bookings:
    """Return room for a booking of each job and a pending one, with `places` hosts in all."""
    begin, end, kind, first, by_begin, by_end, job = np.zeros((7, n + 1), np.int64)
    state = record(BookingsState)
    state[0].pending, state[0].unit = -1, 1
    of, host = np.full(n, -1, np.int64), np.zeros(places, np.int64)
    return Bookings(begin, end, kind, first, by_begin, by_end, job, of, host, state)


@verb
def forget_all(bookings: Bookings, unit: int) -> None:
    """Begin a layout without bookings, in which ends of running jobs are rounded up to a unit."""
    state = bookings.state[0]
    for b in range(state.made):
        if bookings.job[b] >= 0:
            bookings.of[bookings.job[b]] = -1
    state.made, state.live, state.used, state.pending, state.unit = 0, 0, 0, -1, unit


@verb
def sort_in(numbers: Int64, times: Int64, live: int, b: int) -> None:
    """Insert a booking into a list sorted by time, behind bookings with the same time."""
    p = live
    while p > 0 and times[numbers[p - 1]] > times[b]:
        numbers[p] = numbers[p - 1]
        p -= 1
    numbers[p] = b


@verb
def take_from(numbers: Int64, live: int, b: int) -> None:
    """Remove a booking from a list."""
    p = live - 1
    number = numbers[p]
    while number != b:
        p -= 1
        number, numbers[p] = numbers[p], number


@verb
def book(bookings: Bookings, begin: int, end: int, kind: int, picked: Int64, count: int) -> None:
    """Book the picked hosts; the booking is pending."""
    state = bookings.state[0]
    b = state.made
    bookings.begin[b], bookings.end[b], bookings.kind[b] = begin, end, kind
    bookings.first[b], bookings.job[b] = state.used, -1
    for q in range(count):
        bookings.host[state.used + q] = picked[q]
    sort_in(bookings.by_begin, bookings.begin, state.live, b)
    sort_in(bookings.by_end, bookings.end, state.live, b)
    state.made += 1
    state.live += 1
    state.used += count
    state.pending = b


@verb
def hold(bookings: Bookings, j: int, first: int, begin: int, end: int, kind: int) -> None:
    """Book the hosts from place `first` on for job `j`; the booking gets the job's number.

    Do not mix this step with `book`, which numbers bookings differently.
    """
    state = bookings.state[0]
    bookings.begin[j], bookings.end[j], bookings.kind[j] = begin, end, kind
    bookings.first[j], bookings.job[j], bookings.of[j] = first, j, j
    sort_in(bookings.by_begin, bookings.begin, state.live, j)
    sort_in(bookings.by_end, bookings.end, state.live, j)
    state.live += 1


@verb
def unbook(bookings: Bookings, b: int) -> None:
    """Remove a booking (-1: none); the places of the latest booking become free for the next."""
    state = bookings.state[0]
    if b < 0:
        return
    take_from(bookings.by_begin, state.live, b)
    take_from(bookings.by_end, state.live, b)
    state.live -= 1
    if b == state.made - 1:
        state.made, state.used = b, bookings.first[b]
    if bookings.job[b] >= 0:
        bookings.of[bookings.job[b]] = -1
        bookings.job[b] = -1
    if state.pending == b:
        state.pending = -1


@verb
def assign(bookings: Bookings, j: int) -> None:
    """Give the pending booking to a job."""
    b = bookings.state[0].pending
    bookings.job[b], bookings.of[j] = j, b
    bookings.state[0].pending = -1

"""Bookings, which are reservations of hosts: the times and the hosts of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb

MADE, LIVE, USED, PENDING, UNIT, STATE = range(6)
"""Fields of the state.

MADE: number of bookings since the last layout. LIVE: number of valid ones. USED: used places of
`host`. PENDING: the new booking without a job, or -1. UNIT: unit to which ends of running jobs are
rounded up, s. STATE: number of fields.
"""


class Bookings(NamedTuple):
    """Hold the bookings of waiting jobs: hosts that are reserved in [begin, end).

    Bookings are numbered in the order in which they were made. begin, end, kind, first: int64[n +
    1], for each booking its times, s, the kind of its job, and the place of its hosts in `host`.
    by_begin, by_end: int64[n + 1], numbers of the valid bookings, sorted by their times. of:
    int64[n], the booking of each job, or -1. job: int64[n + 1], the job of each booking, or -1.
    state: int64[STATE].
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
    state: Int64


def no_bookings(n: int, places: int) -> Bookings:
    """Return room for a booking of each job and a pending one, with `places` hosts in all."""
    begin, end, kind, first, by_begin, by_end, job = np.zeros((7, n + 1), np.int64)
    state = np.zeros(STATE, np.int64)
    state[PENDING], state[UNIT] = -1, 1
    of, host = np.full(n, -1, np.int64), np.zeros(places, np.int64)
    return Bookings(begin, end, kind, first, by_begin, by_end, job, of, host, state)


@verb
def forget_all(bookings: Bookings, unit: int) -> None:
    """Delete all bookings, and set the unit to which ends of running jobs are rounded up."""
    state = bookings.state
    for b in range(state[MADE]):
        if bookings.job[b] >= 0:
            bookings.of[bookings.job[b]] = -1
    state[MADE], state[LIVE], state[USED], state[PENDING], state[UNIT] = 0, 0, 0, -1, unit


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
    """Book the picked hosts; the booking is pending until a job gets it."""
    state = bookings.state
    b = state[MADE]
    bookings.begin[b], bookings.end[b], bookings.kind[b] = begin, end, kind
    bookings.first[b], bookings.job[b] = state[USED], -1
    for q in range(count):
        bookings.host[state[USED] + q] = picked[q]
    sort_in(bookings.by_begin, bookings.begin, state[LIVE], b)
    sort_in(bookings.by_end, bookings.end, state[LIVE], b)
    state[MADE] += 1
    state[LIVE] += 1
    state[USED] += count
    state[PENDING] = b


@verb
def hold(bookings: Bookings, j: int, first: int, begin: int, end: int, kind: int) -> None:
    """Book the hosts from place `first` on for job `j`; the booking gets the job's number.

    Do not mix this step with `book`, which numbers bookings differently.
    """
    state = bookings.state
    bookings.begin[j], bookings.end[j], bookings.kind[j] = begin, end, kind
    bookings.first[j], bookings.job[j], bookings.of[j] = first, j, j
    sort_in(bookings.by_begin, bookings.begin, state[LIVE], j)
    sort_in(bookings.by_end, bookings.end, state[LIVE], j)
    state[LIVE] += 1


@verb
def unbook(bookings: Bookings, b: int) -> None:
    """Remove booking `b`, unless b is -1; the places of the last booking become free again."""
    state = bookings.state
    if b < 0:
        return
    take_from(bookings.by_begin, state[LIVE], b)
    take_from(bookings.by_end, state[LIVE], b)
    state[LIVE] -= 1
    if b == state[MADE] - 1:
        state[MADE], state[USED] = b, bookings.first[b]
    if bookings.job[b] >= 0:
        bookings.of[bookings.job[b]] = -1
        bookings.job[b] = -1
    if state[PENDING] == b:
        state[PENDING] = -1


@verb
def assign(bookings: Bookings, j: int) -> None:
    """Assign the pending booking to a job."""
    b = bookings.state[PENDING]
    bookings.job[b], bookings.of[j] = j, b
    bookings.state[PENDING] = -1

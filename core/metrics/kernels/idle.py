"""Idle processors while jobs wait for them, integrated over intervals."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.jit import NEVER, kernel, verb

SUBMITTED, STARTED, BEGUN, ENDED, PASSED = 0, 1, 2, 3, 4
"""Events: a job is submitted and waits, starts after waiting, starts at once, or ends; an interval
ends."""

ASKED, IDLE = np.array([1, -1, 0, 0, 0]), np.array([0, -1, -1, 1, 0])
"""Change of the requested and of the idle processors at each event, in units of the job's
processors."""

KIND = 3
"""Number of bits of an event's kind."""

DIGIT = 13
"""Most bits of a digit of the radix sort by time: two rounds for a year. KTH took 10.4 ns per
job, and in three rounds of 9 bits 13.8."""


def idle_while_asked(
    submit: Int64,
    start: Int64,
    end: Int64,
    procs: Int64,
    processors: int,
    bounds: Int64,
    width: int,
    bits: int,
) -> Float64:
    """Return min(idle processors, requested processors) x time between bounds, float64[b - 1].

    submit, start, end, procs: int64[n], s, s, s, processors. bounds: int64[b], ascending, s, where
    b is at least 1. width, bits: bits of the largest number of processors, and of the time between
    the outer bounds; together with the bits of `KIND` at most 62, so that no event is at NEVER.
    """
    # With room for the ends of both lists of events.
    most = 3 * submit.size + bounds.size + 2
    events = np.empty(most, np.int64), np.empty(most, np.int64)
    # Events may still follow at the end of the last interval. A table longer than the events would
    # take longer to add up than they.
    digit = min(DIGIT, max(most.bit_length(), 1))
    ends, lost = np.empty(1 << digit, np.int64), np.zeros(bounds.size)
    add_idle(submit, start, end, procs, processors, bounds, width, bits, digit, *events, ends, lost)
    return lost[:-1]


@kernel
def add_idle(
    submit: Int64, start: Int64, end: Int64, procs: Int64, processors: int, bounds: Int64,
    width: int, bits: int, digit: int, events: Int64, spare: Int64, ends: Int64, lost: Float64,
) -> None:  # fmt: skip
    """Add the result of `idle_while_asked` to `lost`, initially zeros; the rest is overwritten."""
    low = width + KIND
    count, first = _happenings(submit, start, end, procs, bounds, low, events)
    rounds = _sort(events, spare, count, low, bits, digit, ends)
    later = spare if rounds % 2 else events
    later[count] = events[first - 1] = NEVER
    i, k = 0, events.size - 1
    span = asked = now = 0
    idle, here = processors, 0.0
    for _ in range(count + events.size - first):
        # Without a branch, which half of the events would mispredict.
        is_arrival = events[k] >> low <= later[i] >> low
        event = events[k] if is_arrival else later[i]
        k -= is_arrival
        i += not is_arrival
        here += float(min(idle, asked)) * float((event >> low) - now)
        now = event >> low
        kind, taken = event & (1 << KIND) - 1, event >> KIND & (1 << width) - 1
        asked += ASKED[kind] * taken
        idle += IDLE[kind] * taken
        # Stored at the end of an interval only: adding in memory took 1.3 times as long in all.
        if kind == PASSED:
            lost[span], here = here, 0.0
            span += 1
    lost[span] = here


@verb
def _happenings(
    submit: Int64, start: Int64, end: Int64, procs: Int64, bounds: Int64, low: int, events: Int64
) -> tuple[int, int]:
    """Encode each event's time, processors and kind in one integer.

    Return the number of those to be sorted, at the beginning, and the place of the last arrival:
    arrivals, which are in order, are written from the end backwards, and are not sorted.
    """
    first, last = bounds[0], bounds[-1]
    count, place, latest = 0, events.size, 0
    for span in range(1, bounds.size):
        events[count] = bounds[span] - first << low | PASSED
        count += 1
    for j in range(submit.size):
        came = min(max(submit[j], first), last) - first
        began = min(max(start[j], first), last) - first
        ended = min(max(end[j], first), last) - first
        waited, taken = began > came, procs[j] << KIND
        arrival = came << low | taken | (SUBMITTED if waited else BEGUN)
        if came >= latest:
            place, latest = place - 1, came
            events[place] = arrival
        else:
            events[count] = arrival
            count += 1
        events[count] = began << low | taken | STARTED
        # Overwritten by the end of a job that did not wait.
        count += waited
        events[count] = ended << low | taken | ENDED
        count += 1
    return count, place


@verb
def _sort(
    values: Int64, spare: Int64, count: int, low: int, bits: int, most: int, ends: Int64
) -> int:
    """Sort integers by some of their bits, lowest digit first; return the number of rounds.

    After an odd number of rounds they are in `spare`. most: bits of the longest digit. ends:
    int64[1 << most], overwritten. The sort is stable, whatever the digit.
    """
    rounds = -(-bits // most)
    digit = -(-bits // max(rounds, 1))
    mask = (1 << digit) - 1
    for done in range(rounds):
        shift = low + done * digit
        ends[:] = 0
        for i in range(count):
            ends[values[i] >> shift & mask] += 1
        before = 0
        for d in range(mask + 1):
            before, ends[d] = before + ends[d], before
        for i in range(count):
            d = values[i] >> shift & mask
            spare[ends[d]] = values[i]
            ends[d] += 1
        values, spare = spare, values
    return rounds

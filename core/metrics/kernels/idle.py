"""Idle processors while jobs wait for processors, integrated over intervals."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.jit import kernel, verb

SUBMITTED, STARTED, BEGUN, ENDED, PASSED = 0, 1, 2, 3, 4
"""Kinds of events: a job is submitted and waits, starts after a wait, starts at once, or ends; or
an interval ends."""

ASKED, IDLE = np.array([1, -1, 0, 0, 0]), np.array([0, -1, -1, 1, 0])
"""Changes of the requested and the idle processors at each event, as multiples of the job's
processors."""

KIND = 3
"""Number of bits of an event's kind."""

DIGIT = 13
"""Largest number of bits of a digit in the radix sort by time: two rounds for a year.

KTH took 10.4 ns per job, and 13.8 ns in three rounds of 9 bits.
"""


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

    submit, start, end: int64[n], s. procs: int64[n], processors. bounds: int64[b], b >= 1,
    ascending, s. width: bits of the largest number of processors. bits: bits of the time between
    the outer bounds. The sum of width, bits and `KIND` is at most 63.
    """
    most = 3 * submit.size + bounds.size
    events = np.empty(most, np.int64), np.empty(most, np.int64)
    # `lost` has one more place, because events may follow at the end of the last interval. The
    # table `ends` has at most about as many entries as events, because adding up a longer table
    # would take longer than the sort.
    digit = min(DIGIT, max(most.bit_length(), 1))
    ends, lost = np.empty(1 << digit, np.int64), np.zeros(bounds.size)
    add_idle(submit, start, end, procs, processors, bounds, width, bits, digit, *events, ends, lost)
    return lost[:-1]


@kernel
def add_idle(
    submit: Int64, start: Int64, end: Int64, procs: Int64, processors: int, bounds: Int64,
    width: int, bits: int, digit: int, events: Int64, spare: Int64, ends: Int64, lost: Float64,
) -> None:  # fmt: skip
    """Write the result of `idle_while_asked` to `lost`; other arrays are scratch space."""
    low = width + KIND
    count = _happenings(submit, start, end, procs, bounds, low, events)
    if _sort(events, spare, count, low, bits, digit, ends) % 2:
        events = spare
    span = asked = now = 0
    idle, here = processors, 0.0
    for i in range(count):
        event = events[i]
        here += float(min(idle, asked)) * float((event >> low) - now)
        now = event >> low
        kind, taken = event & (1 << KIND) - 1, event >> KIND & (1 << width) - 1
        asked += ASKED[kind] * taken
        idle += IDLE[kind] * taken
        # The sum is stored only at the end of an interval: adding in memory took 1.3 times as long
        # in all.
        if kind == PASSED:
            lost[span], here = here, 0.0
            span += 1
    lost[span] = here


@verb
def _happenings(
    submit: Int64, start: Int64, end: Int64, procs: Int64, bounds: Int64, low: int, events: Int64
) -> int:
    """Encode each event's time, processors and kind in one integer; return their number."""
    first, last = bounds[0], bounds[-1]
    count = 0
    for span in range(1, bounds.size):
        events[count] = bounds[span] - first << low | PASSED
        count += 1
    for j in range(submit.size):
        came = min(max(submit[j], first), last) - first
        began = min(max(start[j], first), last) - first
        ended = min(max(end[j], first), last) - first
        waited, taken = began > came, procs[j] << KIND
        events[count] = came << low | taken | SUBMITTED
        # The start of a job that did not wait overwrites this event.
        count += waited
        events[count] = began << low | taken | (STARTED if waited else BEGUN)
        events[count + 1] = ended << low | taken | ENDED
        count += 2
    return count


@verb
def _sort(
    values: Int64, spare: Int64, count: int, low: int, bits: int, most: int, ends: Int64
) -> int:
    """Sort integers by some of their bits, lowest digit first; return the number of rounds.

    After an odd number of rounds the integers are in `spare`. most: largest number of bits of a
    digit. ends: int64[1 << most], scratch space. The sort is stable for every length of digits.
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

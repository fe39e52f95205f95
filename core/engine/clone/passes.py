"""The passes of a world in order of time, each with the state after it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import (
    ALL,
    WORD,
    below,
    first_places,
    lessen,
    lowest,
    room,
    slide,
)
from schedfarm.core.engine.record import Record, record

NO_HEAD, UNKNOWN = -1, -2
"""Values of a pass's head: NO_HEAD if no job waits after the pass, UNKNOWN if the reservation is
not computed. In a pass with an UNKNOWN head, the shadow time and extra processors are also
UNKNOWN."""

MOVED = 256
"""Places before the first pass that may be unused."""


class PassesState:
    """State of a list of passes.

    first: the first pass. stop: the place behind the last.
    """

    first: int
    stop: int


class Passes(NamedTuple):
    """Passes in order of time, each with the state after it, from ``state.first`` on.

    time: int64, s. free: free processors. head: the first waiting job, or NO_HEAD. shadow, slack,
    extra: the shadow time of the head's reservation, s; the time left until the shadow time, s; and
    the extra processors at the shadow time that no job has taken; all NEVER without a reservation.
    At least one job ends before each pass except the first, which is the present state.
    """

    time: Int64
    free: Int64
    head: Int64
    shadow: Int64
    slack: Int64
    extra: Int64
    state: Record[PassesState]


def no_passes(most: int) -> Passes:
    """Return an empty list with room for `most` passes."""
    time, free, head, shadow, slack, extra = (np.zeros(room(most), np.int64) for _ in range(6))
    return Passes(time, free, head, shadow, slack, extra, record(PassesState))


@verb
def columns_of(passes: Passes) -> tuple[Int64, Int64, Int64, Int64, Int64, Int64]:
    """Return the columns of the passes."""
    return passes.time, passes.free, passes.head, passes.shadow, passes.slack, passes.extra


@verb
def advance(passes: Passes, now: int) -> None:
    """Drop the passes before now; the first one becomes the state at now.

    Invariant: without an event a pass would start no job and change nothing, since time makes no
    waiting job's start legal and moves no shadow time.
    """
    state, time = passes.state, passes.time
    first = state[0].first
    while time[first] < now and first + 1 < state[0].stop and time[first + 1] <= now:
        first += 1
    if passes.shadow[first] < NEVER:
        passes.slack[first] = passes.shadow[first] - now
    time[first] = now
    # The passes remain in the first places of their arrays, and thus in the cache.
    if first > MOVED + state[0].stop - first:
        slide(columns_of(passes), first, state[0].stop, -first)
        state[0].stop -= first
        first = 0
    state[0].first = first


@verb
def first_alone(passes: Passes, p: int) -> int:
    """Return the first pass from p on after which no job waits; the last one is such a pass."""
    word = below(passes.head, p, 0) & ~below(passes.head, p, NO_HEAD)
    while word == 0:
        p += WORD
        word = below(passes.head, p, 0) & ~below(passes.head, p, NO_HEAD)
    return p + lowest(word)


@verb
def first_wide(passes: Passes, p: int, need: int) -> int:
    """Return the first pass from p on after which enough processors are free."""
    word = below(passes.free, p, need) ^ ALL
    while word == 0:
        p += WORD
        word = below(passes.free, p, need) ^ ALL
    return p + lowest(word)


@verb
def first_chance(passes: Passes, p: int, need: int, estimate: int) -> int:
    """Return the first pass from p on that would start a job behind all, or leaves no job waiting.

    A pass with an unknown reservation is also returned. A pass examines the job behind all others
    last, and decides on it by the state after the decisions on the others.
    """
    while True:
        late = below(passes.slack, p, estimate) & below(passes.extra, p, need)
        word = (below(passes.free, p, need) | late) ^ ALL | below(passes.head, p, 0)
        if word != 0:
            return p + lowest(word)
        p += WORD


@verb
def first_from(passes: Passes, p: int, t: int) -> int:
    """Return the first pass from p on that is not before t, or the place behind the last pass."""
    stop = passes.state[0].stop
    while p < stop:
        word = below(passes.time, p, t) ^ ALL
        if word != 0:
            return int(min(p + lowest(word), stop))
        p += WORD
    return int(stop)


@verb
def first_changed(passes: Passes, p: int, stop: int, need: int, predicted: int) -> int:
    """Return the first pass in p..stop - 1 that may decide otherwise if one more job runs.

    This job takes `need` processors and is predicted to end at `predicted`. Return `stop` if there
    is no such pass.

    Invariant: a pass decides the same if the processors are free after it, and thus during it, and
    the head's reservation is not affected: the job ends by the shadow time, or leaves the extra
    processors that backfills have taken. Then each job that starts may still start, in the same
    turn. Any other job finds fewer free and extra processors and the same shadow time, and does not
    start either.
    """
    while p < stop:
        late = below(passes.shadow, p, predicted) & below(passes.extra, p, need)
        word = (below(passes.free, p, need) | late) & first_places(stop - p)
        if word != 0:
            return p + lowest(word)
        p += WORD
    return stop


@verb
def charge(passes: Passes, p: int, stop: int, need: int, predicted: int) -> None:
    """Add a running job to the states after passes p..stop - 1, which the job does not change."""
    while p < stop:
        word = first_places(stop - p)
        lessen(passes.free, p, need, word)
        lessen(passes.extra, p, need, word & below(passes.shadow, p, predicted))
        p += WORD


@verb
def open_pass(passes: Passes, p: int, now: int) -> None:
    """Put a pass that changes nothing before pass p."""
    slide(columns_of(passes), p, passes.state[0].stop, 1)
    passes.state[0].stop += 1
    for column in columns_of(passes):
        column[p] = column[p - 1]
    passes.time[p] = now
    if passes.shadow[p] < NEVER:
        passes.slack[p] = passes.shadow[p] - now


@verb
def splice(passes: Passes, first: int, stop: int, other: Passes, count: int) -> None:
    """Put the first `count` of other passes in the place of the passes first..stop - 1."""
    by = first + count - stop
    if by != 0:
        slide(columns_of(passes), stop, passes.state[0].stop, by)
        passes.state[0].stop += by
    for i in range(count):
        passes.time[first + i], passes.free[first + i] = other.time[i], other.free[i]
        passes.head[first + i], passes.shadow[first + i] = other.head[i], other.shadow[i]
        passes.slack[first + i], passes.extra[first + i] = other.slack[i], other.extra[i]

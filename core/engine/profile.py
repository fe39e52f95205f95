"""Free processors over time: a step function, and the steps that read and change it.

In step i of a profile, mark[HEAD] <= i < mark[TAIL], free[i] processors are free from times[i]
until times[i + 1], s. The last step never ends; in it the whole machine is free, because every
reservation ends. Times ascend and never repeat. Every operation splits steps as needed.
Neighbouring steps may have equal free processors if one reservation ends and another begins, since
each reservation must be removable as a whole.

Source: Mu'alem and Feitelson (2001), Utilization, predictability, workloads, and user runtime
estimates in scheduling the IBM SP2 with backfilling, section 2.2 (the profile of conservative
backfilling).
"""

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
    highest,
    lessen,
    lowest,
    room,
    slide,
    up_to,
)

HEAD, TAIL = 0, 1
"""Indices of a profile's mark: the first step, and the place behind the last step."""


HALVED = 2 * WORD
"""Number of steps that are scanned by lanes; longer ranges are halved first."""


FAR = 1024
"""Number of dropped steps from which on the other steps may be moved to the front.

So memory behind them stays untouched.
"""


class Profile(NamedTuple):
    """Hold the instants of changes, the free processors in each step, and the bounds of the steps.

    times, free: int64[room(steps)]. mark: int64[2].
    """

    times: Int64
    free: Int64
    mark: Int64


def empty_profile(steps: int) -> Profile:
    """Return an uninitialised profile with room for some steps; call `clear` before its use.

    Examples
    --------
    >>> profile = empty_profile(4)
    >>> clear(profile, 0, 8)
    >>> reserve(profile, 2, 3, 5)
    >>> earliest_fit(profile, 4, 3, 0)
    5
    """
    times, free = np.zeros(room(steps), np.int64), np.zeros(room(steps), np.int64)
    return Profile(times, free, np.zeros(2, np.int64))


@verb
def clear(profile: Profile, now: int, processors: int) -> None:
    """Make all processors free from now on."""
    times, free, mark = profile
    times[0] = now
    free[0] = processors
    mark[HEAD] = 0
    mark[TAIL] = 1


@verb
def step_at(profile: Profile, t: int) -> int:
    """Return the step that contains t, which is not before the first step."""
    times, _, mark = profile
    low, left = mark[HEAD], mark[TAIL] - mark[HEAD]
    # Halving has no branch to mispredict, but each half depends on the previous one.
    while left > HALVED:
        half = left >> 1
        low += half if times[low + half] <= t else 0
        left -= half
    return int(first_later(profile, low, t) - 1)


@verb
def first_later(profile: Profile, i: int, t: int) -> int:
    """Return the first step from i on that begins after t, or the place behind the last step."""
    times, _, mark = profile
    while i < mark[TAIL]:
        later = up_to(times, i, t) ^ ALL
        if later != 0:
            return int(min(i + lowest(later), mark[TAIL]))
        i += WORD
    return int(mark[TAIL])


@verb
def step_from(profile: Profile, i: int, t: int) -> int:
    """Return the step that contains t; step i begins at or before t."""
    times, _, mark = profile
    # Usually step i contains t: a separate test makes conservative 1.05 to 1.1 times as fast.
    if i + 1 >= mark[TAIL] or times[i + 1] > t:
        return i
    return int(first_later(profile, i + 1, t) - 1)


@verb
def first_short(profile: Profile, i: int, need: int, end: int) -> int:
    """Return the first step from i on with fewer than `need` free processors, up to `end`.

    If no such step begins before `end`, return a later step or the place behind the last step.
    """
    times, free, mark = profile
    while i < mark[TAIL] and times[i] < end:
        short = below(free, i, need)
        if short != 0:
            return i + lowest(short)
        i += WORD
    return i


@verb
def has_room(profile: Profile, i: int, need: int, end: int) -> bool:
    """Return whether `need` processors are free from step i on until `end`."""
    k = first_short(profile, i, need, end)
    return bool(k >= profile.mark[TAIL] or profile.times[k] >= end)


@verb
def run_before(profile: Profile, i: int, need: int) -> int:
    """Return the first step from which on `need` processors are free up to step i.

    If fewer are free in step i, return i + 1.
    """
    free, head, stop = profile.free, profile.mark[HEAD], i + 1
    while stop > head:
        begin = max(stop - WORD, head)
        short = below(free, begin, need) & first_places(stop - begin)
        if short != 0:
            return int(begin + highest(short) + 1)
        stop = begin
    return int(head)


@verb
def fit_before(
    profile: Profile, i: int, need: int, duration: int, after: int, stop: int, at: int
) -> tuple[int, int]:
    """Return the first instant from `after` on with `need` processors free for `duration` seconds.

    Also return the step that contains this instant. Step i contains `after`. From `at` on all
    processors are free. If no instant before `stop` is suitable, `at` is returned.
    """
    times, free, mark = profile
    first, seen, short = i, 0, below(free, i, need)
    while True:
        enough = (short ^ ALL) >> seen << seen
        if enough == 0:
            first, seen = first + WORD, 0
            short = below(free, first, need)
            continue
        begin = lowest(enough)
        i = first + begin
        start = max(after, times[i])
        if start >= stop:
            return at, i
        end = min(start + duration, at)
        ends = short >> begin << begin
        while ends == 0 and first + WORD < mark[TAIL] and times[first + WORD] < end:
            first += WORD
            ends = short = below(free, first, need)
        if ends == 0:
            return start, i
        seen = lowest(ends)
        if first + seen >= mark[TAIL] or times[first + seen] >= end:
            return start, i


@verb
def fit_from(profile: Profile, i: int, need: int, duration: int, after: int) -> tuple[int, int]:
    """Return the first instant >= after with `need` processors free for `duration` seconds.

    Also return the step that contains this instant. Step i contains `after`.
    """
    return fit_before(profile, i, need, duration, after, NEVER, NEVER)


@verb
def earliest_fit(profile: Profile, need: int, duration: int, after: int) -> int:
    """Return the first instant >= after with `need` processors free for `duration` seconds."""
    return fit_from(profile, step_at(profile, after), need, duration, after)[0]


@verb
def earlier_fit(
    profile: Profile, need: int, duration: int, after: int, stop: int, at: int
) -> tuple[int, int]:
    """Return the first instant from `after` on, before `stop`, to which a reservation can move.

    Also return the step that contains this instant. The profile contains the reservation, at `at`.
    From `at` on, the processors of the reservation itself are free for it. If there is no earlier
    instant, `at` is returned.
    """
    return fit_before(profile, step_at(profile, after), need, duration, after, stop, at)


@verb
def open_step(profile: Profile, i: int, t: int, free: int) -> None:
    """Insert a step before step i."""
    slide((profile.times, profile.free), i, profile.mark[TAIL], 1)
    profile.times[i], profile.free[i] = t, free
    profile.mark[TAIL] += 1


@verb
def split(profile: Profile, t: int) -> int:
    """Make t a breakpoint, and return its step; t is not before the first step."""
    return split_at(profile, step_at(profile, t), t)


@verb
def split_at(profile: Profile, i: int, t: int) -> int:
    """Make t a breakpoint, and return its step; step i contains t."""
    if profile.times[i] < t:
        i += 1
        open_step(profile, i, t, profile.free[i - 1])
    return i


@verb
def reserve(profile: Profile, t: int, duration: int, procs: int) -> None:
    """Take processors out of the profile during [t, t + duration)."""
    reserve_at(profile, step_at(profile, t), t, duration, procs)


@verb
def reserve_at(profile: Profile, i: int, t: int, duration: int, procs: int) -> None:
    """Take processors out of the profile during [t, t + duration); step i contains t.

    A reservation with duration 0 takes no processors and makes no breakpoint.
    """
    if duration > 0:
        take_at(profile, i, t, t + duration, procs)


@verb
def take_at(profile: Profile, i: int, t: int, end: int, procs: int) -> None:
    """Take processors during [t, end), t < end; step i contains t."""
    times, free, mark = profile
    last, taken = split_at(profile, i, t), ALL
    while taken == ALL:
        taken = below(times, last, end) & first_places(mark[TAIL] - last)
        lessen(free, last, procs, taken)
        last += lowest(~taken)
    if last == mark[TAIL] or times[last] != end:
        open_step(profile, last, end, free[last - 1] + procs)


@verb
def lessen_all(free: Int64, first: int, stop: int, procs: int) -> None:
    """Take processors from the steps first..stop - 1."""
    while first < stop:
        lessen(free, first, procs, first_places(stop - first))
        first += WORD


@verb
def slide_steps(profile: Profile, first: int, stop: int, by: int) -> None:
    """Move the steps first..stop - 1 by a number of places."""
    if by != 0:
        slide((profile.times, profile.free), first, stop, by)


@verb
def change(profile: Profile, i: int, t: int, end: int, procs: int) -> None:
    """Take processors, not 0, during [t, end), and merge equal steps there; step i contains t.

    A later operation splits a merged step again if needed. Each step moves at most once: single
    insertions and deletions would move all later steps back and forth. At t a step is added or
    dropped, and the step at `end` may merge with its neighbour. Inner and later steps move by the
    resulting differences.
    """
    times, free, mark = profile
    last, tail = first_later(profile, i, end - 1), mark[TAIL]
    level = free[last - 1]
    opens, meets = int(times[i] < t), last < tail and times[last] == end
    closes = int(opens == 0 and i > mark[HEAD] and free[i - 1] == free[i] - procs)
    merges = int(meets and free[last] == level - procs)
    inside = opens - closes
    behind = inside - merges + (0 if meets else 1)
    if inside > 0:
        slide_steps(profile, last + merges, tail, behind)
        slide_steps(profile, i + 1, last, 1)
        times[i + 1], free[i + 1] = t, free[i]
    else:
        slide_steps(profile, i + 1, last, inside)
        slide_steps(profile, last + merges, tail, behind)
    if not meets:
        times[last + inside], free[last + inside] = end, level
    mark[TAIL] = tail + behind
    lessen_all(free, i + opens, last + inside, procs)


@verb
def lift(profile: Profile, t: int, duration: int, procs: int) -> None:
    """Add a reservation's processors to the profile again."""
    if duration > 0:
        change(profile, step_at(profile, t), t, t + duration, -procs)


@verb
def move(profile: Profile, i: int, far: int, at: int, t: int, duration: int, procs: int) -> None:
    """Move a reservation from `at` to t < at.

    Step i contains t. Step `far` begins no later than the second part of the change, which begins
    at the later of `at` and the new end. The profile does not change in the overlap of the old and
    the new interval. The second part is changed first, so that step i stays in its place.
    """
    left = max(at, t + duration)
    change(profile, step_from(profile, far, left), left, at + duration, -procs)
    change(profile, i, t, min(at, t + duration), procs)


@verb
def advance(profile: Profile, now: int) -> bool:
    """Drop the steps that ended by now; return whether the other steps have been moved.

    After many steps have been dropped, and fewer are left, the remaining steps move to the front.
    """
    times, free, mark = profile
    head = step_from(profile, mark[HEAD], now)
    mark[HEAD] = head
    if head <= min(FAR, (times.size - WORD) // 2) or 2 * head <= mark[TAIL]:
        return False
    slide((times, free), head, mark[TAIL], -head)
    mark[HEAD] = 0
    mark[TAIL] -= head
    return True

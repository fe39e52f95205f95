"""Gaps of a plan in which processors have been freed, so that reservations may start earlier."""

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
    least,
    lowest,
    most,
    room,
    up_to,
)
from schedfarm.core.engine.profile import (
    TAIL,
    Profile,
    first_short,
    run_before,
    step_at,
    step_from,
)
from schedfarm.core.engine.record import Record, record


class GapsState:
    """State of gaps.

    count: number of gaps. levels: number of levels. stale: whether a gap has been removed since the
    levels were laid.
    """

    count: int
    levels: int
    stale: int


class Gaps(NamedTuple):
    """The gaps of all clusters in which a part has been freed.

    begin, end, length, place: int64[room], for each gap its begin, end and length, s (NEVER:
    without end), and cluster. first, last: int64[room], the interval that contains the freed parts,
    s.
    widest: int64[room], an upper bound of the processors that are free at any instant of the gap.
    since, long: int64[room], the levels: each gap begins no earlier than a level that is no
    shorter.

    Invariant: a gap is a run of steps with free processors, from now on, and as long as possible.
    If a part of a window with free processors was freed since the gaps were cleared, and has not
    been taken since, then the window lies in a gap, and overlaps the interval from its `first` to
    its `last`. Proof: the invariant holds after the window's last part was freed, when `open_gap`
    added the run around this part. There are two kinds of later changes to that run: further parts
    are freed, which `open_gap` joins to the gap; or processors are taken, and `close_gap` cuts the
    gap there; the window keeps its processors, so that it is not split.

    Room for twice the jobs and clusters suffices for the levels. Proof: no gap is as early and as
    long as another, so that all begin at different instants, at which gaps began in the present
    walk. Such an instant is now, or the end of a running or waiting job, before which no processor
    was free. A running job has one end in a walk, and a waiting job two, since it moves at most
    once. Including now, there are no more than 2 n + 1 instants.
    """

    begin: Int64
    end: Int64
    length: Int64
    place: Int64
    first: Int64
    last: Int64
    widest: Int64
    since: Int64
    long: Int64
    state: Record[GapsState]


def no_gaps(most: int) -> Gaps:
    """Return no gaps, with room for `most`."""
    begin, end, length, place, first, last, widest, since, long = (
        np.zeros(room(most), np.int64) for _ in range(9)
    )
    state = record(GapsState)
    return Gaps(begin, end, length, place, first, last, widest, since, long, state)


@verb
def clear_gaps(gaps: Gaps) -> None:
    """Remove all gaps."""
    gaps.state[0].count, gaps.state[0].levels, gaps.state[0].stale = 0, 0, 0


@verb
def add_level(gaps: Gaps, begin: int, length: int) -> None:
    """Make a gap part of the levels, unless a level begins no later and is at least as long."""
    count = gaps.state[0].levels
    for k in range(count):
        if gaps.since[k] <= begin and gaps.long[k] >= length:
            return
    left = 0
    for k in range(count):
        if gaps.since[k] < begin or gaps.long[k] > length:
            gaps.since[left], gaps.long[left] = gaps.since[k], gaps.long[k]
            left += 1
    gaps.since[left], gaps.long[left] = begin, length
    gaps.state[0].levels = left + 1


@verb
def lay_levels(gaps: Gaps) -> None:
    """Make levels of the present gaps only; some levels belonged to gaps that were taken."""
    gaps.state[0].levels, gaps.state[0].stale = 0, 0
    for k in range(gaps.state[0].count):
        add_level(gaps, gaps.begin[k], gaps.length[k])


@verb
def remove_gap(gaps: Gaps, k: int) -> None:
    """Remove the gap at place k; the last gap moves to this place."""
    last = gaps.state[0].count - 1
    gaps.state[0].count, gaps.state[0].stale = last, 1
    gaps.begin[k], gaps.end[k], gaps.length[k] = gaps.begin[last], gaps.end[last], gaps.length[last]
    gaps.place[k], gaps.first[k], gaps.last[k] = gaps.place[last], gaps.first[last], gaps.last[last]
    gaps.widest[k] = gaps.widest[last]


@verb
def put_gap(
    gaps: Gaps, k: int, c: int, begin: int, end: int, first: int, last: int, widest: int
) -> None:
    """Replace the gap at place k by another one; if k is negative, append a gap."""
    if k < 0:
        k = gaps.state[0].count
        gaps.state[0].count = k + 1
    else:
        gaps.state[0].stale = 1
    length = end - begin if end < NEVER else NEVER
    gaps.begin[k], gaps.end[k], gaps.length[k], gaps.place[k] = begin, end, length, c
    gaps.first[k], gaps.last[k], gaps.widest[k] = first, last, widest
    add_level(gaps, begin, length)


@verb
def next_gap(gaps: Gaps, k: int, c: int, begin: int, end: int) -> int:
    """Return the first gap from place k on of a cluster that overlaps an interval, s; or -1."""
    count = gaps.state[0].count
    while k < count:
        word = up_to(gaps.place, k, c) & (below(gaps.place, k, c) ^ ALL)
        word &= below(gaps.begin, k, end) & (up_to(gaps.end, k, begin) ^ ALL)
        word &= first_places(count - k)
        if word != 0:
            return k + lowest(word)
        k += WORD
    return -1


@verb
def widest_in(profile: Profile, i: int, end: int) -> int:
    """Return the most processors that are free on one of the steps from i on before `end`."""
    times, free, mark = profile
    widest = 0
    while i < mark[TAIL] and times[i] < end:
        word = below(times, i, end) & first_places(mark[TAIL] - i)
        widest = max(widest, most(free, i, word))
        i += WORD
    return widest


@verb
def first_free(profile: Profile, i: int) -> int:
    """Return the first step from i on with a free processor; in the last step, all are free."""
    while True:
        some = below(profile.free, i, 1) ^ ALL
        if some != 0:
            return i + lowest(some)
        i += WORD


@verb
def open_gap(gaps: Gaps, profile: Profile, c: int, i: int, low: int, high: int, now: int) -> None:
    """Record that processors of a cluster have been freed from `low` until `high`, s, throughout.

    Step i does not begin after `low`. The profile is searched only on a side on which no gap
    touches the freed part: a gap that touches it is as long as possible, so that the new gap has
    the same begin or end.
    """
    times, mark = profile.times, profile.mark
    i = step_from(profile, i, low)
    widest = widest_in(profile, i, high)
    k = next_gap(gaps, 0, c, low - 1, high + 1)
    if k >= 0 and gaps.begin[k] <= low and gaps.end[k] >= high:
        gaps.first[k], gaps.last[k] = min(low, gaps.first[k]), max(high, gaps.last[k])
        gaps.widest[k] = max(widest, gaps.widest[k])
        return
    # The new gap replaces the first joined gap. If that gap were removed instead, its place would
    # be read again before the write has completed.
    joined, begin, end, first, last = -1, NEVER, 0, low, high
    while k >= 0:
        begin, end = min(begin, gaps.begin[k]), max(end, gaps.end[k])
        first, last = min(first, gaps.first[k]), max(last, gaps.last[k])
        widest = max(widest, gaps.widest[k])
        if joined < 0:
            joined = k
            k += 1
        else:
            remove_gap(gaps, k)
        k = next_gap(gaps, k, c, low - 1, high + 1)
    if begin > low:
        begin = max(now, times[run_before(profile, i, 1)])
    if end < high:
        i = first_short(profile, i, 1, NEVER)
        end = times[i] if i < mark[TAIL] else NEVER
    put_gap(gaps, joined, c, begin, end, first, last, widest)


@verb
def close_gap(gaps: Gaps, profile: Profile, c: int, i: int, low: int, high: int) -> None:
    """Record that processors of a cluster have been taken from `low` until `high`, s.

    Step i does not begin after `low`. All steps of the interval had free processors before, so the
    interval lies in at most one gap. Only steps of this gap that lie in the interval may now have
    no free processors.
    """
    times, tail = profile.times, profile.mark[TAIL]
    k = next_gap(gaps, 0, c, low, high)
    if k < 0:
        return
    begin, end, first, last = gaps.begin[k], gaps.end[k], gaps.first[k], gaps.last[k]
    left, until, widest = begin, min(end, high), gaps.widest[k]
    i = first_short(profile, step_from(profile, i, max(low, begin)), 1, until)
    if i >= tail or times[i] >= until:
        return
    while True:
        right = times[i] if i < tail and times[i] < until else end
        if left < right and right > first:
            put_gap(gaps, k, c, left, right, max(first, left), min(last, right), widest)
            k = -1
        if right == end:
            break
        i = first_free(profile, i)
        left = times[i]
        if left >= min(end, last):
            break
        i = first_short(profile, i, 1, until)
    if k >= 0:
        remove_gap(gaps, k)


@verb
def reopen_gaps(gaps: Gaps, profile: Profile, c: int, low: int, high: int, now: int) -> None:
    """Record processors that were freed from `low` until `high`, s, some of which are free now."""
    times, mark = profile.times, profile.mark
    i = first_free(profile, step_at(profile, low))
    while i < mark[TAIL] and times[i] < high:
        stop = first_short(profile, i, 1, NEVER)
        end = times[stop] if stop < mark[TAIL] else NEVER
        open_gap(gaps, profile, c, i, max(low, times[i]), min(high, end), now)
        if end == NEVER:
            break
        i = first_free(profile, stop)


@verb
def fits_of(gaps: Gaps, k: int, length: int, own: int, at: int) -> int:
    """Return the lane mask of the gaps from place k on that a job may fit before `at`.

    The job is reserved at `at` on cluster `own`; there the gap in front of the reservation may be
    shorter than the job.
    """
    here = up_to(gaps.place, k, own) & (below(gaps.place, k, own) ^ ALL)
    fits = (below(gaps.length, k, length) ^ ALL) | here & (below(gaps.end, k, at) ^ ALL)
    return fits & below(gaps.begin, k, at) & first_places(gaps.state[0].count - k)


@verb
def first_fit(gaps: Gaps, length: int, own: int, at: int) -> tuple[int, int]:
    """Return the first start before `at`, s, and cluster of a job with one processor; `at` if none.

    As one processor is free all along each gap, the job starts at the begin of the gap.
    """
    best, place = at, own
    for k in range(0, gaps.state[0].count, WORD):
        fits = fits_of(gaps, k, length, own, at)
        if fits != 0:
            t = least(gaps.begin, k, fits)
            if t <= best:
                fits &= up_to(gaps.begin, k, t)
                c = gaps.place[k + lowest(fits)]
                if fits & (fits - 1) != 0:
                    c = least(gaps.place, k, fits)
                place = min(place, c) if t == best else c
                best = t
    return best, place


@verb
def wide_fits(gaps: Gaps, k: int, need: int, length: int, own: int, at: int) -> int:
    """Return the lane mask of the gaps from place k on that a wider job may fit before `at`."""
    return fits_of(gaps, k, length, own, at) & (below(gaps.widest, k, need) ^ ALL)

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
    lowest,
    most,
    room,
    slide,
    up_to,
)
from schedfarm.core.engine.profile import (
    TAIL,
    Profile,
    first_short,
    run_before,
    step_at,
)

COUNT, LEVELS = 0, 1
"""Fields of the state of gaps: their number, and that of their levels."""


class Gaps(NamedTuple):
    """The gaps of all clusters in which a part has been freed, in order of (begin, cluster).

    begin, end, length, place: int64[room], of each its start, end and length, s (NEVER: without
    end), and cluster. first, last: int64[room], the interval that contains the freed parts, s.
    widest: int64[room], at least the most processors that are free there. since, long:
    int64[room], the levels: each gap is at least as late as a level that is at least as long, and
    begins and lengths of the levels ascend. state: int64[2].

    Invariant: a gap is a run of steps with free processors, as long as possible, from now on. Let a
    window with free processors have a part that was freed since the gaps were cleared, and not been
    taken since. Then it lies in a gap, and has a part between its `first` and `last`. Proof: it
    holds after the window's last part was freed, when `open_gap` added the run around it. Later
    changes to that run are further parts freed in it, which `open_gap` joins, and processors taken,
    where `close_gaps` cuts it; the window keeps its processors, so that it stays in one piece.
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
    state: Int64


def no_gaps(most: int) -> Gaps:
    """Return no gaps, with room for `most`."""
    return Gaps(*(np.zeros(room(most), np.int64) for _ in range(9)), np.zeros(2, np.int64))


@verb
def columns_of(gaps: Gaps) -> tuple[Int64, Int64, Int64, Int64, Int64, Int64, Int64]:
    """Return the columns of the gaps."""
    return gaps.begin, gaps.end, gaps.length, gaps.place, gaps.first, gaps.last, gaps.widest


@verb
def clear_gaps(gaps: Gaps) -> None:
    """Remove all gaps."""
    gaps.state[COUNT] = gaps.state[LEVELS] = 0


@verb
def lay_levels(gaps: Gaps) -> None:
    """Find the gaps that are longer than all before them."""
    levels, longest = 0, 0
    for k in range(gaps.state[COUNT]):
        if gaps.length[k] > longest:
            longest = gaps.length[k]
            gaps.since[levels], gaps.long[levels] = gaps.begin[k], longest
            levels += 1
    gaps.state[LEVELS] = levels


@verb
def remove_gap(gaps: Gaps, k: int) -> None:
    """Remove the gap at place k."""
    slide(columns_of(gaps), k + 1, gaps.state[COUNT], -1)
    gaps.state[COUNT] -= 1


@verb
def add_gap(
    gaps: Gaps, c: int, begin: int, end: int, first: int, last: int, widest: int
) -> None:
    """Add a gap in order."""
    count = gaps.state[COUNT]
    k = count
    while k > 0 and (
        gaps.begin[k - 1] > begin or (gaps.begin[k - 1] == begin and gaps.place[k - 1] > c)
    ):
        k -= 1
    if k < count:
        slide(columns_of(gaps), k, count, 1)
    gaps.begin[k], gaps.end[k], gaps.place[k] = begin, end, c
    gaps.length[k] = end - begin if end < NEVER else NEVER
    gaps.first[k], gaps.last[k], gaps.widest[k] = first, last, widest
    gaps.state[COUNT] = count + 1


@verb
def next_gap(gaps: Gaps, k: int, c: int, begin: int, end: int) -> int:
    """Return the first gap from place k on of a cluster that meets an interval, s; or -1."""
    count = gaps.state[COUNT]
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
    """Return the first step from i on with a free processor: the last one has all."""
    while True:
        some = below(profile.free, i, 1) ^ ALL
        if some != 0:
            return i + lowest(some)
        i += WORD


@verb
def open_gap(gaps: Gaps, profile: Profile, c: int, low: int, high: int, now: int) -> None:
    """Record that processors of a cluster have been freed, from and until, s, throughout."""
    times, mark = profile.times, profile.mark
    i = step_at(profile, low)
    widest = widest_in(profile, i, high)
    begin = max(now, times[run_before(profile, i, 1)])
    i = first_short(profile, i, 1, NEVER)
    end = times[i] if i < mark[TAIL] else NEVER
    k = next_gap(gaps, 0, c, begin, end)
    while k >= 0:
        low, high = min(low, gaps.first[k]), max(high, gaps.last[k])
        widest = max(widest, gaps.widest[k])
        remove_gap(gaps, k)
        k = next_gap(gaps, k, c, begin, end)
    add_gap(gaps, c, begin, end, low, high, widest)


@verb
def close_gaps(gaps: Gaps, profile: Profile, c: int, low: int, high: int) -> None:
    """Record that processors of a cluster have been taken, from and until, s."""
    times, mark = profile.times, profile.mark
    k = next_gap(gaps, 0, c, low, high)
    while k >= 0:
        begin, end, first, last = gaps.begin[k], gaps.end[k], gaps.first[k], gaps.last[k]
        widest = gaps.widest[k]
        remove_gap(gaps, k)
        # Its parts begin at its place or later.
        i = first_free(profile, step_at(profile, begin))
        while i < mark[TAIL] and times[i] < min(end, last):
            stop = first_short(profile, i, 1, NEVER)
            left = max(begin, times[i])
            right = times[stop] if stop < mark[TAIL] else NEVER
            if right > first:
                add_gap(gaps, c, left, right, max(first, left), min(last, right), widest)
            if stop >= mark[TAIL]:
                break
            i = first_free(profile, stop)
        # The parts lie before the end of the former gap.
        k = next_gap(gaps, k, c, end, high)


@verb
def reopen_gaps(gaps: Gaps, profile: Profile, c: int, low: int, high: int, now: int) -> None:
    """Record that processors of a cluster were freed, from and until, s, of which some are left."""
    times, mark = profile.times, profile.mark
    i = first_free(profile, step_at(profile, low))
    while i < mark[TAIL] and times[i] < high:
        stop = first_short(profile, i, 1, NEVER)
        end = times[stop] if stop < mark[TAIL] else NEVER
        open_gap(gaps, profile, c, max(low, times[i]), min(high, end), now)
        if end == NEVER:
            break
        i = first_free(profile, stop)

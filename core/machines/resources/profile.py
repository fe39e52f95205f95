"""Profile of free amounts over time, with one row of levels for each resource.

The type is `core.engine.profile.Profile` with free: int64[resources, room(steps)]. So operations
that read only instants are shared with other profiles.
"""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.lanes import ALL, WORD, below, first_places, lessen, lowest, room, slide
from schedfarm.core.engine.profile import HEAD, TAIL, Profile, first_later, step_from


def empty_levels(resources: int, steps: int) -> Profile:
    """Return a profile with room for `steps` steps."""
    times, free = np.zeros(room(steps), np.int64), np.zeros((resources, room(steps)), np.int64)
    return Profile(times, free, np.zeros(2, np.int64))


@verb
def short(levels: Profile, i: int, request: Int64, kind: int) -> int:
    """Return the lane mask of the steps, from i on, in which a request does not fit."""
    word = below(levels.free[0], i, request[kind, 0])
    for r in range(1, request.shape[1]):
        # A request of 0 always fits; omitting the comparison saves time for resources that few jobs
        # use.
        if request[kind, r] > 0:
            word |= below(levels.free[r], i, request[kind, r])
    return word


@verb
def has_room(levels: Profile, i: int, request: Int64, kind: int, end: int) -> bool:
    """Return whether a request is free from step i on until `end`."""
    times, _, mark = levels
    while i < mark[TAIL] and times[i] < end:
        lacking = short(levels, i, request, kind) & first_places(mark[TAIL] - i)
        if lacking != 0:
            return bool(times[i + lowest(lacking)] >= end)
        i += WORD
    return True


@verb
def fit_before(
    levels: Profile,
    i: int,
    request: Int64,
    kind: int,
    duration: int,
    after: int,
    stop: int,
) -> tuple[int, int]:
    """Return the first instant from `after` on at which a request is free for `duration` seconds.

    Also return the step that contains this instant. Step i contains `after`. If no instant before
    `stop` is suitable, the result is `stop` or later. In the last step all resources are free.
    """
    times, _, mark = levels
    first, seen, lacking = i, 0, short(levels, i, request, kind)
    while True:
        enough = (lacking ^ ALL) >> seen << seen
        if enough == 0:
            first, seen = first + WORD, 0
            lacking = short(levels, first, request, kind)
            continue
        begin = lowest(enough)
        i = first + begin
        start = max(after, times[i])
        if start >= stop:
            return start, i
        end = start + duration
        ends = lacking >> begin << begin
        while ends == 0 and first + WORD < mark[TAIL] and times[first + WORD] < end:
            first += WORD
            ends = lacking = short(levels, first, request, kind)
        if ends == 0:
            return start, i
        seen = lowest(ends)
        if first + seen >= mark[TAIL] or times[first + seen] >= end:
            return start, i


@verb
def open_step(levels: Profile, i: int, t: int) -> None:
    """Insert a step before step i, with the levels of the preceding step."""
    times, free, mark = levels
    slide((times,), i, mark[TAIL], 1)
    times[i] = t
    for r in range(free.shape[0]):
        row = free[r]
        slide((row,), i, mark[TAIL], 1)
        row[i] = row[i - 1]
    mark[TAIL] += 1


@verb
def take_at(levels: Profile, i: int, t: int, end: int, request: Int64, kind: int, by: int) -> None:
    """Take `by` times a request in [t, end), t < end; step i contains t.

    Both instants become breakpoints, so neighbouring steps may have equal levels.
    """
    times, free, mark = levels
    if times[i] < t:
        i += 1
        open_step(levels, i, t)
    last = first_later(levels, i, end - 1)
    if last == mark[TAIL] or times[last] != end:
        open_step(levels, last, end)
    for r in range(free.shape[0]):
        amount = by * request[kind, r]
        if amount != 0:
            row = free[r]
            for first in range(i, last, WORD):
                lessen(row, first, amount, first_places(last - first))


@verb
def advance(levels: Profile, now: int) -> None:
    """Drop the steps that ended by now; move the others to the front at half of the room."""
    times, free, mark = levels
    head = step_from(levels, mark[HEAD], now)
    mark[HEAD] = head
    if 2 * head > times.size - WORD:
        slide((times,), head, mark[TAIL], -head)
        for r in range(free.shape[0]):
            slide((free[r],), head, mark[TAIL], -head)
        mark[HEAD] = 0
        mark[TAIL] -= head

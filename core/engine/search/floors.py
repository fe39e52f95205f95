"""Lower bounds (floors) from the searches of a walk, so that larger jobs do not search again.

Invariant: for a floor (need, length, start, until) of a cluster, each window of this length that
begins before `start`, cut off at `until`, has an instant with fewer free processors than `need`.
"""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb

NEED, LENGTH, START, UNTIL, FLOOR = range(5)
"""Fields of a floor: processors, length of the window, s, START, s, and UNTIL, s; their number."""

FLOORS = 8
"""Floors that a walk keeps for each cluster; 64 leave as many jobs to examine, 4 make each search
take 1.4 times as many steps on the CTC log."""


@verb
def floor_for(
    floor: Int64, known: int, need: int, length: int, at: int, begin: int, stop: int
) -> int:
    """Return a lower bound, s, of the start of a job reserved at `at`, by the floors; or `stop`.

    Its own reservation is in the profile, so that its windows are cut off at `at` (NEVER on a
    cluster where it has none). Proof: let a window of the job begin before a floor's START. It
    contains the floor's window, which is narrower and shorter, and which lacks processors at some
    instant before UNTIL. If UNTIL <= `at`, that instant is in the job's own, cut-off window. Else
    the instant may be one that the job itself occupies; so only windows of the floor that end by
    `at` count, which begin by `at` - length.
    """
    # The latest floor refuses most often.
    for k in range((known - 1) * FLOOR, -1, -FLOOR):
        if floor[k + NEED] <= need and floor[k + LENGTH] <= length:
            first = floor[k + START]
            if floor[k + UNTIL] > at:
                first = min(first, at - floor[k + LENGTH] + 1)
            if first >= stop:
                return stop
            begin = max(begin, first)
    return begin


@verb
def copy_floor(floor: Int64, source: int, target: int) -> None:
    """Copy one floor over another, each given by its first field."""
    for field in range(FLOOR):
        floor[target + field] = floor[source + field]


@verb
def learn(floor: Int64, known: int, need: int, length: int, begin: int, until: int) -> int:
    """Add a floor; return the number of floors.

    It replaces floors that are at least as wide and long and have no later START and UNTIL, else
    the oldest if there are too many. It stays true until processors are freed before `until`,
    since reservations only take them.
    """
    kept = 0
    for k in range(0, known * FLOOR, FLOOR):
        wider = floor[k + NEED] >= need and floor[k + LENGTH] >= length
        if not (wider and floor[k + START] <= begin and floor[k + UNTIL] <= until):
            if kept < k:
                copy_floor(floor, k, kept)
            kept += FLOOR
    if kept == FLOORS * FLOOR:
        kept -= FLOOR
        for k in range(0, kept, FLOOR):
            copy_floor(floor, k + FLOOR, k)
    floor[kept + NEED], floor[kept + LENGTH] = need, length
    floor[kept + START], floor[kept + UNTIL] = begin, until
    return kept // FLOOR + 1


@verb
def doubt(floor: Int64, known: int, low: int) -> None:
    """Restrict every floor after processors have been freed from `low` on.

    Its windows are cut off at `low`; those that could reach beyond, because they begin after
    `low` - length, are given up.
    """
    for k in range(0, known * FLOOR, FLOOR):
        if floor[k + UNTIL] > low:
            floor[k + UNTIL] = low
            floor[k + START] = min(floor[k + START], low - floor[k + LENGTH] + 1)

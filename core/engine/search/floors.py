"""Floors: what the searches of a walk have found out, so that no larger job searches it again."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb

NEED, LENGTH, START, UNTIL, FLOOR = range(5)
"""Fields of a floor, which holds for no fewer processors and for no less time, s: no window of
that length, cut off at UNTIL, s, that begins before START, s, has them free; their number."""

FLOORS = 8
"""How many floors a walk keeps of a machine; 64 leave as many jobs to look at, 4 let each search
1.4 times as many steps on the CTC log."""


@verb
def floor_for(
    floor: Int64, known: int, need: int, length: int, at: int, begin: int, stop: int
) -> int:
    """Return from when on a job reserved at `at` may start, by the known floors, s; or `stop`.

    Its own reservation is in the profile, so it asks for windows that are cut off at `at` (NEVER on
    a machine where it has none). One that began before a floor's START would hold the floor's
    shorter and narrower window, cut off no earlier than UNTIL, which is taken somewhere. Where the
    floor looked beyond `at` it may have met this very reservation: then only its windows that end
    by `at` say anything.
    """
    # The latest is the one that most often refuses.
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
    """Keep a floor in place of those that it implies, or of the oldest; return how many there are.

    It stays true until something is made free before `until`: reservations only take.
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
    """Cut every floor off where something has been made free from `low` on."""
    for k in range(0, known * FLOOR, FLOOR):
        if floor[k + UNTIL] > low:
            floor[k + UNTIL] = low
            floor[k + START] = min(floor[k + START], low - floor[k + LENGTH] + 1)

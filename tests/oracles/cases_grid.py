"""Hand-written cases on grids: clusters `a`, `b` and so on of a few processors."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracles.case import Case
from tests.support.strategies import grid_of

GRIDS = "Grids"

# The third job fits nowhere at 1 s. Its shadow is 3 s on the first cluster, 8 s on the second, so
# that one fourth and one fifth job may cross the first cluster only by 3 s.
NARROW_FIRST = [(0, 8, 8, 4), (0, 3, 3, 1), (1, 5, 5, 2), (1, 3, 3, 1), (1, 2, 2, 1)]

# The third job is as wide as the second cluster, reserved there at 8 s with nothing to spare: the
# fourth may run on the first for as long as it likes, the fifth would end on the second at 9 s.
WIDE_HEAD = [(0, 8, 8, 4), (0, 3, 3, 1), (1, 2, 2, 6), (1, 10, 10, 1), (1, 8, 8, 2), (1, 7, 7, 2)]

# The first job ends on the second cluster at 2 s and not at 8 s: the third, reserved on the first
# at 5 s until then, starts there.
EARLY_END = [(0, 2, 8, 4), (0, 5, 5, 2), (1, 4, 4, 2)]

# The third job is promised the first cluster at 5 s, the fourth the second at 8 s, since the first
# is taken from 5 to 9 s.
PLAN = [(0, 8, 8, 4), (0, 5, 5, 2), (1, 4, 4, 2), (1, 3, 3, 1)]


def _cases() -> Iterator[Case]:
    for rule, starts, on in (
        ("none", [0, 0, 3, 8, 8], [*"baaaa"]),
        ("aggressive", [0, 0, 5, 1, 3], [*"baaaa"]),
        ("easy", [0, 0, 3, 8, 1], [*"baaaa"]),
        ("depth(2)", [0, 0, 3, 8, 1], [*"baaaa"]),
        ("conservative", [0, 0, 3, 8, 1], [*"baaaa"]),
    ):
        promises = [0, 0, 3, 8, 1] if rule == "conservative" else None
        name = "the shadow is earliest on the narrow cluster"
        policy, grid = f"fcfs+{rule}", grid_of(2, 4)
        yield Case(name, policy, grid, NARROW_FIRST, starts, GRIDS, on=on, promises=promises)
    for rule, starts, on in (
        ("none", [0, 0, 8, 8, 10, 10], [*"babab" + "b"]),
        ("aggressive", [0, 0, 15, 1, 1, 8], [*"babab" + "b"]),
        ("easy", [0, 0, 8, 1, 10, 1], [*"babab" + "b"]),
        ("depth(1)", [0, 0, 8, 1, 10, 1], [*"babab" + "b"]),
        ("conservative", [0, 0, 8, 1, 10, 1], [*"babab" + "b"]),
    ):
        promises = [0, 0, 8, -1, -1, -1] if rule == "depth(1)" else None
        name = "jobs pass on a cluster that is not reserved"
        policy, grid = f"fcfs+{rule}", grid_of(2, 6)
        yield Case(name, policy, grid, WIDE_HEAD, starts, GRIDS, on=on, promises=promises)
    for rule in ("none", "easy", "conservative"):
        promises = [0, 0, 5] if rule == "conservative" else None
        name = "an early end on another cluster"
        policy, grid = f"fcfs+{rule}", grid_of(2, 4)
        on = [*"bab"]
        yield Case(name, policy, grid, EARLY_END, [0, 0, 2], GRIDS, on=on, promises=promises)
    for rule in ("none", "aggressive", "easy", "depth(2)", "conservative"):
        name = "of clusters as good, the first declared"
        rows = [(0, 5, 5, 1)] * 3
        yield Case(name, f"fcfs+{rule}", grid_of(2, 2), rows, [0, 0, 0], GRIDS, on=[*"aab"])
    name = "a job starts on the first cluster where it fits, not on the one with least room"
    rows = [(0, 2, 2, 2), (1, 1, 1, 4)]
    yield Case(name, "fcfs+none", grid_of(5, 2), rows, [0, 2], GRIDS, on=[*"aa"])
    name = "processors of two clusters are no one cluster"
    rows = [(0, 9, 9, 1), (0, 4, 4, 2), (1, 3, 3, 2)]
    yield Case(name, "fcfs+none", grid_of(2, 3), rows, [0, 0, 4], GRIDS, on=[*"abb"])
    # The third job is due at 5 in the second, and one of 3 stays over there.
    name = "a backfill takes the extra processor of the reserved cluster"
    rows = [(0, 9, 9, 2), (0, 5, 5, 2), (1, 4, 4, 2), (2, 6, 6, 1), (2, 6, 6, 1)]
    yield Case(name, "fcfs+easy", grid_of(2, 3), rows, [0, 0, 5, 2, 8], GRIDS, on=[*"abbbb"])
    # The first job ends at once, but holds its processors in the first pass. Its cluster is free
    # then by the profile, on which depth(1) reserves it, while easy looks for another cluster.
    rows = [(0, 0, 0, 5), (0, 8, 8, 5), (0, 13, 13, 4), (0, 13, 13, 6), (2, 1, 8, 3)]
    for rule, starts, on in (
        ("easy", [0, 0, 0, 8, 13], [*"ababa"]),
        ("depth(1)", [0, 0, 0, 8, 2], [*"aabab"]),
    ):
        name = "a job with estimate 0 holds processors in its pass, and none in a profile"
        yield Case(name, f"fcfs+{rule}", grid_of(6, 7), rows, starts, GRIDS, on=on)
    name = "a long job passes on the cluster that is not reserved"
    rows = [(0, 5, 5, 3), (1, 4, 4, 4), (2, 30, 30, 1)]
    yield Case(name, "fcfs+easy", grid_of(1, 4), rows, [0, 5, 2], GRIDS, on=[*"bba"])
    yield Case(name, "fcfs+easy", grid_of(4, 1), rows, [0, 5, 2], GRIDS, on=[*"aab"])
    name = "equal shadows go to the first declared"
    rows = [(0, 5, 5, 2), (0, 5, 5, 2), (1, 4, 4, 3), (2, 9, 9, 1)]
    yield Case(name, "fcfs+easy", grid_of(3, 3), rows, [0, 0, 5, 2], GRIDS, on=[*"abab"])
    name = "a head on the second cluster lets backfills on the first last"
    rows = [(0, 8, 8, 4), (0, 3, 3, 1), (1, 2, 2, 6), (1, 10, 10, 1), (1, 8, 8, 2)]
    starts = [0, 0, 8, 1, 10]
    yield Case(name, "fcfs+easy", grid_of(2, 6), rows, starts, GRIDS, on=[*"babab"])
    name = "conservative reservations on two clusters"
    rows = [(0, 8, 8, 2), (0, 8, 8, 2), (1, 2, 2, 3), (1, 2, 2, 3), (1, 9, 9, 1), (1, 2, 2, 1)]
    starts = [0, 0, 8, 8, 10, 1]
    yield Case(name, "fcfs+conservative", grid_of(3, 3), rows, starts, GRIDS, on=[*"ababaa"])
    name = "a compression moves a reservation to another cluster"
    rows = [(0, 8, 8, 2), (0, 3, 9, 2), (1, 4, 4, 2)]
    on, promises = [*"abb"], [0, 0, 8]
    yield Case(
        name, "fcfs+planned", grid_of(2, 2), rows, [0, 0, 3], GRIDS, on=on, promises=promises
    )
    rows = [(0, 2, 8, 4), *PLAN[1:]]
    yield Case(name, "fcfs+planned", grid_of(2, 4), rows, [0, 0, 2, 2], GRIDS, on=[*"babb"])
    name = "a reservation that is no earlier elsewhere stays"
    rows = [(0, 5, 5, 1), (0, 3, 9, 1), (0, 5, 5, 2), (1, 2, 2, 2)]
    yield Case(name, "fcfs+planned", grid_of(2, 2), rows, [0, 0, 0, 5], GRIDS, on=[*"aabb"])
    name = "a plan over clusters is kept"
    yield Case(name, "fcfs+planned", grid_of(2, 4), PLAN, [0, 0, 5, 8], GRIDS, on=[*"baab"])


GRID = tuple(_cases())

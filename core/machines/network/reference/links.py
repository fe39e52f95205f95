"""Demands of co-allocated jobs on links, their shares, and their resulting speed.

Source: Jones and Ligon 2005, sections 2.1 and 2.2, as defined in semantics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import ceil, isqrt

from schedfarm.core.reference.job import WHOLE_SPEED

LEAST_SHARE = 2.0**-30
"""Lower bound of a share, which protects from rounding errors of huge numbers."""


def neighbours(procs: int) -> list[tuple[int, int]]:
    """Return the number of pairs of neighbours in the mesh of a job.

    Examples
    --------
    >>> neighbours(5)  # 0 1 2 above 3 4
    [(0, 1), (1, 2), (3, 4), (0, 3), (1, 4)]
    """
    width = isqrt(procs - 1) + 1
    across = [(i, i + 1) for i in range(procs - 1) if (i + 1) % width != 0]
    below = [(i, i + width) for i in range(procs - width)]
    return across + below


@lru_cache(256)
def _ends_of_pairs(procs: int) -> tuple[int, ...]:
    """Return, for each i, the number of ends of neighbouring pairs in the first i processors."""
    ends = [0] * procs
    for pair in neighbours(procs):
        for processor in pair:
            ends[processor] += 1
    return tuple(accumulate(ends, initial=0))


def cut(procs: int, first: int, last: int) -> int:
    """Return the number of neighbouring pairs with exactly one processor in [first, last).

    Examples
    --------
    >>> [cut(5, 0, last) for last in range(1, 6)]
    [2, 3, 2, 2, 0]
    """
    width, count = isqrt(procs - 1) + 1, last - first
    ends_of_rows = (last - 1) // width - first // width
    inside = count - 1 - ends_of_rows + max(count - width, 0)
    ends = _ends_of_pairs(procs)
    return ends[last] - ends[first] - 2 * inside


def demand(procs: int, first: int, last: int, bandwidth: int, alltoall: int) -> int:
    """Return the demand of a job's processors [first, last) on their cluster's link, kbit/s.

    Examples
    --------
    >>> demand(4, 0, 2, 1000, 1000), demand(4, 0, 2, 1000, 0), demand(4, 0, 4, 1000, 0)
    (1334, 500, 0)
    """
    k = last - first
    if not 0 < k < procs:
        return 0
    # The common denominator is 4 x 1000 x (n - 1), so that the demand is rounded up only once.
    to_all = 4 * alltoall * k * (procs - k)
    to_neighbours = (1000 - alltoall) * cut(procs, first, last) * (procs - 1)
    return -(-bandwidth * (to_all + to_neighbours) // (4000 * (procs - 1)))


def demands(parts: Sequence[int], bandwidth: int, alltoall: int) -> tuple[int, ...]:
    """Return the demand on each link of a job with `parts` processors on the clusters, kbit/s.

    Examples
    --------
    >>> demands((2, 0, 2), 1000, 1000), demands((2, 0, 2), 1000, 0), demands((0, 4, 0), 1000, 500)
    ((1334, 0, 1334), (500, 0, 500), (0, 0, 0))
    """
    edges = list(accumulate(parts, initial=0))
    return tuple(
        demand(edges[-1], first, last, bandwidth, alltoall)
        for first, last in zip(edges, edges[1:], strict=False)
    )


def shares(asked: Sequence[Sequence[int]], capacities: Sequence[int]) -> list[float]:
    """Return the share of its demand that each job gets; jobs are in order of start.

    Parameters
    ----------
    asked : sequence of sequence of int
        Demand of each job on each link, kbit/s.
    capacities : sequence of int
        Capacity of each link, kbit/s; empty if all are unlimited.

    Examples
    --------
    >>> shares([(60, 60, 0), (60, 0, 60), (0, 30, 30)], [60, 100, 50])
    [0.5, 0.5, 0.6666666666666666]
    """
    used = [0.0] * len(capacities)
    fixed: dict[int, float] = {}
    while True:
        others = [job for job in range(len(asked)) if job not in fixed]
        levels: list[tuple[float, int]] = []
        for link, capacity in enumerate(capacities):
            wanted = sum(asked[job][link] for job in others)
            if wanted > 0:
                levels.append((max((capacity - used[link]) / wanted, LEAST_SHARE), link))
        level, full = min(levels, default=(1.0, -1))
        if level >= 1:
            return [fixed.get(job, 1.0) for job in range(len(asked))]
        for job in others:
            if asked[job][full] > 0:
                fixed[job] = level
                for link in range(len(capacities)):
                    used[link] += level * asked[job][link]


def speed(communication: int, share: float) -> int:
    """Return the units of work per second of a job with a share of its demand.

    Examples
    --------
    >>> [speed(m, share) / WHOLE_SPEED for m, share in ((0, 0.5), (300, 1.0), (1000, 0.25))]
    [1.0, 1.0, 0.25]
    """
    if communication == 0 or share == 1:
        return WHOLE_SPEED
    stretched = (1000 - communication) + communication / share
    return ceil(WHOLE_SPEED * 1000 / stretched)

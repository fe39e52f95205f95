"""What jobs that are spread over clusters ask of links, what they get, and how fast they are.

Jones and Ligon 2005, sections 2.1 and 2.2, as the text has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, isqrt

from schedfarm.core.reference.job import WHOLE_SPEED

LEAST_SHARE = 2.0**-30
"""Nobody gets less, however the last places of huge numbers are rounded."""


def neighbours(procs: int) -> list[tuple[int, int]]:
    """Return the pairs of neighbours in a mesh of so many processors, which is as square as can be.

    Examples
    --------
    >>> neighbours(5)  # 0 1 2 above 3 4
    [(0, 1), (1, 2), (3, 4), (0, 3), (1, 4)]
    """
    width = isqrt(procs - 1) + 1
    beside = [(i, i + 1) for i in range(procs - 1) if (i + 1) % width != 0]
    below = [(i, i + width) for i in range(procs - width)]
    return beside + below


def demands(parts: Sequence[int], bandwidth: int, alltoall: int) -> tuple[int, ...]:
    """Return what a job with so many processors on each cluster asks of each link, kbit/s.

    Examples
    --------
    >>> demands((2, 0, 2), 1000, 1000), demands((2, 0, 2), 1000, 0), demands((0, 4, 0), 1000, 500)
    ((1334, 0, 1334), (500, 0, 500), (0, 0, 0))
    """
    n = sum(parts)
    on = [place for place, procs in enumerate(parts) for _ in range(procs)]
    asked = []
    for place, k in enumerate(parts):
        if not 0 < k < n:
            asked.append(0)
            continue
        cut = sum((on[a] == place) != (on[b] == place) for a, b in neighbours(n))
        to_all = alltoall * Fraction(k * (n - k), n - 1)
        to_neighbours = (1000 - alltoall) * Fraction(cut, 4)
        asked.append(ceil(bandwidth * (to_all + to_neighbours) / 1000))
    return tuple(asked)


def shares(asked: Sequence[Sequence[int]], capacities: Sequence[int]) -> list[float]:
    """Return the share that each job gets of what it asks for.

    Parameters
    ----------
    asked : sequence of sequence of int
        Of each job, in the order in which they started, its demand on each link, kbit/s.
    capacities : sequence of int
        Of each link, kbit/s; none if all are unlimited.

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
    """Return the parts of work that a job does in a second at a share of what it asks for.

    Examples
    --------
    >>> [speed(m, share) / WHOLE_SPEED for m, share in ((0, 0.5), (300, 1.0), (1000, 0.25))]
    [1.0, 1.0, 0.25]
    """
    if communication == 0 or share == 1:
        return WHOLE_SPEED
    stretched = (1000 - communication) + communication / share
    return ceil(WHOLE_SPEED * 1000 / stretched)

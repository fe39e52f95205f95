"""Split of a job over clusters: demands of the parts on links, and choice of the split.

Source of the demand of a part: Jones and Ligon (2005), section 2.2. The search is dynamic
programming over clusters in declared order. This is possible because the demand of a part on its
link depends only on its length and on the number of preceding processors of the mesh.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, routine, verb

MOST = 2**62
"""Bound above any demand, in any unit."""


class Split(NamedTuple):
    """Hold the inputs of a search, and the found split.

    room, spare, take: int64[clusters]: largest size of a part; remaining capacity of the link,
    kbit/s, NEVER without a limit; and the parts of the split. cap: int64[clusters], `spare` in the
    unit of the present job's demands. low, high: int64[clusters + 1], least and greatest number of
    processors on the clusters before each cluster. fewest: int64[(clusters + 1) * (widest + 1)],
    for each cluster and number of placed processors, the least number of clusters, from this
    cluster on, for the other processors.
    """

    room: Int64
    spare: Int64
    take: Int64
    cap: Int64
    low: Int64
    high: Int64
    fewest: Int64


def empty_split(clusters: int, widest: int) -> Split:
    """Return the empty state of a search for jobs of at most `widest` processors.

    Examples
    --------
    >>> split = empty_split(3, 8)
    >>> split.room[:], split.spare[:] = [3, 2, 4], [100, 9, 100]
    >>> find_split(split, 6, 10, 0), split.take.tolist()
    (True, [3, 0, 3])
    """
    room, spare, take, cap = (np.zeros(clusters, np.int64) for _ in range(4))
    low, high = np.zeros(clusters + 1, np.int64), np.zeros(clusters + 1, np.int64)
    fewest = np.empty((clusters + 1) * (widest + 1), np.int64)
    return Split(room, spare, take, cap, low, high, fewest)


@verb
def row_of(n: int) -> int:
    """Return the row length of a mesh of n processors, ceil(sqrt(n))."""
    w = 1
    while w * w < n:
        w += 1
    return w


@verb
def cut_of(n: int, w: int, a: int, k: int) -> int:
    """Return the number of pairs of neighbours cut by processors a..a + k - 1 of a mesh.

    n: processors of the mesh. w: length of its rows.
    """
    b = a + k
    beside = int(a % w != 0) + int(b < n and b % w != 0)
    above = max(min(a, b - w) - max(a - w, 0), 0)
    below = max(min(b, n - w) - max(a, b - w), 0)
    return int(beside + above + below)


@verb
def asked(n: int, w: int, a: int, k: int, alltoall: int) -> int:
    """Return the demand of a part per kbit/s of bandwidth, in units of 1 / (4000 (n - 1)).

    The product with an admitted bandwidth is below `MOST`.
    """
    mesh = (1000 - alltoall) * cut_of(n, w, a, k) * (n - 1)
    return 4 * alltoall * k * (n - k) + mesh


@verb
def demand(n: int, w: int, a: int, k: int, bandwidth: int, alltoall: int) -> int:
    """Return the demand of a part on its link, kbit/s, rounded up."""
    unit = 4000 * (n - 1)
    return (bandwidth * asked(n, w, a, k, alltoall) + unit - 1) // unit


@verb
def keeps(split: Split, c: int, n: int, w: int, a: int, k: int, band: int, alltoall: int) -> bool:
    """Return whether the link of cluster `c` has room for the bandwidth of a part."""
    cap = split.cap[c]
    return bool(cap >= MOST or band * asked(n, w, a, k, alltoall) <= cap)


@verb
def most_on(room: Int64, first: int, many: int) -> int:
    """Return the largest number of processors on `many` of the clusters from `first` on."""
    total, before, at = 0, NEVER, -1
    for _ in range(many):
        best, where = -1, -1
        for c in range(first, room.size):
            # Clusters in descending order of room; of equal ones, in declared order.
            later = room[c] < before or (room[c] == before and c > at)
            if later and room[c] > best:
                best, where = room[c], c
        if where < 0:
            break
        total, before, at = total + best, best, where
    return total


@routine
def split_freely(split: Split, n: int) -> None:
    """Write the split for links with enough capacity, if the clusters have room for the job."""
    room, take = split.room, split.take
    left, a = 1, 0
    while most_on(room, 0, left) < n:
        left += 1
    for c in range(room.size):
        k = min(room[c], n - a)
        take[c] = 0
        if left > 0 and k > 0 and most_on(room, c + 1, left - 1) >= n - a - k:
            take[c] = k
            a, left = a + k, left - 1


@verb
def is_kept(split: Split, n: int, w: int, bandwidth: int, alltoall: int) -> bool:
    """Return whether the links have room for the present split."""
    a, kept = 0, True
    for c in range(split.take.size):
        k = split.take[c]
        if k > 0:
            kept = kept and keeps(split, c, n, w, a, k, bandwidth, alltoall)
        a += k
    return kept


@verb
def bound(split: Split, n: int) -> None:
    """Compute the least and greatest number of processors before each cluster."""
    room, low, high = split.room, split.low, split.high
    clusters = room.size
    high[0], low[clusters] = 0, n
    for c in range(clusters):
        high[c + 1] = min(high[c] + room[c], n)
    for c in range(clusters - 1, -1, -1):
        low[c] = max(low[c + 1] - room[c], 0)


@routine
def count_clusters(split: Split, n: int, w: int, bandwidth: int, alltoall: int) -> int:
    """Fill in `fewest` from the last cluster on; return its value for the whole job, or NEVER."""
    room, low, high, fewest = split.room, split.low, split.high, split.fewest
    clusters, wide = room.size, n + 1
    bound(split, n)
    fewest[clusters * wide + n] = 0
    for c in range(clusters - 1, -1, -1):
        here, there = c * wide, (c + 1) * wide
        for a in range(low[c], high[c] + 1):
            best = fewest[there + a] if low[c + 1] <= a <= high[c + 1] else NEVER
            last = min(a + room[c], high[c + 1])
            for end in range(max(a + 1, low[c + 1]), last + 1):
                more = fewest[there + end]
                if more < best - 1 and keeps(split, c, n, w, a, end - a, bandwidth, alltoall):
                    best = more + 1
            fewest[here + a] = best
    return int(fewest[0])


@routine
def follow(split: Split, n: int, w: int, bandwidth: int, alltoall: int) -> None:
    """Write the split by `fewest`, with as many processors as possible on the first clusters."""
    room, low, high, fewest = split.room, split.low, split.high, split.fewest
    wide, a, left = n + 1, 0, fewest[0]
    for c in range(room.size):
        there = (c + 1) * wide
        end = min(a + room[c], high[c + 1])
        split.take[c] = 0
        while left > 0 and end > a and end >= low[c + 1]:
            if fewest[there + end] == left - 1 and keeps(
                split, c, n, w, a, end - a, bandwidth, alltoall
            ):
                split.take[c] = end - a
                a, left = end, left - 1
                break
            end -= 1


@routine
def find_split(split: Split, n: int, bandwidth: int, alltoall: int) -> bool:
    """Write the split of a job that needs several clusters; return whether there is one."""
    clusters, unit, w = split.room.size, 4000 * (n - 1), row_of(n)
    for c in range(clusters):
        far = split.spare[c] >= MOST // unit
        split.cap[c] = MOST if far else split.spare[c] * unit
    split_freely(split, n)
    if is_kept(split, n, w, bandwidth, alltoall):
        return True
    if count_clusters(split, n, w, bandwidth, alltoall) == NEVER:
        return False
    follow(split, n, w, bandwidth, alltoall)
    return True

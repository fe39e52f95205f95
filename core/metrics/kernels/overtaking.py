"""Numbers of jobs that each job overtook, and that overtook each job."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import kernel, verb


@verb
def count_upto(tree: Int64, i: int) -> int:
    """Return the number of entries of a Fenwick tree at indices 1 to i."""
    total = 0
    while i > 0:
        total += tree[i]
        i -= i & -i
    return int(total)


def overtakings(place: Int64) -> tuple[Int64, Int64]:
    """Count for each job the later jobs of smaller rank, and the earlier jobs of larger rank.

    `place`, int64[n], is the rank of the job's start, 0 to n - 1; equal starts have the same rank.
    """
    n = place.size
    tree, smaller = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    slips, skips = np.empty(n, np.int64), np.empty(n, np.int64)
    count_overtakings(place, tree, smaller, slips, skips)
    return slips, skips


@kernel
def count_overtakings(
    place: Int64, tree: Int64, smaller: Int64, slips: Int64, skips: Int64
) -> None:
    """Fill in slips and skips; tree and smaller: int64[n + 1], initially 0."""
    n = place.size
    for p in place:
        smaller[p + 1] += 1
    for p in range(n):
        smaller[p + 1] += smaller[p]
    for j in range(n):
        slips[j] = smaller[place[j]] - count_upto(tree, place[j])
        skips[j] = j - count_upto(tree, place[j] + 1)
        i = place[j] + 1
        while i <= n:
            tree[i] += 1
            i += i & -i

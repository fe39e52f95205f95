"""Selection of order statistics without sorting."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import kernel, verb

DIGIT = 12
"""Number of bits of a digit of the radix selection."""


def ranked(values: Int64, least: int, bits: int, places: Int64) -> Int64:
    """Return the values at given indices of the sorted order, int64[places].

    values: int64[n]. least: the minimum. bits: bits of maximum - minimum. Three percentiles of
    KTH's waits take 2.6 ns per job, and of its slowdowns 2.4 ns. numpy's partition takes 6.4 and
    10.5 ns.
    """
    counts, finer = np.zeros(1 << DIGIT, np.int64), np.empty(1 << DIGIT, np.int64)
    found, among = np.full(places.size, least), np.empty(values.size, np.int64)
    find_ranked(values, least, bits, places, counts, finer, among, found)
    return found


@kernel
def find_ranked(
    values: Int64, least: int, bits: int, places: Int64, counts: Int64, finer: Int64,
    among: Int64, found: Int64,
) -> None:  # fmt: skip
    """Fill in the result of `ranked`; counts is initially 0, finer and among are scratch space."""
    n, shift = values.size, max(bits - DIGIT, 0)
    # Up to half of the values are the minimum, for jobs without a wait or slowdown.
    lowest = 0
    for i in range(n):
        counts[values[i] - least >> shift] += 1
        lowest += values[i] == least
    for p in range(places.size):
        if places[p] >= lowest:
            found[p] = _narrowed(values, places[p], least, shift, counts, finer, among)


@verb
def _narrowed(
    values: Int64, place: int, least: int, shift: int, counts: Int64, finer: Int64, among: Int64
) -> int:
    """Return the value at an index of the sorted order, digit by digit."""
    bucket = 0
    while counts[bucket] <= place:
        place -= counts[bucket]
        bucket += 1
    left = 0
    for i in range(values.size):
        among[left] = values[i]
        left += values[i] - least >> shift == bucket
    least += bucket << shift
    while shift:
        shift = max(shift - DIGIT, 0)
        finer[:] = 0
        for i in range(left):
            finer[among[i] - least >> shift] += 1
        bucket = 0
        while finer[bucket] <= place:
            place -= finer[bucket]
            bucket += 1
        had, left = left, 0
        for i in range(had):
            among[left] = among[i]
            left += among[i] - least >> shift == bucket
        least += bucket << shift
    return least

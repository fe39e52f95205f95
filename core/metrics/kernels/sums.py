"""Sums over jobs by an index, such as week, width class or user."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Float64, Int64, fixed
from schedfarm.core.engine.jit import kernel


class Sums(NamedTuple):
    """Hold the number of jobs at each index, int64[places], and sums, float64[places, 4]."""

    jobs: Int64
    of: Float64


def sums_at(
    place: Int64, places: int, other: Int64, others: int,
    wait: Int64, slowdown: Float64, pp: Float64, logarithm: Float64,
) -> tuple[Sums, Sums]:  # fmt: skip
    """Return numbers and sums by one index, such as week, and by another, such as width class.

    The order of addition is that of the jobs, as in numpy for one column. Neighbouring jobs mostly
    have the same first index.
    """
    first = Sums(np.zeros(places, np.int64), np.zeros((places, 4)))
    second = Sums(np.zeros(others, np.int64), np.zeros((others, 4)))
    add_at(place, other, fixed(wait), slowdown, pp, logarithm, *first, *second)
    return first, second


def whole_sums_at(place: Int64, places: int, values: Int64) -> Int64:
    """Return exact sums of integers, int64[places]; numpy takes 3 times as long."""
    sums = np.zeros(places, np.int64)
    # Sums beyond int64 overflow silently, with and without the JIT; numpy would warn of them.
    with np.errstate(over="ignore"):
        add_whole_at(fixed(place), fixed(values), sums)
    return sums


@kernel
def add_at(
    place: Int64, other: Int64, wait: Int64, slowdown: Float64, pp: Float64, logarithm: Float64,
    jobs: Int64, sums: Float64, other_jobs: Int64, other_sums: Float64,
) -> None:  # fmt: skip
    """Add each job at its two indices; jobs and sums as in `Sums`, initially zeros."""
    at = count = 0
    waits = slowdowns = pps = logarithms = 0.0
    for j in range(place.size):
        # Sums stay in registers while the index is the same, which takes 0.35 of the time for KTH's
        # weeks.
        if place[j] != at:
            jobs[at], count = count, jobs[place[j]]
            sums[at, 0], waits = waits, sums[place[j], 0]
            sums[at, 1], slowdowns = slowdowns, sums[place[j], 1]
            sums[at, 2], pps = pps, sums[place[j], 2]
            sums[at, 3], logarithms = logarithms, sums[place[j], 3]
            at = place[j]
        waited = float(wait[j])
        count += 1
        waits += waited
        slowdowns += slowdown[j]
        pps += pp[j]
        logarithms += logarithm[j]
        to = other[j]
        other_jobs[to] += 1
        other_sums[to, 0] += waited
        other_sums[to, 1] += slowdown[j]
        other_sums[to, 2] += pp[j]
        other_sums[to, 3] += logarithm[j]
    if jobs.size:
        jobs[at] = count
        sums[at, 0], sums[at, 1], sums[at, 2], sums[at, 3] = waits, slowdowns, pps, logarithms


@kernel
def add_whole_at(place: Int64, values: Int64, sums: Int64) -> None:
    """Add each integer at its index."""
    for j in range(place.size):
        sums[place[j]] += values[j]

"""Sums of numbers of each job at its places: a week, a class of widths, a user."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Float64, Int64, fixed
from schedfarm.core.engine.jit import kernel


class Sums(NamedTuple):
    """Jobs at each place, int64[places], and sums of theirs, float64[places, 4]."""

    jobs: Int64
    of: Float64


def sums_at(
    place: Int64, places: int, other: Int64, others: int,
    wait: Int64, slowdown: Float64, pp: Float64, logarithm: Float64,
) -> tuple[Sums, Sums]:  # fmt: skip
    """Return jobs and sums at places, such as weeks, and at others, such as classes of widths.

    Added up in the jobs' order, as numpy does one column at a time. Jobs beside each other are
    mostly at the same of the first places.
    """
    first = Sums(np.zeros(places, np.int64), np.zeros((places, 4)))
    second = Sums(np.zeros(others, np.int64), np.zeros((others, 4)))
    add_at(place, other, fixed(wait), slowdown, pp, logarithm, *first, *second)
    return first, second


def whole_sums_at(place: Int64, places: int, values: Int64) -> Int64:
    """Return sums of whole numbers, int64[places]: numpy takes 3 times as long to the same."""
    sums = np.zeros(places, np.int64)
    # A sum beyond int64 is wrong with the JIT and without, where numpy would warn of it.
    with np.errstate(over="ignore"):
        add_whole_at(fixed(place), fixed(values), sums)
    return sums


@kernel
def add_at(
    place: Int64, other: Int64, wait: Int64, slowdown: Float64, pp: Float64, logarithm: Float64,
    jobs: Int64, sums: Float64, other_jobs: Int64, other_sums: Float64,
) -> None:  # fmt: skip
    """Add up each job at its place and at its other one; jobs and sums as in `Sums`, zeros."""
    at = count = 0
    waits = slowdowns = pps = logarithms = 0.0
    for j in range(place.size):
        # Kept out of memory as long as the place is the same: KTH's weeks take 0.35 of the time.
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
    """Add up each of some whole numbers at its place."""
    for j in range(place.size):
        sums[place[j]] += values[j]

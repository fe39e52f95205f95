"""Sums, counts and maxima of figures of the counted jobs, in one pass.

The pass processes leaves of at most 128 jobs, which fit the processor's nearest cache. Arrays of
all jobs for each intermediate value would take as long as the arithmetic on KTH.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import HORIZON, Float64, Int64, fixed
from schedfarm.core.engine.jit import kernel, verb

LEAF = 128
"""Largest number of values that numpy adds without halving the array."""

LANES = 8
"""Number of numpy's running sums in a leaf."""

LEVELS = 64
"""Bound of the number of halvings of an array."""

SLOWDOWN, SECOND, PER_PROCESSOR, LOGARITHM, AREA, WAIT_BY_AREA, SLOWDOWN_BY_AREA, KINDS = range(8)
"""Rows of values: bounded slowdown by the first and by the second threshold; per-processor bounded
slowdown; logarithm of the first slowdown; area; wait x area; first slowdown x area; and the number
of rows."""

WAITED, RESPONDED, LONGEST_WAIT, LONGEST_RESPONSE, PREMATURE, AT_1, AT_10, AT_100, COUNTS = range(9)
"""Indices of whole numbers: sums and maxima of waits and responses; number of premature jobs;
numbers of jobs with a slowdown of 1, of at least 10, and of at least 100; and the number of
indices."""

MOST, MOST_PER_PROCESSOR, EARLY, OTHERS, SUMS = range(KINDS, KINDS + 5)
"""Further indices after the sums of rows: largest slowdown; largest per-processor slowdown; sums of
slowdowns of premature jobs and of other jobs; and the number of all sums."""


class Figures(NamedTuple):
    """Hold the result of a pass: sums of floats in numpy's order, counts and maxima.

    waited, responded : sums of waits and responses, s, or None beyond int64. longest_wait : s.
    slowdown, second, per_processor, logarithm : sums of bounded slowdowns, of bounded slowdowns by
    the second tau, of per-processor bounded slowdowns, and of logarithms of bounded slowdowns.
    area, wait_by_area, slowdown_by_area : sums of areas, and of waits and slowdowns x area.
    largest, largest_per_processor : largest slowdowns. premature : number of premature jobs. early,
    others : sums of slowdowns of premature jobs and of other jobs. at_1, at_10, at_100 : numbers of
    jobs with a slowdown of 1, of at least 10, and of at least 100.
    """

    waited: int | None
    responded: int | None
    longest_wait: int
    premature: int
    at_1: int
    at_10: int
    at_100: int
    slowdown: float
    second: float
    per_processor: float
    logarithm: float
    area: float
    wait_by_area: float
    slowdown_by_area: float
    largest: float
    largest_per_processor: float
    early: float
    others: float


class Arrays(NamedTuple):
    """Hold values of each job, float64[n]: bounded slowdown, also per processor, and logarithm."""

    slowdown: Float64
    per_processor: Float64
    logarithm: Float64


def pass_over(
    wait: Int64, response: Int64, run: Int64, held: Int64, procs: Int64, estimate: Int64,
    taus: tuple[float, float], multiple: int,
) -> tuple[Figures, Arrays]:  # fmt: skip
    """Return the figures of all jobs, and the values of each job.

    All columns are int64[n], times in s. taus: the two thresholds, s, above 0. multiple: a job is
    premature if its estimate is above 0 and at least `multiple` times its run time.
    """
    n = wait.size
    # All arrays share one block of memory: with 50 jobs, each array takes as long as the
    # arithmetic.
    room = np.empty(4 * n + 2 + KINDS * LEAF + (KINDS + 1) * LEVELS)
    each, apart, scratch = room[: 3 * n].reshape(3, n), room[3 * n : 4 * n + 2], room[4 * n + 2 :]
    ahead, found, counts = (
        np.empty(LEVELS + LEAF, np.int64),
        np.zeros(SUMS),
        np.zeros(COUNTS, np.int64),
    )
    # Sums beyond int64 overflow silently, with and without the JIT; numpy would warn of them.
    with np.errstate(over="ignore"):
        measure(
            fixed(wait), fixed(response), fixed(run), fixed(held), fixed(procs), fixed(estimate),
            *taus, multiple, each, apart, scratch, ahead, found, counts,
        )  # fmt: skip
    whole: list[int] = counts.tolist()
    return Figures(
        whole[WAITED] if whole[LONGEST_WAIT] * n < HORIZON else None,
        whole[RESPONDED] if whole[LONGEST_RESPONSE] * n < HORIZON else None,
        *whole[LONGEST_WAIT:LONGEST_RESPONSE],
        *whole[PREMATURE:],
        *found.tolist(),
    ), Arrays(*each)


@kernel
def measure(
    wait: Int64, response: Int64, run: Int64, held: Int64, procs: Int64, estimate: Int64,
    tau: float, second: float, multiple: int, each: Float64, apart: Float64, scratch: Float64,
    ahead: Int64, found: Float64, counts: Int64,
) -> None:  # fmt: skip
    """Fill in values, sums and counts; `found` and `counts` are initially 0.

    each: float64[3, n], the rows of `Arrays`. apart: float64[n + 2], the slowdowns of premature
    jobs, an unused place, and the slowdowns of other jobs. scratch: float64[KINDS * LEAF + (KINDS +
    1) * LEVELS]. ahead: int64[LEVELS + LEAF].

    Sums equal those of numpy to the bit: an array of more than `LEAF` values is halved at a
    multiple of `LANES`, and the sums of both halves are added. `ahead` is a stack of the sizes of
    the remaining parts; the next part is on top, and 0 means the addition of the last two sums.
    """
    n, sums = wait.size, KINDS * LEAF
    premature = 0
    for j in range(n):
        premature += _is_early(run[j], estimate[j], multiple)
    early, others = 0, premature + 1
    parts, known, first = 1, 0, 0
    ahead[0] = n
    while parts > 0:
        parts -= 1
        size = ahead[parts]
        if size > LEAF:
            parts = _halve(ahead, parts)
        elif size > 0:
            last = first + size
            _fill(wait, response, run, held, procs, tau, second, scratch, first, last)
            _logarithms(scratch, ahead, size)
            _count(wait, response, scratch, first, last, found, counts)
            _keep(scratch, first, size, each)
            early = _part(run, estimate, multiple, each, apart, first, last, early, others)
            others = premature + 1 + last - early
            for kind in range(KINDS):
                scratch[sums + KINDS * known + kind] = _leaf(scratch, kind * LEAF, size)
            known += 1
            first = last
        elif known > 1:
            known -= 1
            for kind in range(KINDS):
                last_of = sums + KINDS * known + kind
                scratch[last_of - KINDS] += scratch[last_of]
    if n > 0:
        for kind in range(KINDS):
            found[kind] = scratch[sums + kind]
    counts[PREMATURE] = premature
    found[EARLY] = _sum(apart, 0, premature, scratch, ahead)
    found[OTHERS] = _sum(apart, premature + 1, n - premature, scratch, ahead)


@verb
def _is_early(run: int, estimate: int, multiple: int) -> bool:
    """Return whether an estimate is above 0 and at least a multiple of a run time."""
    # A product beyond int64 would exceed any estimate.
    return estimate > 0 and run <= HORIZON // multiple and multiple * run <= estimate


@verb
def _halve(ahead: Int64, at: int) -> int:
    """Replace a size by an addition and the sizes of two halves; return the number of parts."""
    size = ahead[at]
    left = size // 2
    left -= left % LANES
    ahead[at], ahead[at + 1], ahead[at + 2] = 0, size - left, left
    return at + 3


@verb
def _fill(
    wait: Int64, response: Int64, run: Int64, held: Int64, procs: Int64, tau: float, second: float,
    rows: Float64, first: int, last: int,
) -> None:  # fmt: skip
    """Fill in the rows of a leaf, except the logarithms."""
    # The division is numpy's, because the check for 0 in Python's division prevents vectorisation.
    # Each row has a separate loop for the same reason.
    size = last - first
    for i in range(size):
        spent = float(response[first + i])
        rows[SLOWDOWN * LEAF + i] = max(np.divide(spent, max(float(run[first + i]), tau)), 1.0)
    for i in range(size):
        spent = float(response[first + i])
        rows[SECOND * LEAF + i] = max(np.divide(spent, max(float(run[first + i]), second)), 1.0)
    for i in range(size):
        whole = float(procs[first + i]) * max(float(held[first + i]), tau)
        spent = float(response[first + i])
        rows[PER_PROCESSOR * LEAF + i] = max(np.divide(spent, whole), 1.0)
    for i in range(size):
        rows[AREA * LEAF + i] = float(held[first + i]) * float(procs[first + i])
    for i in range(size):
        rows[WAIT_BY_AREA * LEAF + i] = float(wait[first + i]) * rows[AREA * LEAF + i]
    for i in range(size):
        rows[SLOWDOWN_BY_AREA * LEAF + i] = rows[SLOWDOWN * LEAF + i] * rows[AREA * LEAF + i]


@verb
def _keep(rows: Float64, first: int, size: int, each: Float64) -> None:
    """Copy the rows of a leaf that are returned for all jobs."""
    for i in range(size):
        each[0, first + i] = rows[SLOWDOWN * LEAF + i]
        each[1, first + i] = rows[PER_PROCESSOR * LEAF + i]
        each[2, first + i] = rows[LOGARITHM * LEAF + i]


@verb
def _part(
    run: Int64, estimate: Int64, multiple: int, each: Float64, apart: Float64, first: int,
    last: int, early: int, others: int,
) -> int:  # fmt: skip
    """Separate the slowdowns of premature and other jobs; return the number of premature jobs."""
    for j in range(first, last):
        is_early = _is_early(run[j], estimate[j], multiple)
        # One of the two values is superfluous: a later value overwrites it, or it remains in an
        # unused place.
        apart[early] = each[0, j]
        apart[others] = each[0, j]
        early += is_early
        others += not is_early
    return early


@verb
def _logarithms(rows: Float64, ahead: Int64, size: int) -> None:
    """Fill in the logarithms of a leaf.

    Half of all jobs have a slowdown of 1, in an unpredictable order. So the other jobs are listed
    first.
    """
    count = LEVELS
    for i in range(size):
        rows[LOGARITHM * LEAF + i] = 0.0
        ahead[count] = i
        count += rows[SLOWDOWN * LEAF + i] != 1.0
    for k in range(LEVELS, count):
        rows[LOGARITHM * LEAF + ahead[k]] = math.log(rows[SLOWDOWN * LEAF + ahead[k]])


@verb
def _count(
    wait: Int64, response: Int64, rows: Float64, first: int, last: int,
    found: Float64, counts: Int64,
) -> None:  # fmt: skip
    """Add the whole numbers of a leaf, and find the maxima."""
    waited = responded = longest_wait = longest_response = 0
    for j in range(first, last):
        waited += wait[j]
        responded += response[j]
        longest_wait = max(longest_wait, wait[j])
        longest_response = max(longest_response, response[j])
    counts[WAITED] += waited
    counts[RESPONDED] += responded
    counts[LONGEST_WAIT] = max(counts[LONGEST_WAIT], longest_wait)
    counts[LONGEST_RESPONSE] = max(counts[LONGEST_RESPONSE], longest_response)
    at_1 = at_10 = at_100 = 0
    most = most_each = 0.0
    for i in range(last - first):
        value = rows[SLOWDOWN * LEAF + i]
        at_1 += value <= 1.0
        at_10 += value >= 10.0
        at_100 += value >= 100.0
        most = max(most, value)
        most_each = max(most_each, rows[PER_PROCESSOR * LEAF + i])
    counts[AT_1] += at_1
    counts[AT_10] += at_10
    counts[AT_100] += at_100
    found[MOST] = max(found[MOST], most)
    found[MOST_PER_PROCESSOR] = max(found[MOST_PER_PROCESSOR], most_each)


@verb
def _sum(values: Float64, first: int, size: int, sums: Float64, ahead: Int64) -> float:
    """Return the sum of some values, added in the order of numpy."""
    parts, known = 1, 0
    ahead[0] = size
    while parts > 0:
        parts -= 1
        size = ahead[parts]
        if size > LEAF:
            parts = _halve(ahead, parts)
        elif size > 0:
            sums[known] = _leaf(values, first, size)
            known += 1
            first += size
        elif known > 1:
            known -= 1
            sums[known - 1] += sums[known]
    return sums[0] if known else 0.0


@verb
def _leaf(values: Float64, first: int, size: int) -> float:
    """Return the sum of at most `LEAF` values, added in the order of numpy."""
    total, done = 0.0, 0
    if size >= LANES:
        done = size - size % LANES
        a, b, c, d = values[first], values[first + 1], values[first + 2], values[first + 3]
        e, f, g, h = values[first + 4], values[first + 5], values[first + 6], values[first + 7]
        for i in range(first + LANES, first + done, LANES):
            a += values[i]
            b += values[i + 1]
            c += values[i + 2]
            d += values[i + 3]
            e += values[i + 4]
            f += values[i + 5]
            g += values[i + 6]
            h += values[i + 7]
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(first + done, first + size):
        total += values[i]
    return total

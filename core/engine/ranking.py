"""Precedence of two waiting jobs, by a key or by a formula of the instant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.lanes import ALL, up_to
from schedfarm.core.engine.queue import Queue
from schedfarm.core.engine.ratios import as_large, as_small, ratios_from, ratios_up_to
from schedfarm.core.engine.running import Jobs

KEYED, LARGEST_RATIO, SMALLEST_RATIO, LARGEST_CUBE, LARGEST_SHARE = 0, 1, 2, 3, 4
"""Codes of the rankings: by key, and the orders LXF, SXF, WFP3 and UNICEF."""

NO_CELLS = np.zeros(0, np.int64)
"""Cells of an order with constant keys, or without keys."""

SMALL = 2**31
"""Products of two numbers below this fit int64."""


class Ranking(NamedTuple):
    """Hold an order: its code, the key of each job, and the width of each job for WFP3, UNICEF.

    cell: the key of the job in each cell of the queue if keys change with time, else empty.
    """

    code: int
    key: Int64
    width: npt.NDArray[np.float64]
    cell: Int64


class Rankings(NamedTuple):
    """Hold the orders of queue and backfills.¶moves: whether the queue's order changes with time.

    differ: whether the two orders differ.
    """

    queue: Ranking
    backfill: Ranking
    moves: bool
    differ: bool


@verb
def ratio_exceeds(a: int, b: int, c: int, d: int) -> bool:
    """Return whether a / b > c / d, exactly, for a, c >= 0 and b, d > 0."""
    if a < SMALL and b < SMALL and c < SMALL and d < SMALL:
        return a * d > c * b
    # Euclid's algorithm compares whole parts, then reciprocals of the rests: without products,
    # nothing overflows.
    while True:
        whole, other = a // b, c // d
        if whole != other:
            return whole > other
        a, c = a - whole * b, c - other * d
        if a == 0 or c == 0:
            return a > c
        a, b, c, d = d, c, b, a


@verb
def comes_first(ranking: Ranking, jobs: Jobs, now: int, i: int, j: int) -> bool:
    """Return whether waiting job `i` precedes `j` by key or ratio alone."""
    if ranking.code == KEYED:
        return bool(ranking.key[i] < ranking.key[j])
    a, b = now - jobs.submit[i], max(jobs.estimate[i], 1)
    c, d = now - jobs.submit[j], max(jobs.estimate[j], 1)
    if ranking.code == LARGEST_RATIO:
        return ratio_exceeds(a, b, c, d)
    if ranking.code == SMALLEST_RATIO:
        return ratio_exceeds(c, d, a, b)
    if ranking.code == LARGEST_CUBE:
        p, q = a / b, c / d
        return bool(p * p * p * ranking.width[i] > q * q * q * ranking.width[j])
    return bool(a / (ranking.width[i] * b) > c / (ranking.width[j] * d))


@verb
def bar_of(ranking: Ranking, submit: Int64, estimate: Int64, i: int, now: int) -> tuple[int, int]:
    """Return the threshold for rivals of the job at place i: its key, or wait and estimate, s."""
    if ranking.cell.size > 0:
        return ranking.cell[i], 1
    return now - submit[i], max(estimate[i], 1)


@verb
def rivals(
    ranking: Ranking, submit: Int64, estimate: Int64, i: int, now: int, bar: tuple[int, int]
) -> int:
    """Return the lane mask of the jobs that may reach a threshold, from place i of columns on."""
    if ranking.code == LARGEST_RATIO:
        return ratios_from(submit, estimate, now, i, bar[0], bar[1])
    if ranking.code == SMALLEST_RATIO:
        return ratios_up_to(submit, estimate, now, i, bar[0], bar[1])
    return up_to(ranking.cell, i, bar[0]) if ranking.cell.size > 0 else ALL


@verb
def climbers(ranking: Ranking, submit: Int64, estimate: Int64, i: int, now: int) -> int:
    """Return the lane mask of the jobs, from place i on, that may precede the job before them."""
    if ranking.code == LARGEST_RATIO:
        return as_large(submit, estimate, now, i, i - 1)
    if ranking.code == SMALLEST_RATIO:
        return as_small(submit, estimate, now, i, i - 1)
    return ALL


@verb
def may_have_rivals(
    ranking: Ranking, submit: int, estimate: int, now: int, bar: tuple[int, int]
) -> bool:
    """Return whether jobs may reach a threshold, given bounds of submissions and estimates.

    No job was submitted before `submit`, s, and no estimate is below `estimate`, s.
    """
    if ranking.code != LARGEST_RATIO:
        return True
    return not ratio_exceeds(bar[0], bar[1], now - submit, max(estimate, 1))


@verb
def block_may_have_rivals(
    ranking: Ranking, queue: Queue, b: int, now: int, bar: tuple[int, int]
) -> bool:
    """Return whether jobs of a block, sorted by submission, may reach a threshold."""
    oldest, shortest = queue.submit[queue.first[b]], queue.least_estimate[b]
    return may_have_rivals(ranking, oldest, shortest, now, bar)


@verb
def goes_before(ranking: Ranking, jobs: Jobs, now: int, limit: int, i: int, j: int) -> bool:
    """Return whether job i precedes job j; jobs submitted before `limit` starve and come first."""
    if jobs.submit[i] < limit or jobs.submit[j] < limit:
        return i < j
    return ranks_before(ranking, jobs, now, i, j)


@verb
def ranks_before(ranking: Ranking, jobs: Jobs, now: int, i: int, j: int) -> bool:
    """Return whether job i precedes job j, for two jobs that do not starve."""
    if comes_first(ranking, jobs, now, i, j):
        return True
    return i < j and not comes_first(ranking, jobs, now, j, i)

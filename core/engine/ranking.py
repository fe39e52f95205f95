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
"""Codes of the rankings: by key; LXF; SXF; WFP3; UNICEF."""

NO_CELLS = np.zeros(0, np.int64)
"""Cells of an order with constant keys, or without keys."""

SMALL = 2**31
"""Products of two numbers below this fit int64."""


class Ranking(NamedTuple):
    """A queue order: its code, a key of each job, and a width of each job for WFP3 and UNICEF.

    cell: the key of the job in each cell of the queue, if keys change with time; else empty.
    """

    code: int
    key: Int64
    width: npt.NDArray[np.float64]
    cell: Int64


class Rankings(NamedTuple):
    """The queue's order, that of backfills, whether the first moves, and whether they differ."""

    queue: Ranking
    backfill: Ranking
    moves: bool
    differ: bool


@verb
def ratio_exceeds(a: int, b: int, c: int, d: int) -> bool:
    """Return whether a / b > c / d, exactly, for a, c >= 0 and b, d > 0."""
    if a < SMALL and b < SMALL and c < SMALL and d < SMALL:
        return a * d > c * b
    # Euclid: compare whole parts, then the reciprocals of the rests; no product, no overflow.
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
    """Return whether waiting job `i` comes strictly before `j`, apart from (submit, position)."""
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
    """Return the lane mask, from place i of two columns on, of jobs that may reach a threshold."""
    if ranking.code == LARGEST_RATIO:
        return ratios_from(submit, estimate, now, i, bar[0], bar[1])
    if ranking.code == SMALLEST_RATIO:
        return ratios_up_to(submit, estimate, now, i, bar[0], bar[1])
    return up_to(ranking.cell, i, bar[0]) if ranking.cell.size > 0 else ALL


@verb
def climbers(ranking: Ranking, submit: Int64, estimate: Int64, i: int, now: int) -> int:
    """Return the lane mask, from place i on, of jobs that may precede their predecessor."""
    if ranking.code == LARGEST_RATIO:
        return as_large(submit, estimate, now, i, i - 1)
    if ranking.code == SMALLEST_RATIO:
        return as_small(submit, estimate, now, i, i - 1)
    return ALL


@verb
def may_have_rivals(
    ranking: Ranking, submit: int, estimate: int, now: int, bar: tuple[int, int]
) -> bool:
    """Return whether jobs that are no older, with no shorter estimate, may reach a threshold."""
    if ranking.code != LARGEST_RATIO:
        return True
    return not ratio_exceeds(bar[0], bar[1], now - submit, max(estimate, 1))


@verb
def block_may_have_rivals(
    ranking: Ranking, queue: Queue, b: int, now: int, bar: tuple[int, int]
) -> bool:
    """Return whether jobs of a block, which wait by submission, may reach a threshold."""
    oldest, shortest = queue.submit[queue.first[b]], queue.least_estimate[b]
    return may_have_rivals(ranking, oldest, shortest, now, bar)


@verb
def goes_before(ranking: Ranking, jobs: Jobs, now: int, limit: int, i: int, j: int) -> bool:
    """Return whether job i goes before job j; a job submitted before `limit` starves."""
    if jobs.submit[i] < limit or jobs.submit[j] < limit:
        return i < j
    return ranks_before(ranking, jobs, now, i, j)


@verb
def ranks_before(ranking: Ranking, jobs: Jobs, now: int, i: int, j: int) -> bool:
    """Return whether job i goes before job j if neither starves."""
    if comes_first(ranking, jobs, now, i, j):
        return True
    return i < j and not comes_first(ranking, jobs, now, j, i)

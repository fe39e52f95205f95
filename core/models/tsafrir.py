"""Tsafrir's model of run time estimates, in which most jobs request one of twenty round values."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.philox import philox

HEAD = 20
"""Number of popular estimates."""

HEAD_SHARE = 0.89
"""Share of the jobs that request a popular estimate."""

HEAD_SIZE = (14.0491, -0.177531, 0.462513)
"""Parameters a, b, c of the share of jobs with the estimate of popularity rank r from 2 to 20: a
e^(b r) + c, in percent."""

TAIL_SIZE = -2.267
"""Exponent e of the share of jobs with an estimate of rank r from 21 on, proportional to r^e."""

TAIL_TIME = (12.1039, -0.6026)
"""Parameters p, q of a = 1 + p K^q for K estimates.

In order of length, estimate k is the part (a - 1) x / (a - x) of the largest estimate, with x = k /
K.
"""

KINDS = (
    (0, 20, 200, 1_000, 10_000, 70_000, 250_000),
    (0, 10, 20, 35, 90, 340, 565),
)
"""Numbers of jobs, and of their different estimates; values in between are interpolated
linearly."""

JOINT = tuple(60 * m for m in (5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 720, 1080))
"""Estimates that are among the 20 most popular in each of the four logs, s."""

ROUND = tuple(60 * m for m in (12_000, 6_000, 3_000, 600, 300, 120, 60, 20, 10, 5))
"""Round values, s; their multiples, by the largest value first, complete the popular estimates."""

RANKS = (
    (3, 1, 4, 17, 13, 7, 8, 18, 2, 6, 16, 10, 5, 15, 14, 19, 11, 12, 9, 20),
    (1, 3, 4, 2, 12, 9, 8, 18, 6, 7, 11, 20, 16, 5, 14, 13, 10, 15, 17, 19),
    (1, 4, 10, 14, 20, 2, 3, 7, 12, 6, 19, 5, 18, 16, 9, 17, 15, 13, 8, 11),
    (1, 6, 5, 3, 7, 2, 18, 19, 4, 11, 20, 9, 10, 14, 13, 16, 15, 17, 8, 12),
)
"""Popularity ranks in the logs of SDSC SP2, CTC SP2, KTH SP2 and SDSC BLUE.

Each row has the ranks of the popular estimates: first of the largest allowed estimate, then of the
others by length.
"""

SHORTEST_LIMIT = 3_600
"""Least limit for which the model is valid, one hour, s."""


def tsafrir(
    run: Int64, max_estimate: int, *, seed: int = 0, index: int = 0, name: str = "tsafrir"
) -> Int64:
    """Draw an estimate for each run time, s, mostly from a few popular round values.

    Twenty popular estimates are requested by 89 % of the jobs. The most popular estimate is the
    largest one that the platform allows. The others are values that are common to four logs of the
    archive, completed with round values. Their ranks are drawn in accordance with these logs. The
    unpopular estimates are whole minutes, mostly short. Each job, from the longest on, gets one of
    the remaining estimates that are not shorter than its run time.

    The parameters and the drawing of ranks and jobs are those of the author's program
    ``m_tsafrir05``. Two details differ. Numbers of jobs are rounded by largest remainders. If there
    are too few long estimates for the long jobs, the remaining jobs request the largest estimate;
    the program refuses this case. The result depends on the whole set of run times.

    References
    ----------
    D. Tsafrir, Y. Etsion, D. G. Feitelson, Modeling user runtime estimates, JSSPP 2005.

    Examples
    --------
    >>> tsafrir(np.array([0, 10, 7200, 90_000]), 64_800).tolist()
    [300, 600, 64800, 64800]
    """
    limit = whole("max_estimate", max_estimate)
    if limit < SHORTEST_LIMIT:
        raise InputError(
            f"max_estimate={max_estimate!r}: Tsafrir's model is of platforms that allow "
            f"{SHORTEST_LIMIT} s or more"
        )
    bits = philox(name, whole("seed", seed), whole("index", index), "tsafrir")
    draw = np.random.Generator(bits)
    times, counts = histogram(run.size, limit, draw)
    asked = np.sort(np.repeat(times, counts))[::-1]
    order = np.argsort(-run, kind="stable")
    longest = np.minimum(run[order], limit)
    asked = np.sort(np.where(asked < longest, limit, asked))[::-1]
    result = np.empty_like(run)
    result[order] = _matched(asked, longest, draw)
    return result


def histogram(jobs: int, limit: int, draw: np.random.Generator) -> tuple[Int64, Int64]:
    """Draw the different estimates, s, the popular ones first, and the number of jobs with each."""
    head = popular(limit)
    ranks = _ranks(draw)
    # A platform with short limits has fewer round values, and lacks the least popular ranks.
    share = _head_sizes()[ranks[ranks <= head.size] - 1]
    share *= HEAD_SHARE / share.sum()
    kinds = int(round(float(np.interp(jobs, *KINDS))))
    tail = _tail_times(limit, kinds - head.size, set(head.tolist()))
    if tail.size:
        rest = draw.permutation(np.arange(HEAD + 1.0, HEAD + 1 + tail.size) ** TAIL_SIZE)
        share = np.concatenate((share, rest * (1 - HEAD_SHARE) / rest.sum()))
    return np.concatenate((head, tail)), _shared_out(jobs, share)


def popular(limit: int) -> Int64:
    """Return the popular estimates, s: the largest allowed one, then the others by length.

    Examples
    --------
    >>> [t // 3600 for t in popular(64_800).tolist() if t >= 3600]
    [18, 1, 2, 3, 4, 5, 6, 8, 10, 12, 13, 14, 15, 16, 17]
    """
    chosen = [t for t in JOINT if t < limit]
    for step in ROUND:
        multiples = range(limit // step * step, 0, -step)
        more = [t for t in multiples if t != limit and t not in chosen]
        chosen += more[: HEAD - 1 - len(chosen)]
    return np.array([limit, *sorted(chosen)], np.int64)


def _head_sizes() -> Float64:
    """Return the share of jobs of each popularity rank; the first rank takes the rest."""
    a, b, c = HEAD_SIZE
    others = (a * np.exp(b * np.arange(2, HEAD + 1)) + c) / 100
    return np.concatenate(([HEAD_SHARE - others.sum()], others))


def _ranks(draw: np.random.Generator) -> Int64:
    """Draw the popularity rank of the popular estimates, in the order of `popular`.

    A rank is due from its latest position in the four logs on. If ranks are due, the most popular
    due rank is taken. Otherwise two ranks are drawn from the ranks of the logs up to this position,
    and the more popular one is taken.
    """
    table = np.array(RANKS)
    latest = {rank: int(np.max(np.nonzero(table == rank)[1])) for rank in range(1, HEAD + 1)}
    taken = [1]
    pool = table[:, 0].tolist()
    for place in range(1, HEAD):
        pool = [rank for rank in [*pool, *table[:, place].tolist()] if rank not in taken]
        due = [rank for rank in latest if latest[rank] <= place and rank not in taken]
        pick = draw.integers(len(pool), size=2)
        taken.append(due[0] if due else min(pool[k] for k in pick))
    return np.array(taken, np.int64)


def _tail_times(limit: int, count: int, head: set[int]) -> Int64:
    """Return up to `count` further estimates, s, in whole minutes; shift equal estimates."""
    if count < 1:
        return np.empty(0, np.int64)
    p, q = TAIL_TIME
    a = 1 + p * (count + HEAD) ** q
    x = np.arange(1, count + 1) / count
    taken, times = set(head), []
    for minute in np.rint((a - 1) * x / (a - x) * limit / 60).astype(np.int64).tolist():
        near = (60 * minute + offset for offset in (0, 30, -30, 20, -20, 10, -10))
        free = next((t for t in near if 0 < t < limit and t not in taken), None)
        if free is not None:
            taken.add(free)
            times.append(free)
    return np.array(times, np.int64)


def _shared_out(jobs: int, share: Float64) -> Int64:
    """Return whole numbers in proportion to the shares; their sum is `jobs`."""
    exact = share / share.sum() * jobs
    count: Int64 = np.floor(exact).astype(np.int64)
    rest = np.argsort(count - exact, kind="stable")[: jobs - int(count.sum())]
    count[rest] += 1
    return count


def _matched(asked: Int64, longest: Int64, draw: np.random.Generator) -> Int64:
    """Return, for each run from the longest on, an unused estimate that is not shorter."""
    enough = np.searchsorted(-asked, -longest, side="right").tolist()
    uniform = draw.random(asked.size).tolist()
    left = asked.tolist()
    for j, end in enumerate(enough):
        k = j + int(uniform[j] * (end - j))
        left[j], left[k] = left[k], left[j]
    return np.array(left, np.int64)

"""Intervals of paired comparisons, corrections for several of them, and ranks over blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from schedfarm.core.arrays import Float64
from schedfarm.core.bootstrap import (
    NO_INTERVAL,
    Block,
    Interval,
    Statistic,
    bootstrap_interval,
    difference,
    estimate,
)

FEW = 5
"""Least number of pairs of a block for a bootstrap interval. With fewer pairs, a bootstrap sample
often has a single value, and so no standard error."""

TAILS = 2.0
"""Widening of an interval of a difference: its length grows by this number divided by the number of
pairs."""

ALIKE = 0.95
"""Correlation of pairs above which intervals on model workloads held the true ratio less often than
their level (docs/comparisons.md, Pairs that are alike)."""


def interval(
    blocks: Sequence[Block],
    statistic: Statistic,
    *,
    level: float,
    key: Sequence[object] = (),
    widened: float = 1.0,
) -> Interval:
    """Return the mean of a statistic over blocks of pairs, with its interval and p value.

    The interval is a bootstrap interval (`core.bootstrap.bootstrap_interval`); if a block has fewer
    than `FEW` pairs, it is Student's. widened: factor of the interval's length. The interval has no
    ends if most pairs of a block have one ratio (`core.bootstrap.estimate`).

    Examples
    --------
    >>> base, other = np.arange(10.0, 20.0)[:, None], np.array([[3.0], [7.0]] * 5)
    >>> [round(x, 2) for x in interval([(base, other)], difference, level=0.9)]
    [-11.8, -9.5, -7.2, 0.0]
    >>> interval([(base, base)], difference, level=0.9)
    Interval(low=nan, value=0.0, high=nan, p=nan)
    """
    least = min((len(base) for base, _ in blocks), default=0)
    if not 2 <= least < FEW:
        return bootstrap_interval(blocks, statistic, level=level, key=key, widened=widened)
    # The import of scipy.stats would take longer than most comparisons.
    from scipy.special import stdtr, stdtrit

    value, error = estimate(blocks, statistic)
    half = float(stdtrit(least - 1, (1 + level) / 2) * error) * widened
    p = float(2 * stdtr(least - 1, -abs(value / error) / widened))
    return Interval(value - half, value, value + half, p)


def difference_interval(
    pairs: Block, *, level: float, key: Sequence[object], widened: float = 1.0
) -> Interval:
    """Return the mean difference of pairs with its interval, from `FEW` pairs on widened by 2 / n.

    Differences have long tails, since samples that are hard under one policy are hard under the
    other. A small sample rarely has one of the largest differences, and its standard error is then
    too small (docs/comparisons.md).
    """
    n = len(pairs[0])
    tails = 1 + TAILS / n if n >= FEW else 1.0
    return interval([pairs], difference, level=level, key=key, widened=tails * widened)


def correlation(pairs: Block) -> float:
    """Return the correlation of the values of both policies over the pairs, at a single load.

    NaN for fewer than `FEW` pairs, or for equal values.

    Examples
    --------
    >>> base = np.array([[1.0], [2.0], [3.0], [4.0], [9.0]])
    >>> correlation((base, 2 * base)), correlation((base[:4], base[:4]))
    (1.0, nan)
    """
    base, other = (values[:, 0] for values in pairs)
    if len(base) < FEW or not np.ptp(base) or not np.ptp(other):
        return np.nan
    return float(np.corrcoef(base, other)[0, 1].round(12))


def better_share(better: int, pairs: int, *, level: float) -> Interval:
    """Return the share of pairs in which a policy is better, with Clopper and Pearson's interval.

    The interval holds the true share with a probability of at least the level. The share of a few
    pairs has few possible values, so no interval has exactly the level at every true share:
    Wilson's interval has 83 to 98 %.

    Examples
    --------
    >>> tuple(round(x, 3) for x in better_share(9, 10, level=0.9)[:3])
    (0.606, 0.9, 0.995)
    """
    if not pairs:
        return NO_INTERVAL
    from scipy.special import bdtr, betaincinv

    tail, worse = (1 - level) / 2, pairs - better
    low = float(betaincinv(better, worse + 1, tail)) if better else 0.0
    high = float(betaincinv(better + 1, worse, 1 - tail)) if worse else 1.0
    p = min(1.0, 2 * float(bdtr(min(better, worse), pairs, 0.5)))
    return Interval(low, better / pairs, high, p)


def holm(p: Float64) -> Float64:
    """Return p values corrected for their number (Holm 1979); NaN remains and does not count.

    Examples
    --------
    >>> holm(np.array([0.04, 0.01, np.nan, 0.03])).tolist()
    [0.06, 0.03, nan, 0.06]
    """
    there = np.flatnonzero(np.isfinite(p))
    order = there[np.argsort(p[there], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected = np.full(p.shape, np.nan)
    corrected[order] = np.maximum.accumulate(factors * p[order]).clip(max=1.0)
    return corrected


def mean_ranks(values: Float64) -> Float64:
    """Return the mean rank of each column over the rows; 1 is the smallest, ties share a mean rank.

    Examples
    --------
    >>> mean_ranks(np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 9.0]])).tolist()
    [2.25, 1.25, 2.5]
    """
    ranks: Float64 = pd.DataFrame(values).rank(axis=1).to_numpy().mean(axis=0)
    return ranks


def critical_difference(policies: int, blocks: int, *, level: float) -> float:
    """Return the least significant difference of mean ranks of two policies (Nemenyi 1963).

    NaN for fewer than two policies or blocks.

    Examples
    --------
    >>> round(critical_difference(4, 10, level=0.95), 2)  # 2.569 sqrt(4 x 5 / 60)
    1.48
    """
    if min(policies, blocks) < 2:
        return np.nan
    from scipy.stats import studentized_range

    q = studentized_range.ppf(level, policies, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(policies * (policies + 1) / (6 * blocks)))

"""Intervals of paired comparisons, corrections for several of them, and ranks over blocks.

A comparison has one block of pairs for each trace. Pairs are the samples of the trace, under the
baseline and under the other policy; the loads of a sample are not independent and stay together.
Blocks are given, not drawn: the estimate is the mean over the blocks, and its variance is that of
the samples within each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from schedfarm.core.arrays import Float64
from schedfarm.core.philox import philox

ROUNDS = 1999
"""Bootstrap resamples of an interval."""

FEW = 5
"""Pairs of a block from which on the interval is a bootstrap; a bootstrap sample of fewer often has
one value alone, and no error."""

AT_ONCE = 2**22
"""Numbers that one step of the bootstrap draws, 32 MiB."""

Block: TypeAlias = tuple[Float64, Float64]
"""Values under the baseline and under the other policy, each float64[pairs, loads]."""

Statistic: TypeAlias = Callable[[Float64, Float64], tuple[Float64, Float64]]
"""Takes values on (..., pairs, loads) to an estimate and the square of its standard error."""


class Interval(NamedTuple):
    """Hold an estimate with its interval.

    low, value, high: in the units of the statistic. p: two-sided, of no difference.
    """

    low: float
    value: float
    high: float
    p: float


NO_INTERVAL = Interval(np.nan, np.nan, np.nan, np.nan)


def difference(base: Float64, other: Float64) -> tuple[Float64, Float64]:
    """Return the mean difference of pairs, and the square of its standard error."""
    return _of_influence((other - base).mean(axis=-1))


def log_ratio(base: Float64, other: Float64) -> tuple[Float64, Float64]:
    """Return the logarithm of the ratio of means, averaged over the loads, and its squared error.

    The error is that of the linearised statistic (delta method).
    """
    means = [values.mean(axis=-2, keepdims=True) for values in (base, other)]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(means[1] / means[0]).mean(axis=(-2, -1))
        influence = (other / means[1] - base / means[0]).mean(axis=-1)
    return value, _of_influence(influence)[1]


def _of_influence(each: Float64) -> tuple[Float64, Float64]:
    n = each.shape[-1]
    return each.mean(axis=-1), each.var(axis=-1, ddof=1) / n


def interval(
    blocks: Sequence[Block], statistic: Statistic, *, level: float, key: Sequence[object] = ()
) -> Interval:
    """Return the mean of a statistic over blocks of pairs, with its interval and p value.

    Parameters
    ----------
    blocks : sequence of Block
        One for each trace, without NaN.
    statistic : callable
        `difference` or `log_ratio`.
    level : float
        Share of such intervals that hold the true value, 0 to 1.
    key : sequence
        Seeds the bootstrap: the same key, the same interval.

    Returns
    -------
    Interval
        Symmetric studentised bootstrap (Hall 1988), or Student's t where a block has fewer than
        `FEW` pairs. With equal tails instead, 86 to 88 % of the 90 % intervals held the true ratio
        of 10 to 40 samples (docs/comparisons.md); symmetric ones 89 to 90 %. NaN where a block has
        fewer than two pairs or the statistic has no value, such as the ratio to a mean of 0.

    Examples
    --------
    >>> base, other = np.arange(10.0, 20.0)[:, None], np.arange(5.0, 15.0)[:, None]
    >>> interval([(base, other)], difference, level=0.9)
    Interval(low=-5.0, value=-5.0, high=-5.0, p=0.0)
    """
    if not blocks or min(len(base) for base, _ in blocks) < 2:
        return NO_INTERVAL
    value, error = _over_blocks([statistic(*block) for block in blocks])
    if not np.isfinite(value + error):
        return NO_INTERVAL
    if error == 0:
        return Interval(float(value), float(value), float(value), float(value == 0))
    least = min(len(base) for base, _ in blocks)
    t = value / error
    if least < FEW:
        from scipy.stats import t as student

        half = float(student.ppf((1 + level) / 2, least - 1) * error)
        p = float(2 * student.sf(abs(t), least - 1))
        return Interval(float(value) - half, float(value), float(value) + half, p)
    drawn = np.abs(_studentised(blocks, statistic, value, key))
    half = float(np.quantile(drawn, level) * error)
    p = float((1 + (drawn >= abs(t)).sum()) / (len(drawn) + 1))
    return Interval(float(value) - half, float(value), float(value) + half, p)


def _over_blocks(found: Sequence[tuple[Float64, Float64]]) -> tuple[Float64, Float64]:
    """Return the mean over blocks, and its standard error."""
    values, squares = (np.stack(column) for column in zip(*found, strict=True))
    return values.mean(axis=0), np.sqrt(squares.sum(axis=0)) / len(values)


def _studentised(
    blocks: Sequence[Block], statistic: Statistic, value: Float64, key: Sequence[object]
) -> Float64:
    """Return the distances of bootstrap estimates from the estimate, in their standard errors."""
    random = np.random.Generator(philox("comparison", *key))
    step = max(1, AT_ONCE // max(base.size for base, _ in blocks))
    found = []
    for first in range(0, ROUNDS, step):
        rounds = min(step, ROUNDS - first)
        drawn = []
        for base, other in blocks:
            pairs = random.integers(0, len(base), (rounds, len(base)))
            drawn.append(statistic(base[pairs], other[pairs]))
        estimates, errors = _over_blocks(drawn)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append((estimates - value) / errors)
    distances = np.concatenate(found)
    # A bootstrap sample of equal pairs has no error: 1 in 625 of five different ones.
    return distances[np.isfinite(distances)]


def better_share(better: int, pairs: int, *, level: float) -> Interval:
    """Return the share of pairs in which a policy is better, with Wilson's interval.

    Examples
    --------
    >>> tuple(round(x, 3) for x in better_share(9, 10, level=0.9)[:3])
    (0.652, 0.9, 0.977)
    """
    if not pairs:
        return NO_INTERVAL
    from scipy.stats import binomtest

    found = binomtest(better, pairs)
    ends = found.proportion_ci(level, method="wilson")
    return Interval(float(ends.low), better / pairs, float(ends.high), float(found.pvalue))


def holm(p: Float64) -> Float64:
    """Return p values corrected for their number (Holm 1979); NaN stays and does not count.

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
    """Return the mean rank of each column over the rows, 1 the smallest, ties the mean rank.

    Examples
    --------
    >>> mean_ranks(np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 9.0]])).tolist()
    [2.25, 1.25, 2.5]
    """
    from scipy.stats import rankdata

    ranks: Float64 = rankdata(values, axis=1).mean(axis=0)
    return ranks


def critical_difference(policies: int, blocks: int, *, level: float) -> float:
    """Return the difference of mean ranks beyond which two policies differ (Nemenyi 1963).

    NaN of fewer than two policies or blocks.

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

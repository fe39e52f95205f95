"""Bootstrap intervals of paired policies, for comparisons and for the stopping of campaigns.

There is one block of pairs for each trace. Pairs are the samples of the trace, under a baseline and
under another policy; the loads of a sample are not independent and stay together. Blocks are fixed,
not resampled: the estimate is the mean over the blocks, and its variance is that of the samples
within each block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from schedfarm.core.arrays import Float64
from schedfarm.core.philox import philox

ROUNDS = 1999
"""Bootstrap resamples of an interval."""

AT_ONCE = 2**22
"""Numbers that one step of the bootstrap draws, 32 MiB."""

STOPPED, STOPPED_PAIRS = 6.0, 75
"""An interval that ends the sampling is longer by this number over its pairs, of which it counts at
least the second: 8 %, and 6 % of 100 pairs (docs/comparisons.md, Coverage)."""

Block: TypeAlias = tuple[Float64, Float64]
"""Values under the baseline and under the other policy, each float64[pairs, loads]."""

Statistic: TypeAlias = Callable[[Float64, Float64], tuple[Float64, Float64]]
"""Takes values on (..., pairs, loads) to an estimate and the square of its standard error."""


class Interval(NamedTuple):
    """Hold an estimate with its interval.

    low, value, high: in the units of the statistic. p: two-sided p-value of no difference. low,
    high and p are NaN for an estimate without an interval.
    """

    low: float
    value: float
    high: float
    p: float


NO_INTERVAL = Interval(np.nan, np.nan, np.nan, np.nan)

RATIO_DIGITS = 9
"""Decimals to which ratios of pairs that count as one ratio agree: the others are rounding."""


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


def over_blocks(found: Sequence[tuple[Float64, Float64]]) -> tuple[Float64, Float64]:
    """Return the mean over blocks, and its standard error."""
    values, squares = (np.stack(column) for column in zip(*found, strict=True))
    return values.mean(axis=0), np.sqrt(squares.sum(axis=0)) / len(values)


def bootstrap_interval(
    blocks: Sequence[Block],
    statistic: Statistic,
    *,
    level: float,
    key: Sequence[object],
    widened: float = 1.0,
) -> Interval:
    """Return the mean of a statistic over blocks of pairs, with its symmetric interval (Hall 1988).

    With equal tails instead, 86 to 88 % of the 90 % intervals held the true ratio of 10 to 40
    samples; symmetric ones 89 to 90 %. The same key gives the same interval.
    """
    value, error = estimate(blocks, statistic)
    if not np.isfinite(error):
        return Interval(np.nan, value, np.nan, np.nan)
    drawn = widened * np.abs(_studentised(blocks, statistic, value, key))
    half = float(np.quantile(drawn, level) * error)
    p = float((1 + (drawn >= abs(value / error)).sum()) / (len(drawn) + 1))
    return Interval(value - half, value, value + half, p)


def estimate(blocks: Sequence[Block], statistic: Statistic) -> tuple[float, float]:
    """Return the mean of a statistic over blocks, and its standard error.

    Both are NaN where a block has fewer than two pairs or the statistic has no value, such as the
    ratio to a mean of 0. The error is NaN if there can be no interval: if most pairs of a block
    have one ratio, the rarer ones decide the mean, and too few of them are known. Of pairs of
    medians, two thirds of them equal, 54 to 82 % of the 90 % intervals held the true ratio. The
    error is larger where few pairs dominate the means (`dominance`).
    """
    if not blocks or min(len(base) for base, _ in blocks) < 2:
        return np.nan, np.nan
    found = [statistic(*block) for block in blocks]
    value, error = (float(x) for x in over_blocks(found))
    if not np.isfinite(value + error):
        return np.nan, np.nan
    if error == 0 or any(map(mostly_alike, blocks)):
        return value, np.nan
    factors = [dominance(block) for block in blocks]
    each = [(x, square * by) for (x, square), by in zip(found, factors, strict=True)]
    return value, float(over_blocks(each)[1])


def dominance(pairs: Block) -> float:
    """Return the factor of the squared error of pairs of which a few large ones hide the variation.

    A ratio of means is nearly that of its largest pairs, which therefore deviate little from it. If
    the smaller pairs have other ratios, so may the next large one. The error is at least that of
    pairs whose ratios vary as much at any size: of each pair, from the ratio of the other pairs.
    Without the factor, 81 to 88 % of the 90 % intervals of Jann's bounded slowdown held the true
    ratio. At least 1.

    Examples
    --------
    >>> base = np.array([[1.0], [2.0], [3.0], [4.0], [90.0]])
    >>> vary = np.array([[1.2], [0.9], [0.5], [1.1], [0.8]])
    >>> [round(dominance((of, vary * of)), 2) for of in (base, np.full((5, 1), 20.0))]
    [39.31, 1.65]
    """
    base, other = pairs
    rest = [values.sum(axis=0) - values for values in pairs]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.abs(other * rest[0]), np.abs(base * rest[1])
        apart = 2 * (other * rest[0] - base * rest[1]) / (parts[0] + parts[1])
        size = (base / base.mean(axis=0) + other / other.mean(axis=0)).mean(axis=1) / 2
        # Pairs of 0 under both policies have one ratio.
        squares = np.nan_to_num(apart).mean(axis=1) ** 2
        each = (size * squares).mean() * (size**2).mean() / (len(base) - 1)
        factor = each / log_ratio(base, other)[1]
    return max(1.0, float(factor)) if np.isfinite(factor) else 1.0


def mostly_alike(pairs: Block) -> bool:
    """Return whether more than half of the pairs have one ratio, usually 1.

    Examples
    --------
    >>> base = np.array([[1.0], [1.0], [2.0], [5.0]])
    >>> mostly_alike((base, base + [[0], [0], [1], [1]])), mostly_alike((base, 3 * base))
    (False, True)
    """
    return 2 * differing(pairs) < len(pairs[0])


def differing(pairs: Block) -> int:
    """Return the number of pairs that have another ratio than the commonest, at any load."""
    base, other = pairs
    with np.errstate(divide="ignore"):
        ratios = np.where(base == other, 1.0, other / np.where(base == other, 1.0, base))
    _, count = np.unique(ratios.round(RATIO_DIGITS), axis=0, return_counts=True)
    return len(base) - int(count.max())


def ratio_interval(
    pairs: Block, cell: tuple[str, str, str, str], *, level: float, stopped: bool
) -> Interval:
    """Return the interval of the log ratio of one metric, trace, load and policy.

    It is the same in the stopping rule of a campaign and in a comparison. stopped: whether sampling
    ended because it was short enough.
    """
    widened = stopped_widening(len(pairs[0])) if stopped else 1.0
    return bootstrap_interval(
        [pairs], log_ratio, level=level, key=("ratio", *cell), widened=widened
    )


def stopped_widening(pairs: int) -> float:
    """Return the factor by which an interval is longer if it decided when sampling ends.

    The samples of such an interval vary less than others by chance.

    Examples
    --------
    >>> [round(stopped_widening(n), 3) for n in (20, 100, 1000)]
    [1.08, 1.06, 1.006]
    """
    return 1 + STOPPED / max(pairs, STOPPED_PAIRS)


def _studentised(
    blocks: Sequence[Block], statistic: Statistic, value: float, key: Sequence[object]
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
        estimates, errors = over_blocks(drawn)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append((estimates - value) / errors)
    distances = np.concatenate(found)
    # A bootstrap sample of equal pairs has no error: 1 in 625 of five different ones.
    return distances[np.isfinite(distances)]

"""Bootstrap intervals of paired policies, for comparisons and for stopping rules of campaigns.

Each trace has one block of pairs. A pair is a sample of the trace, under a baseline and under
another policy. The loads of a sample are not independent, and are resampled together. Blocks are
fixed, not resampled: the estimate is the mean over the blocks, and its variance comes from the
samples within each block.
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
"""Constants of `stopped_widening`: an interval that ends the sampling is longer by the fraction
STOPPED / max(pairs, STOPPED_PAIRS). This is 8 % up to 75 pairs, and 6 % for 100 pairs
(docs/comparisons.md, Coverage)."""

Block: TypeAlias = tuple[Float64, Float64]
"""Values under the baseline and under the other policy, each float64[pairs, loads]."""

Statistic: TypeAlias = Callable[[Float64, Float64], tuple[Float64, Float64]]
"""Function from values (..., pairs, loads) to an estimate and the square of its standard error."""


class Interval(NamedTuple):
    """Hold an estimate with its interval.

    low, value, high: in the units of the statistic. p: two-sided p-value for the hypothesis of no
    difference. low, high and p are NaN if the estimate has no interval.
    """

    low: float
    value: float
    high: float
    p: float


NO_INTERVAL = Interval(np.nan, np.nan, np.nan, np.nan)

RATIO_DIGITS = 9
"""Number of decimals for the comparison of ratios: further decimals are rounding errors."""


def difference(base: Float64, other: Float64) -> tuple[Float64, Float64]:
    """Return the mean difference of pairs, and the square of its standard error."""
    return _of_influence((other - base).mean(axis=-1))


def log_ratio(base: Float64, other: Float64) -> tuple[Float64, Float64]:
    """Return the log ratio of means, averaged over the loads, and its squared standard error.

    The error is the error of the linearised statistic (delta method).
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

    Symmetric 90 % intervals from 10 to 40 samples contained the true ratio in 89 to 90 % of cases,
    intervals with equal tails in 86 to 88 %. The same key gives the same interval.
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

    Both are NaN if a block has fewer than two pairs, or if the statistic has no value, such as the
    ratio to a mean of 0. Only the error is NaN if most pairs of a block have the same ratio: the
    other pairs decide the mean, and are too few for an interval. With pairs of medians, two thirds
    of them equal, only 54 to 82 % of the 90 % intervals contained the true ratio. The error is
    larger if few pairs dominate the means (`dominance`).
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
    """Return the factor, at least 1, that corrects the squared error for a few dominant pairs.

    A few large pairs nearly determine the ratio of means, and therefore deviate little from it. But
    if the ratios of the smaller pairs vary, the ratio of a further large pair may vary as much. So
    the corrected error assumes that ratios vary equally at any size. The variation is measured
    between each pair and the ratio of the other pairs. Without the factor, 81 to 88 % of the 90 %
    intervals of Jann's bounded slowdown contained the true ratio.

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
        # A pair with 0 under both policies has the common ratio.
        squares = np.nan_to_num(apart).mean(axis=1) ** 2
        each = (size * squares).mean() * (size**2).mean() / (len(base) - 1)
        factor = each / log_ratio(base, other)[1]
    return max(1.0, float(factor)) if np.isfinite(factor) else 1.0


def mostly_alike(pairs: Block) -> bool:
    """Return whether more than half of the pairs have the same ratio, which is usually 1.

    Examples
    --------
    >>> base = np.array([[1.0], [1.0], [2.0], [5.0]])
    >>> mostly_alike((base, base + [[0], [0], [1], [1]])), mostly_alike((base, 3 * base))
    (False, True)
    """
    return 2 * differing(pairs) < len(pairs[0])


def differing(pairs: Block) -> int:
    """Return the number of pairs whose ratio at any load differs from the commonest ratio."""
    base, other = pairs
    with np.errstate(divide="ignore"):
        ratios = np.where(base == other, 1.0, other / np.where(base == other, 1.0, base))
    _, count = np.unique(ratios.round(RATIO_DIGITS), axis=0, return_counts=True)
    return len(base) - int(count.max())


def ratio_interval(
    pairs: Block, cell: tuple[str, str, str, str], *, level: float, stopped: bool
) -> Interval:
    """Return the interval of the log ratio of one metric, trace, load and policy.

    The stopping rule of a campaign and a comparison use the same interval. stopped: whether
    sampling ended because the interval was short enough.
    """
    widened = stopped_widening(len(pairs[0])) if stopped else 1.0
    return bootstrap_interval(
        [pairs], log_ratio, level=level, key=("ratio", *cell), widened=widened
    )


def stopped_widening(pairs: int) -> float:
    """Return the factor for the length of an interval that ended the sampling.

    Sampling tends to end when the samples happen to vary little, so the interval is too short.

    Examples
    --------
    >>> [round(stopped_widening(n), 3) for n in (20, 100, 1000)]
    [1.08, 1.06, 1.006]
    """
    return 1 + STOPPED / max(pairs, STOPPED_PAIRS)


def _studentised(
    blocks: Sequence[Block], statistic: Statistic, value: float, key: Sequence[object]
) -> Float64:
    """Return each bootstrap estimate minus the estimate, in units of its standard error."""
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
    # A bootstrap sample that repeats one pair has no error: 1 in 625 samples of five pairs.
    return distances[np.isfinite(distances)]

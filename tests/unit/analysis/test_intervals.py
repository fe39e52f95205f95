"""Intervals of paired comparisons against SciPy's, and where there is no interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from schedfarm.analysis.intervals import (
    FEW,
    better_share,
    critical_difference,
    difference_interval,
    holm,
    interval,
    mean_ranks,
)
from schedfarm.core.bootstrap import (
    Statistic,
    difference,
    dominance,
    estimate,
    log_ratio,
    stopped_widening,
)

BASE = np.array([14.0, 9.0, 30.0, 11.0, 17.0, 8.0, 21.0, 12.0, 19.0, 10.0])
OTHER = np.array([11.0, 9.5, 22.0, 7.0, 15.0, 7.0, 16.0, 12.5, 13.0, 9.0])


def block(n: int) -> tuple[np.ndarray, np.ndarray]:
    return BASE[:n, None], OTHER[:n, None]


def longer(n: int) -> float:
    """Return the factor of the length that the sizes of the pairs make."""
    return float(np.sqrt(dominance(block(n))))


def test_below_five_pairs__it_is_students_interval() -> None:
    found = interval([block(FEW - 1)], difference, level=0.9)
    test = stats.ttest_rel(OTHER[: FEW - 1], BASE[: FEW - 1])
    low, high = test.confidence_interval(0.9)
    value, half = (low + high) / 2, (high - low) / 2 * longer(FEW - 1)
    p = 2 * stats.t.sf(abs(test.statistic) / longer(FEW - 1), FEW - 2)
    assert found == pytest.approx((value - half, value, value + half, p))


def test_the_factor_of_pairs_that_dominate__by_hand() -> None:
    """The formula of docs/comparisons.md, pair by pair."""
    for n in (2, 5, 10):
        base, other = BASE[:n].tolist(), OTHER[:n].tolist()
        sizes, apart, error = [], [], 0.0
        for i in range(n):
            size = [x[i] / (sum(x) / n) for x in (base, other)]
            sizes.append(sum(size) / 2)
            error += (size[1] - size[0]) ** 2
            rest = [x[i] / (sum(x) - x[i]) for x in (base, other)]
            apart.append(2 * (rest[1] - rest[0]) / (rest[1] + rest[0]))
        weighted = sum(a * r**2 for a, r in zip(sizes, apart, strict=True)) / n
        expected = weighted * sum(a**2 for a in sizes) / error
        assert expected > 1
        assert dominance(block(n)) == pytest.approx(expected)


def test_one_pair_dominates__the_interval_holds_the_ratio_of_the_others() -> None:
    """A pair of 1,000 times the size has the ratio of the means, whatever the other ratios are."""
    tall = BASE[:, None].copy(), OTHER[:, None].copy()
    for values in tall:
        values[0] *= 1000
    found = interval([tall], log_ratio, level=0.9)
    assert found.value == pytest.approx(np.log(OTHER[0] / BASE[0]), abs=0.01)
    # The ratio of the other pairs is 50 plain errors away, and not beyond the interval.
    others = np.log(OTHER[1:].sum() / BASE[1:].sum())
    assert abs(found.value - others) > 50 * np.sqrt(log_ratio(*tall)[1])
    assert found.low < others < found.high


@pytest.mark.parametrize("statistic", [log_ratio, difference])
def test_larger_pairs_that_differ_more__no_factor(statistic: Statistic) -> None:
    """The plain error has what the largest pairs show: no shorter, and no longer."""
    base = np.arange(1.0, 21.0)[:, None]
    other = base * np.where(np.arange(20) < 16, 1 + np.arange(20) / 1000, [0.4, 1.9] * 10)[:, None]
    assert dominance((base, other)) == 1
    found = interval([(base, other)], statistic, level=0.9)
    assert found.low < found.value < found.high


def test_the_bootstrap_is_scipys__within_its_own_noise() -> None:
    """SciPy has no studentised bootstrap of a paired difference: its quantiles, by hand."""
    found = interval([block(10)], difference, level=0.9)
    each = OTHER - BASE
    error = each.std(ddof=1) / np.sqrt(10)
    random = np.random.default_rng(5)
    drawn = each[random.integers(0, 10, (40_000, 10))]
    t = (drawn.mean(axis=1) - each.mean()) / (drawn.std(axis=1, ddof=1) / np.sqrt(10))
    half = np.quantile(np.abs(t), 0.9) * error * longer(10)
    assert found.value == each.mean()
    assert found.high - found.value == pytest.approx(half, rel=0.05)
    assert found.value - found.low == pytest.approx(half, rel=0.05)
    share = (np.abs(t) >= np.abs(each.mean()) / error / longer(10)).mean()
    # Three standard errors of 1,999 rounds.
    assert found.p == pytest.approx(share, abs=0.01)


def test_a_difference__is_widened_where_it_is_a_bootstrap() -> None:
    key = ("difference", "wait")
    plain, wide = (
        interval([block(10)], difference, level=0.9, key=key),
        difference_interval(block(10), level=0.9, key=key),
    )
    assert wide.value == plain.value
    assert wide.high - wide.value == pytest.approx(1.2 * (plain.high - plain.value))
    assert wide.p >= plain.p
    few = block(FEW - 1)
    students = interval([few], difference, level=0.9)
    assert difference_interval(few, level=0.9, key=key) == students


def test_an_interval_that_ended_the_sampling__is_longer_about_the_same_value() -> None:
    plain, wide = (
        interval([block(10)], log_ratio, level=0.9, key=(1,), widened=factor)
        for factor in (1.0, stopped_widening(10))
    )
    assert wide.value == plain.value
    assert wide.high - wide.low == pytest.approx(1.08 * (plain.high - plain.low))
    few = [interval([block(3)], log_ratio, level=0.9, widened=factor) for factor in (1.0, 1.08)]
    assert few[1].high - few[1].low == pytest.approx(1.08 * (few[0].high - few[0].low))
    assert few[1].p > few[0].p


def test_a_ratio_of_means() -> None:
    found = interval([block(10)], log_ratio, level=0.9)
    assert found.value == pytest.approx(np.log(OTHER.mean() / BASE.mean()))
    assert found.low < found.value < found.high < 0
    # The scale of a policy's numbers moves the ratio and nothing else.
    scaled = interval([(BASE[:, None], 3 * OTHER[:, None])], log_ratio, level=0.9)
    assert scaled[:3] == pytest.approx([x + np.log(3) for x in found[:3]])


def test_several_blocks__traces_count_alike_whatever_their_samples() -> None:
    small = (BASE[:9, None] / 100, OTHER[:9, None] / 50)
    found = interval([block(10), small], log_ratio, level=0.9)
    each = [interval([one], log_ratio, level=0.9).value for one in (block(10), small)]
    assert found.value == pytest.approx(np.mean(each))


def test_loads_of_a_sample_stay_together() -> None:
    """The same numbers at a second load are no second sample: the interval is as wide as before."""
    once = interval([block(10)], log_ratio, level=0.9, key=(1,))
    twice = tuple(np.repeat(column, 2, axis=1) for column in block(10))
    both = interval([(twice[0], twice[1])], log_ratio, level=0.9, key=(1,))
    assert both == pytest.approx(once)


def test_the_same_key_gives_the_same_interval() -> None:
    first = interval([block(10)], log_ratio, level=0.9, key=("wait", "KTH"))
    assert interval([block(10)], log_ratio, level=0.9, key=("wait", "KTH")) == first
    assert interval([block(10)], log_ratio, level=0.9, key=("wait", "CTC")) != first


@pytest.mark.parametrize(
    "blocks",
    [[], [block(1)], [block(10), block(1)], [(np.zeros((9, 1)), OTHER[:9, None])]],
    ids=["no trace", "one pair", "one pair in one trace", "a mean of 0"],
)
def test_no_interval(blocks: list[tuple[np.ndarray, np.ndarray]]) -> None:
    assert np.isnan(interval(blocks, log_ratio, level=0.9)).all()


@pytest.mark.parametrize("pairs", [3, 4, 9])
@pytest.mark.parametrize("statistic", [log_ratio, difference])
def test_pairs_mostly_of_one_ratio__a_value_without_interval(
    pairs: int, statistic: Statistic
) -> None:
    """The rarer ones decide: their number and size are unknown. Half of them is enough."""
    base, others = BASE[:pairs, None], (pairs - 1) // 2
    other = 0.8 * base
    other[:others] *= 0.5
    found = interval([(base, other)], statistic, level=0.9)
    assert found.value == statistic(base, other)[0]
    assert np.isnan([found.low, found.high, found.p]).all()
    other[others] *= 0.7
    assert np.isfinite(interval([(base, other)], statistic, level=0.9)).all()


def test_pairs_mostly_of_one_ratio_in_one_trace__no_interval_over_all() -> None:
    same = (BASE[:, None], BASE[:, None])
    found = interval([block(10), same], log_ratio, level=0.9)
    assert np.isfinite(found.value)
    assert np.isnan(found.low)


def test_values_of_zero_under_both__are_equal() -> None:
    base = np.zeros((9, 1))
    base[:4] = BASE[:4, None]
    assert np.isnan(interval([(base, 2 * base)], difference, level=0.9).low)


def test_clopper_pearson_and_critical_difference() -> None:
    """Table 5 of Demsar 2006 has q(0.05) = 2.343 for three classifiers, 2.569 for four."""
    # Below the lower end, 9 or more of 10 have less than 5 %; above the upper end, 9 or fewer.
    low, share, high, _ = better_share(9, 10, level=0.9)
    assert stats.binom.sf(8, 10, low) == pytest.approx(0.05)
    assert stats.binom.cdf(9, 10, high) == pytest.approx(0.05)
    assert share == 0.9
    assert np.isnan(better_share(0, 0, level=0.9)).all()
    assert critical_difference(3, 10, level=0.95) == pytest.approx(
        2.343 * np.sqrt(12 / 60), abs=1e-3
    )
    assert np.isnan(critical_difference(3, 1, level=0.9))


def test_holm__never_below_a_smaller_one() -> None:
    """The example of Holm 1979 in other numbers: 0.01, 0.02, 0.03, 0.04 become 0.04 to 0.06."""
    assert holm(np.array([0.01, 0.04, 0.03, 0.02])) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_shares_students_intervals_and_ranks_are_those_of_scipy(level: float) -> None:
    """Of all shares of up to 30 pairs, and of two to four pairs."""
    for pairs in range(1, 31):
        for better in range(pairs + 1):
            test = stats.binomtest(better, pairs)
            low, high = test.proportion_ci(level, method="exact")
            found = better_share(better, pairs, level=level)
            assert found == pytest.approx((low, better / pairs, high, test.pvalue), abs=1e-10)
    for pairs in range(2, FEW):
        value, error = estimate([block(pairs)], difference)
        low, high = stats.t.interval(level, pairs - 1, value, error)
        p = 2 * stats.t.sf(abs(value / error), pairs - 1)
        found = interval([block(pairs)], difference, level=level)
        assert found == pytest.approx((low, value, high, p))
    values = np.array([[3.0, 1.0, 3.0, 2.0], [5.0, 5.0, 5.0, 1.0]])
    assert mean_ranks(values).tolist() == stats.rankdata(values, axis=1).mean(axis=0).tolist()

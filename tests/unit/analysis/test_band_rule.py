"""How samples become a band, on plain arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri

from schedfarm.analysis.band_rule import (
    Automatic,
    BandRule,
    Interval,
    Quantiles,
    Range,
    Trimmed,
    kept,
    left_out,
    low_mean_high,
    quantiles,
)


def test_left_out() -> None:
    """ceil((n - 1) x trim) samples go on each side."""
    rows = [
        (0, 0.1, 0),
        (1, 0.1, 0),
        (2, 0.1, 1),
        (10, 0.1, 1),  # the published rule
        (11, 0.1, 1),
        (12, 0.1, 2),
        (71, 0.1, 7),  # 70 x 0.1 is above 7 in binary
        (100, 0.1, 10),
        (10, 0.0, 0),
        (9, 0.25, 2),
    ]
    assert [(n, trim, int(left_out(n, trim))) for n, trim, _ in rows] == rows


@given(
    st.lists(st.integers(-5, 5) | st.just(None), min_size=1, max_size=30),
    st.sampled_from([0.0, 0.1, 0.25, 0.4]),
)
def test_kept_is_what_sorting_keeps(samples: list[int | None], trim: float) -> None:
    """The kept samples are a sorted list without its ends, whatever the ties and gaps."""
    values = np.array([np.nan if x is None else x for x in samples], dtype=np.float64)
    there = sorted(x for x in samples if x is not None)
    k = int(left_out(len(there), trim))
    assert sorted(values[kept(values, trim)].tolist()) == there[k : len(there) - k]


def test_ties_go_by_place() -> None:
    """Of equal samples the first counts as lowest, the last as highest."""
    assert kept(np.array([4.0, 4.0, 4.0, 4.0]), 0.1).tolist() == [False, True, True, False]


def test_a_lone_sample_has_no_band() -> None:
    """One sample would give a band of no width, which would look like certainty."""
    assert np.isnan(low_mean_high(np.array([np.nan, 3.0]))).all()
    assert np.isnan(quantiles(np.array([[np.nan, 3.0], [np.nan, np.nan]]), [0.1, 0.9])).all()


@pytest.mark.filterwarnings("error")
def test_no_samples_or_no_cells_have_no_band() -> None:
    """Nothing is reduced, and nothing warned of."""
    for rule in (Trimmed(), Quantiles(), Range(), Interval()):
        for shape in ((0,), (3, 0), (0, 5)):
            band = rule.reduce(np.empty(shape))
            assert band.shape == (*shape[:-1], 3), (rule, shape)
            assert np.isnan(band).all(), (rule, shape)


def test_equal_samples_give_a_band_without_width() -> None:
    """Summing must not push the mean outside of low and high."""
    assert low_mean_high(np.full(3, 0.1)).tolist() == [0.1, 0.1, 0.1]


def test_need_is_the_least_that_leaves_two() -> None:
    """A band exists from `need` samples on and not before."""
    needs: list[tuple[BandRule, int]] = [
        (Trimmed(), 4),
        (Trimmed(trim=0), 2),
        (Trimmed(trim=0.4), 6),
        (Quantiles(), 2),
        (Range(), 2),
        (Interval(), 2),
    ]
    for rule, need in needs:
        assert rule.need == need, rule
        assert np.isfinite(rule.reduce(np.arange(float(need)))).all(), rule
        assert np.isnan(rule.reduce(np.arange(float(need - 1)))).all(), rule


@pytest.mark.parametrize(
    ("rule", "n", "said", "share"),
    [
        (Trimmed(), 10, "2 to 9 of 10", 7 / 11),  # 63.6 %, not 80 %
        (Trimmed(), 100, "11 to 90 of 100", 79 / 101),
        (Range(), 4, "1 to 4 of 4", 3 / 5),
        (Quantiles(), 10, "1.9 to 9.1 of 10", 7.2 / 11),
        (Quantiles([0.5, 1]), 9, "5 to 9 of 9", 4 / 10),
    ],
)
def test_a_band_holds_what_order_statistics_hold(
    rule: BandRule, n: int, said: str, share: float
) -> None:
    """Samples i to k of n hold (k - i) / (n + 1) of the population in expectation: measured, too.

    The standard error of the measured mean is below 0.003.
    """
    assert rule.attrs(n)["samples"] == said
    assert float(rule.coverage(n)) == rule.attrs(n)["coverage"] == pytest.approx(share)
    drawn = rule.reduce(np.random.default_rng(7).random((4_000, n)))
    assert (drawn[:, -1] - drawn[:, 0]).mean() == pytest.approx(share, abs=0.01)
    about = "about " if "." in said else ""
    assert f"samples {said}, which hold {about}{100 * share:.1f} % of all" in rule.describe(n)
    assert f"samples {said}, which hold {about}{100 * share:.1f} % of all" in rule.caption(n, n)


@pytest.mark.parametrize("rule", [Trimmed(), Range(), Quantiles(), Quantiles([0.0, 1.0])])
def test_a_share_without_about_is_the_same_for_every_distribution(rule: BandRule) -> None:
    """Uniform samples, and their images under the quantile functions of two skewed distributions.

    Standard errors are below 0.001. An image of uniform samples holds the share between the
    preimages of its ends.
    """
    uniform = np.random.default_rng(11).random((40_000, 10))
    ends = [
        rule.reduce(uniform),
        -np.expm1(-rule.reduce(-np.log1p(-uniform))),  # exponential
        ndtr(np.log(rule.reduce(np.exp(2 * ndtri(uniform)))) / 2),  # lognormal, sigma 2
    ]
    held = [float((end[:, -1] - end[:, 0]).mean()) for end in ends]
    assert held[0] == pytest.approx(float(rule.coverage(10)), abs=0.003)
    if "about" in rule.describe(10):
        assert held[1:] == pytest.approx([0.661, 0.672], abs=0.003)
    else:
        assert held[1:] == pytest.approx([held[0]] * 2, abs=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_an_interval_holds_the_mean_as_often_as_its_level_says(level: float) -> None:
    """Of intervals of 40 normal samples that share holds the mean: a band would not."""
    random = np.random.default_rng(3)
    low, _, high = np.moveaxis(Interval(level).reduce(random.normal(5, 2, (4_000, 40))), -1, 0)
    assert ((low < 5) & (high > 5)).mean() == pytest.approx(level, abs=0.03)
    rule = Interval(level)
    assert f"{100 * level:g} % interval" in rule.describe(5)
    assert f"{100 * level:g} % interval" in rule.caption(5, 5)
    assert np.isnan(float(rule.coverage(5)))


def test_automatic_is_trimmed_from_ten_samples_on() -> None:
    """Below ten, a band of all samples; explicit kinds stay what they are."""
    assert [Automatic(0.2).fitting(n) for n in (2, 9, 10, 90)] == [
        Range(),
        Range(),
        Trimmed(0.2),
        Trimmed(0.2),
    ]
    assert Trimmed().fitting(4) == Trimmed()


def test_ranks_are_of_bands_alone() -> None:
    """Too few samples have neither ranks nor a share."""
    first, last = Trimmed().ranks([3, 4, 10])
    assert np.isnan([first[0], last[0]]).all()
    assert (first[1:].tolist(), last[1:].tolist()) == ([2, 2], [3, 9])
    assert np.isnan(Range().coverage([0, 1])).all()


@given(
    st.lists(st.integers(0, 999) | st.just(None), min_size=5, max_size=25).filter(
        lambda few: len({*few} - {None}) > 2
    )
)
def test_the_ends_of_a_mean_are_students_quantiles_after_halls_polynomial(
    samples: list[int | None],
) -> None:
    """Hall 1992, with SciPy's skewness: w + a w^2 / 3 + a^2 w^3 / 27 + a / 6n at either end."""
    there = np.array([x for x in samples if x is not None], dtype=np.float64)
    n = there.size
    values = np.array([np.nan if x is None else x for x in samples], dtype=np.float64)
    low, mean, high = Interval(0.8).reduce(values)
    assert mean == pytest.approx(there.mean())
    if max(np.unique(there, return_counts=True)[1]) > n / 2:
        assert np.isnan([low, high]).all()
        return
    a = stats.skew(there, bias=False)
    for end, quantile in ((low, 0.9), (high, 0.1)):
        w = (mean - end) / there.std(ddof=1)
        transformed = w + a * w**2 / 3 + a**2 * w**3 / 27 + a / (6 * n)
        expected = stats.t(n - 1).ppf(quantile) * (1 + 0.5 / n)
        assert np.sqrt(n) * transformed == pytest.approx(expected, abs=1e-6)


def test_symmetric_samples_have_students_interval() -> None:
    """Without skewness the transformation is the identity."""
    values = np.array([1.0, 2.0, 4.0, 5.0, 7.0, 8.0])
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    found = Interval().reduce(values)
    assert found - values.mean() == pytest.approx(
        (1 + 0.5 / 6) * (np.array([low, values.mean(), high]) - values.mean())
    )


def test_skewed_samples__the_interval_holds_the_mean_as_often() -> None:
    """Exponential samples, ten of which Student's interval holds in 85 % of the cases."""
    low, _, high = np.moveaxis(
        Interval().reduce(np.random.default_rng(3).exponential(size=(20_000, 10))), -1, 0
    )
    assert 0.88 < ((low < 1) & (high > 1)).mean() < 0.92

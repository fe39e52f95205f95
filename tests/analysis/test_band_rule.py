"""How samples become a band, on plain arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.band_rule import (
    BandRule,
    Quantiles,
    Trimmed,
    kept,
    left_out,
    low_mean_high,
    quantiles,
)


@pytest.mark.parametrize(
    ("n", "trim", "each_side"),
    [
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
    ],
)
def test_left_out(n: int, trim: float, each_side: int) -> None:
    """ceil((n - 1) x trim) samples go on each side."""
    assert int(left_out(n, trim)) == each_side


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


def test_equal_samples_give_a_band_without_width() -> None:
    """Summing must not push the mean outside of low and high."""
    assert low_mean_high(np.full(3, 0.1)).tolist() == [0.1, 0.1, 0.1]


@pytest.mark.parametrize(
    ("rule", "need"),
    [(Trimmed(), 4), (Trimmed(trim=0), 2), (Trimmed(trim=0.4), 6), (Quantiles(), 2)],
)
def test_need_is_the_least_that_leaves_two(rule: BandRule, need: int) -> None:
    """A band exists from `need` samples on and not before."""
    assert rule.need == need
    assert np.isfinite(rule.reduce(np.arange(float(need)))).all()
    assert np.isnan(rule.reduce(np.arange(float(need - 1)))).all()

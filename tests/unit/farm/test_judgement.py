"""Errors of a site's mean waits over periods, with their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from schedfarm.farm.site.judgement import FEWEST, Range, by_week, ratio_over_periods

REAL = np.array([90.0, 10.0, 40.0, 300.0, 25.0, 60.0])
APART = np.array([9.0, 4.0, 2.0, 120.0, 5.0, 6.0])


def test_the_interval_is_students_of_the_logarithm__and_longer() -> None:
    """The error of a ratio of sums is that of its linearisation: jackknife values agree with it."""
    found = ratio_over_periods(APART, REAL)
    value, n = APART.sum() / REAL.sum(), len(REAL)
    apart = APART / value - REAL
    error = apart.std(ddof=1) / np.sqrt(n) / REAL.mean()
    half = (1.7 + 2 / n) * stats.t(n - 1).ppf(0.95) * error
    assert found.low is not None
    assert found.high is not None
    assert np.log([found.low, found.value, found.high]) == pytest.approx(
        np.log(value) + np.array([-half, 0, half])
    )


def test_few_periods_with_waits__no_interval() -> None:
    few = REAL.copy()
    few[FEWEST - 1 :] = 0
    assert ratio_over_periods(APART, few) == Range(APART.sum() / few.sum(), None, None)


def test_days_are_summed_by_week__that_of_an_error_too() -> None:
    """Four weeks of days are four sums."""
    days = np.tile(REAL, 5)[:28]
    assert by_week(days, "day") == pytest.approx(days.reshape(4, 7).sum(axis=1))
    assert by_week(days, "two_weeks") is days

"""The Poisson, exponential, uniform model against its distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from schedfarm.core import InputError
from schedfarm.core.models.poisson import MEAN_RUN, PER_WEEK, poisson
from schedfarm.core.workload.resample_weeks import WEEK

N = 40_000
WORKLOAD = poisson(100, jobs=N, seed=5)


def test_arrivals_are_poisson() -> None:
    """570 a week: the N-th comes after N means, and gaps are exponential, tested without ties."""
    mean = WEEK / PER_WEEK
    assert abs(int(WORKLOAD.submit[-1]) / (N * mean) - 1) < 6 / N**0.5
    gaps = np.diff(WORKLOAD.submit) + 0.5
    # Whole seconds move a gap by less than 1 s of 1,061: 0.001 of the distribution function.
    assert stats.kstest(gaps, "expon", (0, mean)).statistic < 2.5 / N**0.5 + 0.001
    week = np.bincount(WORKLOAD.submit // WEEK)[:-1]
    assert abs(week.var() / week.mean() - 1) < 6 * (2 / week.size) ** 0.5


def test_run_times_are_exponential() -> None:
    """Mean and deviation are both the mean run time, within six standard errors."""
    run = WORKLOAD.run
    assert abs(run.mean() / MEAN_RUN - 1) < 6 / N**0.5
    assert abs(run.std() / MEAN_RUN - 1) < 6 * (2 / N) ** 0.5
    assert abs(np.mean(run > MEAN_RUN) - np.exp(-1)) < 6 * 0.25 / N**0.5 * 2


def test_sizes_are_uniform() -> None:
    """10 to 50 nodes alike: chi-square of 40 degrees below its 1 - 1e-6 quantile."""
    count = np.bincount(WORKLOAD.procs, minlength=51)
    assert count[:10].sum() == 0
    assert count.size == 51
    assert ((count[10:] - N / 41) ** 2 / (N / 41)).sum() < stats.chi2.ppf(1 - 1e-6, 40)


def test_sizes_do_not_depend_on_times() -> None:
    """Rank correlations of size, run time and gap are those of independent draws."""
    gap = np.diff(WORKLOAD.submit)
    for a, b in (
        (WORKLOAD.procs, WORKLOAD.run),
        (WORKLOAD.procs[1:], gap),
        (WORKLOAD.run[1:], gap),
    ):
        assert abs(stats.spearmanr(a, b).statistic) < 6 / N**0.5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"most": 101}, "give least <= most <= the machine's 100"),
        ({"least": 60}, "least=60, most=50"),
        ({"least": 0}, "least=0: give a whole number, at least 1"),
        ({"per_week": 0}, "per_week=0: give a finite number above 0"),
        ({"mean_run": 1e300}, "mean_run=1e+300: give a finite number above 0, at most 1e+12"),
        (
            {"jobs": None, "weeks": 1, "per_week": 1e13},
            "weeks=1: the model draws more than 10000000 jobs; give fewer weeks",
        ),
        ({"mean_run": float("inf")}, "mean_run=inf: give a finite number above 0"),
    ],
)
def test_bad_parameters_are_refused(change: dict[str, float], said: str) -> None:
    """Each is named."""
    with pytest.raises(InputError) as error:
        poisson(100, **{"jobs": 5, **change})  # type: ignore[arg-type]
    assert said in str(error.value)

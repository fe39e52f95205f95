"""Downey's model against its published shape, and the ends fitted to the CTC log."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from schedfarm.core import InputError, read_swf
from schedfarm.core.models.downey import GAP, WORK, downey

N = 40_000
FLAT = downey(128, jobs=N, seed=5, least_variance=0.0, most_variance=0.0)
WORKLOAD = downey(128, jobs=N, seed=5)
KS = 2.8 / N**0.5
"""A statistic of Kolmogorov and Smirnov above this has a probability of 3e-7."""


def test_parallelism_is_log_uniform() -> None:
    """A job asks for at most n processors with probability log(n + 1/2) / log(128)."""
    for n in (1, 2, 5, 16, 50, 100, 127):
        share = np.log(n + 0.5) / np.log(128)
        spread = (share * (1 - share) / N) ** 0.5
        assert abs(np.mean(WORKLOAD.procs <= n) - share) < 6 * spread


def test_work_is_log_uniform() -> None:
    """With perfect speedup, run x procs of jobs long enough is log-uniform in its range."""
    a = downey(1, jobs=N, seed=5)
    low, high = np.log(WORK)
    log = np.log(a.run)
    # On one processor the run time is the work; rounding moves it by 1/2 s of at least 70.
    assert stats.kstest(log, "uniform", (low, high - low)).statistic < KS + 0.5 / 70
    assert abs(a.run.mean() - (WORK[1] - WORK[0]) / (high - low)) < 6 * a.run.std() / N**0.5


def test_arrivals_come_by_day() -> None:
    """All in the first half of a day, uniformly; one in GAP seconds over whole days."""
    of_day = WORKLOAD.submit % 86_400
    assert stats.kstest(of_day, "uniform", (0, 43_200)).statistic < KS + 1e-4
    assert abs(int(WORKLOAD.submit[-1]) / (N * GAP) - 1) < 6 / N**0.5 + 86_400 / (N * GAP)


@pytest.mark.parametrize(("night", "share"), [(0.5, 2 / 3), (1.0, 0.5)])
def test_arrivals_at_night(night: float, share: float) -> None:
    """Half as many at night make a third of the day's jobs."""
    day = downey(128, jobs=N, seed=5, night=night).submit % 86_400 < 43_200
    assert abs(day.mean() - share) < 6 * (share * (1 - share) / N) ** 0.5


def test_a_higher_variance_makes_longer_runs() -> None:
    """The same work takes longer where parallelism varies; by the speedup on a job's processors."""
    wide = WORKLOAD.procs > 20
    assert np.array_equal(WORKLOAD.procs, FLAT.procs)
    assert (WORKLOAD.run >= FLAT.run).all()
    # At n = A, S is about A / (1 + v/2) up to v = 1 and A (v + 1) / (2 v + 1) above.
    v = np.linspace(0, 2, 100_001)
    mean = np.where(v <= 1, 1 + v / 2, (2 * v + 1) / (v + 1)).mean()
    ratio = WORKLOAD.run[wide & (FLAT.run > 200)] / FLAT.run[wide & (FLAT.run > 200)]
    assert ratio.mean() == pytest.approx(mean, abs=0.03)


def test_defaults_are_fitted_to_the_log(traces: Path) -> None:
    """WORK and GAP are the CTC log's, rounded to two figures, as the module says."""
    w = read_swf(traces / "CTC-SP2-1996-3.1-cln.swf.gz")
    work = np.sort(w.run * w.procs)
    work = work[work > 0]
    share = (np.arange(work.size) + 0.5) / work.size
    middle = (share > 0.1) & (share < 0.9)
    slope, rise = np.polyfit(np.log(work[middle]), share[middle], 1)
    ends = np.exp([-rise / slope, (1 - rise) / slope])
    assert ends == pytest.approx(WORK, rel=0.015)
    assert np.diff(w.submit).mean() == pytest.approx(GAP, rel=0.01)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"least_work": 9.0, "most_work": 5.0}, "work 9.0 to 5.0"),
        ({"night": 1.5}, "night=1.5"),
        ({"least_variance": -1.0}, "variance -1.0 to 2.0"),
        ({"interarrival": 0.0}, "interarrival=0.0: give a finite number above 0"),
    ],
)
def test_bad_parameters_are_refused(change: dict[str, float], said: str) -> None:
    """Each is named."""
    with pytest.raises(InputError) as error:
        downey(100, jobs=5, **change)  # type: ignore[arg-type]
    assert said in str(error.value)

"""Tsafrir's model of estimates against its published parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core.models.lublin import lublin
from schedfarm.core.models.tsafrir import HEAD, RANKS, histogram, popular, tsafrir
from schedfarm.core.philox import philox

HOUR = 3_600
N = 70_000


def drawn(jobs: int = N, limit: int = 18 * HOUR, index: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return histogram(jobs, limit, np.random.Generator(philox("test", index)))


def test_twenty_popular_values_take_89_percent() -> None:
    """The largest takes 21.7 %, the next 10.3 %, and so on by the exponential; the rest 11 %."""
    times, count = drawn()
    share = count / N
    assert times.size == np.unique(times).size
    assert share[:HEAD].sum() == pytest.approx(0.89, abs=HEAD / N)
    assert times[0] == 18 * HOUR
    by_rank = np.sort(share[:HEAD])[::-1]
    rank = np.arange(2, HEAD + 1)
    assert by_rank[1:] == pytest.approx(
        (14.0491 * np.exp(-0.177531 * rank) + 0.462513) / 100, abs=1 / N
    )
    assert share[0] == by_rank[0] == pytest.approx(0.2173, abs=5e-5)


def test_the_tail_is_a_power_law() -> None:
    """Shares of ranks 21, 22, ... are in proportion to rank^-2.267."""
    _, count = drawn(jobs=10**7)
    tail = np.sort(count[HEAD:])[::-1] / 10**7
    shape = np.arange(HEAD + 1.0, HEAD + 1 + tail.size) ** -2.267
    assert tail == pytest.approx(0.11 * shape / shape.sum(), abs=2e-7)


@pytest.mark.parametrize(
    ("jobs", "kinds"), [(200, 20), (600, 28), (1_000, 35), (70_000, 340), (400_000, 565)]
)
def test_how_many_different_estimates(jobs: int, kinds: int) -> None:
    """By the piecewise linear function of the number of jobs; a few may collide and be left out."""
    times, count = drawn(jobs, limit=100 * HOUR)
    assert kinds - 5 <= times.size <= kinds
    assert count.sum() == jobs


def test_tail_times_follow_their_curve() -> None:
    """The median of the tail's times: (a - 1) x / (a - x) of the limit, at x = 1/2."""
    times, _ = drawn()
    a = 1 + 12.1039 * 340**-0.6026
    assert np.median(times[HEAD:]) / (18 * HOUR) == pytest.approx((a - 1) / (2 * a - 1), rel=0.02)
    assert (np.abs((times[HEAD:] + 30) % 60 - 30) <= 30).all()


def test_popular_values() -> None:
    """15 values that four logs share, where the limit allows, filled up with round ones."""
    assert popular(18 * HOUR).tolist()[:8] == [64_800, 300, 600, 900, 1_200, 1_800, 3_600, 7_200]
    assert popular(HOUR).tolist() == [
        3_600, 300, 600, 900, 1_200, 1_500, 1_800, 2_100, 2_400, 2_700, 3_000, 3_300,
    ]  # fmt: skip
    long = [t // HOUR for t in popular(160 * HOUR).tolist() if t > 18 * HOUR]
    assert long == [160, 50, 100, 140, 150]


def test_ranks_come_hardly_later_than_in_the_logs() -> None:
    """One place later than in any log at most, where two ranks are due at once; samples differ."""
    assert all(sorted(log) == list(range(1, HEAD + 1)) for log in RANKS)
    orders = set()
    for index in range(30):
        _, count = drawn(index=index)
        rank = np.empty(HEAD, int)
        rank[np.argsort(-count[:HEAD], kind="stable")] = np.arange(1, HEAD + 1)
        for place, each in enumerate(rank.tolist()):
            assert place <= max(log.index(each) for log in RANKS) + 1
        orders.add(tuple(rank))
    assert len(orders) == 30


@settings(max_examples=60, deadline=None)
@given(
    run=st.lists(st.integers(0, 100_000), max_size=60),
    limit=st.integers(HOUR, 50 * HOUR),
    index=st.integers(0, 3),
)
def test_every_run_fits_its_estimate(run: list[int], limit: int, index: int) -> None:
    """Up to the limit, whatever the runs are; estimates are of the model, above 0."""
    runs = np.array(run, np.int64)
    estimate = tsafrir(runs, limit, index=index)
    assert (estimate >= np.minimum(runs, limit)).all()
    assert (estimate <= limit).all()
    assert (estimate > 0).all()


def test_jobs_get_the_estimates_of_the_histogram() -> None:
    """Where runs are short enough, estimates are shuffled among the jobs, none lost or made up."""
    run = lublin(128, jobs=5_000, seed=2, max_estimate=2 * HOUR, estimates="exact").run // 2
    estimate = tsafrir(run, 18 * HOUR, seed=4, index=7, name="x")
    times, count = histogram(5_000, 18 * HOUR, np.random.Generator(philox("x", 4, 7, "tsafrir")))
    found = dict(zip(*(a.tolist() for a in np.unique(estimate, return_counts=True)), strict=True))
    assert found == {t: c for t, c in zip(times.tolist(), count.tolist(), strict=True) if c}
    assert np.corrcoef(run, estimate)[0, 1] > 0.02


def test_the_draw_is_a_known_one() -> None:
    """Estimates never change between versions: ten runs, seed 1, index 1."""
    run = np.array([0, 1, 10, 100, 1_000, 5_000, 10_000, 40_000, 60_000, 90_000])
    first = tsafrir(run, 18 * HOUR, seed=1, index=1)
    assert first.tolist() == [
        3_600, 900, 300, 600, 1_800, 7_200, 10_800, 64_800, 64_800, 64_800,
    ]  # fmt: skip
    assert np.array_equal(first, tsafrir(run, 18 * HOUR, seed=1, index=1))
    assert not np.array_equal(first, tsafrir(run, 18 * HOUR, seed=1, index=2))
    assert not np.array_equal(first, tsafrir(run, 18 * HOUR, seed=1, index=1, name="other"))

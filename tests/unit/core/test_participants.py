"""Poisson streams of several clusters against their distributions, and against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from schedfarm.core import InputError, Workload, offered_load
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.models.participants import participants
from schedfarm.core.models.poisson import MEAN_RUN
from schedfarm.core.workload.resample_weeks import WEEK

FOUR = Network([100, 100, 100, 50], ["a", "b", "c", "d"], [1_000_000] * 4)
RATES = [1_000.0, 800.0, 600.0, 285.0]
N = 40_000
WORKLOAD = participants(FOUR, jobs=N, seed=5, per_week=RATES)

OWN = ("run", "estimate", "procs", "user", "job", "communication", "bandwidth", "alltoall")
"""Columns of a job that do not say when it comes."""


def of(w: Workload, cluster: int) -> Workload:
    return w.take(w.origin == cluster)


@pytest.mark.parametrize("cluster", range(4))
def test_each_stream_is_poisson_exponential_uniform(cluster: int) -> None:
    """Numbers of jobs, gaps, run times and sizes of each cluster's own jobs."""
    w, mean = of(WORKLOAD, cluster), WEEK / RATES[cluster]
    n = len(w)
    part = RATES[cluster] / sum(RATES)
    assert abs(n - N * part) < 6 * (N * part * (1 - part)) ** 0.5
    # Whole seconds move a gap by less than 1 s of 600 and more.
    gaps = np.diff(w.submit) + 0.5
    assert stats.kstest(gaps, "expon", (0, mean)).statistic < 2.5 / n**0.5 + 1 / mean
    assert abs(w.run.mean() / MEAN_RUN - 1) < 6 / n**0.5
    assert abs(w.run.std() / MEAN_RUN - 1) < 6 * (2 / n) ** 0.5
    count = np.bincount(w.procs, minlength=51)
    assert (count[:10].sum(), count.size) == (0, 51)
    assert ((count[10:] - n / 41) ** 2 / (n / 41)).sum() < stats.chi2.ppf(1 - 1e-6, 40)


def test_streams_do_not_depend_on_each_other() -> None:
    """Run times, sizes and gaps of the k-th jobs of two clusters correlate no more than chance."""
    one, two = of(WORKLOAD, 0), of(WORKLOAD, 3)
    n = min(len(one), len(two)) - 1
    for a, b in (
        (one.run, two.run),
        (one.procs, two.procs),
        (np.diff(one.submit), np.diff(two.submit)),
    ):
        assert abs(stats.spearmanr(a[:n], b[:n]).statistic) < 6 / n**0.5


def test_rates_change_when_jobs_come_and_nothing_else() -> None:
    """At twice the rate the same jobs in half the time; the cluster of the old rate is the same."""
    slow = participants(FOUR, weeks=4, seed=1, per_week=[500, 500, 500, 285])
    fast = participants(FOUR, weeks=4, seed=1, per_week=[1_000, 1_000, 1_000, 285])
    for cluster in range(3):
        a, b = of(slow, cluster), of(fast, cluster)
        for column in OWN:
            assert np.array_equal(getattr(a, column), getattr(b, column)[: len(a)])
        assert np.abs(a.submit - 2 * b.submit[: len(a)]).max() <= 1
    fixed, still = of(slow, 3), of(fast, 3)
    for column in ("submit", *OWN):
        assert np.array_equal(getattr(fixed, column), getattr(still, column))


def test_a_cluster_has_its_jobs_in_any_network() -> None:
    """Sizes, links and further clusters change no draw."""
    one = participants(Network([60], ["d"]), weeks=3, seed=2, per_week=300)
    two = of(participants(Network([90, 9], ["x", "y"]), weeks=3, seed=2, per_week=300), 0)
    for column in ("submit", "run", "procs"):
        assert np.array_equal(getattr(one, column), getattr(two, column))


def test_merged_by_submission_then_cluster() -> None:
    """Ties go to the first cluster; numbers of jobs and users lead back to the cluster."""
    w = participants(FOUR, jobs=5_000, seed=3, per_week=1e6, users=3)
    keys = list(zip(w.submit.tolist(), w.origin.tolist(), strict=True))
    assert keys == sorted(keys)
    assert len(set(w.submit.tolist())) < 5_000
    assert np.array_equal(w.job % 4, w.origin)
    assert np.array_equal(w.user % 4, w.origin)
    assert set((w.user // 4).tolist()) == {1, 2, 3}
    for cluster in range(4):
        own = of(w, cluster).job // 4
        assert np.array_equal(own, np.arange(1, own.size + 1))


def test_fewer_jobs_are_the_first_of_more() -> None:
    """300 begin 9,000, and 2 weeks begin 9; another seed or index has other jobs."""
    for short, long in (
        (participants(FOUR, jobs=300, seed=1), participants(FOUR, jobs=9_000, seed=1)),
        (participants(FOUR, weeks=2, seed=1), participants(FOUR, weeks=9, seed=1)),
    ):
        for column in ("submit", "origin", *OWN):
            assert np.array_equal(getattr(short, column), getattr(long, column)[: len(short)])
    w = participants(FOUR, weeks=3, seed=1)
    assert w.submit[-1] < 3 * WEEK <= participants(FOUR, jobs=len(w) + 1, seed=1).submit[-1]
    others = [participants(FOUR, jobs=300, seed=s, index=i) for s, i in ((1, 0), (1, 1), (2, 0))]
    assert len({other.submit.tobytes() for other in others}) == 3


def test_defaults_are_those_of_the_paper() -> None:
    """570 a week for 100 processors, half of that for 50; K = 0.7."""
    w = participants(FOUR, weeks=40, seed=9)
    count = np.bincount(w.origin)
    mean = np.array([570, 570, 570, 285]) * 40
    assert (np.abs(count - mean) < 6 * mean**0.5).all()
    assert set(w.communication.tolist()) == {300}
    assert set(w.alltoall.tolist()) == {500}
    assert np.array_equal(w.run, w.estimate)
    assert w.platform == FOUR


def test_parameters_may_differ_by_cluster() -> None:
    """A list gives one value for each cluster; 1 - K is rounded to thousandths."""
    w = participants(
        FOUR,
        jobs=2_000,
        computation=[0.7, 0.0, 1.0, 0.29],
        bandwidth=[1, 2, 3, 4],
        alltoall=[0.0, 0.3, 1.0, 0.5],
        least=[1, 2, 3, 4],
        most=[1, 2, 3, 350],
        mean_run=[1, 10, 100, 1_000],
    )
    found = [of(w, cluster) for cluster in range(4)]
    assert [x.communication[0] for x in found] == [300, 1_000, 0, 710]
    assert [x.bandwidth[0] for x in found] == [1, 2, 3, 4]
    assert [x.alltoall[0] for x in found] == [0, 300, 1_000, 500]
    assert [set(x.procs.tolist()) for x in found[:3]] == [{1}, {2}, {3}]
    assert [round(np.log10(x.run.mean())) for x in found] == [0, 1, 2, 3]
    assert found[3].procs.max() > 100


@pytest.mark.parametrize("how", ["f-model", "tsafrir", "exact"])
def test_estimates_and_loads(how: str) -> None:
    """No job outruns its estimate, and a load is that of all clusters together."""
    w = participants(FOUR, jobs=2_000, seed=3, estimates=how, max_estimate=7_200)
    assert int(w.estimate.max()) == w.max_estimate == 7_200
    free = participants(FOUR, jobs=2_000, seed=3)
    assert np.array_equal(w.killed, free.run > 7_200)
    at = participants(FOUR, jobs=2_000, seed=3, estimates=how, load=0.7)
    assert offered_load(at) == pytest.approx(0.7, rel=1e-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"platform": Pool(100)}, "the platform is a pool; give a platform with name = 'network'"),
        ({"platform": Grid([9], ["a"])}, "the platform is a grid"),
        ({"per_week": [570, 570]}, "per_week=[570, 570]: give one number, or 4, one for each"),
        ({"per_week": [1, 2, 3, 0]}, "per_week=0: give a finite number above 0"),
        ({"per_week": 1e300}, "per_week=1e+300: give a finite number above 0, at most 1e+09"),
        ({"per_week": 1e-9}, "take longer than a century; give fewer jobs, or a higher per_week"),
        ({"jobs": None, "weeks": 99, "per_week": 1e8}, "weeks=99: the model draws more than"),
        ({"mean_run": [1, 2, 3]}, "mean_run=[1, 2, 3]: give one number, or 4"),
        ({"mean_run": -1.0}, "mean_run=-1.0: give a finite number above 0"),
        ({"least": 0}, "least=0: give a whole number, at least 1"),
        ({"least": 60}, "least=60, most=50: give least <= most"),
        ({"most": 351}, "most=351: a job would be wider than the whole network; give at most the"),
        ({"computation": 1.5}, "computation is 1.5; give a part, from 0 to 1"),
        ({"computation": [0.7, 0.7, 0.7, -0.1]}, "computation is -0.1; give a part, from 0 to 1"),
        ({"computation": "most"}, "computation is 'most'; give a part, from 0 to 1"),
        ({"alltoall": float("nan")}, "alltoall is nan; give a part, from 0 to 1"),
        ({"bandwidth": -1}, "bandwidth=-1: give a whole number, at least 0"),
        ({"bandwidth": 2**50}, "it must be below 2^51 kbit/s / procs^2"),
        ({"weeks": 1}, "a model needs exactly one of them"),
        ({"jobs": 0}, "jobs=0: give a whole number, at least 1"),
        ({"users": 0}, "users=0: give a whole number, at least 1"),
    ],
)
def test_bad_parameters_are_refused(change: dict[str, Any], said: str) -> None:
    """Each is named with its value and what would be right."""
    with pytest.raises(InputError) as error:
        participants(**{"platform": FOUR, "jobs": 5, **change})
    assert said in str(error.value)

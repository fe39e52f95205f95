"""Fairness of jobs and users: worked by hand, by brute force, and against golden numbers."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.logs.read import read_swf
from schedfarm.core.metrics.fairness import (
    FAIRNESS,
    discrimination,
    lateness,
    resource_equality,
    slips_and_skips,
    summarise_fairness,
    unfair_share,
    unfairness,
)
from schedfarm.core.metrics.users import fairness_of_users, gini_index, jain_index, user_waits
from schedfarm.core.metrics.widths import WIDTHS, mean_by_width, width_classes
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import policies, workloads


def deserved(schedule: Schedule) -> list[Fraction]:
    """Integrate what each job deserves from event to event, with the bound that the paper has."""
    work = schedule.workload
    columns = (work.submit, schedule.start, schedule.end, work.procs)
    jobs = list(zip(*(c.tolist() for c in columns), strict=True))
    instants = sorted({t for job in jobs for t in job[:3]})
    total = [Fraction(0)] * len(jobs)
    for begin, end in zip(instants, instants[1:], strict=False):
        demand = sum(p for submit, _, done, p in jobs if submit <= begin < done)
        used = sum(p for _, start, done, p in jobs if start <= begin < done)
        for j, (submit, _, done, procs) in enumerate(jobs):
            if submit <= begin < done:
                rate = min(Fraction(procs * used, demand), Fraction(procs))
                total[j] += rate * (end - begin)
    return total


@given(work=workloads(), policy=policies())
def test_resource_equality_is_the_integral(work: Workload, policy: Policy) -> None:
    """Two sums at the ends of a job's life give what the integral over it gives."""
    schedule = simulate(work, policy)
    exact = [float(d) for d in deserved(schedule)]
    scale = float((schedule.end.max(initial=0) * work.procs.max(initial=0)) + 1)
    assert resource_equality(schedule).tolist() == pytest.approx(
        exact, rel=1e-12, abs=1e-14 * scale
    )


def test_resource_equality_of_the_tiny_instances(golden: Path) -> None:
    """The independent program deserves the same for each job."""
    met = 0
    for instance in json.loads(gzip.decompress((golden / "micro.json.gz").read_bytes())):
        columns = zip(*instance["jobs_submit_run_est_procs"], strict=True)
        names = ("submit", "run", "estimate", "procs")
        given_columns = dict(zip(names, columns, strict=True))
        work = Workload.from_columns(**given_columns, processors=instance["machine"])
        none = np.full(len(work), -1)
        for run in instance["expected"]:
            if "re_d" in run:
                schedule = Schedule(work, "golden", np.array(run["start"]), none < -1)
                assert resource_equality(schedule).tolist() == pytest.approx(run["re_d"], rel=1e-9)
                met += 1
    assert met >= 30


def test_resource_unfairness_of_the_logs(golden: Path, traces: Path) -> None:
    """Means of D above 0 and of its size; D sums to nothing, for what is used is shared out."""
    orders = {"FCFS": "fcfs", "SJF": "spf", "LXF": "lxf"}
    rules = {"bf": "aggressive", "easy": "easy"}
    runs = json.loads((golden / "schedules.json").read_text())["runs"]
    runs = [run for run in runs if "re_mean_pos_D" in run and run["fst"] != "relaxed"]
    assert len(runs) == 9
    for run in runs:
        work = read_swf(traces / run["file"], processors=run["machine"], jobs=run["first"])
        schedule = simulate(work, Policy(orders[run["order"]], rules[run["backfill"]]))
        unserved = discrimination(schedule)
        assert np.maximum(unserved, 0).mean() == pytest.approx(run["re_mean_pos_D"], rel=1e-9)
        assert np.abs(unserved).mean() == pytest.approx(run["re_mean_abs_D"], rel=1e-9)
        assert abs(unserved.sum()) < 1e-9 * np.abs(unserved).sum()


@given(work=workloads(), policy=policies())
def test_slips_and_skips_by_looking_at_all_pairs(work: Workload, policy: Policy) -> None:
    """A later job that starts strictly earlier slips past; the other one skipped."""
    schedule = simulate(work, policy)
    start, n = schedule.start.tolist(), len(work)
    slips, skips = slips_and_skips(schedule)
    assert slips.tolist() == [sum(start[k] < start[j] for k in range(j + 1, n)) for j in range(n)]
    assert skips.tolist() == [sum(start[k] > start[j] for k in range(j)) for j in range(n)]


def two_users() -> Schedule:
    """Return four jobs of three users, one of them unknown, that start at 0, 10, 12 and 20."""
    work = Workload.from_columns(
        submit=[0, 0, 2, 5],
        run=[10, 10, 8, 0],
        estimate=[10, 10, 8, 1],
        procs=[4, 2, 2, 4],
        user=[5, 5, 9, -1],
        processors=4,
    )
    none = np.full(4, -1)
    return Schedule(work, "by hand", np.array([0, 10, 12, 20]), none < -1)


def test_lateness_counts_early_jobs_as_nothing() -> None:
    """Means are over all jobs, not the late ones."""
    schedule = two_users()
    assert lateness(schedule, [0, 15, 2, 19]).tolist() == [0, 0, 10, 1]
    assert unfairness(schedule, [0, 15, 2, 19]) == 11 / 4
    assert unfair_share(schedule, [0, 15, 2, 19]) == 0.5


@pytest.mark.parametrize(
    ("fst", "told"),
    [([0, 1, 2], "shape (3,)"), ([0.0, 1.0, 2.0, 3.0], "float64"), ([0, -1, 2, 3], "job 1 is -1")],
)
def test_fair_starts_must_be_of_all_jobs(fst: list[float], told: str) -> None:
    """A job that was not asked for has none, and its lateness would be its whole start."""
    with pytest.raises(InputError) as caught:
        lateness(two_users(), fst)
    assert told in str(caught.value)


def test_users_by_hand() -> None:
    """Waits 0 + 10 over 40 + 20, and 10 over 16; the unknown user's job counts for nobody."""
    waits = user_waits(two_users())
    assert waits.user.tolist() == [5, 9]
    assert waits.jobs.tolist() == [2, 1]
    assert waits.wait.tolist() == [10, 10]
    assert waits.work.tolist() == [60, 16]
    assert waits.nuwt.tolist() == [10 / 60, 10 / 16]
    assert fairness_of_users(waits.nuwt) == pytest.approx((10 / 16 - 10 / 60) ** 2 / 2, rel=1e-15)
    assert user_waits(two_users(), least_jobs=2).user.tolist() == [5]


def test_a_user_without_work_has_no_normalised_wait() -> None:
    """A wait over nothing is no number."""
    work = Workload.from_columns(
        submit=[0, 0], run=[5, 0], estimate=[5, 5], procs=[1, 1], user=[1, 2], processors=1
    )
    assert user_waits(simulate(work, "fcfs+none")).user.tolist() == [1]


def test_indices_of_inequality() -> None:
    """Gini over all pairs; scale does not matter; nobody at all has none."""
    x = np.array([0.0, 0.5, 0.5, 3.0, 7.25])
    pairs = np.abs(x[:, None] - x).sum() / (2 * x.size**2 * x.mean())
    assert gini_index(x) == pytest.approx(pairs, rel=1e-15)
    assert jain_index(x) == pytest.approx(x.sum() ** 2 / (5 * (x * x).sum()), rel=1e-15)
    assert gini_index(8 * x) == gini_index(x)
    assert jain_index(8 * x) == jain_index(x)
    for index in (gini_index, jain_index, fairness_of_users):
        assert np.isnan(index([]))
        with pytest.raises(InputError, match="numbers from 0"):
            index([-1.0, 2.0])


def test_width_classes_at_their_bounds() -> None:
    """Each class ends with a power of two; the last has no end."""
    bounds = [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 2**40]
    expected = [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]
    assert width_classes(bounds).tolist() == expected
    assert len(WIDTHS) == 9
    means = mean_by_width([1, 3, 4, 1000], [1, 2, 4, 8])
    assert means[[0, 2, 8]].tolist() == [1.0, 3.0, 8.0]
    assert np.isnan(means[[1, 3, 4, 5, 6, 7]]).all()


def test_widths_of_the_paper_s_jobs(traces: Path) -> None:
    """Table 1: the 5,003 CTC jobs from row 1000."""
    work = read_swf(traces / "CTC-SP2-1996-3.1-cln.swf.gz", processors=430, rows=(1000, 6003))
    counts = np.bincount(width_classes(work.procs), minlength=len(WIDTHS))
    assert counts.tolist() == [2209, 435, 722, 487, 609, 309, 157, 45, 30]


def test_summary_names_every_metric() -> None:
    """NaN where something is missing: fair starts, users, jobs."""
    schedule = two_users()
    found = summarise_fairness(schedule, [0, 15, 2, 19], least_jobs=1)
    assert list(found) == list(FAIRNESS)
    assert found["unfairness"] == 2.75
    assert found["users"] == 2
    assert found["resource_unfairness"] == np.maximum(discrimination(schedule), 0).mean()
    assert found["slips"] == 0
    empty = Workload.from_columns(submit=[], run=[], estimate=[], procs=[], processors=1)
    nothing = summarise_fairness(simulate(empty, "fcfs+none"))
    assert nothing.pop("users") == 0
    assert np.isnan(list(nothing.values())).all()

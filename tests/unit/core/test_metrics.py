"""Metrics of a schedule (SEMANTICS: metrics of a job), all of it or week by week."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core import (
    InputError,
    Schedule,
    Workload,
    bounded_slowdown,
    by_origin,
    pp_bounded_slowdown,
    read_swf,
    simulate,
    summarise,
)
from schedfarm.core.metrics.capacity import lost_capacity
from schedfarm.core.metrics.counted import MAX_WEEKS, Counted
from schedfarm.core.metrics.declared import METRICS, find_metric, metrics_over
from schedfarm.core.metrics.groups import Groups, means_of_groups
from schedfarm.core.metrics.metric import CELL, WEEK as OF_WEEK, Metric
from schedfarm.core.metrics.percentiles import PERCENTILES, percentiles
from schedfarm.core.metrics.slowdown import SECOND_TAU
from schedfarm.core.metrics.users import index_users
from schedfarm.core.metrics.weekly import weekly
from schedfarm.core.workload.resample_weeks import WEEK


def schedule(rows: list[tuple[int, int, int, int]], **changes: object) -> Schedule:
    """A schedule of (submit, start, run, procs) on 8 processors, whether or not it is possible."""
    submit, start, run, procs = zip(*rows, strict=True) if rows else ((), (), (), ())
    n = len(rows)
    columns: dict[str, object] = {
        "submit": np.array(submit, np.int64),
        "run": np.array(run, np.int64),
        "estimate": np.array(run, np.int64),
        "procs": np.array(procs, np.int64),
        "processors": 8,
    }
    backfilled = changes.pop("backfilled", np.zeros(n, np.bool_))
    w = Workload.from_columns(**(columns | changes))  # type: ignore[arg-type]
    starts = np.array(start, np.int64)
    return Schedule(w, "fcfs+easy", starts, np.array(backfilled))


LITERAL = schedule(
    [(100, 100, 50, 4), (110, 150, 5, 8), (120, 155, 0, 1), (140, 155, 20, 2)],
    backfilled=[False, False, True, True],
    killed=[True, False, False, False],
)
"""Waits 0, 40, 35, 15; responses 50, 45, 35, 35; from 100 s to 175 s."""


def test_bounded_slowdown_of_each_job() -> None:
    """Bounded slowdown = max((wait + run) / max(run, tau), 1), tau = 10 s."""
    assert bounded_slowdown(LITERAL).tolist() == [1.0, 4.5, 3.5, 1.75]


def test_pp_bounded_slowdown_of_each_job() -> None:
    """Per-processor: max((wait + run) / (procs x max(run, tau)), 1)."""
    assert pp_bounded_slowdown(LITERAL).tolist() == [1.0, 1.0, 3.5, 1.0]
    assert pp_bounded_slowdown(LITERAL, tau=1).tolist() == [1.0, 45 / 40, 35.0, 1.0]


def test_tau_is_a_parameter() -> None:
    """With tau = 1 s (Klusacek and Rudova) short runs count as they are, and 0 as 1."""
    assert bounded_slowdown(LITERAL, tau=1).tolist() == [1.0, 9.0, 35.0, 1.75]
    assert bounded_slowdown(LITERAL, tau=2.5).tolist() == [1.0, 9.0, 14.0, 1.75]


def test_some_of_a_summary__are_as_in_all_of_it() -> None:
    found = summarise(LITERAL, names=("wait", "makespan", "origin_wait"))
    whole = summarise(LITERAL)
    assert found == {"wait": whole["wait"], "makespan": whole["makespan"]}


@pytest.mark.parametrize("names", [["makespn"], "wait"])
def test_what_is_no_metric_is_refused(names: list[str] | str) -> None:
    """A text too, which would be asked for letter by letter."""
    with pytest.raises(InputError, match="is unknown"):
        summarise(LITERAL, names=names)


def test_summary_is_the_literal() -> None:
    """Every metric of the literal schedule, worked out by hand."""
    summary = summarise(LITERAL)
    undefined = {"bounded_slowdown_premature", *(m for m in METRICS if m.startswith("nuwt_"))}
    assert all(math.isnan(summary.pop(name)) for name in undefined)
    assert summary.pop("bounded_slowdown_geomean") == pytest.approx((4.5 * 3.5 * 1.75) ** 0.25)
    assert summary == {
        "jobs": 4.0,
        "counted": 4.0,
        "wait": 22.5,
        "area_weighted_wait": (40 * 40 + 15 * 40) / 280,
        "wait_p50": 15.0,
        "wait_p90": 40.0,
        "wait_p99": 40.0,
        "wait_max": 40.0,
        "response": 41.25,
        "bounded_slowdown": 2.6875,
        "bounded_slowdown_tau60": 1.0,
        "area_weighted_bounded_slowdown": (200 + 4.5 * 40 + 1.75 * 40) / 280,
        "bounded_slowdown_p50": 1.75,
        "bounded_slowdown_p90": 4.5,
        "bounded_slowdown_p99": 4.5,
        "bounded_slowdown_max": 4.5,
        "pp_bounded_slowdown": 1.625,
        "pp_bounded_slowdown_max": 3.5,
        "slowdown_1": 1.0,
        "slowdown_1_10": 3.0,
        "slowdown_10_100": 0.0,
        "slowdown_100": 0.0,
        "premature": 0.0,
        "bounded_slowdown_standard": 2.6875,
        "utilisation": 280 / (8 * 75),
        "loss_of_capacity": 4 * 40 / (8 * 75),
        "makespan": 75.0,
        "backfilled": 2.0,
        "killed": 1.0,
        "refused": 0.0,
        "withdrawn": 0.0,
        "lost": 0.0,
        "prediction_accuracy": 1.0,
        "overprediction": 0.0,
        "underprediction": 0.0,
        "underpredicted": 0.0,
        "queue_length": 90 / 75,
        "offered_load": 280 / (8 * 40),
        "users": 0.0,
    }


def test_percentiles_are_values_of_jobs() -> None:
    """The p-th percentile is the least value that p % of the jobs do not exceed."""
    summary = summarise(schedule([(0, wait, 10, 1) for wait in range(1, 201)]))
    assert [summary[f"wait_p{p}"] for p in (50, 90, 99)] == [100, 180, 198]
    slow = [summary[f"bounded_slowdown_p{p}"] for p in (50, 90, 99)]
    assert slow == [11.0, 19.0, 20.8]
    few = summarise(schedule([(0, wait, 10, 1) for wait in (5, 7, 9)]))
    assert [few[f"wait_p{p}"] for p in (50, 90, 99)] == [7, 9, 9]


@pytest.mark.parametrize("most", [1, 3, 2**12 - 1, 2**12, 2**30, 2**61])
def test_percentiles_are_those_of_a_sort(most: int) -> None:
    """However far apart values lie, alike or not, whole numbers and others."""
    rng = np.random.default_rng(most)
    for n in (1, 2, 99, 100, 1000):
        waits = rng.integers(0, most, n) // rng.choice([1, 1, most], n)
        for values in (waits, 1 + waits / 7):
            places = [-(-p * n // 100) - 1 for p in PERCENTILES]
            assert list(percentiles(values).values()) == np.sort(values)[places].tolist()


def random_jobs(seed: int, count: int = 500) -> list[tuple[int, int, int, int]]:
    """Draw jobs of one instant: their starts, run times and processors."""
    rows = np.random.default_rng(seed).integers((0, 1, 1), (9**6, 9**4, 9), (count, 3))
    return [(0, int(start), int(run), int(procs)) for start, run, procs in rows]


@pytest.mark.parametrize("some", [7, 9])
def test_means_of_groups_are_added_up_in_order(some: int) -> None:
    """To the bit as numpy adds up each column by itself, with groups without a job or none."""
    rng = np.random.default_rng(1)
    counted = Counted(schedule(random_jobs(1)))
    groups = [Groups(np.sort(rng.integers(0, some, 500)), 9), Groups(rng.integers(0, 5, 500), 5)]
    # Jobs beside each other are mostly in the same group, and come back to one left before.
    groups[0].place[::50] = rng.integers(0, some, 10)
    for (place, count), found in zip(groups, means_of_groups(*groups, counted), strict=True):
        jobs = np.bincount(place, minlength=count)
        assert found.jobs.tolist() == jobs.tolist()
        for name in found._fields[1:]:
            sums = np.bincount(place, getattr(counted, name), count)
            expected = sums / np.where(jobs, jobs, np.nan)
            assert getattr(found, name).tobytes() == expected.tobytes()


def test_means_of_groups_of_no_jobs_are_not_there() -> None:
    none = Groups(np.zeros(0, np.int64), 2), Groups(np.zeros(0, np.int64), 0)
    some, others = means_of_groups(*none, Counted(schedule([])))
    assert some.jobs.tolist() == [0, 0]
    assert np.isnan(some.wait).all()
    assert others.jobs.size == others.wait.size == 0


@pytest.mark.parametrize("tau", [10, 0.3])
def test_slowdowns_of_jobs_that_count_are_those_of_a_schedule(tau: float) -> None:
    """To the bit what numpy makes of the columns, with a tau that is whole or not."""
    made = schedule(random_jobs(2))
    counted = Counted(made, tau)
    assert counted.slowdown.tobytes() == bounded_slowdown(made, tau).tobytes()
    assert counted.pp_slowdown.tobytes() == pp_bounded_slowdown(made, tau).tobytes()


@pytest.mark.parametrize("count", [0, 1, 7, 8, 127, 128, 129, 264, 3001])
def test_sums_of_one_pass_are_those_of_numpy(count: int) -> None:
    """To the bit, whatever the number of halvings, leaves and values behind the last eight."""
    made = schedule(random_jobs(3, count), estimate=[60_000] * count)
    c = Counted(made)
    area = c.held.astype(float) * c.procs
    premature = c.estimate >= 100 * c.run
    first, others = c.slowdown[premature], c.slowdown[~premature]
    sums = (
        c.slowdown,
        bounded_slowdown(made, SECOND_TAU),
        c.pp_slowdown,
        c.log_slowdown,
        area,
        c.wait * area,
    )
    found = c.figures
    assert [x.sum() for x in (*sums, c.slowdown * area)] == list(found[7:14])
    assert [first.sum(), others.sum(), first.size] == [found.early, found.others, found.premature]
    assert (found.waited, found.responded) == (c.wait.sum(), c.response.sum())
    assert c.log_slowdown.tolist() == [math.log(value) for value in c.slowdown.tolist()]


def test_energy_is_the_power_of_the_jobs_for_the_time_that_they_hold() -> None:
    """A job that is killed at its estimate takes power until then; an unknown power is left out."""
    jobs = {"submit": [0, 0, 5], "run": [7200, 3600, 10], "estimate": [7200, 3600, 10]}
    work = Workload.from_columns(**jobs, procs=[1, 2, 1], watts=[500, 1500, -1], processors=2)
    energy = find_metric("energy")
    assert energy.value(Counted(simulate(work, "fcfs+easy"))) == 2.5
    assert math.isnan(
        energy.value(Counted(simulate(replace(work, watts=np.full(3, -1)), "fcfs+easy")))
    )
    assert "energy" not in summarise(simulate(work, "fcfs+easy"))


def test_classes_of_slowdown_begin_at_their_lower_bound() -> None:
    """Slowdowns of 1, (1, 10), [10, 100), [100, ...); a short job may wait up to tau for 1."""
    waits = (0, 1, 89, 90, 91, 989, 990, 5000)
    summary = summarise(schedule([(0, w, 10, 1) for w in waits] + [(0, 9, 1, 1)]))
    names = ("slowdown_1", "slowdown_1_10", "slowdown_10_100", "slowdown_100")
    assert [summary[name] for name in names] == [2, 2, 3, 2]


def test_premature_jobs_ended_at_a_hundredth_of_their_estimate() -> None:
    """Estimate >= 100 x run; a run of 0 s is premature if more was asked for, and only then."""
    rows = [(0, 0, 10, 1), (0, 20, 10, 1), (0, 40, 0, 1), (0, 60, 0, 1), (0, 90, 2**55, 1)]
    s = schedule(rows, estimate=np.array([1000, 999, 1, 0, 2**61]))
    summary = summarise(s)
    assert summary["premature"] == 2
    assert summary["bounded_slowdown_premature"] == (1 + 4) / 2
    assert summary["bounded_slowdown_standard"] == pytest.approx((3 + 6 + 1) / 3, rel=1e-12)


def test_every_metric_is_declared_once() -> None:
    """Summary and weeks have the rows of their kind, in order, as plain floats and arrays."""
    summary, weeks = summarise(LITERAL), weekly(LITERAL)
    assert list(summary) == [metric.name for metric in metrics_over(CELL)]
    assert all(type(value) is float for value in summary.values())
    assert list(weeks) == [metric.name for metric in metrics_over(OF_WEEK)]
    assert [column.dtype for column in weeks.values()] == [
        metric.dtype for metric in metrics_over(OF_WEEK)
    ]
    assert all(name == metric.name and metric.meaning for name, metric in METRICS.items())


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": "Two Words"}, "metric 'Two Words': use small letters"),
        ({"over": "month"}, "metric 'mine': over is 'month'; known: 'cell', 'week'"),
        ({"better": "red"}, "metric 'mine': better is 'red'; known: 'smaller', 'larger', ''"),
        ({"dtype": "int8"}, "metric 'mine': dtype is 'int8'; known: 'float64', 'int64'"),
    ],
)
def test_a_metric_that_cannot_be_is_refused(changes: dict[str, str], why: str) -> None:
    """A row says what is wrong with it when it is made."""
    with pytest.raises(InputError, match=re.escape(why)):
        Metric(**({"name": "mine", "unit": "s", "meaning": "mine", "of": len} | changes))


def longest(counted: Counted) -> float:
    """Return the longest wait in hours. Nobody waits longer.

    More words.
    """
    return float(counted.wait.max() / 3600)


longest.unit = "h"  # type: ignore[attr-defined]

TWICE = Metric("twice", "s", "twice the mean wait", lambda c: 2 * c.waited / len(c), better="")

NUMBER = 7


def test_a_user_brings_a_function_or_a_row() -> None:
    """A function has its name, its first line and its attributes; a row is taken as it is."""
    here = "tests.unit.core.test_metrics"
    metric = find_metric(f"{here}:longest")
    assert (metric.name, metric.unit, metric.over, metric.better) == (
        "longest", "h", "cell", "smaller",
    )  # fmt: skip
    assert metric.meaning == "Return the longest wait in hours. Nobody waits longer"
    assert metric.value(Counted(LITERAL)) == 40 / 3600
    assert find_metric(f"{here}:TWICE").value(Counted(LITERAL)) == 45.0
    for name, why in (
        ("wiat", "metric 'wiat' is unknown; did you mean 'wait'? known: jobs, counted, wait"),
        (f"{here}:NUMBER", "is 7, int; it must be a function or a Metric"),
        (f"{here}:absent", f"metric '{here}:absent' cannot be imported"),
        ("schedfarm.core.metrics.declared:METRICS", ", dict; it must be"),
    ):
        with pytest.raises(InputError, match=re.escape(why)):
            find_metric(name)


def test_users_and_widths_of_the_literal() -> None:
    """Jobs, work and normalised wait of each user; jobs, waits and slowdowns of each width."""
    s = schedule(
        [(0, 0, 50, 4), (0, 50, 5, 8), (0, 55, 10, 1), (0, 55, 20, 2), (0, 60, 0, 1)],
        user=[7, 3, 7, -1, 9],
    )
    counted = Counted(s)
    found = {
        name: METRICS[name].value(counted).tolist() for name in METRICS if name.startswith("user_")
    }
    assert counted.users.label.tolist() == [3, 7, 9]
    assert found["user_jobs"] == [1, 2, 1]
    assert found["user_work"] == [40, 210, 0]
    assert found["user_nuwt"][:2] == [50 / 40, 55 / 210]
    assert math.isnan(found["user_nuwt"][2])
    assert METRICS["width_jobs"].value(counted).tolist() == [2, 1, 1, 1, 0, 0, 0, 0, 0]
    assert METRICS["width_wait"].value(counted)[:4].tolist() == [57.5, 55.0, 0.0, 50.0]
    assert math.isnan(METRICS["width_wait"].value(counted)[4])
    slow = [(65 / 10 + 60 / 10) / 2, 75 / 20, 1.0, 55 / 10]
    assert METRICS["width_bounded_slowdown"].value(counted)[:4].tolist() == slow
    # Users with one job are left out of figures over users.
    assert summarise(s)["users"] == 1.0
    assert summarise(s)["nuwt_mean"] == 55 / 210


def test_users_are_counted_in_the_window_too() -> None:
    """What warm-up leaves out counts for no user and no width."""
    rows = [(0, 0, 10, 1), (0, 10, 10, 1), (0, 20, 10, 1), (0, 30, 10, 1)]
    s = schedule(rows, user=[1, 1, 2, 2])
    cut = Counted(s, warmup=0.25)
    assert METRICS["user_jobs"].value(cut).tolist() == [1, 2]
    assert METRICS["user_work"].value(cut).tolist() == [10, 20]
    assert METRICS["user_nuwt"].value(cut).tolist() == [1.0, 2.5]
    assert METRICS["width_jobs"].value(cut)[0] == 3


@pytest.mark.parametrize("label", [[1, 5], [2**40, 2**40 + 3], [5], []])
def test_users_are_found_among_those_asked_for(label: list[int]) -> None:
    """By a table or, where numbers are large, by search: the same as one by one."""
    user = [5, -1, 2**40, 1, 5, 2**40 + 3]
    w = Workload.from_columns(
        submit=[0] * 6, run=[1] * 6, estimate=[1] * 6, procs=[1] * 6, user=user, processors=9
    )
    for known in (w, w.take(w.user < 10)):
        index = index_users(known, np.array(label, np.int64))
        assert index.place.tolist() == [
            label.index(u) if u in label else len(label) for u in known.user.tolist()
        ]


def test_sums_of_users_are_exact() -> None:
    """Work that float64 cannot hold is added up in whole numbers."""
    large = 2**53
    w = Workload.from_columns(
        submit=[0, 0, 0], run=[large, 1, 1], estimate=[large, 1, 1], procs=[1, 1, 1],
        user=[4, 4, 4], processors=9,
    )  # fmt: skip
    assert index_users(w).work.tolist() == [large + 2]


def test_queue_length_is_the_integral_of_the_queue() -> None:
    """The time average of the number waiting, counted second by second."""
    seconds = range(100, 175)
    w, start = LITERAL.workload, LITERAL.start
    waiting = [np.count_nonzero((w.submit <= t) & (t < start)) for t in seconds]
    assert summarise(LITERAL)["queue_length"] == sum(waiting) / 75


def test_no_job_and_no_time_have_no_means() -> None:
    """Means over nothing and shares of no time are NaN; counts and makespan are 0."""
    empty = summarise(schedule([]))
    zeros = {"jobs", "counted", "makespan", "backfilled", "killed", "premature"}
    zeros |= {"refused", "withdrawn", "lost"}
    zeros |= {name for name in METRICS if name.startswith("slowdown_")} | {"users"}
    assert {name for name, value in empty.items() if value == 0} == zeros
    assert all(math.isnan(value) for name, value in empty.items() if name not in zeros)
    instant = summarise(schedule([(5, 5, 0, 1), (5, 5, 0, 1)]))
    missing = {name for name, value in instant.items() if math.isnan(value)}
    shares = {"utilisation", "queue_length", "offered_load", "loss_of_capacity"}
    shares |= {name for name in METRICS if name.startswith("area_")}
    of_users = {name for name in METRICS if name.startswith("nuwt_")}
    assert missing == {*shares, *of_users, "bounded_slowdown_premature"}


def test_sums_are_exact_beyond_64_bits() -> None:
    """Waits that add up past int64 still have an exact mean."""
    late = 2**61
    s = schedule([(0, late, 0, 1), (0, late, 0, 1), (0, late + 2048, 0, 1), (0, late, 0, 1)])
    assert summarise(s)["wait"] == late + 512


def test_weeks_count_by_the_end() -> None:
    """A job counts in the week in which it ends; a week's first instant is its own."""
    rows = [(9, 9, WEEK - 1, 1), (9, 10, WEEK - 1, 2), (50, 50 + WEEK, 100, 1)]
    weeks = weekly(schedule(rows))
    assert weeks["week_jobs"].tolist() == [1, 2]
    assert weeks["week_wait"].tolist() == [0.0, (1 + WEEK) / 2]
    assert weeks["week_bounded_slowdown"].tolist() == [
        1.0,
        (WEEK / (WEEK - 1) + (WEEK + 100) / 100) / 2,
    ]


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 12))
def test_lost_capacity_second_by_second(seed: int, n: int) -> None:
    """In each second min(idle, asked) x 1 s, whatever the bounds and however wide the machine."""
    rng = np.random.default_rng(seed)
    scale = int(rng.choice([1, 2**40, 2**56]))
    submit = np.sort(rng.integers(0, 20, n))
    w = Workload.from_columns(
        submit=submit, run=(run := rng.integers(0, 9, n)), estimate=run,
        procs=rng.integers(1, 5, n) * scale, processors=4 * scale,
    )  # fmt: skip
    s = simulate(w, str(rng.choice(["fcfs+none", "fcfs+easy", "spf+aggressive"])))
    bounds = np.sort(rng.integers(0, 60, 4))
    lost = [0] * 3
    for t in range(60):
        idle = w.processors - sum(w.procs[(s.start <= t) & (t < s.end)].tolist())
        asked = sum(w.procs[(w.submit <= t) & (t < s.start)].tolist())
        for i in range(3):
            lost[i] += min(idle, asked) if bounds[i] <= t < bounds[i + 1] else 0
    assert lost_capacity(s, bounds).tolist() == lost


def test_lost_capacity_of_distant_instants() -> None:
    """Instants too far apart for one number with the processors are sorted all the same."""
    far = Workload.from_columns(
        submit=[0, 0, 2**60], run=[9, 1, 1], estimate=[9, 1, 1], procs=[2, 3, 2], processors=3
    )
    lost = lost_capacity(simulate(far, "fcfs+none"), np.array([0, 2**60]))
    assert lost.tolist() == [9]


def test_loss_and_geometric_mean_of_weeks_and_widths() -> None:
    """Of a week that has not begun, or without a job, there is none; weeks add up to the whole."""
    s = schedule([(0, 0, WEEK + 10, 5), (WEEK - 10, WEEK + 10, 10, 8), (WEEK, WEEK + 20, 20, 1)])
    counted = Counted(s, weeks=3)
    assert counted.week_lost.tolist() == [30, 30, 0]
    loss = METRICS["week_loss_of_capacity"].value(counted)
    assert loss.tolist() == pytest.approx([30 / (8 * WEEK), 30 / (8 * 40), math.nan], nan_ok=True)
    assert METRICS["loss_of_capacity"].value(counted) == 60 / (8 * (WEEK + 40))
    slow = METRICS["week_bounded_slowdown_geomean"].value(counted)
    assert slow.tolist() == pytest.approx([math.nan, (3 * 2) ** (1 / 3), math.nan], nan_ok=True)
    slow = METRICS["width_bounded_slowdown_geomean"].value(counted)
    assert slow[[0, 1, 3]].tolist() == pytest.approx([2, math.nan, 3**0.5], nan_ok=True)
    # A warm-up of a week leaves out what was lost in it.
    later = Counted(s, warmup="1w", weeks=1)
    assert later.week_bounds.tolist() == [WEEK, WEEK + 40]
    assert later.week_lost.tolist() == [30]


def test_week_without_an_end_is_nan() -> None:
    """Weeks go up to the last end; one in which no job ends has a count of 0 and no means."""
    weeks = weekly(schedule([(9, 9, 10, 1), (10, 9 + 2 * WEEK, 40, 2)]))
    assert weeks["week_jobs"].tolist() == [1, 0, 1]
    wait = 2 * WEEK - 1
    assert weeks["week_wait"].tolist() == pytest.approx([0.0, math.nan, wait], nan_ok=True)
    slow = (wait + 40) / 40
    assert weeks["week_bounded_slowdown"].tolist() == pytest.approx(
        [1, math.nan, slow], nan_ok=True
    )
    assert weeks["week_pp_bounded_slowdown"].tolist() == pytest.approx(
        [1, math.nan, slow / 2], nan_ok=True
    )


def test_a_series_of_weeks_can_be_given_its_length() -> None:
    """A shorter one counts later ends in its last week; a longer one ends in weeks without."""
    s = schedule([(0, 0, 10, 1), (0, WEEK, 10, 1), (0, 2 * WEEK, 10, 1)])
    assert weekly(s, weeks=2)["week_jobs"].tolist() == [1, 2]
    assert weekly(s, weeks=2)["week_wait"].tolist() == [0.0, 1.5 * WEEK]
    longer = weekly(s, weeks=4)
    assert longer["week_jobs"].tolist() == [1, 1, 1, 0]
    assert longer["week_wait"].tolist() == pytest.approx([0, WEEK, 2 * WEEK, math.nan], nan_ok=True)
    with pytest.raises(InputError, match="weeks=0: give a whole number, at least 1"):
        weekly(s, weeks=0)


def test_weeks_of_no_job_are_none() -> None:
    """An empty schedule has no week."""
    assert all(column.shape == (0,) for column in weekly(schedule([])).values())


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3 * WEEK),
            st.integers(0, 2 * WEEK),
            st.integers(0, WEEK),
            st.integers(1, 8),
        ),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from([1, 10, 60]),
)
def test_metrics_equal_the_plain_formulas(jobs: list[tuple[int, int, int, int]], tau: int) -> None:
    """Arrays give what SEMANTICS says of each job, and weeks add up to the whole."""
    rows = sorted((submit, submit + wait, run, procs) for submit, wait, run, procs in jobs)
    s = schedule(rows)
    slow = [max((b - a + r) / max(r, tau), 1) for a, b, r, _ in rows]
    per_processor = [max((b - a + r) / (p * max(r, tau)), 1) for a, b, r, p in rows]
    assert bounded_slowdown(s, tau).tolist() == slow
    assert pp_bounded_slowdown(s, tau).tolist() == per_processor
    summary, weeks = summarise(s, tau), weekly(s, tau)
    n = len(rows)
    assert summary["wait"] == sum(b - a for a, b, _, _ in rows) / n
    assert summary["response"] == sum(b - a + r for a, b, r, _ in rows) / n
    assert summary["bounded_slowdown"] == pytest.approx(sum(slow) / n, rel=1e-12)
    assert weeks["week_jobs"].sum() == n
    assert len(weeks["week_jobs"]) == summary["makespan"] // WEEK + 1
    for name in ("wait", "bounded_slowdown", "pp_bounded_slowdown"):
        total = np.nansum(weeks[f"week_{name}"] * weeks["week_jobs"])
        assert total / n == pytest.approx(summary[name], rel=1e-12)


def test_means_equal_the_independent_program(traces: Path, golden: Path) -> None:
    """Mean wait, bounded slowdowns and last end of golden schedules, to 1e-9."""
    runs = [
        run
        for run in json.loads((golden / "schedules.json").read_text())["runs"]
        if run["order"] == "FCFS" and run["backfill"] == "easy" and run["theta"] is None
    ]
    assert runs
    for run in runs:
        s = simulate(read_swf(traces / run["file"], jobs=run["first"]), "fcfs+easy")
        summary = summarise(s)
        assert summary["jobs"] == run["count"]
        assert summary["wait"] == pytest.approx(run["mean_wait"], rel=1e-12)
        assert summary["wait_max"] == run["max_wait"]
        assert summary["bounded_slowdown"] == pytest.approx(run["mean_bsld"], abs=1e-9)
        assert summary["pp_bounded_slowdown"] == pytest.approx(run["mean_ppbsld"], abs=1e-9)
        assert summary["makespan"] == run["last_end"] - s.workload.submit[0]


@pytest.mark.parametrize("tau", [0, -1, math.nan, "10", None, True, math.inf, 10**400])
def test_a_tau_that_bounds_nothing_is_refused(tau: object) -> None:
    """Tau is a time above 0 s in every function that takes one."""
    for act in (bounded_slowdown, pp_bounded_slowdown, summarise, weekly):
        with pytest.raises(InputError, match="tau=.*a finite number above 0 s") as error:
            act(LITERAL, tau)  # type: ignore[arg-type]
        assert repr(tau)[:20] in str(error.value)


def test_absurd_spans_have_no_weeks() -> None:
    """A schedule of thousands of years is refused before it fills the memory."""
    weekly(schedule([(0, 0, 1, 1), (0, MAX_WEEKS * WEEK - 2, 1, 1)]))
    with pytest.raises(InputError, match=f"lasts {MAX_WEEKS + 1} weeks, more than {MAX_WEEKS}"):
        weekly(schedule([(0, 0, 1, 1), (0, MAX_WEEKS * WEEK - 1, 1, 1)]))


def test_ends_that_do_not_follow_from_runs() -> None:
    """A job whose end was put off held its processors, and its user waited, until that end."""
    w = Workload.from_columns(
        submit=[0, 0], run=[40, 20], estimate=[40, 20], procs=[1, 1], processors=2
    )
    plain = simulate(w, "fcfs+easy")
    late = Schedule(w, plain.policy, plain.start, plain.backfilled, end=np.array([40, 40]))
    was, found = summarise(plain), summarise(late)
    assert (was["response"], found["response"]) == (30.0, 40.0)
    assert (was["utilisation"], found["utilisation"]) == (0.75, 1.0)
    assert (was["bounded_slowdown"], found["bounded_slowdown"]) == (1.0, 1.5)
    assert bounded_slowdown(late).tolist() == [1.0, 2.0]
    same = Schedule(w, plain.policy, plain.start, plain.backfilled, end=plain.end)
    assert repr(summarise(same)) == repr(was)


@pytest.mark.parametrize("measure", [summarise, by_origin])
def test_metrics_of_a_workload_are_refused(measure: Any) -> None:
    """The schedule alone is asked for, since it holds its workload."""
    with pytest.raises(InputError, match=r"need a schedule, not a Workload; give .* its work"):
        measure(LITERAL.workload, LITERAL)

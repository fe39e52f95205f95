"""Data of the figures: exact integrals and counts, against brute force and the metrics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.plots.merging import MOST, Rectangles, coverage, large
from schedfarm.analysis.plots.over_time import averages
from schedfarm.analysis.plots.series import arrivals, distribution, estimates, users
from schedfarm.analysis.plots.steps import Steps, busy_steps, queue_steps
from schedfarm.analysis.plots.subject import Subject
from schedfarm.core import Nodes, Workload, simulate, summarise
from schedfarm.core.models import lublin
from schedfarm.core.schedule import Schedule


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    return simulate(lublin(64, jobs=300, seed=2), "spf+easy")


def per_second(steps: Steps) -> list[int]:
    """Return the value in each second."""
    return np.repeat(steps.values, np.diff(steps.times)).tolist()


def test_integrals_are_the_metrics(schedule: Schedule) -> None:
    values, lasts = summarise(schedule), int(schedule.end.max() - schedule.workload.submit[0])
    queue, busy = queue_steps(schedule), busy_steps(schedule)
    assert queue.integral() == int(schedule.wait.sum())
    assert queue.integral() / lasts == values["queue_length"]
    assert busy.integral() / (schedule.workload.processors * lasts) == values["utilisation"]


@pytest.mark.parametrize("intervals", [1, 7, 400])
def test_averages_keep_the_integral(schedule: Schedule, intervals: int) -> None:
    for steps in (queue_steps(schedule), busy_steps(schedule)):
        found = averages(steps, intervals)
        assert int(found.integrals.sum()) == steps.integral()
        assert found.integrals.size <= intervals
        assert (found.edges[0], found.edges[-1]) == (steps.times[0], steps.times[-1])


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 5)), min_size=1, max_size=8),
    st.lists(st.integers(0, 80), min_size=2, max_size=6, unique=True).map(sorted),
)
def test_steps_against_seconds(rows: list[tuple[int, int]], edges: list[int]) -> None:
    """Integrals, parts and extremes of a step function, against its values by second."""
    times = np.cumsum([3, *(length for length, _ in rows)])
    steps = Steps(times, np.array([value for _, value in rows]))
    line = np.zeros(100, np.int64)
    line[times[0] : times[-1]] = per_second(steps)
    assert steps.over(np.array(edges)).tolist() == [
        line[a:b].sum() for a, b in zip(edges, edges[1:], strict=False)
    ]
    assert per_second(steps.between(edges[0], edges[-1])) == line[edges[0] : edges[-1]].tolist()
    inside = np.unique(np.clip(edges, times[0], times[-1]))
    if inside.size > 1:
        least, most = steps.extremes(inside)
        spans = list(zip(inside, inside[1:], strict=False))
        assert least.tolist() == [line[a:b].min() for a, b in spans]
        assert most.tolist() == [line[a:b].max() for a, b in spans]


def test_large_sums_do_not_wrap() -> None:
    steps = Steps(np.array([0, 2**40]), np.array([2**30]))
    assert steps.integral() == 2**70


def test_waiting_and_busy_second_by_second() -> None:
    """Jobs on nodes hold what they have there; a refused job neither waits nor runs."""
    jobs = Workload.from_columns(
        submit=[0, 1, 2], run=[5, 4, 3], estimate=[5, 4, 3], procs=[4, 4, 2], weight=[2, 2, 1],
        platform=Nodes([2, 2]),
    )  # fmt: skip
    schedule = simulate(jobs, "fcfs+conservative")
    seconds = range(int(schedule.end.max()))
    waits = [int(np.sum((jobs.submit <= t) & (t < schedule.start))) for t in seconds]
    busy = [int(schedule.taken[(schedule.start <= t) & (t < schedule.end)].sum()) for t in seconds]
    assert per_second(queue_steps(schedule)) == waits
    assert per_second(busy_steps(schedule)) == busy


def test_no_job_waits_nor_runs() -> None:
    jobs = Workload.from_columns(submit=[4], run=[0], estimate=[1], procs=[1], processors=2)
    assert queue_steps(simulate(jobs, "fcfs+easy")).integral() == 0


def test_the_area_above_a_distribution_is_the_sum(schedule: Schedule) -> None:
    found = distribution(schedule.wait)
    value, up_to = found["value"].values, found["jobs"].values
    n = len(schedule.workload)
    assert up_to[-1] == n
    area = n * value[0] + ((n - up_to[:-1]) * np.diff(value)).sum()
    assert int(area) == int(schedule.wait.sum())


def test_arrivals_by_date() -> None:
    """Instant 0 is Thursday, 1970-01-01, 23:00; the other jobs come on Friday and Monday."""
    jobs = Workload.from_columns(
        submit=[0, 3_600, 3_600 + 3 * 86_400], run=[1] * 3, estimate=[1] * 3, procs=[1] * 3,
        processors=1, epoch=23 * 3_600,
    )  # fmt: skip
    found = arrivals(jobs)
    at = [("Thu", 23), ("Fri", 0), ("Mon", 0)]
    assert [int(found["jobs"].sel(weekday=day, hour=hour)) for day, hour in at] == [1, 1, 1]
    assert int(found["jobs"].sum()) == 3
    assert found["days"].values.tolist() == [1, 0, 0, 1, 1, 1, 1]


def test_estimates_count_every_job(schedule: Schedule) -> None:
    jobs = schedule.workload
    found = estimates(jobs)
    edges = found["edge"].values
    place = [
        next(k for k in range(edges.size - 1) if x < edges[k + 1]) for x in jobs.estimate.tolist()
    ]
    counts = np.bincount(place, minlength=edges.size - 1)
    assert found["jobs"].sum("run").values.tolist() == counts.tolist()
    assert int(found["jobs"].sum()) == len(jobs)


def test_users_add_up_to_all_jobs() -> None:
    jobs = lublin(64, jobs=120, seed=2)
    jobs = jobs.take(slice(None), user=np.arange(120) % 7)
    found = users(simulate(jobs, "fcfs+easy"))
    schedule = simulate(jobs, "fcfs+easy")
    assert int(found["jobs"].sum()) == 120
    assert int(found["work"].sum()) == int((jobs.run * jobs.procs).sum())
    assert found["wait"].values.tolist() == [
        schedule.wait[jobs.user == user].mean() for user in range(7)
    ]


def boxes(rng: np.random.Generator, count: int, columns: int, rows: int) -> Rectangles:
    x, y = (np.sort(rng.uniform(0, most, (2, count)), axis=0) for most in (columns, rows))
    return Rectangles(x[0], x[1], y[0], y[1])


def test_coverage_is_the_area_in_each_pixel() -> None:
    some = boxes(np.random.default_rng(1), 40, 12, 7)
    expected = np.zeros((7, 12))
    for k in range(len(some)):
        for row in range(7):
            for column in range(12):
                wide = min(some.right[k], column + 1) - max(some.left[k], column)
                high = min(some.top[k], row + 1) - max(some.bottom[k], row)
                expected[row, column] += max(wide, 0) * max(high, 0)
    np.testing.assert_allclose(coverage(some, 12, 7), expected, atol=1e-9)


def test_at_most_so_many_rectangles_are_drawn() -> None:
    some = boxes(np.random.default_rng(2), 3 * MOST, 5_000, 3_000)
    seen = large(some)
    area = (some.right - some.left) * (some.top - some.bottom)
    assert np.count_nonzero(seen) == MOST
    assert area[seen].min() >= 1.0


def test_a_window_selects_jobs_by_submission(schedule: Schedule) -> None:
    jobs = schedule.workload
    half = int(jobs.submit[-1] - jobs.submit[0]) // 2
    subject = Subject("", jobs, {"spf+easy": schedule}, begin=0, length=half)
    part = subject.counted()["spf+easy"]
    inside = jobs.submit - jobs.submit[0] < half
    assert part.wait.tolist() == schedule.wait[inside].tolist()
    assert len(subject.workload) == int(inside.sum())
    begin, end = subject.window(schedule)
    assert (begin, end) == (int(jobs.submit[0]), int(jobs.submit[0]) + half)


@pytest.mark.parametrize(("begin", "length"), [(10**9, None), (10**9, 60), (5, 0)])
def test_an_empty_window_is_refused(schedule: Schedule, begin: int, length: int | None) -> None:
    subject = Subject("", schedule.workload, {"p": schedule}, begin=begin, length=length)
    with pytest.raises(StoreError, match="the window from .* after the first submission is empty"):
        subject.window(schedule)
    with pytest.raises(StoreError, match="jobs are submitted for"):
        subject.counted()

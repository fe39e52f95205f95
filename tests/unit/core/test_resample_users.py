"""Rules of resampling by whole users (Zakay and Feitelson 2014)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core import InputError, Workload, read_swf, resample_weekly, scale_load
from schedfarm.core.workload.load import work
from schedfarm.core.workload.resample_users import (
    LONG_TERM,
    origin_user,
    resample_users,
    resample_users_size,
    users_for_load,
)
from schedfarm.core.workload.resample_weeks import WEEK, weeks_of


def trace(jobs: list[tuple[int, int]], **changes: object) -> Workload:
    """Jobs of (week, user), numbered by place, in their week; the last one ends its week."""
    n = len(jobs)
    submit = [week * WEEK + 10 + j for j, (week, _) in enumerate(jobs)]
    submit[-1:] = [(week + 1) * WEEK - 1 for week, _ in jobs[-1:]]
    columns: dict[str, object] = {
        "submit": submit,
        "run": [100] * n,
        "estimate": range(1000, 1000 + n),
        "procs": [1] * n,
        "user": [user for _, user in jobs],
        "job": range(n),
        "processors": 4,
        "name": "t",
    }
    return Workload.from_columns(**(columns | changes))  # type: ignore[arg-type]


def weekly(user: int, first: int, last: int) -> list[tuple[int, int]]:
    return [(week, user) for week in range(first, last)]


def weeks_seen(w: Workload, r: Workload) -> dict[int, list[tuple[int, int]]]:
    """By user of the resample: (new week, week of the log) of each job."""
    source = {
        int(job): int(at - w.submit[0]) // WEEK for job, at in zip(w.job, w.submit, strict=True)
    }
    seen: dict[int, list[tuple[int, int]]] = {}
    for user, job, at in zip(r.user.tolist(), r.job.tolist(), r.submit.tolist(), strict=True):
        seen.setdefault(user, []).append(((at - int(w.submit[0])) // WEEK, source[job]))
    return seen


STEADY = trace(sorted(weekly(7, 0, 20) + [(19, 0)]))
"""User 7 in each of 20 weeks, user 0 in the last."""


def test_a_long_term_user_repeats_a_trace_from_a_random_week() -> None:
    """In every new week comes the next week of the user's trace, the first after the last."""
    starts = set()
    for index in range(60):
        r = resample_users(STEADY, seed=1, index=index, weeks=50)
        for user, seen in weeks_seen(STEADY, r).items():
            if origin_user(user, STEADY) != 7:
                continue
            assert [week for week, _ in seen] == list(range(50))
            assert [old for _, old in seen] == [(seen[0][1] + k) % 20 for k in range(50)]
            starts.add(seen[0][1])
    assert len(starts) > 15


def test_a_quiet_week_of_a_long_term_user_stays_quiet() -> None:
    """A user of weeks 0 and 13 alone has a trace of 14 weeks with 12 quiet ones."""
    w = trace([(0, 1), (13, 1)])
    for index in range(20):
        r = resample_users(w, seed=1, index=index, weeks=28)
        assert Counter(r.job.tolist()) == {0: 2, 1: 2}


def test_a_temporary_user_leaves() -> None:
    """A user of fewer than 12 weeks brings the trace once, cut at both ends of the new one."""
    w = trace(sorted(weekly(1, 0, LONG_TERM - 1) + weekly(2, 0, 30)))
    lengths = set()
    for index in range(40):
        r = resample_users(w, seed=2, index=index, weeks=40)
        for user, seen in weeks_seen(w, r).items():
            if origin_user(user, w) == 1:
                shift = {new - old for new, old in seen}
                assert len(shift) == 1
                lengths.add(len(seen))
                assert len(seen) == 11 or seen[0][0] == 0 or seen[-1][0] == 39
    assert 11 in lengths
    assert min(lengths) < 11


@pytest.mark.parametrize(("span", "long"), [(LONG_TERM - 1, False), (LONG_TERM, True)])
def test_twelve_weeks_make_a_long_term_user(span: int, long: bool) -> None:
    """The boundary: who spans 12 weeks is there in all 100 weeks, who spans 11 is not."""
    w = trace(weekly(1, 0, span))
    there = [len(s) for i in range(20) for s in
             weeks_seen(w, resample_users(w, seed=1, index=i, weeks=100)).values()]  # fmt: skip
    assert (max(there) == 100) == long


def test_a_job_keeps_all_but_week_and_user() -> None:
    """Run, estimate, procs, number and offset are the log's; users lead back to the log's."""
    r = resample_users(STEADY, seed=1, index=4, weeks=50, users=3.0)
    for column in ("run", "estimate", "procs", "job", "killed"):
        assert np.array_equal(getattr(r, column), getattr(STEADY, column)[r.job])
    assert ((r.submit - STEADY.submit[r.job]) % WEEK == 0).all()
    assert np.array_equal(origin_user(r.user, STEADY), STEADY.user[r.job])
    assert (r.name, r.processors, r.max_estimate) == ("t", 4, STEADY.max_estimate)


def test_a_user_drawn_twice_is_two_users() -> None:
    """With three times the users, user 7 is there as 7, 7 + 8 and 7 + 16."""
    r = resample_users(STEADY, seed=1, index=1, users=3.0)
    assert {7, 15, 23} <= set(r.user.tolist())
    assert (
        max(Counter(zip(r.user.tolist(), (r.submit // WEEK).tolist(), strict=True)).values()) == 1
    )


def test_unknown_users_are_one_user() -> None:
    """All jobs of user -1: the resample is the log, turned by whole weeks."""
    w = trace(weekly(-1, 0, 15))
    r = resample_users(w, seed=1, index=3)
    assert sorted(r.job.tolist()) == list(range(15))
    assert set(r.user.tolist()) == {-1}
    twice = resample_users(w, seed=1, index=3, users=2.0)
    assert set(twice.user.tolist()) == {-1, 0}
    assert (origin_user(twice.user, w) == -1).all()


def test_a_log_shorter_than_a_week() -> None:
    """All users are temporary and of one week; the new trace may hold none or several of them."""
    w = trace([(0, 1), (0, 2)])
    sizes = [len(resample_users(w, seed=1, index=i)) for i in range(30)]
    assert set(sizes) == {2}
    sizes = [len(resample_users(w, seed=1, index=i, users=0.25)) for i in range(30)]
    assert set(sizes) == {0, 1}


def test_the_numbers_of_users_are_right_on_average() -> None:
    """A factor that makes 0.75 users gives one in 3 of 4 resamples: binomial, six sigma."""
    w = trace(weekly(1, 0, 20))
    there = sum(len(resample_users(w, seed=5, index=i, users=0.75)) > 0 for i in range(400))
    assert abs(there - 300) < 6 * (400 * 0.75 * 0.25) ** 0.5


def test_same_key_same_jobs() -> None:
    """A resample depends on seed and index; others differ, and so does another log's."""
    first = [resample_users(STEADY, seed=s, index=i).digest() for s in (1, 2) for i in (1, 2)]
    again = [resample_users(STEADY, seed=s, index=i).digest() for s in (1, 2) for i in (1, 2)]
    assert first == again
    assert len(set(first)) > 1
    scaled = resample_users(scale_load(STEADY, 0.5), seed=1, index=1)
    assert scaled.job.tolist() == resample_users(STEADY, seed=1, index=1).job.tolist()


def test_resample_is_a_known_one() -> None:
    """The draws never change between versions: seed 1, index 1, 8 weeks of twice the users."""
    r = resample_users(STEADY, seed=1, index=1, weeks=8, users=2.0)
    assert r.job.tolist() == [5, 20, 0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 19, 6, 12]
    assert r.user.tolist() == [7, 15, 15, 7, 15, 7, 15, 7, 15, 7, 15, 7, 15, 7, 0, 15, 7]


def test_load_counts_whole_weeks_only() -> None:
    """Work submitted after the last whole week is not part of what users bring."""
    w = trace([(0, 1), (1, 1), (2, 1)], submit=[0, WEEK + 5, 2 * WEEK + 9], run=[50, 70, 90])
    assert users_for_load(w, 0.5) == 0.5 * 4 * 2 * WEEK / 120


def test_a_longer_resample_begins_with_the_shorter() -> None:
    """More weeks under the same key add weeks at the end."""
    short = resample_users(STEADY, seed=4, index=2, weeks=13)
    long = resample_users(STEADY, seed=4, index=2, weeks=29)
    assert long.job[: len(short)].tolist() == short.job.tolist()
    assert long.user[: len(short)].tolist() == short.user.tolist()


def test_more_users_are_the_same_and_others() -> None:
    """A higher load holds every job of a lower one."""
    few = resample_users(STEADY, seed=4, index=2, users=1.3)
    many = resample_users(STEADY, seed=4, index=2, users=2.6)

    def jobs(w: Workload) -> Counter[tuple[int, int]]:
        return Counter(zip(w.submit.tolist(), w.job.tolist(), strict=True))

    assert jobs(few) <= jobs(many)


@settings(max_examples=60, deadline=None)
@given(
    jobs=st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 4)), min_size=1, max_size=40),
    weeks=st.none() | st.integers(1, 40),
    users=st.sampled_from([0.1, 1.0, 2.5]),
)
def test_size_is_known_without_the_jobs(
    jobs: list[tuple[int, int]], weeks: int | None, users: float
) -> None:
    """`resample_users_size` counts exactly the jobs of a valid, sorted workload."""
    w = trace(sorted(jobs))
    r = resample_users(w, seed=5, index=6, weeks=weeks, users=users)
    assert len(r) == resample_users_size(w, seed=5, index=6, weeks=weeks, users=users)
    assert np.array_equal(origin_user(r.user, w), w.user[r.job])
    assert not len(r) or int(r.submit[-1]) < int(w.submit[0]) + (weeks or 31) * WEEK


def kth(traces: Path) -> Workload:
    return read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")


def loads(samples: list[Workload], weeks: int) -> np.ndarray:
    return np.array([work(r) / (r.processors * weeks * WEEK) for r in samples])


@pytest.mark.parametrize("load", [0.5, 0.9])
def test_expected_load_is_set_by_the_users(traces: Path, load: float) -> None:
    """Over 100 resamples of KTH the 99.9 % interval of the mean load holds the one asked for."""
    w = kth(traces)
    users = users_for_load(w, load)
    measured = loads([resample_users(w, seed=3, index=i, users=users) for i in range(100)], 47)
    half = 3.29 * measured.std(ddof=1) / 10
    assert abs(measured.mean() - load) < half < 0.1


def test_weekly_draws_keep_the_work(traces: Path) -> None:
    """KTH, 100 resamples: `permute` keeps every user's work exactly, `replace` on average.

    The 99 % confidence interval of the mean offered load by `replace` holds the load of the log's
    47 whole weeks, 0.698688, and is no wider than 3 % of it.
    """
    w = kth(traces)
    whole = np.sort(weeks_of(w).job)

    def by_user(user: np.ndarray, run: np.ndarray, procs: np.ndarray) -> np.ndarray:
        return np.bincount(user, run * procs, minlength=400)

    asked = by_user(w.user[whole], w.run[whole], w.procs[whole])
    for index in range(100):
        r = resample_weekly(w, seed=1, index=index, draw="permute")
        assert np.array_equal(by_user(r.user, r.run, r.procs), asked)
    measured = loads([resample_weekly(w, seed=1, index=i) for i in range(100)], 47)
    half = 2.626 * measured.std(ddof=1) / 10
    assert asked.sum() / (100 * 47 * WEEK) == pytest.approx(0.698688, abs=5e-7)
    assert abs(measured.mean() - 0.698688) < half < 0.03 * 0.698688


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weeks": 0}, "weeks=0: give a whole number, at least 1"),
        ({"seed": "a"}, "seed='a': give a whole number"),
        ({"users": 0}, "users=0: give a finite number above 0"),
        ({"users": float("inf")}, "users=inf: give a finite number above 0"),
        ({"users": True}, "users=True: give a finite number above 0"),
        ({"users": "2"}, "users='2': give a finite number above 0"),
        ({"weeks": 2**40}, "check the units of its times"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, object], said: str) -> None:
    """Each is named with its value and what would be right."""
    arguments: dict[str, object] = {"seed": 1, "index": 1}
    for act in (resample_users, resample_users_size):
        with pytest.raises(InputError) as error:
            act(STEADY, **(arguments | change))  # type: ignore[operator]
        assert said in str(error.value)


def test_bad_workloads_are_refused() -> None:
    """No job at all; for a load, no work."""
    with pytest.raises(InputError, match="'t' has no job"):
        resample_users(trace([]), seed=1, index=1)
    with pytest.raises(InputError, match="no job has any work"):
        users_for_load(trace([(0, 1)], run=[0]), 0.9)
    with pytest.raises(InputError, match="load=-1: give a finite number above 0"):
        users_for_load(STEADY, -1)

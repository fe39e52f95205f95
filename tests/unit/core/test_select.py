"""Rules of cleaning and selection: what is kept, what is dropped and why, and that it adds up."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core import InputError, Workload, read_swf
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.select import (
    drop_flurries,
    select,
    select_dates,
    select_jobs,
    select_weeks,
    select_widths,
)

DAY = 86_400


def log(submit: list[int], user: list[int] | None = None, **changes: object) -> Workload:
    """Jobs numbered from 0 by position, of 1, 2, ... 8, 1, ... processors."""
    n = len(submit)
    columns: dict[str, object] = {
        "submit": submit,
        "run": [5] * n,
        "estimate": range(10, 10 + n),
        "procs": [1 + j % 8 for j in range(n)],
        "user": user or [1] * n,
        "job": range(n),
        "killed": [j % 2 == 0 for j in range(n)],
        "processors": 8,
        "name": "t",
        "max_estimate": 99,
        "dropped": {"no run": 3},
        "epoch": 10 * DAY,
    }
    return Workload.from_columns(**(columns | changes))  # type: ignore[arg-type]


def test_what_is_not_jobs_stays() -> None:
    """A selection keeps name, machine, largest estimate, epoch, and every column of its jobs."""
    w = select_widths(log([0, 5, 9]), 2, 3)
    assert (w.name, w.processors, w.max_estimate, w.epoch) == ("t", 8, 99, 10 * DAY)
    assert (w.submit.tolist(), w.job.tolist(), w.killed.tolist()) == ([5, 9], [1, 2], [False, True])
    assert dict(w.dropped) == {"no run": 3, "outside widths": 1}


def test_nothing_dropped_is_the_workload_itself() -> None:
    """No reason is counted with 0."""
    w = log([0, 1])
    assert select(w, weeks=(0, 9), widths=(1, 8), jobs=5) is w
    assert select(w) is w


@pytest.mark.parametrize(
    ("weeks", "jobs"), [((0, 1), [0, 1]), ((1, 2), [2]), ((1, 3), [2, 3]), ((0, 99), [0, 1, 2, 3])]
)
def test_weeks_count_from_the_first_submission(weeks: tuple[int, int], jobs: list[int]) -> None:
    """Week 0 begins at the first submission; the last week is excluded."""
    w = log([7, 7 + WEEK - 1, 7 + WEEK, 7 + 3 * WEEK - 1])
    assert select_weeks(w, *weeks).job.tolist() == jobs


@pytest.mark.parametrize(
    ("first", "last", "jobs"),
    [
        ("1970-01-11", "1970-01-11", [0, 1]),
        ("1970-01-12", "1970-01-12", [2]),
        (date(1970, 1, 11), date(1970, 1, 12), [0, 1, 2]),
        ("1970-01-11T00:00:01", "1970-01-12T00:00", [1]),
        (datetime(1970, 1, 11), datetime(1970, 1, 12), [0, 1]),
        ("1970-01-11T23:00-01:00", "1970-01-13", [2]),
    ],
)
def test_dates_include_both_days(first: str | date, last: str | date, jobs: list[int]) -> None:
    """A date is a day of UTC, whole; with a time of day it is an instant, the last excluded."""
    w = log([0, DAY - 1, DAY])
    assert select_dates(w, first, last).job.tolist() == jobs


def test_dates_need_the_logs_start() -> None:
    """A log whose header does not say when it began cannot be cut by dates."""
    with pytest.raises(InputError, match="no UnixStartTime; select weeks instead"):
        select_dates(log([0], epoch=-1), "1996-09-25", "1996-12-31")


def test_a_burst_is_dropped_as_a_whole() -> None:
    """More than 3 jobs within 10 s are a burst, with what overlaps it; other users' jobs stay."""
    user = [1, 1, 1, 1, 1, 2, 1, 1]
    w = log([0, 100, 103, 106, 109, 109, 112, 200], user)
    assert drop_flurries(w, jobs=3, seconds=10).job.tolist() == [0, 5, 7]
    assert drop_flurries(w, jobs=3, seconds=9).job.tolist() == list(range(8))
    assert drop_flurries(w, jobs=5, seconds=99).job.tolist() == list(range(8))


def test_nobodys_jobs_are_no_burst() -> None:
    """Jobs of unknown users stay, however many come at once."""
    w = log([0] * 8, [-1] * 8)
    assert drop_flurries(w, jobs=1, seconds=10) is w


def test_a_user_with_fewer_jobs_than_a_burst() -> None:
    """A rate above the number of all jobs drops none."""
    w = log([0, 0], [1, 1])
    assert drop_flurries(w, jobs=2, seconds=10) is w
    assert drop_flurries(w, jobs=500, seconds=10) is w


def brute_bursts(w: Workload, jobs: int, seconds: int) -> list[int]:
    bad = set()
    for user in set(w.user.tolist()) - {-1}:
        own = [j for j in range(len(w)) if w.user[j] == user]
        for j in own:
            window = [k for k in own if 0 <= w.submit[k] - w.submit[j] < seconds]
            if len(window) > jobs:
                bad |= set(window)
    return [int(w.job[j]) for j in range(len(w)) if j not in bad]


@settings(max_examples=80, deadline=None)
@given(
    jobs=st.lists(st.tuples(st.integers(0, 60), st.integers(-1, 2)), min_size=1, max_size=30),
    most=st.integers(1, 4),
    seconds=st.integers(1, 20),
)
def test_bursts_as_by_brute_force(jobs: list[tuple[int, int]], most: int, seconds: int) -> None:
    """A job is dropped if some window of less than T seconds holds it and more than N in all."""
    jobs.sort()
    w = log([t for t, _ in jobs], [u for _, u in jobs])
    kept = drop_flurries(w, most, seconds)
    assert kept.job.tolist() == brute_bursts(w, most, seconds)


def test_criteria_apply_in_their_order_and_add_up() -> None:
    """Weeks, widths, bursts, then the first jobs; what is left and dropped are all the rows."""
    w = log([0, 1, 2, 3, 20, 40, 60, WEEK])
    s = select(w, jobs=1, flurry={"jobs": 2, "seconds": 5}, widths=[2, 8], weeks=[0, 1])
    assert s.job.tolist() == [4]
    assert dict(s.dropped) == {
        "no run": 3,
        "outside weeks": 1,
        "outside widths": 1,
        "flurry": 3,
        "past jobs": 2,
    }


def test_first_jobs() -> None:
    """The first in order of submission; the rest count as past them."""
    s = select_jobs(log([0, 5, 9]), 2)
    assert (s.job.tolist(), s.dropped["past jobs"]) == ([0, 1], 1)


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        ({"weeks": (3, 3)}, r"weeks=\[3, 3\]: the second number is too small"),
        ({"weeks": (-1, 3)}, "weeks=-1: give a whole number, at least 0"),
        ({"weeks": 3}, "weeks=3: give a pair"),
        ({"widths": (4, 2)}, r"widths=\[4, 2\]: the second number is too small"),
        ({"widths": (1, 2, 3)}, "give a pair"),
        ({"dates": ("1996-12-31", "1996-09-25")}, "the last is before the first"),
        ({"dates": ("soon", "1996-09-25")}, "'soon' is not a date"),
        ({"dates": ("9999-12-31", "9999-12-31")}, "'9999-12-31' is not a date"),
        ({"flurry": {"jobs": 3}}, "and the seconds"),
        ({"flurry": {"jobs": 0, "seconds": 5}}, "flurry jobs=0: give a whole number, at least 1"),
        ({"jobs": 0}, "jobs=0: give a whole number, at least 1"),
        ({"widths": (7, 8)}, "'t': no job is left; dropped: 3 no run, 2 outside widths"),
        ({"weeks": (4, 5)}, "no job is left"),
    ],
)
def test_bad_criteria_are_refused(criteria: dict[str, object], said: str) -> None:
    """Each is named with its value; a selection that leaves no job says what it dropped."""
    with pytest.raises(InputError, match=said):
        select(log([0, 1]), **criteria)  # type: ignore[arg-type]


def test_kth_by_weeks_and_widths(traces: Path) -> None:
    """On a real log the counts add up, and instants stay those of the log."""
    w = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    s = select(w, weeks=(10, 20), widths=(2, 50), flurry={"jobs": 50, "seconds": 3600})
    assert len(s) + sum(s.dropped.values()) == len(w) + sum(w.dropped.values())
    assert np.isin(s.job, w.job).all()
    assert (s.submit >= w.submit[0] + 10 * WEEK).all()


def test_more_than_any_log_has() -> None:
    """Numbers beyond int64 are as good as any that no log reaches."""
    w = Workload.from_columns(
        submit=[0, 1], run=[1, 1], estimate=[1, 1], procs=[1, 1], user=[7, 7], processors=1
    )
    assert len(drop_flurries(w, jobs=10**30, seconds=10**30)) == 2
    assert len(drop_flurries(w, jobs=1, seconds=10**30)) == 0

"""Warm-up and cool-down: which jobs count, and over which time the machine is looked at."""

from __future__ import annotations

import math

import numpy as np
import pytest

from schedfarm.core import InputError, Schedule, Workload, summarise
from schedfarm.core.metrics.weekly import weekly
from schedfarm.core.metrics.window import check_warmup, window_of
from schedfarm.core.workload.resample_weeks import WEEK


def schedule(rows: list[tuple[int, int, int, int]]) -> Schedule:
    """A schedule of (submit, start, run, procs) on 4 processors."""
    submit, start, run, procs = (np.array(c, np.int64) for c in zip(*rows, strict=True))
    w = Workload.from_columns(submit=submit, run=run, estimate=run, procs=procs, processors=4)
    n = len(rows)
    return Schedule(w, "fcfs+easy", start, np.zeros(n, np.bool_))


FIVE = schedule([(0, 0, 10, 1), (5, 5, 5, 2), (10, 10, 90, 4), (20, 100, 20, 2), (130, 130, 9, 1)])
"""Ends 10, 10, 100, 120, 139; the last submission is at 130 s."""


def counts(warmup: float | str = 0.0, cooldown: bool = False) -> tuple[list[int], int, int]:
    window = window_of(FIVE, warmup, cooldown)
    kept = np.ones(5, np.bool_) if window.counts is None else window.counts
    return np.flatnonzero(kept).tolist(), window.begin, window.end


def test_nothing_is_left_out_by_default() -> None:
    """All jobs count, from the first submission to the last end."""
    assert counts() == ([0, 1, 2, 3, 4], 0, 139)


def test_a_share_counts_terminated_jobs() -> None:
    """The first floor(share x n) jobs by (end, position) go; the window begins when they did."""
    assert counts(0.2) == ([1, 2, 3, 4], 10, 139)
    assert counts(0.39) == ([1, 2, 3, 4], 10, 139)
    assert counts(0.6) == ([3, 4], 100, 139)
    assert counts(0.1) == ([0, 1, 2, 3, 4], 0, 139)


def test_a_share_is_a_decimal_fraction() -> None:
    """29 % of 100 jobs are 29, though 0.29 x 100 is less in binary."""
    window = window_of(schedule([(t, t, 1, 1) for t in range(100)]), 0.29)
    assert window.counts is not None
    assert np.count_nonzero(window.counts) == 71


def test_a_duration_counts_from_the_first_submission() -> None:
    """Jobs that end within it go; one that ends at its last instant stays."""
    assert counts("10s") == ([0, 1, 2, 3, 4], 10, 139)
    assert counts("11s") == ([2, 3, 4], 11, 139)
    assert counts("1h") == ([], 3600, 3600)


def test_cooldown_begins_after_the_last_submission() -> None:
    """Jobs that end after it do not count."""
    assert counts(cooldown=True) == ([0, 1, 2, 3], 0, 130)
    assert counts(0.2, cooldown=True) == ([1, 2, 3], 10, 130)
    assert counts("3h", cooldown=True) == ([], 10800, 10800)


def test_summary_is_of_the_window() -> None:
    """Means are of the jobs that count; the machine is looked at inside the window alone."""
    summary = summarise(FIVE, warmup=0.4, cooldown=True)
    assert (summary["jobs"], summary["counted"], summary["makespan"]) == (5, 2, 139)
    assert (summary["wait"], summary["wait_max"], summary["response"]) == (40, 80, 95)
    # From 10 to 130 s: 90 s x 4 and 20 s x 2 processors; one job waits for 80 s.
    assert summary["utilisation"] == (90 * 4 + 20 * 2) / (4 * 120)
    assert summary["queue_length"] == 80 / 120
    assert summary["offered_load"] == summarise(FIVE)["offered_load"]
    nothing = summarise(FIVE, warmup="1h")
    assert nothing["counted"] == 0
    assert math.isnan(nothing["wait"])
    assert math.isnan(nothing["utilisation"])


def test_a_warmup_beyond_the_clock_leaves_out_all() -> None:
    """Its sum with any instant still fits int64."""
    summary = summarise(FIVE, warmup=f"{10**20}w")
    assert summary["counted"] == 0
    assert summary["utilisation"] != summary["utilisation"]


def test_weeks_leave_out_the_same_jobs() -> None:
    """The cumulative mean over the weeks ends at the summary's mean, with any warm-up."""
    week = WEEK
    s = schedule([(0, 0, 10, 1), (5, 9, 10, 1), (6, week - 2, 10, 1), (week + 9, 3 * week, 10, 1)])
    assert weekly(s, warmup=0.25)["week_jobs"].tolist() == [1, 1, 0, 1]
    assert weekly(s, warmup="1w", weeks=3)["week_jobs"].tolist() == [0, 1, 1]
    assert weekly(s, warmup="1w", cooldown=True)["week_jobs"].tolist() == [0, 1, 0, 0]
    assert weekly(s, warmup="1w")["week_wait"][1] == week - 8


def test_no_job_has_an_empty_window() -> None:
    """An empty schedule has a window of no length, whatever is left out."""
    empty = Workload.from_columns(submit=[], run=[], estimate=[], procs=[], processors=4)
    none = np.empty(0, np.int64)
    s = Schedule(empty, "fcfs+easy", none, none.astype(bool))
    assert (window_of(s, "2w", True).begin, window_of(s, 0.5).end) == (0, 0)
    assert summarise(s, warmup=0.5, cooldown=True)["counted"] == 0
    assert weekly(s, warmup=0.5)["week_jobs"].shape == (0,)


@pytest.mark.parametrize(
    ("given", "canonical"),
    [(0, 0.0), (0.01, 0.01), ("2w", "2w"), ("14d", "2w"), ("90s", "90s"), ("0w", 0.0)],
)
def test_warmup_has_one_form(given: float | str, canonical: float | str) -> None:
    """A share is a float; a duration is in its largest whole unit."""
    assert check_warmup(given) == canonical
    assert type(check_warmup(given)) is type(canonical)


@pytest.mark.parametrize("wrong", [1, -0.1, "1", "2x", "weeks", True, None, math.nan])
def test_a_warmup_of_another_form_is_refused(wrong: object) -> None:
    """Neither a share below 1 nor a duration: refused with the value and what would be right."""
    with pytest.raises(InputError, match="a share of the jobs, at least 0 and below 1") as error:
        check_warmup(wrong)
    assert repr(wrong) in str(error.value)

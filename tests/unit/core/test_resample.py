"""Rules of weekly resampling by user (Carastan-Santos et al. 2019, Algorithm 1)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core import InputError, Workload, read_swf, resample_weekly, scale_load
from schedfarm.core.workload.resample_weeks import DRAWS, LATE, MAX_DRAWS, WEEK, resample_size


def trace(submit: list[int], user: list[int], **changes: object) -> Workload:
    """Jobs numbered by position, with run = 1000 + position, so that each can be told apart."""
    n = len(submit)
    columns: dict[str, object] = {
        "submit": submit,
        "run": range(1000, 1000 + n),
        "estimate": range(2000, 2000 + n),
        "procs": [1 + j % 4 for j in range(n)],
        "user": user,
        "job": range(n),
        "killed": [j % 3 == 0 for j in range(n)],
        "processors": 4,
        "name": "t",
    }
    return Workload.from_columns(**(columns | changes))  # type: ignore[arg-type]


ORIGIN = 5_000
"""First submission of the literal trace."""

LITERAL = trace(
    [ORIGIN + t for t in (0, 7, WEEK + 1, 2 * WEEK - 1, 2 * WEEK, 3 * WEEK - 5)],
    [1, 2, 1, 2, 2, 1],
)
"""Three weeks of two users: (0: 1, 2), (1: 1, 2), (2: 2, 1)."""

SOURCES = {(1, 0): 0, (2, 0): 1, (1, 1): 2, (2, 1): 3, (2, 2): 4, (1, 2): 5}
"""Job of the literal trace by (user, week)."""


def same(a: Workload, b: Workload) -> bool:
    return a.digest() == b.digest() and a.name == b.name and a.dropped == b.dropped


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("weeks", [None, 1, 2, 7])
def test_every_user_brings_one_week_for_each_new_week(draw: str, weeks: int | None) -> None:
    """In each new week each user submits the jobs of one week, at their offsets in the week."""
    seen = set()
    for index in range(20):
        r = resample_weekly(LITERAL, seed=3, index=index, weeks=weeks, draw=draw)
        new = (r.submit - ORIGIN) // WEEK
        assert sorted(zip(new.tolist(), r.user.tolist(), strict=True)) == [
            (week, user) for week in range(weeks or 3) for user in (1, 2)
        ]
        assert ((r.submit - LITERAL.submit[r.job]) % WEEK == 0).all()
        seen |= set(r.job.tolist())
    assert seen == set(SOURCES.values())


@pytest.mark.parametrize("draw", DRAWS)
def test_a_job_keeps_all_but_its_week(draw: str) -> None:
    """Run, estimate, procs, user, number and kill are those of the row that the number names."""
    r = resample_weekly(LITERAL, seed=1, index=4, weeks=50, draw=draw)
    for column in ("run", "estimate", "procs", "user", "job", "killed"):
        assert np.array_equal(getattr(r, column), getattr(LITERAL, column)[r.job])


def test_workload_keeps_what_is_not_jobs() -> None:
    """Name, machine, largest estimate and dropped rows are the log's, drawn or not."""
    w = trace([0, WEEK], [1, 1], max_estimate=99_999, dropped={"no run": 3})
    r = resample_weekly(w, seed=1, index=1)
    assert (r.name, r.processors, r.max_estimate, r.dropped) == ("t", 4, 99_999, {"no run": 3})


def test_a_permutation_keeps_each_users_jobs() -> None:
    """Over the log's own number of weeks every job comes exactly once; over twice, twice."""
    for index in range(10):
        for times in (1, 2):
            r = resample_weekly(LITERAL, seed=9, index=index, weeks=3 * times, draw="permute")
            assert Counter(r.job.tolist()) == dict.fromkeys(range(6), times)


def test_a_short_permutation_repeats_no_week() -> None:
    """A new trace shorter than the log takes different weeks of each user."""
    for index in range(30):
        r = resample_weekly(LITERAL, seed=9, index=index, weeks=2, draw="permute")
        assert max(Counter(r.job.tolist()).values()) == 1


def test_permutations_are_uniform() -> None:
    """The 6 orders of a user's 3 weeks are equally likely: chi-square of 5 degrees below 1e-6."""
    orders = Counter()
    for index in range(1_200):
        r = resample_weekly(LITERAL, seed=2, index=index, draw="permute")
        orders[tuple(r.job[r.user == 1].tolist())] += 1
    assert len(orders) == 6
    assert sum((count - 200) ** 2 / 200 for count in orders.values()) < 37.3


def test_draws_are_uniform_and_users_independent() -> None:
    """The 9 pairs of weeks of two users are equally likely: chi-square of 8 below 1e-6."""
    r = resample_weekly(LITERAL, seed=2, index=1, weeks=1_800)
    new = (r.submit - ORIGIN) // WEEK
    one, two = r.job[r.user == 1], r.job[r.user == 2]
    assert np.array_equal(np.unique(new), np.arange(1_800))
    order_one, order_two = np.argsort(new[r.user == 1]), np.argsort(new[r.user == 2])
    pairs = Counter(zip(one[order_one].tolist(), two[order_two].tolist(), strict=True))
    assert len(pairs) == 9
    assert sum((count - 200) ** 2 / 200 for count in pairs.values()) < 44.0


def test_weeks_without_a_job_are_drawn_too() -> None:
    """A user active in 1 of 4 weeks is absent from about 3 of 4 new weeks."""
    w = trace([0, WEEK, 2 * WEEK, 4 * WEEK - 1], [1, 2, 2, 2])
    r = resample_weekly(w, seed=1, index=1, weeks=4_000)
    # Binomial(4000, 1/4): mean 1000, standard deviation 27.4; six of them either side.
    assert abs(np.count_nonzero(r.user == 1) - 1_000) < 165


def test_expected_load_is_the_logs(traces: Path) -> None:
    """The mean number of jobs over resamples is that of the log's whole weeks."""
    w = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    sizes = [resample_size(w, seed=7, index=index) for index in range(200)]
    whole = np.count_nonzero(w.submit - w.submit[0] < 47 * WEEK)
    error = np.std(sizes) / np.sqrt(200)
    assert abs(np.mean(sizes) - whole) < 5 * error


def test_same_key_same_jobs_in_any_order_of_calls() -> None:
    """A resample depends on seed and index alone; others differ."""
    keys = [(s, i) for s in (1, 2) for i in (1, 2)]
    first = [resample_weekly(LITERAL, seed=s, index=i, weeks=30) for s, i in keys]
    again = [resample_weekly(LITERAL, seed=s, index=i, weeks=30) for s, i in reversed(keys)]
    assert all(same(a, b) for a, b in zip(first, reversed(again), strict=True))
    assert len({w.digest() for w in first}) == 4


def test_resample_is_a_known_one() -> None:
    """The draws never change between versions: the literal resample of seed 1, index 1."""
    assert resample_weekly(LITERAL, seed=1, index=1).job.tolist() == [2, 1, 0, 3, 2, 1]
    drawn = resample_weekly(LITERAL, seed=1, index=1, draw="permute")
    assert drawn.job.tolist() == [4, 5, 2, 3, 0, 1]


def test_load_and_name_do_not_change_the_draw() -> None:
    """Scaled and renamed, the same log meets the same weeks."""
    w = trace([0, 5, WEEK, 2 * WEEK - 1], [1, 2, 1, 2])
    renamed = trace([0, 5, WEEK, 2 * WEEK - 1], [1, 2, 1, 2], name="other")
    for index in range(5):
        draws = [
            resample_weekly(each, seed=1, index=index, weeks=9).job.tolist()
            for each in (w, renamed, scale_load(w, 0.9))
        ]
        assert draws[0] == draws[1] == draws[2]


def test_a_longer_resample_begins_with_the_shorter() -> None:
    """More weeks under the same key add weeks at the end."""
    for draw in DRAWS:
        short = resample_weekly(LITERAL, seed=4, index=2, weeks=4, draw=draw)
        long = resample_weekly(LITERAL, seed=4, index=2, weeks=9, draw=draw)
        assert long.job[: len(short)].tolist() == short.job.tolist()


def test_ties_keep_the_order_of_the_log() -> None:
    """Jobs of one instant stand in the log's order, whoever's they are."""
    w = trace([0, 0, 0, 0], [2, 1, 2, 1])
    assert resample_weekly(w, seed=1, index=1).job.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("last", "weeks"),
    [
        (0, 1),
        (WEEK // 2, 1),
        (2 * WEEK - LATE - 1, 1),
        (2 * WEEK - LATE, 2),
        (2 * WEEK - 1, 2),
        (2 * WEEK, 2),
        (2 * WEEK + 9, 2),
    ],
)
def test_whole_weeks_of_a_log(last: int, weeks: int) -> None:
    """Weeks count from the first submission; the last is whole if less than LATE is missing."""
    w = trace([3 + WEEK * k for k in range(weeks)] + [3 + last], [1] * (weeks + 1))
    permuted = resample_weekly(w, seed=1, index=1, draw="permute")
    assert len(permuted) == weeks + (last < weeks * WEEK)


def test_a_log_shorter_than_a_week_resamples_to_itself() -> None:
    """Its only week is the whole log, week after week."""
    w = trace([10, 20, 20, WEEK // 2], [1, 2, -1, 1])
    assert same(resample_weekly(w, seed=1, index=8), w)
    twice = resample_weekly(w, seed=1, index=8, weeks=2)
    assert twice.submit.tolist() == [*w.submit.tolist(), *(w.submit + WEEK).tolist()]


def test_unknown_users_are_one_user() -> None:
    """Jobs of user -1 move together."""
    w = trace([0, 1, WEEK + 5, WEEK + 6, 2 * WEEK - 1], [-1] * 5)
    for index in range(10):
        drawn = resample_weekly(w, seed=1, index=index, weeks=1).job.tolist()
        assert drawn in ([0, 1], [2, 3, 4])


def test_a_resample_may_be_empty() -> None:
    """One user, one busy week of two, one week drawn: now and then nobody comes."""
    w = trace([0, 2 * WEEK, 2 * WEEK + 5], [1, 1, 1])
    sizes = {len(resample_weekly(w, seed=1, index=i, weeks=1)) for i in range(20)}
    assert sizes == {0, 1}


@settings(max_examples=60, deadline=None)
@given(
    submit=st.lists(st.integers(0, 5 * WEEK), min_size=1, max_size=40),
    data=st.data(),
    weeks=st.none() | st.integers(1, 12),
    draw=st.sampled_from(DRAWS),
)
def test_size_is_known_without_the_jobs(
    submit: list[int], data: st.DataObject, weeks: int | None, draw: str
) -> None:
    """`resample_size` counts exactly the jobs of `resample_weekly`, which are a valid workload."""
    user = data.draw(st.lists(st.integers(-1, 4), min_size=len(submit), max_size=len(submit)))
    w = trace(submit, user)
    r = resample_weekly(w, seed=5, index=6, weeks=weeks, draw=draw)
    assert resample_size(w, seed=5, index=6, weeks=weeks, draw=draw) == len(r)
    order = list(zip(r.submit.tolist(), r.job.tolist(), strict=True))
    assert order == sorted(order, key=lambda pair: pair[0])


def test_real_log_resamples(traces: Path) -> None:
    """Each new week of each user is a week of that user's in the log, whole."""
    w = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    r = resample_weekly(w, seed=1, index=1)
    place = {number: j for j, number in enumerate(w.job.tolist())}
    source = np.array([place[number] for number in r.job.tolist()])
    week = (w.submit[source] - w.submit[0]) // WEEK
    new = (r.submit - w.submit[0]) // WEEK
    drawn = set(zip(r.user.tolist(), new.tolist(), week.tolist(), strict=True))
    assert len(drawn) == len({(user, at) for user, at, _ in drawn})
    log = Counter(zip(w.user.tolist(), ((w.submit - w.submit[0]) // WEEK).tolist(), strict=True))
    assert len(r) == sum(log[user, week] for user, _, week in drawn)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weeks": 0}, "weeks=0: give a whole number, at least 1"),
        ({"weeks": 1.5}, "weeks=1.5: give a whole number, at least 1"),
        ({"seed": "a"}, "seed='a': give a whole number"),
        ({"index": None}, "index=None: give a whole number"),
        ({"draw": "shuffle"}, "draw='shuffle' is unknown; known: replace, permute"),
        ({"weeks": MAX_DRAWS}, "check the units of its times"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, object], said: str) -> None:
    """Each is named with its value and what would be right."""
    arguments: dict[str, object] = {"seed": 1, "index": 1}
    for act in (resample_weekly, resample_size):
        with pytest.raises(InputError) as error:
            act(LITERAL, **(arguments | change))  # type: ignore[operator]
        assert said in str(error.value)


def test_bad_workloads_are_refused() -> None:
    """No job at all, or times in a unit that makes millions of weeks."""
    with pytest.raises(InputError, match="'t' has no job"):
        resample_weekly(trace([], []), seed=1, index=1)
    with pytest.raises(InputError, match=r"'t' has \d+ weeks of 1 users"):
        resample_weekly(trace([0, 2**60], [1, 1]), seed=1, index=1)

"""The reference of orders by what users had, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from schedfarm.core.reference.job import Job
from schedfarm.core.reference.orders import had_by, keys


def job(position: int, user: int, submit: int, start: int, run: int, procs: int) -> Job:
    return Job(
        position=position,
        number=position + 1,
        submit=submit,
        run=run,
        estimate=run,
        procs=procs,
        user=user,
        start=start,
    )


COMPLETED = [job(0, 7, 0, 0, 4, 1), job(1, 7, 1, 4, 3, 2), job(2, 8, 2, 7, 1, 1)]
"""User 7 waits 0 s, then 3 s and has 4 + 6 processor-seconds by 7; user 8 waits 5 s, has 1 by 8."""

WAITING = [job(3, 7, 6, -1, 1, 1), job(4, 8, 6, -1, 1, 1), job(5, 9, 6, -1, 1, 1)]


def keys_of(order: str, now: int = 9, **options: int | None) -> list[object]:
    found = keys(order, [*COMPLETED, *WAITING], WAITING, COMPLETED, now, **options)
    return [found[job] for job in WAITING]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("fair-share", [Fraction(-3, 10), Fraction(-5, 1), Fraction(0)]),
        ("fair-usage", [10, 1, 0]),
    ],
)
def test_keys(order: str, expected: list[object]) -> None:
    """Of users with completed jobs, and of one without."""
    assert keys_of(order) == expected


def test_work_counts_as_at_least_1() -> None:
    """A user who waited 5 s for a job of run 0 alone has a normalised wait of 5 / 1."""
    completed = [job(0, 7, 0, 5, 0, 3)]
    waiting = [job(1, 7, 6, -1, 1, 1)]
    for order, key in (("fair-share", -5), ("fair-usage", 0)):
        assert keys(order, completed + waiting, waiting, completed, 9) == {waiting[0]: key}


def test_refreshed() -> None:
    """At 9 with 4 s between looks those of 8 count, with 5 s those of 5: user 7's first job."""
    assert keys_of("fair-usage", refresh=4) == [10, 1, 0]
    assert keys_of("fair-usage", refresh=5) == [4, 0, 0]
    assert keys_of("fair-usage", refresh=100) == [0, 0, 0]


def test_multiples_are_after_the_first_submission() -> None:
    """Of jobs that all come 3 s later the looks are 3 s later."""
    later = [job(j.position, j.user, j.submit + 3, j.start + 3, j.run, j.procs) for j in COMPLETED]
    waiting = [job(3, 7, 9, -1, 1, 1)]
    for now, worked in ((7, 0), (8, 4), (12, 4), (13, 10)):
        done = [one for one in later if one.end <= now]
        found = keys("fair-usage", later + waiting, waiting, done, now, refresh=5)
        assert found == {waiting[0]: worked}


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        (6, (0, 4)),
        # 4 is halved at 7, before the 6 of that instant; then 8 is, and 3 rounded down.
        (7, (3, 8)),
        (13, (3, 8)),
        (14, (1, 4)),
        (21, (0, 2)),
        (70, (0, 0)),
    ],
)
def test_halved(until: int, expected: tuple[int, int]) -> None:
    """Every 7 s both sums are halved, rounded down, before the completions of the instant."""
    assert had_by(7, COMPLETED, 0, until, 7) == expected


def test_halved_and_refreshed() -> None:
    """Between two looks nothing is halved: at 13 those of 10 count, at 15 what was halved at 14."""
    assert keys_of("fair-usage", 13, refresh=5, halflife=7) == [8, 1, 0]
    assert keys_of("fair-usage", 14, refresh=5, halflife=7) == [8, 1, 0]
    assert keys_of("fair-usage", 15, refresh=5, halflife=7) == [4, 0, 0]

"""Rules of resampling by whole weeks of all users (block bootstrap)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from schedfarm.core import InputError, Workload, scale_load
from schedfarm.core.workload.resample_blocks import resample_blocks, resample_blocks_size
from schedfarm.core.workload.resample_weeks import MAX_DRAWS, WEEK

ORIGIN = 5_000
"""First submission of the literal trace."""


def trace(submit: list[int], **changes: object) -> Workload:
    """Jobs numbered by position, of two users in turn."""
    n = len(submit)
    columns: dict[str, object] = {
        "submit": submit,
        "run": range(1000, 1000 + n),
        "estimate": range(2000, 2000 + n),
        "procs": [1 + j % 4 for j in range(n)],
        "user": [1 + j % 2 for j in range(n)],
        "job": range(n),
        "killed": [j % 3 == 0 for j in range(n)],
        "processors": 4,
        "name": "t",
    }
    return Workload.from_columns(**(columns | changes))  # type: ignore[arg-type]


LITERAL = trace(
    [ORIGIN + t for t in (0, 7, WEEK + 1, WEEK + 1, 2 * WEEK, 4 * WEEK - 5, 4 * WEEK + 9)]
)
"""Four whole weeks of jobs 0 1, 2 3, 4, 5, and job 6 in a partial last week."""

WEEKS = {(0, 1): 0, (2, 3): 1, (4,): 2, (5,): 3}


def drawn_weeks(r: Workload, length: int) -> list[int]:
    """Weeks of the log of which each new week is, all their jobs together."""
    new = (r.submit - ORIGIN) // WEEK
    return [WEEKS[tuple(r.job[new == week].tolist())] for week in range(length)]


@pytest.mark.parametrize("block", [1, 2, 3, 4])
@pytest.mark.parametrize("weeks", [None, 1, 7])
def test_blocks_of_whole_weeks_follow_the_log(block: int, weeks: int | None) -> None:
    """A new week is a week of the log, users together; within a block the next follows."""
    length = weeks or 4
    for index in range(20):
        r = resample_blocks(LITERAL, seed=3, index=index, weeks=weeks, block=block)
        chosen = drawn_weeks(r, length)
        for week in range(1, length):
            if week % block:
                assert chosen[week] == (chosen[week - 1] + 1) % 4
        assert ((r.submit - LITERAL.submit[r.job]) % WEEK == 0).all()
        assert (np.diff(r.submit) >= 0).all()
        assert resample_blocks_size(LITERAL, seed=3, index=index, weeks=weeks, block=block) == len(
            r
        )


def test_a_job_keeps_all_but_its_week() -> None:
    """Columns are those of the row that the number names; the workload's own facts stay."""
    w = trace(LITERAL.submit.tolist(), max_estimate=99_999, dropped={"no run": 3})
    r = resample_blocks(w, seed=1, index=4, weeks=50)
    for column in ("run", "estimate", "procs", "user", "job", "killed"):
        assert np.array_equal(getattr(r, column), getattr(w, column)[r.job])
    assert (r.name, r.processors, r.max_estimate, r.dropped) == ("t", 4, 99_999, {"no run": 3})


@pytest.mark.parametrize("block", [1, 3])
def test_every_week_is_equally_likely(block: int) -> None:
    """Blocks wrap around, so the ends of the log come as often: chi-square of 3 below 1e-6."""
    counts = Counter[int]()
    for index in range(600):
        r = resample_blocks(LITERAL, seed=2, index=index, weeks=block, block=block)
        counts[drawn_weeks(r, block)[-1]] += 1
    assert sum((counts[week] - 150) ** 2 / 150 for week in range(4)) < 30.7


def test_draws_are_pinned_and_know_nothing_but_submissions() -> None:
    """The draws never change between versions, nor with load or name; a block has its own."""
    assert drawn_weeks(resample_blocks(LITERAL, seed=1, index=1, weeks=8), 8) == [
        3,
        0,
        0,
        0,
        0,
        0,
        2,
        2,
    ]
    scaled = scale_load(trace(LITERAL.submit.tolist(), name="other"), 0.9)
    again = resample_blocks(scaled, seed=1, index=1, weeks=8)
    assert again.job.tolist() == resample_blocks(LITERAL, seed=1, index=1, weeks=8).job.tolist()
    keys = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2)]
    drawn = {
        tuple(resample_blocks(LITERAL, seed=s, index=i, weeks=40, block=b).job.tolist())
        for s, i, b in keys
    }
    assert len(drawn) == 4


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"block": 0}, "block=0: give a whole number, at least 1"),
        ({"block": 5}, "block=5: workload 't' has 4 whole weeks; a block has at most as many"),
        ({"block": 1.5}, "block=1.5: give a whole number"),
        ({"weeks": 0}, "weeks=0: give a whole number, at least 1"),
        ({"weeks": MAX_DRAWS + 1}, "check the units of its times"),
        ({"seed": "x"}, "seed='x'"),
    ],
)
def test_bad_arguments_are_refused(keys: dict[str, object], said: str) -> None:
    """With a sentence, from the workload and from its size alike."""
    for act in (resample_blocks, resample_blocks_size):
        with pytest.raises(InputError) as error:
            act(LITERAL, **({"seed": 1, "index": 1} | keys))  # type: ignore[operator]
        assert said in str(error.value)
    with pytest.raises(InputError, match="'t' has no job"):
        resample_blocks(trace([]), seed=1, index=1)

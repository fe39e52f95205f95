"""Workloads that cannot be: each is refused with one sentence that names column, job and value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.workload.workload import Workload

GOOD: dict[str, Any] = {
    "submit": [0, 5, 9],
    "run": [4, 0, 7],
    "estimate": [4, 3, 8],
    "procs": [2, 4, 1],
    "processors": 4,
}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"submit": [0, -5, 9]}, r"submit of job 0 is -5; it must be at least 0"),
        ({"run": [4, -1, 7]}, r"run of job 1 is -1; it must be at least 0"),
        ({"run": [4, 4, 7]}, r"run of job 1 is 4; it must be at most the job's estimate"),
        ({"estimate": [4, -3, 8], "run": [4, -4, 7]}, r"run of job 1 is -4"),
        ({"procs": [2, 0, 1]}, r"procs of job 1 is 0; it must be at least 1"),
        ({"procs": [2, -4, 1]}, r"procs of job 1 is -4; it must be at least 1"),
        ({"procs": [2, 5, 1]}, r"procs of job 1 is 5; it must be at most the machine's 4"),
        ({"processors": 0}, r"processors is 0; a machine has at least 1"),
        ({"processors": -4}, r"processors is -4; a machine has at least 1"),
        ({"processors": 2**62}, r"processors is 4611686018427387904; .* fewer than 2\^62"),
        ({"submit": [0, 5]}, r"column 'run' has shape \(3,\)"),
        ({"submit": [0, 5.5, 9]}, r"whole numbers; truncate the fractions first"),
        ({"estimate": [4, np.nan, 8]}, r"whole numbers"),
        ({"run": [4, 0, np.inf]}, r"whole numbers"),
        ({"submit": [0, 5, 2**62]}, r"submit and estimates add up to 4611686018427387919 s"),
        ({"estimate": [4, 3, 2**63 - 1]}, r"add up to 9223372036854775823 s"),
        ({"user": ["a", "b", "c"]}, r"column 'user' holds 'a'; every column needs whole numbers"),
        ({"user": [10**30, 1, 2]}, r"column 'user' holds 1000000000000000000000000000000; .* 64"),
        ({"user": [None, 1, 2]}, r"column 'user' holds None; every column"),
        ({"user": [[1], [2, 3], 4]}, r"column 'user' is not a list of numbers"),
        ({"user": [1j, 1, 2]}, r"column 'user' holds 1j; every column"),
        (
            {"job": np.array([1, 2, 2**64 - 1], np.uint64)},
            r"column 'job' holds .*184467440737",
        ),
        ({"submit": ["a", "b", "c"]}, r"column 'submit' holds 'a'"),
        ({"max_estimate": 1.5}, r"max_estimate=1\.5: give a whole number"),
        ({"max_estimate": 10**30}, r"max_estimate=10{30}: give a whole number, .* at most"),
        ({"epoch": 1.5}, r"epoch=1\.5: give a whole number"),
        ({"epoch": True}, r"epoch=True: give a whole number"),
        ({"estimate": [2**61, 3, 2**61]}, r"add up to 4611686018427387916 s"),
        ({"estimate": [4, 2**60, 8]}, r"longest estimate x its widest job is 4611686018427387904"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_refused(changes: dict[str, Any], sentence: str) -> None:
    """Negative or absurd times, jobs that no machine holds, sums past the clock."""
    with pytest.raises(InputError, match=sentence):
        Workload.from_columns(**{**GOOD, **changes})


def test_unsorted_columns_are_refused_where_no_one_sorts_them() -> None:
    """The constructor takes jobs in (submit, position) order only."""
    good = Workload.from_columns(**GOOD)
    columns = {name: getattr(good, name) for name in ("run", "estimate", "procs", "user", "job")}
    with pytest.raises(InputError, match="submit of job 2 is 3; .* not before the job above it"):
        Workload(submit=np.array([0, 5, 3]), killed=good.killed, platform=Pool(4), **columns)


@pytest.mark.parametrize(
    "policy",
    [
        "fcfs+none",
        "saf+easy",
        "lxf+easy,threshold=3x",
        "unicef+aggressive",
        "saf+depth(2)",
        "lxf+conservative",
        "fcfs+planned",
        "fcfs+easy,events=per-event",
    ],
)
def test_the_largest_times_that_are_allowed(policy: str) -> None:
    """Inside the clock by a little, jobs as wide as the machine take turns, exact to the second."""
    day = 2**60 - 1
    work = Workload.from_columns(
        submit=[2**59, 2**59, 2**59 + 1],
        run=[day, day - 1, 5],
        estimate=[day, day - 1, 5],
        procs=[3, 3, 3],
        processors=3,
    )
    found = simulate(work, policy).start.tolist()
    assert found == simulate_reference(work, policy).start.tolist()
    turns = {"fcfs": [0, day, 2 * day - 1], "saf": [day + 4, 0, day - 1]}
    order = policy.partition("+")[0]
    if order in turns:
        assert found == [2**59 + t for t in turns[order]]


@pytest.mark.parametrize(
    "policy", ["fcfs+easy", "spf+depth(2)", "lxf+conservative", "fcfs+planned"]
)
def test_a_machine_counted_in_tiny_units(policy: str) -> None:
    """Processors may be bytes: what all widths have in common costs nothing."""
    unit = 2**30
    small = Workload.from_columns(**GOOD)
    large = Workload.from_columns(
        **{**GOOD, "procs": [unit * p for p in GOOD["procs"]], "processors": 4 * unit + 7}
    )
    assert simulate(large, policy).start.tolist() == simulate(small, policy).start.tolist()


def test_widths_without_measure_are_refused() -> None:
    """Reservations are looked up by width; widths of thirty bits are too many."""
    work = Workload.from_columns(**{**GOOD, "procs": [2**29 + 1, 2, 1], "processors": 2**30})
    with pytest.raises(InputError, match="widest job takes 536870913 times 1 .* at most 16777216"):
        simulate(work, "fcfs+conservative")

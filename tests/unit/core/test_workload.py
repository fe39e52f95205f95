"""Workloads: how jobs are picked, what a column declares, and what a column more takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core import Grid, InputError, Pool, Workload
from schedfarm.core.workload.columns import COLUMNS, STORED, Columns, column, columns_of
from tests.support.strategies import workloads


def three() -> Workload:
    return Workload.from_columns(
        submit=[0, 5, 9],
        run=[4, 3, 7],
        estimate=[4, 3, 8],
        procs=[2, 4, 1],
        user=[7, -1, 7],
        killed=[True, False, False],
        processors=4,
        name="three",
        max_estimate=20,
        dropped={"no run": 2},
        epoch=86_400,
    )


@given(work=workloads().filter(len), data=st.data())
def test_take_picks_the_same_of_every_column(work: Workload, data: st.DataObject) -> None:
    """Places, a mask and a slice of the same jobs give the same, each column by itself."""
    n = len(work)
    first = data.draw(st.integers(0, n))
    mask = np.arange(n) >= first
    taken = [work.take(places) for places in (np.flatnonzero(mask), mask, slice(first, None))]
    for name, row in COLUMNS.items():
        for some in taken:
            values = getattr(some, name)
            assert values.tolist() == getattr(work, name)[first:].tolist()
            assert values.dtype == row.dtype
    assert len({some.digest() for some in taken}) == 1


def test_take_keeps_what_is_no_column() -> None:
    """Platform, name, largest estimate, dropped rows and epoch stay, unless they are given."""
    some = three().take(np.array([1]))
    assert (some.platform, some.name, some.max_estimate) == (Pool(4), "three", 20)
    assert (dict(some.dropped), some.epoch) == ({"no run": 2}, 86_400)
    other = three().take(slice(None), run=[1, 1, 1], max_estimate=9, dropped={"late": 1})
    assert other.run.tolist() == [1, 1, 1]
    assert (other.max_estimate, dict(other.dropped)) == (9, {"late": 1})


def test_jobs_may_be_taken_several_times_in_any_order() -> None:
    """New submissions give the order; without them it must ascend."""
    again = three().take(np.array([2, 0, 2]), submit=[1, 2, 2])
    assert again.job.tolist() == [3, 1, 3]
    with pytest.raises(InputError, match="submit of job 1 is 0; .* not before the job above it"):
        three().take(np.array([2, 0]))


def test_what_take_gives_is_checked_and_cannot_be_written() -> None:
    """A view of the old jobs is shared, never open; a changed column is a copy."""
    work, new = three(), np.array([1, 1, 1])
    some = work.take(slice(0, 3), run=new)
    assert np.shares_memory(some.submit, work.submit)
    new[0] = 99
    assert some.run.tolist() == [1, 1, 1]
    for name in COLUMNS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(some, name)[0] = 1
    with pytest.raises(InputError, match="run of job 2 is 9; it must be at most"):
        work.take(slice(None), run=[1, 1, 9])
    with pytest.raises(TypeError, match="length"):
        work.take(slice(None), length=[1, 2, 3])


def test_a_step_gives_columns_that_kernels_know() -> None:
    """Every column lies in one piece: kernels are compiled for that layout only."""
    some = three().take(slice(0, 3, 2))
    assert all(getattr(some, name).flags.c_contiguous for name in COLUMNS)
    assert some.job.tolist() == [1, 3]


def test_a_read_only_view_of_an_open_array_is_copied() -> None:
    """Who still can write the array behind a view does not write the workload."""
    base = np.array([0, 5, 9])
    view = base.view()
    view.flags.writeable = False
    work = Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[1], processors=1)
    columns = {name: np.repeat(getattr(work, name), 3) for name in COLUMNS if name != "submit"}
    work = Workload(submit=view, platform=Pool(1), **columns)
    base[0] = 5
    assert work.submit.tolist() == [0, 5, 9]


def test_columns_that_are_not_given_have_their_defaults() -> None:
    """In the constructor as in `from_columns`."""
    given: dict[str, Any] = {"submit": [0, 1], "run": [1, 1], "estimate": [1, 1], "procs": [1, 1]}
    one = Workload(platform=Pool(2), **given)
    assert (one.user.tolist(), one.job.tolist(), one.killed.tolist()) == ([-1] * 2, [1, 2], [0, 0])
    assert one.digest() == Workload.from_columns(processors=2, **given).digest()
    with pytest.raises(TypeError, match=r"unexpected keyword arguments \['wait'\]"):
        Workload.from_columns(processors=2, wait=[1, 1], **given)


def test_exactly_one_of_processors_and_platform() -> None:
    """A machine is given once."""
    given: dict[str, Any] = {"submit": [0], "run": [1], "estimate": [1], "procs": [1]}
    assert Workload.from_columns(platform=Pool(2), **given).processors == 2
    for machine in ({}, {"processors": 2, "platform": Pool(2)}):
        with pytest.raises(InputError, match="needs exactly one of them"):
            Workload.from_columns(**given, **machine)


def test_digests_are_those_of_stores_that_are_there() -> None:
    """Names of stored logs and keys of draws are made of them."""
    assert three().digest() == "5559457641f79caa9a5a71f0943aeed726623c2f2301119222c34366e4cac33d"


def test_a_column_that_stays_behind_needs_a_default() -> None:
    """Else a drawn job would have nothing there."""
    with pytest.raises(TypeError, match="does not travel needs a default"):
        column("s", "deadline", travels=False)


def test_stored_names() -> None:
    """A store has dimensions `job` and `user`, so a job's number and user go by other names.

    What is only said of a job has no array there.
    """
    assert [row.stored for row in STORED.values()] == [
        "submit", "run", "estimate", "procs", "job_user", "number", "killed",
    ]  # fmt: skip
    assert columns_of(Columns) == COLUMNS
    assert [name for name in COLUMNS if name not in STORED] == [
        "group", "queue", "partition", "nodes", "hosts", "gpus", "memory", "licences", "watts",
        "priority", "soft", "logged_wait", "leave",
        "weight", "properties", "reserved", "serial",
        "origin", "communication", "bandwidth", "alltoall",
    ]  # fmt: skip


def test_a_workload_is_shown_on_one_line() -> None:
    """Name, jobs, machine and span, whatever its length; a machine of parts by both numbers."""
    assert repr(three()) == "<Workload 'three': 3 jobs on 4 processors, submitted in 9 s>"
    assert repr(three().take(slice(0))) == "<Workload 'three': 0 jobs on 4 processors>"
    parts = replace(three(), platform=Grid((4, 6), ("a", "b")))
    assert repr(parts).endswith("3 jobs on 2 clusters with 10 processors, submitted in 9 s>")

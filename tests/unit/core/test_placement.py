"""Processor numbers for drawing: no overlap, all processors, first fit."""

from __future__ import annotations

import numpy as np
import pytest

from schedfarm.core import Grid, Nodes, Workload, simulate
from schedfarm.core.models import lublin
from schedfarm.core.placement import Placement, place_jobs
from schedfarm.core.schedule import Schedule


def overlap(schedule: Schedule, placed: Placement) -> list[tuple[int, int]]:
    """Return the pairs of rectangles that overlap, by comparing all of them."""
    start, end = schedule.start[placed.job], schedule.end[placed.job]
    low, high = placed.first, placed.first + placed.count
    pairs = (
        (start[:, None] < end)
        & (start < end[:, None])
        & (low[:, None] < high)
        & (low < high[:, None])
    )
    first, second = np.nonzero(np.triu(pairs, 1))
    return list(zip(first.tolist(), second.tolist(), strict=True))


def held(schedule: Schedule, placed: Placement) -> list[int]:
    """Return the processors of each job in the rectangles."""
    counts = np.zeros(len(schedule.workload), np.int64)
    np.add.at(counts, placed.job, placed.count)
    return counts.tolist()


@pytest.mark.parametrize("policy", ["fcfs+easy", "spf+easy", "fcfs+none", "saf+conservative"])
def test_no_two_rectangles_overlap(policy: str) -> None:
    schedule = simulate(lublin(64, jobs=400, seed=5), policy)
    placed = place_jobs(schedule)
    assert overlap(schedule, placed) == []
    stays = schedule.held > 0
    assert held(schedule, placed) == np.where(stays, schedule.taken, 0).tolist()
    assert placed.rows.tolist() == [0, 64]
    assert int((placed.first + placed.count).max()) <= 64


def test_a_machine_of_several_places() -> None:
    """Jobs stay in the rows of their clusters and nodes."""
    columns = {"submit": [0, 0, 1, 2], "run": [9, 8, 7, 6], "estimate": [9, 8, 7, 6]}
    for platform, procs, more in (
        (Grid([4, 8]), [4, 4, 4, 2], {}),
        (Nodes([4, 4, 4]), [4, 4, 4, 2], {"weight": [2, 2, 2, 2]}),
    ):
        jobs = Workload.from_columns(**columns, procs=procs, platform=platform, **more)
        schedule = simulate(jobs, "fcfs+conservative")
        placed = place_jobs(schedule)
        assert overlap(schedule, placed) == []
        assert held(schedule, placed) == procs
        assert placed.rows.tolist() == np.cumsum([0, *platform.sizes]).tolist()
        low, high = placed.rows[placed.place], placed.rows[placed.place + 1]
        assert ((placed.first >= low) & (placed.first + placed.count <= high)).all()


def test_jobs_beyond_the_machine_have_rows_of_their_own() -> None:
    """The waits of a faulty log start jobs on more processors than there are."""
    jobs = Workload.from_columns(
        submit=[0, 0, 0], run=[5, 5, 5], estimate=[5, 5, 5], procs=[2, 2, 1], processors=4,
        logged_wait=[0, 0, 0],
    )  # fmt: skip
    placed = place_jobs(simulate(jobs, "fcfs+logged"))
    assert placed.first.tolist() == [0, 2, 4]
    assert placed.rows.tolist() == [0, 5]


def test_jobs_without_run_time_and_empty_schedules_have_no_rectangle() -> None:
    none = np.zeros(0, np.int64)
    empty = Workload.from_columns(submit=none, run=none, estimate=none, procs=none, processors=3)
    assert place_jobs(simulate(empty, "fcfs+easy")).job.size == 0
    jobs = Workload.from_columns(submit=[0], run=[0], estimate=[5], procs=[2], processors=3)
    placed = place_jobs(simulate(jobs, "fcfs+easy"))
    assert (placed.job.size, placed.rows.tolist()) == (0, [0, 3])

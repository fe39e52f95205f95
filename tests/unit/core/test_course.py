"""Courses: passes that one more job leaves alone, and those after the last start."""

from __future__ import annotations

import numpy as np
import pytest

from schedfarm.core.engine.clone.course import (
    NO_HEAD,
    Passes,
    advance,
    charge,
    columns_of,
    empty_course,
    first_chance,
    first_changed,
    open_pass,
    write_ends,
)
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.leaving import STAYING
from schedfarm.core.engine.running import Jobs, idle_machine, launch


def course_of(*rows: tuple[int, int, int, int]) -> Passes:
    """Return passes of times, s, free processors, shadow times, s, and extra processors."""
    passes = empty_course(20, 0, 8).passes
    for p, (time, free, shadow, extra) in enumerate(rows):
        waits = shadow < NEVER
        head, slack = (5, shadow - time) if waits else (NO_HEAD, NEVER)
        row = (time, free, head, shadow, slack, extra)
        for column, value in zip(columns_of(passes), row, strict=True):
            column[p] = value
    passes.state[0].stop = len(rows)
    return passes


def three() -> Passes:
    return course_of((0, 3, 20, 1), (10, 4, 30, 2), (40, 8, NEVER, NEVER))


@pytest.mark.parametrize(
    ("need", "predicted", "changed"),
    [(4, 5, 0), (3, 20, 3), (3, 21, 0), (1, 50, 3), (2, 25, 0), (2, 20, 3)],
)
def test_a_pass_is_left_alone(need: int, predicted: int, changed: int) -> None:
    """If processors are free, and the job ends by the shadow time or takes what is extra."""
    assert first_changed(three(), 0, 3, need, predicted) == changed


@pytest.mark.parametrize(
    ("need", "estimate", "chance"), [(3, 20, 0), (3, 21, 2), (4, 20, 1), (1, 99, 0), (8, 1, 2)]
)
def test_the_first_chance_of_the_last_in_the_queue(need: int, estimate: int, chance: int) -> None:
    assert first_chance(three(), 0, need, estimate) == chance


def test_one_more_job_ends_between_passes() -> None:
    """The pass at its end has the state without it."""
    passes = three()
    open_pass(passes, 2, 35)
    charge(passes, 0, 2, 1, 31)
    assert passes.time[:4].tolist() == [0, 10, 35, 40]
    assert passes.free[:4].tolist() == [2, 3, 4, 8]
    assert passes.extra[:3].tolist() == [0, 1, 2]
    assert passes.slack[:3].tolist() == [20, 20, -5]


def test_time_passes() -> None:
    passes = three()
    advance(passes, 12)
    first = passes.state[0].first
    assert (first, passes.time[first], passes.slack[first]) == (1, 12, 18)


def test_a_job_that_ends_at_once_has_a_pass() -> None:
    """The pass that starts it leaves its processors taken."""
    two = np.array([2, 3])
    jobs = Jobs(two * 0, two * 0, two, two, two * 0 - 1, two > 9, np.zeros(1, np.int64), STAYING)
    running, passes = idle_machine(8, 2), course_of((4, 3, NEVER, NEVER))
    for j in (0, 1):
        launch(jobs, running, j, 4)
    assert write_ends(passes, 1, jobs, running) == 2
    assert passes.time[:2].tolist() == [4, 4]
    assert passes.free[:2].tolist() == [3, 8]

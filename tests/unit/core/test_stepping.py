"""The stepping interface: what it shows, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.stepping.stepping import Stepping
from tests.oracles.case import workload

BUSY = workload(4, [(0, 9, 12, 3), (1, 5, 5, 2), (2, 4, 4, 1), (30, 1, 1, 4)])
"""One job runs when the second, which does not fit, and the third, which does, arrive."""


def test_decisions_are_shown() -> None:
    steps = Stepping(BUSY)
    assert (steps.now, steps.waiting.tolist(), steps.free, steps.can_wait) == (0, [0], 4, True)
    steps.start(0)
    assert (steps.now, steps.waiting.tolist(), steps.free) == (2, [1, 2], 1)
    assert (steps.fits.tolist(), steps.running.tolist()) == ([False, True], [0])
    assert steps.reservation(1) == (12, 2)
    steps.wait()
    assert (steps.now, steps.fits.tolist(), steps.decisions) == (9, [True, True], 2)
    steps.start(2)
    steps.start(1)
    assert (steps.now, steps.started.tolist(), steps.done) == (30, [0, 9, 9, -1], False)
    steps.start(3)
    assert steps.done
    assert steps.schedule("mine").start.tolist() == [0, 9, 9, 30]


def test_a_job_of_no_length_completes_at_the_same_instant() -> None:
    """Its processors are free again for a decision at that instant."""
    steps = Stepping(workload(2, [(5, 0, 0, 2), (5, 3, 3, 2)]))
    steps.start(0)
    assert (steps.now, steps.waiting.tolist(), steps.fits.tolist()) == (5, [1], [True])


def test_views_are_copies() -> None:
    steps = Stepping(BUSY)
    steps.waiting[:] = 3
    steps.started[:] = 7
    assert (steps.waiting.tolist(), steps.started.tolist()) == ([0], [-1] * 4)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda s: s.start(1), "job=1 needs 2 processors; 1 are free at 2 s"),
        (lambda s: s.start(3), "job=3 does not wait at 2 s; see `waiting`"),
        (lambda s: s.start(0), "job=0 does not wait at 2 s"),
        (lambda s: s.start(-1), "job=-1: give a whole number, at least 0"),
        (lambda s: s.reservation(2), "job=2 fits the 1 free processors at 2 s"),
        (lambda s: s.rewind(Stepping(BUSY)), "takes a clone of this simulation"),
        (lambda s: s.schedule(), "3 of 4 jobs have not started yet"),
    ],
)
def test_what_cannot_be_done_is_refused(act: Callable[[Stepping], object], said: str) -> None:
    steps = Stepping(BUSY)
    steps.start(0)
    with pytest.raises(InputError, match=said):
        act(steps)


def test_waiting_for_nothing_is_refused() -> None:
    steps = Stepping(workload(4, [(3, 1, 1, 1)]))
    with pytest.raises(InputError, match="no job is to arrive after 3 s; start a waiting job"):
        steps.wait()


def test_other_platforms_are_refused() -> None:
    grid = workload(4, [(3, 1, 1, 1)]).__class__.from_columns(
        submit=[0], run=[1], estimate=[1], procs=[1], platform=Grid([4], ["a"])
    )
    with pytest.raises(InputError, match="is on platform 'grid'; stepping is for platform 'pool'"):
        Stepping(grid)


def test_an_empty_workload_is_done() -> None:
    empty = BUSY.take(np.zeros(4, np.bool_))
    assert Stepping(empty).done
    assert Stepping(empty).schedule().start.size == 0

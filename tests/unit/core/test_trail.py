"""Trails of copies: what is left for the next copy, and when it differs."""

from __future__ import annotations

import numpy as np

from schedfarm.core.engine.clone.trail import (
    BAR,
    PLACE,
    UNTIL,
    WAITED,
    Trail,
    differs,
    leave_trail,
    no_trail,
)
from schedfarm.core.engine.queue import enqueue
from schedfarm.core.engine.running import Jobs, idle_machine
from schedfarm.core.engine.world import World, empty_world

JOBS = 40


def machine(start: list[int]) -> World:
    """Return one on which jobs of a minute started then, s; those without a start, -1, wait."""
    first, ones = np.arange(JOBS), np.ones(JOBS, np.int64)
    starts = np.array(start + [-1] * (JOBS - len(start)))
    jobs = Jobs(
        first * 0, ones * 60, ones * 60, ones, starts, np.zeros(JOBS, bool), np.zeros(1, np.int64)
    )
    world = empty_world(jobs, idle_machine(64, first.size), first)
    for j in np.flatnonzero(starts < 0):
        enqueue(world.queue, world.jobs, world.key, int(j))
    return world


def trail_of(waited: int, bar: int, at: int) -> Trail:
    """Return that of a copy on which the last jobs before `bar` waited, and started at once."""
    trail, here = no_trail(JOBS), machine([0] * (bar - waited))
    started = here.jobs.start.copy()
    started[bar - waited : bar] = at
    leave_trail(trail, here.queue, started, bar, bar)
    return trail


def test_a_trail_has_who_waited_before_its_bar() -> None:
    trail = trail_of(waited=5, bar=30, at=7)
    assert trail.state[[WAITED, BAR]].tolist() == [5, 30]
    assert trail.job[:5].tolist() == [25, 26, 27, 28, 29]
    assert trail.start[25:30].tolist() == [7] * 5


def test_a_shorter_trail_is_looked_at_from_its_beginning() -> None:
    """The place at which the longer one was left is behind all that it has."""
    trail = trail_of(waited=20, bar=30, at=7)
    copy = machine([0] * 10 + [7] * 19 + [9])
    assert differs(trail, copy.jobs, 30, 9)
    assert (trail.state[PLACE], trail.state[UNTIL]) == (19, 69)
    here, started = machine([0] * 28), np.full(JOBS, 8)
    leave_trail(trail, here.queue, started, 30, 30)
    assert (trail.state[WAITED], trail.state[PLACE], trail.state[UNTIL]) == (2, 0, 0)
    same = machine([0] * 28 + [8] * 2)
    assert not differs(trail, same.jobs, 30, 9)


def test_copies_differ_while_one_has_a_job_that_the_other_has_not() -> None:
    """Until it is over there."""
    trail = trail_of(waited=2, bar=10, at=7)
    copy = machine([0] * 8 + [7] * 3)
    assert differs(trail, copy.jobs, 11, 8)
    assert differs(trail, copy.jobs, 11, 66)
    assert not differs(trail, copy.jobs, 11, 67)

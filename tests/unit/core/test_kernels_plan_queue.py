"""The queue of a plan against a list."""

from __future__ import annotations

import numpy as np

from schedfarm.core.engine.leaving import STAYING
from schedfarm.core.engine.plan import Plan, empty_plan, remove
from schedfarm.core.engine.plan_queue import insert, move, place_by_key
from schedfarm.core.engine.running import Jobs

JOBS = 300


def columns(plan: Plan) -> list[list[int]]:
    """Return job, processors, estimate and submit time of all who wait, in queue order."""
    first = plan.front[0]
    stop = first + plan.state[0].waiting
    waiting = (plan.job, plan.need, plan.length, plan.submit)
    return [column[first:stop].tolist() for column in waiting]


def some_jobs() -> Jobs:
    rng = np.random.default_rng(5)
    submit, estimate, procs = (rng.integers(0, high, JOBS) for high in (99, 9, 7))
    start, leave = np.full(JOBS, -1), np.zeros(1, np.int64)
    return Jobs(np.sort(submit), estimate, estimate, procs, start, start == 0, leave, STAYING)


def test_who_comes_goes_or_moves_leaves_the_others_in_order() -> None:
    """Wherever they do: the jobs before or those behind make the room, or close the gap."""
    jobs, rng = some_jobs(), np.random.default_rng(8)
    plan, queue, fronts = empty_plan(JOBS, 7), list[int](), set[int]()
    for j in range(JOBS):
        place = int(rng.integers(len(queue) + 1))
        insert(plan, jobs, j, place)
        queue.insert(place, j)
        if rng.random() < 0.6:
            place = int(rng.choice([0, len(queue) - 1, rng.integers(len(queue))]))
            remove(plan, place)
            del queue[place]
        if len(queue) > 1:
            source = int(rng.integers(1, len(queue)))
            move(plan, source, source // 2)
            queue.insert(source // 2, queue.pop(source))
        fronts.add(int(plan.front[0]))
        known = (jobs.procs, jobs.estimate, jobs.submit)
        assert columns(plan) == [queue, *(column[queue].tolist() for column in known)]
    assert len(fronts) > 3


def test_taking_the_first_moves_nobody() -> None:
    """Under SPF on CTC at load 0.9 six of ten starts are of the head of 1670 who wait."""
    jobs, plan = some_jobs(), empty_plan(JOBS, 7)
    for j in range(JOBS):
        insert(plan, jobs, j, j)
    plan.job[JOBS - 1] = JOBS
    for _ in range(JOBS - 2):
        remove(plan, 0)
    assert plan.front[0] == JOBS - 2
    assert columns(plan)[0] == [JOBS - 2, JOBS]


def test_a_key_is_looked_up_from_where_the_queue_begins() -> None:
    """Behind those that starve, whatever theirs are."""
    jobs, plan, key = some_jobs(), empty_plan(JOBS, 7), np.arange(JOBS)[::-1].copy()
    for j in (5, 9, 6, 4, 3, 2):
        insert(plan, jobs, j, plan.state[0].waiting)
    remove(plan, 0)
    plan.state[0].starving = 1
    assert [place_by_key(plan, key, j) for j in (8, 5, 1)] == [1, 2, 5]

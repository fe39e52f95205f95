"""Fair start times under none, aggressive and easy in orders that change with time."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clone.machine import copy_machine
from schedfarm.core.engine.clone.state import (
    Fair,
    copy_queue,
    fill_in,
    forks_at_arrival,
    forks_before_next,
    is_over,
    turn_alone,
)
from schedfarm.core.engine.jit import kernel, routine
from schedfarm.core.engine.moving_order import decide, fits_somewhere
from schedfarm.core.engine.queue import enqueue
from schedfarm.core.engine.ranking import Rankings
from schedfarm.core.engine.world import Options, World, starving_before, turn


@routine
def fork(
    here: World, copy: World, fair: Fair, rankings: Rankings, options: Options, j: int, now: int,
    k: int, look: bool,
) -> int:  # fmt: skip
    """Return when job j, which has arrived, starts on a copy of what is here, s.

    The pass of this instant is still to come where `look` says so; job k arrives next.
    """
    jobs, running, queue, _, by_age = copy
    joined, keys = not fair.relaxed, (by_age, by_age)
    copy_machine(here.machine, here.jobs, jobs.start, running)
    copy_queue(here.queue, queue, jobs.start, keys, fair.rank, fair.rank[j] - (not joined))
    while True:
        if look and fits_somewhere(queue, running.free[0]):
            decide(copy, rankings, options.rule, now, starving_before(options, now))
        look = True
        if not joined:
            if queue.size[0] == 0:
                joined = True
                jobs.start[j] = -1
                enqueue(queue, jobs, by_age, j)
                continue
        elif jobs.start[j] >= 0:
            return int(jobs.start[j])
        now, k = turn_alone(copy, by_age, fair, options.per_event, k, j)


@kernel
def fair_moving(
    here: World, copy: World, fair: Fair, rankings: Rankings, options: Options, fst: Int64
) -> None:
    """Fill `fst`, all -1, for the jobs wanted: the schedule and beside it a copy for each."""
    jobs, running, queue, _, _ = here
    arrived = 0
    while True:
        if forks_before_next(jobs, running, fair, fst, arrived):
            j = arrived - 1
            fst[j] = fork(here, copy, fair, rankings, options, j, 0, arrived, False)
        if is_over(jobs, fair, fst, arrived):
            break
        first = arrived
        now, arrived = turn(here, first, options.per_event)
        for j in range(first, arrived):
            if forks_at_arrival(fair, j, arrived):
                fst[j] = fork(here, copy, fair, rankings, options, j, now, arrived, True)
        if fits_somewhere(queue, running.free[0]):
            decide(here, rankings, options.rule, now, starving_before(options, now))
    fill_in(jobs, fair, fst)

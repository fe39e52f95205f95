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
from schedfarm.core.engine.jit import rolled_kernel, routine
from schedfarm.core.engine.machine import most_free
from schedfarm.core.engine.moving_order import fits_somewhere, make_pass, turn_moving
from schedfarm.core.engine.queue import enqueue
from schedfarm.core.engine.rank import AnyRankings, begun_by, copy_usage, follow_up
from schedfarm.core.engine.world import Options, World


@routine
def fork(
    here: World, copy: World, fair: Fair, rankings: tuple[AnyRankings, AnyRankings],
    options: Options, j: int, now: int, k: int, look: bool,
) -> int:  # fmt: skip
    """Return the fair start, s, of job j, which has arrived, on a clone of the state.

    `look` tells whether the pass of this instant is pending; job k arrives next. The second
    rankings are the clone's.
    """
    jobs, machine, queue, _, by_age = copy
    own = rankings[1]
    joined, keys = not fair.relaxed, (by_age, by_age)
    copy_machine(here.machine, here.jobs, jobs.start, machine)
    copy_queue(here.queue, queue, jobs.start, keys, fair.rank, fair.rank[j] - (not joined))
    copy_usage(rankings[0], own)
    while True:
        if look and fits_somewhere(queue, most_free(machine)):
            make_pass(copy, own, options, now)
        look = True
        if not joined:
            if queue.state[0].blocks == 0:
                joined = True
                jobs.start[j] = -1
                enqueue(queue, jobs, by_age, j)
                continue
        elif jobs.start[j] >= 0:
            return int(jobs.start[j])
        begun = begun_by(own, machine)
        now, k = turn_alone(copy, by_age, fair, options.per_event, k, j)
        follow_up(own, machine, jobs, begun, now)


@rolled_kernel
def fair_moving(
    here: World, copy: World, fair: Fair, rankings: tuple[AnyRankings, AnyRankings],
    options: Options, fst: Int64,
) -> None:  # fmt: skip
    """Simulate the schedule, and a clone for each wanted job; fill `fst`, all -1, for these."""
    jobs, machine, queue, _, _ = here
    arrived = 0
    while True:
        if forks_before_next(jobs, machine, fair, fst, arrived):
            j = arrived - 1
            fst[j] = fork(here, copy, fair, rankings, options, j, 0, arrived, False)
        if is_over(jobs, fair, fst, arrived):
            break
        first = arrived
        now, arrived = turn_moving(here, rankings[0], first, options.per_event)
        for j in range(first, arrived):
            if forks_at_arrival(fair, j, arrived):
                fst[j] = fork(here, copy, fair, rankings, options, j, now, arrived, True)
        if fits_somewhere(queue, most_free(machine)):
            make_pass(here, rankings[0], options, now)
    fill_in(jobs, fair, fst)

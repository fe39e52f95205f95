"""Fair start times under none, aggressive and easy in an order that is fixed at submission."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import turn_clock
from schedfarm.core.engine.clone.machine import copy_machine, latest_running, withdraw
from schedfarm.core.engine.clone.state import (
    Fair,
    answer,
    copy_queue,
    fill_in,
    forks_at_arrival,
    forks_before_next,
    is_over,
    needs_copy,
    turn_alone,
)
from schedfarm.core.engine.fixed_order import STARVED, promote, schedule, take_in
from schedfarm.core.engine.jit import NEVER, rolled_kernel, routine
from schedfarm.core.engine.queue import enqueue
from schedfarm.core.engine.world import Options, World, turn


@routine
def fork(
    here: World, copy: World, fair: Fair, options: Options, fst: Int64, first: int, j: int,
    now: int, oldest: int, k: int, look: bool,
) -> None:  # fmt: skip
    """Find the fair start of job j, which has arrived, on a clone of the state.

    For a patient fair order and strict fair starts, also find those of the jobs from `first` on
    that the clone serves. `look` tells whether the pass of this instant is pending; job k arrives
    next. Jobs before `oldest` starve already, or have started.
    """
    jobs, running, queue, _, key = copy
    joined, keys, threshold = not fair.relaxed, (here.key, key), options.threshold
    copy_machine(here.machine, here.jobs, jobs.start, running)
    if fair.patient:
        withdraw(running, here.jobs, j + 1)
    if threshold < NEVER:
        # Starvation looks at every job from the oldest that may still wait to the latest.
        for i in range(oldest, k):
            jobs.start[i] = here.jobs.start[i]
    copy_queue(here.queue, queue, jobs.start, keys, fair.rank, fair.rank[j] - (not joined))
    while True:
        if look and queue.state[0].blocks > 0:
            if threshold < NEVER:
                oldest = promote(copy.queue, copy.jobs, copy.key, oldest, k, now - threshold)
            schedule(copy, options.rule, now)
        look = True
        first = answer(jobs.start, fst, first, j + joined, NEVER)
        if first > j:
            return
        if not joined and queue.state[0].blocks == 0:
            joined = True
            # The pass of this instant has already examined all jobs before `oldest`.
            jobs.start[j], key[j] = -1, STARVED if j < oldest else here.key[j]
            enqueue(queue, jobs, key, j)
            continue
        now, k = turn_alone(copy, here.key, fair, options.per_event, k, j)


@rolled_kernel
def fair_fixed(here: World, copy: World, fair: Fair, options: Options, fst: Int64) -> None:
    """Simulate the schedule, and a clone for each wanted job; fill `fst`, all -1, for these."""
    jobs, running, queue, _, _ = here
    threshold = options.threshold
    arrived = oldest = 0
    while True:
        if forks_before_next(jobs, running, fair, fst, arrived):
            j = arrived - 1
            fork(here, copy, fair, options, fst, j, j, 0, oldest, arrived, False)
        if is_over(jobs, fair, fst, arrived):
            break
        first = arrived
        now, arrived = turn(here, first, options.per_event)
        for j in range(first, arrived):
            if forks_at_arrival(fair, j, arrived):
                fork(here, copy, fair, options, fst, j, j, now, oldest, arrived, True)
        if queue.state[0].blocks > 0:
            if threshold < NEVER:
                oldest = promote(here.queue, here.jobs, here.key, oldest, arrived, now - threshold)
            schedule(here, options.rule, now)
    fill_in(jobs, fair, fst)


@rolled_kernel
def fair_patient(here: World, copy: World, fair: Fair, options: Options, fst: Int64) -> None:
    """Fill `fst` as `fair_fixed` does, for strict fair starts, first come, first served.

    Invariant: no waiting job affects an earlier one. Until a later job starts, the schedule is
    therefore the clone of every job, and the pass that starts the later job still decides on
    earlier jobs as their clones would. The clone begins after that pass. One clone is made for the
    last of these jobs, and another one for jobs that are overtaken on the first. Starving jobs wait
    in this order
    anyway: the options' threshold is NEVER.
    """
    jobs, running, queue, _, _ = here
    known = arrived = 0
    while known < fair.last and jobs.leave[0] == 0:
        first = arrived
        now, arrived, look = turn_clock(jobs, running, arrived, options.per_event)
        if take_in(here, options.rule, first, arrived, look) and queue.state[0].blocks > 0:
            schedule(here, options.rule, now)
        latest = latest_running(running, known - 1)
        for j in range(min(latest, fair.last - 1), known - 1, -1):
            if needs_copy(jobs, fair, fst, j, NEVER):
                fork(here, copy, fair, options, fst, known, j, now, 0, arrived, False)
        known = latest + 1
    fill_in(jobs, fair, fst)

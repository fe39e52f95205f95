"""Fair start times under none, aggressive and easy in an order that is fixed at submission."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.arrays import Int64
from core.kernels.fair_start.state import (
    Fair,
    copy_queue,
    copy_running,
    fill_in,
    forks_at_arrival,
    forks_before_next,
    is_over,
    latest_running,
    needs_copy,
    turn_alone,
    withdraw,
)
from core.kernels.fixed_order import admit, promote, schedule
from core.kernels.jit import NEVER, kernel
from core.kernels.machine import Jobs, Running, idle_machine, turn_clock
from core.kernels.queue import Queue, empty_queue, enqueue, head_of, turn


class World(NamedTuple):
    """A machine and its queue under a fixed order, and the starts that it has seen."""

    jobs: Jobs
    running: Running
    queue: Queue
    hold: Int64
    key: Int64


@kernel
def fork(
    here: World, copy: World, fair: Fair, rule: int, threshold: int, per_event: bool, j: int,
    now: int, oldest: int, k: int, look: bool,
) -> int:  # fmt: skip
    """Return when job j, which has arrived, starts on a copy of what is here, s.

    The pass of this instant is still to come where `look` says so; job k arrives next.
    """
    jobs, running, queue, hold, key = copy
    joined, keys = not fair.relaxed, (here.key, key)
    copy_running(here.jobs, here.running, jobs.start, running)
    if fair.patient:
        withdraw(here.jobs, running, j + joined)
    if threshold < NEVER:
        # Starvation looks at every job from the oldest that may still wait to the latest.
        for i in range(oldest, k):
            jobs.start[i] = here.jobs.start[i]
    copy_queue(here.queue, queue, jobs.start, keys, fair.rank, fair.rank[j] - (not joined))
    while True:
        if look and queue.size[0] > 0:
            if threshold < NEVER:
                oldest = promote(queue, jobs, key, oldest, k, now - threshold)
            schedule(queue, jobs, running, hold, rule, now)
        look = True
        if not joined:
            if queue.size[0] == 0:
                joined = True
                jobs.start[j], key[j] = -1, here.key[j]
                enqueue(queue, jobs, key, j)
                continue
        elif jobs.start[j] >= 0:
            return int(jobs.start[j])
        now, k = turn_alone(jobs, running, queue, keys, fair, per_event, k, j)


@kernel
def empty_world(
    submit: Int64, run: Int64, estimate: Int64, procs: Int64, key: Int64, processors: int
) -> World:
    """Return an idle machine with a key of its own."""
    n = submit.size
    start, backfilled = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    jobs = Jobs(submit, run, estimate, procs, start, backfilled)
    machine, queue = idle_machine(processors, n), empty_queue(n)
    return World(jobs, machine, queue, np.zeros(3, np.int64), key.copy())


@kernel
def fair_fixed(
    here: World, copy: World, fair: Fair, rule: int, threshold: int, per_event: bool, fst: Int64
) -> None:
    """Fill `fst`, all -1, for the jobs wanted: the schedule and beside it a copy for each."""
    jobs, running, queue, hold, key = here
    arrived = oldest = 0
    while True:
        if forks_before_next(jobs, running, fair, fst, arrived):
            j = arrived - 1
            fst[j] = fork(
                here, copy, fair, rule, threshold, per_event, j, 0, oldest, arrived, False
            )
        if is_over(jobs, fair, fst, arrived):
            break
        first = arrived
        now, arrived = turn(queue, jobs, running, key, first, per_event)
        for j in range(first, arrived):
            if forks_at_arrival(fair, j, arrived):
                fst[j] = fork(
                    here, copy, fair, rule, threshold, per_event, j, now, oldest, arrived, True
                )
        if queue.size[0] > 0:
            if threshold < NEVER:
                oldest = promote(queue, jobs, key, oldest, arrived, now - threshold)
            schedule(queue, jobs, running, hold, rule, now)
    fill_in(jobs, fair, fst)


@kernel
def fair_patient(
    here: World, copy: World, fair: Fair, rule: int, per_event: bool, fst: Int64
) -> None:
    """Fill `fst` as `fair_fixed` does, first come first served, where patience is exact.

    No job that waits moves one before it: the schedule stays every job's own copy until a later
    one starts. The copy then begins after that pass, whose decisions on earlier jobs it shares.
    """
    jobs, running, queue, hold, key = here
    known = arrived = 0
    while known < fair.last:
        first = arrived
        now, arrived, look = turn_clock(jobs, running, arrived, per_event)
        if arrived == first + 1 and not look:
            look = admit(queue, jobs, running, hold, key, rule, first)
        else:
            for j in range(first, arrived):
                enqueue(queue, jobs, key, j)
            look = True
        if look and queue.size[0] > 0:
            schedule(queue, jobs, running, hold, rule, now)
        latest = latest_running(running, known - 1)
        head = queue.job[head_of(queue)] if queue.size[0] > 0 else jobs.submit.size
        for j in range(known, min(latest + 1, fair.last)):
            if needs_copy(jobs, fair, j, head):
                fst[j] = fork(here, copy, fair, rule, NEVER, per_event, j, now, 0, arrived, False)
        known = latest + 1
    fill_in(jobs, fair, fst)

"""Fair start times under none, aggressive and easy in orders that change with time."""

from __future__ import annotations

from core.kernels._jit import NEVER, kernel
from core.kernels.fst_fixed import World
from core.kernels.fst_state import (
    Fair,
    copy_queue,
    copy_running,
    fill_in,
    forks_at_arrival,
    forks_before_next,
    is_over,
    turn_alone,
)
from core.kernels.moving_order import Order, decide, fits_somewhere
from core.kernels.queue import enqueue
from core.kernels.running import turn_clock
from core.workload import Int64


@kernel
def run_alone(
    copy: World, fair: Fair, orders: tuple[Order, Order], rule: int, threshold: int,
    per_event: bool, j: int, now: int, k: int, joined: bool, look: bool,
) -> int:  # fmt: skip
    """Run a copy until job j starts, and return when; it joins an empty queue if not yet there."""
    jobs, running, queue, hold, by_age = copy
    while True:
        if look and fits_somewhere(queue, running.free[0]):
            limit = now - threshold if threshold < NEVER else -1
            decide(queue, jobs, running, hold, orders, rule, now, limit, by_age)
        look = True
        if not joined:
            if queue.size[0] == 0:
                joined = True
                jobs.start[j] = -1
                enqueue(queue, jobs, by_age, j)
                continue
        elif jobs.start[j] >= 0:
            return int(jobs.start[j])
        now, k = turn_alone(jobs, running, queue, (by_age, by_age), fair, per_event, k, j)


@kernel
def fork(
    here: World, copy: World, fair: Fair, orders: tuple[Order, Order], rule: int, threshold: int,
    per_event: bool, j: int, now: int, arrived: int, arrives: bool,
) -> int:  # fmt: skip
    """Return the fair start of job j, which waits and arrives now, or came last, s."""
    start, keys = copy.jobs.start, (here.key, copy.key)
    copy_running(here.jobs, here.running, start, copy.running)
    joined = not (arrives and fair.relaxed)
    copy_queue(here.queue, copy.queue, start, keys, fair.rank, fair.rank[j] - (not joined))
    return run_alone(
        copy, fair, orders, rule, threshold, per_event, j, now, arrived, joined, arrives
    )


@kernel
def fair_moving(
    here: World, copy: World, fair: Fair, orders: tuple[Order, Order], rule: int, threshold: int,
    per_event: bool, fst: Int64,
) -> None:  # fmt: skip
    """Fill `fst`, all -1, for the jobs wanted: the schedule and beside it a copy for each."""
    jobs, running, queue, hold, by_age = here
    arrived = 0
    while True:
        if forks_before_next(jobs, running, fair, fst, arrived):
            j = arrived - 1
            fst[j] = fork(
                here, copy, fair, orders, rule, threshold, per_event, j, 0, arrived, False
            )
        if is_over(jobs, fair, fst, arrived):
            break
        first = arrived
        now, arrived, _ = turn_clock(jobs, running, arrived, per_event)
        for j in range(first, arrived):
            enqueue(queue, jobs, by_age, j)
        for j in range(first, arrived):
            if forks_at_arrival(fair, j, arrived):
                fst[j] = fork(
                    here, copy, fair, orders, rule, threshold, per_event, j, now, arrived, True
                )
        if fits_somewhere(queue, running.free[0]):
            limit = now - threshold if threshold < NEVER else -1
            decide(queue, jobs, running, hold, orders, rule, now, limit, by_age)
    fill_in(jobs, fair, fst)

"""The rules none, aggressive and easy in orders that change with time, or differ for backfills.

Nothing is ever sorted. The jobs wait by (submit, position); the head is the best of all, and
the next backfill the best of those that may start: a job refused once stays refused in a pass,
since backfills only take processors. A pass starts about one job, so that two looks at the
queue replace a sort: LXF with EASY runs three times as fast on the KTH log.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.arrays import Int64
from core.kernels.fixed_order import EXTRA, NONE, SHADOW, may_backfill, reserve, within_reach
from core.kernels.jit import NEVER, kernel, verb
from core.kernels.machine import Jobs, Running, idle_machine, launch
from core.kernels.queue import Queue, dequeue, empty_queue, head_of, turn

KEYED, LARGEST_RATIO, SMALLEST_RATIO, LARGEST_CUBE, LARGEST_SHARE = 0, 1, 2, 3, 4
"""Codes of the orders: by key; LXF; SXF; WFP3; UNICEF."""

SMALL = 2**31
"""Products of two numbers below this fit int64."""

ARRIVED, NOW = 0, 1
"""Fields of the clock."""


class Order(NamedTuple):
    """An order: its code, a key of each job, and a width of each job for WFP3 and UNICEF."""

    code: int
    key: Int64
    width: npt.NDArray[np.float64]


@verb
def ratio_exceeds(a: int, b: int, c: int, d: int) -> bool:
    """Say whether a / b > c / d, exactly, for a, c >= 0 and b, d > 0."""
    if a < SMALL and b < SMALL and c < SMALL and d < SMALL:
        return a * d > c * b
    # Euclid: compare whole parts, then the reciprocals of what is left; no product, no overflow.
    while True:
        whole, other = a // b, c // d
        if whole != other:
            return whole > other
        a, c = a - whole * b, c - other * d
        if a == 0 or c == 0:
            return a > c
        a, b, c, d = d, c, b, a


@verb
def comes_first(order: Order, jobs: Jobs, now: int, i: int, j: int) -> bool:
    """Say whether waiting job `i` comes strictly before `j`, but for (submit, position)."""
    if order.code == KEYED:
        return bool(order.key[i] < order.key[j])
    a, b = now - jobs.submit[i], max(jobs.estimate[i], 1)
    c, d = now - jobs.submit[j], max(jobs.estimate[j], 1)
    if order.code == LARGEST_RATIO:
        return ratio_exceeds(a, b, c, d)
    if order.code == SMALLEST_RATIO:
        return ratio_exceeds(c, d, a, b)
    if order.code == LARGEST_CUBE:
        p, q = a / b, c / d
        return bool(p * p * p * order.width[i] > q * q * q * order.width[j])
    return bool(a / (order.width[i] * b) > c / (order.width[j] * d))


@verb
def fits_somewhere(queue: Queue, free: int) -> bool:
    """Say whether some waiting job may fit, by the blocks' minima."""
    least = NEVER
    for place in range(queue.size[0]):
        least = min(least, queue.least_need[queue.order[place]])
    return least <= free


@verb
def first_of_all(queue: Queue, jobs: Jobs, order: Order, now: int, limit: int) -> int:
    """Return the head of the queue; a job submitted before `limit` starves and goes first."""
    best = queue.job[head_of(queue)]
    if jobs.submit[best] < limit:
        return int(best)
    for place in range(queue.size[0]):
        b = queue.order[place]
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            if comes_first(order, jobs, now, queue.job[cell], best):
                best = queue.job[cell]
    return int(best)


@verb
def first_backfill(
    queue: Queue, jobs: Jobs, free: int, hold: Int64, order: Order, now: int, limit: int
) -> int:
    """Return the first job that may start behind the head, -1 if none may."""
    best = -1
    slack, extra = hold[SHADOW] - now, hold[EXTRA]
    for place in range(queue.size[0]):
        b = queue.order[place]
        if queue.least_need[b] > free or not within_reach(queue, hold, now, b):
            continue
        least_need, least_estimate = NEVER, NEVER
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            need, estimate = queue.need[cell], queue.estimate[cell]
            least_need, least_estimate = min(least_need, need), min(least_estimate, estimate)
            if need <= free and (estimate <= slack or need <= extra):
                j = queue.job[cell]
                if best < 0 or (
                    jobs.submit[best] >= limit and comes_first(order, jobs, now, j, best)
                ):
                    best = j
        queue.least_need[b], queue.least_estimate[b] = least_need, least_estimate
    return best


@verb
def decide(
    queue: Queue,
    jobs: Jobs,
    running: Running,
    hold: Int64,
    orders: tuple[Order, Order],
    rule: int,
    now: int,
    limit: int,
    by_age: Int64,
) -> None:
    """Run one pass: the head while it fits, in the one order; then backfills, in the other."""
    head = -1
    while head < 0:
        if not fits_somewhere(queue, running.free[0]):
            return
        j = first_of_all(queue, jobs, orders[0], now, limit)
        if jobs.procs[j] > running.free[0]:
            head = j
        else:
            launch(jobs, running, j, now)
            dequeue(queue, by_age, j)
    if rule == NONE:
        return
    reserve(running, hold, rule, jobs.procs[head])
    j = first_backfill(queue, jobs, running.free[0], hold, orders[1], now, limit)
    while j >= 0:
        may_backfill(hold, now, jobs.procs[j], jobs.estimate[j])
        jobs.backfilled[j] = True
        launch(jobs, running, j, now)
        dequeue(queue, by_age, j)
        j = first_backfill(queue, jobs, running.free[0], hold, orders[1], now, limit)


@verb
def advance(
    queue: Queue, jobs: Jobs, running: Running, clock: Int64, per_event: bool, by_age: Int64
) -> bool:
    """Go on to the next pass that may start a job; return whether there is one."""
    while clock[ARRIVED] < jobs.submit.size or running.count[0] > 0:
        clock[NOW], clock[ARRIVED] = turn(queue, jobs, running, by_age, clock[ARRIVED], per_event)
        if fits_somewhere(queue, running.free[0]):
            return True
    return False


@kernel
def run_moving(
    jobs: Jobs,
    orders: tuple[Order, Order],
    processors: int,
    rule: int,
    threshold: int,
    per_event: bool,
) -> None:
    """Fill `start` (all -1) and `backfilled` (all False) of `jobs` by the clock of SEMANTICS."""
    n = jobs.submit.size
    running, queue = idle_machine(processors, n), empty_queue(n)
    hold, clock, by_age = np.zeros(3, np.int64), np.zeros(2, np.int64), np.zeros(n, np.int64)
    while advance(queue, jobs, running, clock, per_event, by_age):
        now = clock[NOW]
        limit = now - threshold if threshold < NEVER else -1
        decide(queue, jobs, running, hold, orders, rule, now, limit, by_age)


@kernel
def next_pass(
    queue: Queue, jobs: Jobs, running: Running, clock: Int64, per_event: bool, by_age: Int64
) -> Int64:
    """Go on as `advance`; return the jobs that wait, ascending, none at the end."""
    if not advance(queue, jobs, running, clock, per_event, by_age):
        return np.empty(0, np.int64)
    waiting = np.empty(queue.length[queue.order[: queue.size[0]]].sum(), np.int64)
    k = 0
    for place in range(queue.size[0]):
        b = queue.order[place]
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            waiting[k] = queue.job[cell]
            k += 1
    return waiting


@kernel
def run_pass(
    queue: Queue,
    jobs: Jobs,
    running: Running,
    hold: Int64,
    orders: tuple[Order, Order],
    rule: int,
    now: int,
    limit: int,
    by_age: Int64,
) -> None:
    """Run one pass with the orders as they are now."""
    decide(queue, jobs, running, hold, orders, rule, now, limit, by_age)

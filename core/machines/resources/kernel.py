"""Pool with several resources for the engine's passes: a machine with a single place, 0.

The engine represents a job's width by one number. Here this number is the index of the job's kind.
Jobs with equal requests have the same kind. Kinds are numbered from 1 by their processors, then by
the other requests. So the kinds with few enough processors are the kinds up to some number, which
the engine's bounds and lanes find. The other resources are compared only for these kinds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import machine, requests
from schedfarm.core.engine.changes import CONSTANT, change_at, next_change, pass_change
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.machine import Hold
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.requests import EXTRA, FREE
from schedfarm.core.engine.running import (
    Jobs,
    Running,
    idle_machine,
    launch,
    next_end,
    release,
)
from schedfarm.core.engine.world import EASY
from schedfarm.core.machines.resources.timetable import change_of, has_spare, promise

ASIDE = 2
"""Row of levels behind FREE and EXTRA, for withheld amounts."""


class Stock(NamedTuple):
    """Hold the running jobs, the levels of the resources, and the request of each kind of job.

    running: the running jobs; widths are kinds, and `free` is unused. level: int64[3, resources].
    narrow: int64[2], the last kind with at most the processors of each level, -1 if unknown.
    request: int64[kinds + 1, resources]; kind 0 does not occur. kind: int64[n], kind of each job.
    shared: index of the first resource that stands for the processors of some nodes; a job requests
    all its processors, or none, from such a resource. Resource 0 stands for the processors of all
    nodes. table: `core.machines.resources.timetable.Timetable` if there are windows, else
    `Constant`.
    """

    running: Running
    level: Int64
    narrow: Int64
    request: Int64
    kind: Int64
    shared: int
    table: Any

    def running_jobs(self) -> Int64:
        """Return the running jobs, int64[k]."""
        return self.running.running_jobs()


def idle_stock(amounts: Int64, requests: Int64, shared: int) -> Stock:
    """Return the idle machine with some amounts, for requests int64[n, resources].

    The capacities are constant.

    Examples
    --------
    >>> stock = idle_stock(np.array([8, 2]), np.array([[4, 0], [1, 2], [4, 0]]), 2)
    >>> stock.kind.tolist(), stock.request.tolist()
    ([2, 1, 2], [[0, 0], [1, 2], [4, 0]])
    """
    n, resources = requests.shape
    order = np.lexsort(requests.T[::-1])
    ordered = requests[order]
    fresh = np.ones(n, np.bool_)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    kind = np.empty(n, np.int64)
    kind[order] = np.cumsum(fresh)
    request = np.zeros((1 + int(fresh.sum()), resources), np.int64)
    request[1:] = ordered[fresh]
    level = np.zeros((3, resources), np.int64)
    level[FREE, : amounts.size] = amounts
    narrow = np.full(2, -1, np.int64)
    return Stock(idle_machine(0, n), level, narrow, request, kind, shared, CONSTANT)


@verb
def is_enough(stock: Stock, row: int, kind: int) -> bool:
    """Return whether a level is enough for the request of a kind."""
    level, request = stock.level, stock.request
    enough = True
    for r in range(level.shape[1]):
        enough &= request[kind, r] <= level[row, r]
    return enough


@requests.fits_beside.of(Stock)
def fits_beside(stock: Stock, kind: int) -> bool:
    """Return whether the extra amounts are enough for a kind."""
    return is_enough(stock, EXTRA, kind)


@requests.fits.of(Stock)
def fits(stock: Stock, kind: int, now: int) -> bool:
    """Return whether a job of this kind fits from now until its predicted end."""
    return bool(is_enough(stock, FREE, kind) and has_spare(stock.table, stock.request, kind, now))


@verb
def add(stock: Stock, row: int, kind: int) -> None:
    """Add the request of a kind to a level."""
    level, request = stock.level, stock.request
    for r in range(level.shape[1]):
        level[row, r] += request[kind, r]
    stock.narrow[row] = -1


@verb
def subtract(stock: Stock, row: int, kind: int) -> None:
    """Subtract the request of a kind from a level."""
    level, request = stock.level, stock.request
    for r in range(level.shape[1]):
        level[row, r] -= request[kind, r]
    stock.narrow[row] = -1


@requests.narrow_enough.of(Stock)
def narrow_enough(stock: Stock, row: int) -> int:
    """Return the last kind with at most the processors of a level."""
    if stock.narrow[row] < 0:
        low, high = 0, stock.request.shape[0] - 1
        while low < high:
            middle = (low + high + 1) >> 1
            if stock.request[middle, 0] <= stock.level[row, 0]:
                low = middle
            else:
                high = middle - 1
        stock.narrow[row] = low
    return int(stock.narrow[row])


@machine.next_end.of(Stock)
def next_end_of(stock: Stock) -> int:
    """Return the next end of a job or change of the capacities, s."""
    return min(next_end(stock.running), change_at(stock.table, next_change(stock.table)))


@machine.release_due.of(Stock)
def release_due(stock: Stock, jobs: Jobs, now: int, one: bool) -> bool:
    """End the jobs that end now, and change the levels that change now."""
    running, level, table, early = stock.running, stock.level, stock.table, False
    while next_end(running) == now:
        j = running.job[running.count[0] - 1]
        add(stock, FREE, jobs.procs[j])
        promise(table, stock.request, jobs.procs[j], jobs.start[j] + jobs.estimate[j], -1)
        early |= release(jobs, running)
    if change_at(table, next_change(table)) == now:
        for r in range(level.shape[1]):
            level[FREE, r] += change_of(table, next_change(table), r)
        pass_change(table)
        stock.narrow[FREE] = -1
    return early


@machine.running_count.of(Stock)
def running_count(stock: Stock) -> int:
    """Return the number of running jobs."""
    return int(stock.running.count[0])


@machine.has_free.of(Stock)
def has_free(stock: Stock, c: int, need: int) -> bool:
    """Return whether a job of this kind fits."""
    return is_enough(stock, FREE, need)


@machine.place_for.of(Stock)
def place_for(stock: Stock, need: int, now: int) -> int:
    """Return 0 if a job of this kind fits, else -1."""
    return 0 if fits(stock, need, now) else -1


@machine.begin.of(Stock)
def begin(stock: Stock, jobs: Jobs, c: int, j: int, now: int) -> None:
    """Start a job."""
    launch(jobs, stock.running, j, now)
    subtract(stock, FREE, jobs.procs[j])
    promise(stock.table, stock.request, jobs.procs[j], now + jobs.estimate[j], 1)


@machine.set_aside.of(Stock)
def set_aside(stock: Stock, need: int) -> bool:
    """Withhold all processors that a job of the same partition could use."""
    level, request = stock.level, stock.request
    if stock.shared == level.shape[1]:
        return False
    most = level[FREE, 0]
    for r in range(stock.shared, level.shape[1]):
        if request[need, r] > 0:
            most = min(most, level[FREE, r])
    level[FREE, 0] -= most
    level[ASIDE, 0] += most
    for r in range(stock.shared, level.shape[1]):
        if request[need, r] > 0:
            level[FREE, r] -= most
            level[ASIDE, r] += most
    stock.narrow[FREE] = -1
    return bool(level[FREE, 0] > 0)


@machine.put_back.of(Stock)
def put_back(stock: Stock) -> None:
    """Add the withheld amounts to the free amounts."""
    level = stock.level
    if stock.shared == level.shape[1]:
        return
    for r in range(level.shape[1]):
        level[FREE, r] += level[ASIDE, r]
        level[ASIDE, r] = 0
    stock.narrow[FREE] = -1


@verb
def find_shadow(stock: Stock, need: int) -> int:
    """Return the shadow time of a request, s; set the extra amounts."""
    level, running = stock.level, stock.running
    for r in range(level.shape[1]):
        level[EXTRA, r] = level[FREE, r]
    p, shadow = running.count[0], 0
    while not is_enough(stock, EXTRA, need):
        p -= 1
        add(stock, EXTRA, running.width[p])
        shadow = running.predicted[p]
    while p > 0 and running.predicted[p - 1] == shadow:
        p -= 1
        add(stock, EXTRA, running.width[p])
    subtract(stock, EXTRA, need)
    return shadow


@machine.reserve.of(Stock)
def reserve(stock: Stock, hold: Record[Hold], rule: int, need: int) -> None:
    """Make the head's reservation."""
    hold[0].shadow = find_shadow(stock, need) if rule == EASY else NEVER
    hold[0].known = 1


@machine.place_beside.of(Stock)
def place_beside(stock: Stock, hold: Record[Hold], now: int, need: int, estimate: int) -> int:
    """Return 0 if a job fits without affecting the reservation; charge the extra resources."""
    if not fits(stock, need, now):
        return -1
    if now + estimate <= hold[0].shadow:
        return 0
    if not is_enough(stock, EXTRA, need):
        return -1
    subtract(stock, EXTRA, need)
    return 0


machine.most_free.of(Stock)(requests.most_free)
machine.candidates.of(Stock)(requests.candidates)
machine.within_reach.of(Stock)(requests.within_reach)

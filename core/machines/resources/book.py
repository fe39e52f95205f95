"""Classical conservative backfilling on a pool with several resources, by `core.engine.planned`.

A request is a vector, so there is no bound for jobs that fit nowhere earlier. A compression
therefore searches a gap for each job.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import planned
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import WORD, room
from schedfarm.core.engine.machine import begin, place_for, release_due
from schedfarm.core.engine.planned import BookState, KeeperClock, first_reservation
from schedfarm.core.engine.profile import HEAD, TAIL, Profile, step_at, step_from
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.machines.resources.kernel import Stock
from schedfarm.core.machines.resources.plans import lay_out_levels
from schedfarm.core.machines.resources.profile import advance, empty_levels, fit_before, take_at


class StockBookState(BookState):
    """State of the reservations of a pool with several resources.

    stale: whether the profile lacks a change of running jobs or reservations.
    """

    stale: int


class StockBook(NamedTuple):
    """Hold the reservations of the waiting jobs, in the order of the walk.

    job, need, length, at: int64[room(n)], for each waiting job its index, kind, estimate, s, and
    reserved start, s. profile: levels that are free next to the running jobs and all reservations.
    """

    job: Int64
    need: Int64
    length: Int64
    at: Int64
    profile: Profile
    state: Record[StockBookState]


class StockKeeper(NamedTuple):
    """Hold a `core.engine.planned.Bookkeeper` of a pool with several resources."""

    jobs: Jobs
    running: Stock
    book: StockBook
    clock: Record[KeeperClock]
    promised: Int64


def stock_keeper(jobs: Jobs, stock: Stock, changes: int, promised: Int64) -> StockKeeper:
    """Return an empty reservation table of an idle machine.

    changes: number of changes of the machine's capacities.
    """
    n = jobs.submit.size
    job, need, length, at = (np.zeros(room(n), np.int64) for _ in range(4))
    # Each job adds at most four steps between two layouts: by its reservation, and by one move.
    levels = empty_levels(stock.level.shape[1], 4 * n + 8 + 2 * changes)
    state = record(StockBookState)
    state[0].due, state[0].stale = NEVER, 1
    book = StockBook(job, need, length, at, levels, state)
    return StockKeeper(jobs, stock, book, record(KeeperClock), promised)


@planned.columns_of.of(StockKeeper)
def columns_of(keeper: StockKeeper) -> tuple[Int64, Int64, Int64, Int64]:
    """Return the columns of the book."""
    book = keeper.book
    return book.job, book.need, book.length, book.at


@verb
def take(keeper: StockKeeper, i: int, now: int, by: int) -> None:
    """Take `by` times a job's request from the later of now and its reserved start to its end."""
    levels, request, book = keeper.book.profile, keeper.running.request, keeper.book
    t, end = max(book.at[i], now), book.at[i] + book.length[i]
    if t < end:
        take_at(levels, step_at(levels, t), t, end, request, book.need[i], by)


@verb
def lay_out(keeper: StockKeeper, now: int) -> None:
    """Lay out the profile of windows, running jobs and reservations."""
    book = keeper.book
    lay_out_levels(book.profile, keeper.running, now, 1)
    for i in range(book.state[0].waiting):
        take(keeper, i, now, 1)
    book.state[0].stale = 0


@verb
def find_gap(keeper: StockKeeper, i: int, now: int, stop: int) -> tuple[int, int]:
    """Return the earliest gap for a job, and its step.

    If there is no gap before `stop`, the result is `stop` or later.
    """
    book, levels = keeper.book, keeper.book.profile
    step, request = step_from(levels, levels.mark[HEAD], now), keeper.running.request
    return fit_before(levels, step, request, book.need[i], book.length[i], now, stop)


@planned.complete.of(StockKeeper)
def complete(keeper: StockKeeper, per_event: bool) -> None:
    """End the jobs that complete now, and make the changes of capacities."""
    clock, book = keeper.clock, keeper.book
    now = clock[0].now
    early = release_due(keeper.running, keeper.jobs, now, False)
    clock[0].early = int(early)
    book.state[0].stale |= int(early)


@planned.place.of(StockKeeper)
def place(keeper: StockKeeper, i: int, now: int) -> None:
    """Reserve the earliest gap for a job in the profile."""
    book, levels = keeper.book, keeper.book.profile
    if book.state[0].stale == 1 or levels.mark[TAIL] + WORD > levels.times.size - WORD:
        lay_out(keeper, now)
    book.at[i], step = find_gap(keeper, i, now, NEVER)
    if book.length[i] > 0:
        t, end = book.at[i], book.at[i] + book.length[i]
        take_at(levels, step, t, end, keeper.running.request, book.need[i], 1)
    book.state[0].due = min(book.state[0].due, book.at[i])


@planned.compress.of(StockKeeper)
def compress(keeper: StockKeeper, now: int) -> None:
    """Search an earlier gap for each job, given the reservations of all other jobs."""
    book = keeper.book
    lay_out(keeper, now)
    for i in range(book.state[0].waiting):
        take(keeper, i, now, -1)
        book.at[i] = min(book.at[i], find_gap(keeper, i, now, max(book.at[i], now))[0])
        take(keeper, i, now, 1)
    book.state[0].due = first_reservation(book, -1)


@planned.start_at.of(StockKeeper)
def start_at(keeper: StockKeeper, i: int, now: int) -> bool:
    """Start a job if its request is free and no window withholds it before its predicted end."""
    book, stock = keeper.book, keeper.running
    if place_for(stock, book.need[i], now) < 0:
        return False
    # A job that starts late gives up its reserved interval and takes another one.
    book.state[0].stale |= int(book.at[i] < now)
    begin(stock, keeper.jobs, 0, book.job[i], now)
    return True


@planned.drop_past.of(StockKeeper)
def drop_past(keeper: StockKeeper, now: int) -> None:
    """Advance the profile."""
    if keeper.book.state[0].stale == 0:
        advance(keeper.book.profile, now)

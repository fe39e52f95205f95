"""A plan on clusters: a reservation for every waiting job, and the walk that compresses it.

Source: Mu'alem and Feitelson (2001), section 2.2, and the compression of Klusacek and Rudova
(2012), section 4.2: in order of start each reservation goes into its earliest gap, where that is
earlier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, routine, verb
from schedfarm.core.engine.profile import earlier_fit, move, step_at
from schedfarm.core.engine.search.clusters import (
    Clusters,
    earliest_place,
    idle_clusters,
    profile_of,
    take,
    untake,
)
from schedfarm.core.engine.search.floors import FLOOR, FLOORS, doubt, floor_for, learn

COUNT, NEWS = 0, 1
"""Fields of a book's state: number of waiting jobs; whether any of them has news."""


class Book(NamedTuple):
    """The reservations of the waiting jobs, in order of (start, submit, position).

    job, need, length, at, place: int64[n], of each its index, processors, estimate, s, reserved
    start, s, and cluster. low, high: int64[n], its news: the interval, s, in which others have
    freed processors since it was last examined, on any cluster. since, until: int64[c], the
    interval, s, of all news on each cluster. state: int64[2].

    Invariant: a reservation that can start earlier does so in a window that touches processors
    freed since it was last examined: its news, cut to that of the cluster, or the intervals that
    the present walk has freed (`Moves.first` and `last`).
    """

    job: Int64
    need: Int64
    length: Int64
    at: Int64
    place: Int64
    low: Int64
    high: Int64
    since: Int64
    until: Int64
    state: Int64


class Moves(NamedTuple):
    """The moves of a walk, in its order, and its intermediate results.

    moved, at, place: int64[n], position in the book, and former start, s, and cluster; low, high:
    int64[n], the interval that the move freed, s. count: int64[1]. first, last: int64[c], the
    interval freed on each cluster since the walk began, s. dirty: int64[c], whether its profile has
    changed since. floor: int64[c, FLOORS * FLOOR], known: int64[c].
    """

    moved: Int64
    at: Int64
    place: Int64
    low: Int64
    high: Int64
    count: Int64  # type: ignore[assignment]
    first: Int64
    last: Int64
    dirty: Int64
    floor: Int64
    known: Int64


class Plan(NamedTuple):
    """The clusters, the reservations, and the state of a walk."""

    clusters: Clusters
    book: Book
    moves: Moves


def empty_plan(size: Int64, n: int) -> Plan:
    """Return a plan without jobs, with room for n, on idle clusters."""
    count, clusters = size.size, idle_clusters(size, n)
    book = Book(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.full(count, NEVER, np.int64),
        np.zeros(count, np.int64),
        np.zeros(2, np.int64),
    )
    moves = Moves(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.zeros(1, np.int64),
        np.full(count, NEVER, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.empty((count, FLOORS * FLOOR), np.int64),
        np.zeros(count, np.int64),
    )
    return Plan(clusters, book, moves)


@verb
def copy_entry(book: Book, source: int, target: int) -> None:
    """Copy one reservation over another."""
    book.job[target], book.need[target] = book.job[source], book.need[source]
    book.length[target], book.at[target] = book.length[source], book.at[source]
    book.place[target] = book.place[source]
    book.low[target], book.high[target] = book.low[source], book.high[source]


@verb
def settle(book: Book, i: int) -> None:
    """Move the reservation at place i, which starts no later than before, to its sorted place."""
    job, need, length, at, place = (
        book.job[i],
        book.need[i],
        book.length[i],
        book.at[i],
        book.place[i],
    )
    low, high, k = book.low[i], book.high[i], i
    while k > 0 and (book.at[k - 1] > at or (book.at[k - 1] == at and book.job[k - 1] > job)):
        copy_entry(book, k - 1, k)
        k -= 1
    if k < i:
        book.job[k], book.need[k], book.length[k], book.at[k] = job, need, length, at
        book.place[k], book.low[k], book.high[k] = place, low, high


@verb
def arrange(book: Book) -> None:
    """Sort the reservations by start, ties by submit and position.

    By insertion, since a walk, or a move of a search, leaves them almost sorted.
    """
    for i in range(1, book.state[COUNT]):
        settle(book, i)


@verb
def enter(plan: Plan, j: int, need: int, length: int, now: int) -> int:
    """Reserve for a job that arrives now, after all others; return its start, s."""
    clusters, book, _ = plan
    i = book.state[COUNT]
    t, c = earliest_place(clusters, need, length, now)
    take(clusters, c, t, length, need)
    book.job[i], book.need[i], book.length[i] = j, need, length
    book.at[i], book.place[i], book.low[i], book.high[i] = t, c, NEVER, 0
    book.state[COUNT] = i + 1
    settle(book, i)
    return t


@verb
def leave(book: Book, i: int) -> None:
    """Remove the reservation at place i from the book; its processors stay taken."""
    book.state[COUNT] -= 1
    for k in range(i, book.state[COUNT]):
        copy_entry(book, k + 1, k)


@verb
def begin_walk(plan: Plan) -> None:
    """Forget the moves and results of the last walk; nothing has been freed yet."""
    moves = plan.moves
    moves.count[0] = 0
    for c in range(plan.clusters.size.size):
        moves.first[c], moves.last[c], moves.known[c], moves.dirty[c] = NEVER, 0, 0, 0


@verb
def make_free(plan: Plan, c: int, low: int, high: int) -> None:
    """Record that processors of a cluster have been freed, from and until, s."""
    moves = plan.moves
    moves.first[c], moves.last[c] = min(moves.first[c], low), max(moves.last[c], high)
    doubt(moves.floor[c], moves.known[c], low)


@verb
def earlier_on(plan: Plan, i: int, c: int, now: int, best: int) -> int:
    """Return the first instant, s, before `best` at which job i of the book fits cluster c.

    It is `best` if there is none. By the invariant of `Book` only windows that touch freed
    processors are searched: they begin before `last` and end after `first`.
    """
    book, moves = plan.book, plan.moves
    first, last = moves.first[c], moves.last[c]
    low, high = max(book.low[i], book.since[c]), min(book.high[i], book.until[c])
    if low < high:
        first, last = min(first, low), max(last, high)
    need, length = book.need[i], book.length[i]
    # On other clusters its own reservation does not cut off windows.
    at = book.at[i] if book.place[i] == c else NEVER
    stop, begin = min(best, last), max(now, first - length + 1)
    if begin >= stop or first >= at:
        return best
    begin = floor_for(moves.floor[c], moves.known[c], need, length, at, begin, stop)
    if begin >= stop:
        return best
    t, _ = earlier_fit(profile_of(plan.clusters, c), need, length, begin, stop, at)
    found = t if t < stop else best
    moves.known[c] = learn(moves.floor[c], moves.known[c], need, length, found, at)
    return found


@verb
def note_move(moves: Moves, i: int, at: int, place: int, low: int, high: int) -> None:
    """Record a job's former start and cluster, and the interval that its move freed."""
    k = moves.count[0]
    moves.moved[k], moves.at[k], moves.place[k] = i, at, place
    moves.low[k], moves.high[k] = low, high
    moves.count[0] = k + 1


@verb
def shift(plan: Plan, i: int, t: int, c: int) -> None:
    """Move the reservation at place i of the book to another start, which is earlier."""
    clusters, book, moves = plan
    at, old, need, length = book.at[i], book.place[i], book.need[i], book.length[i]
    book.at[i], book.place[i] = t, c
    if length == 0:
        note_move(moves, i, at, old, NEVER, 0)
        return
    if c == old:
        profile = profile_of(clusters, c)
        move(profile, step_at(profile, t), at, t, length, need)
        low = max(at, t + length)
    else:
        untake(clusters, old, at, length, need)
        take(clusters, c, t, length, need)
        low = at
    moves.dirty[old], moves.dirty[c] = 1, 1
    note_move(moves, i, at, old, low, at + length)
    make_free(plan, old, low, at + length)


@verb
def look_at(plan: Plan, i: int, now: int) -> tuple[int, int]:
    """Return the earliest start, s, and cluster of the job at place i of the book."""
    clusters, book, moves = plan
    best, place, need = book.at[i], book.place[i], book.need[i]
    if book.length[i] == 0:
        # It takes no processors, so that other jobs may have taken its instant since.
        t, c = earliest_place(clusters, need, 0, now)
        return (t, c) if t < best else (best, place)
    for c in range(clusters.size.size):
        if max(moves.last[c], book.until[c]) > 0 and need <= clusters.size[c]:
            t = earlier_on(plan, i, c, now, best)
            if t < best:
                best, place = t, c
    return best, place


@routine
def walk(plan: Plan, now: int, skip: int) -> None:
    """Move each reservation, except that at place `skip`, to its earliest gap.

    Processors freed before the walk have been recorded by `make_free`.
    """
    clusters, book, moves = plan
    first = 0
    if skip >= 0 and book.state[NEWS] == 0 and clusters.size.size == 1:
        # Earlier reservations begin before the freed interval, in which they find themselves.
        first = skip
    for i in range(first, book.state[COUNT]):
        if i != skip:
            t, c = look_at(plan, i, now)
            if t < book.at[i]:
                shift(plan, i, t, c)


@verb
def forget_news(book: Book) -> None:
    """Forget all news."""
    book.state[NEWS] = 0
    for c in range(book.since.size):
        book.since[c], book.until[c] = NEVER, 0


@routine
def commit(plan: Plan) -> None:
    """Accept the moves of the walk: intervals freed after a job was examined are news to it."""
    book, moves = plan.book, plan.moves
    forget_news(book)
    low, high, k = NEVER, 0, moves.count[0] - 1
    for i in range(book.state[COUNT] - 1, -1, -1):
        book.low[i], book.high[i] = low, high
        if high > 0:
            book.state[NEWS] = 1
        if k >= 0 and moves.moved[k] == i:
            c = moves.place[k]
            low, high = min(low, moves.low[k]), max(high, moves.high[k])
            book.since[c] = min(book.since[c], moves.low[k])
            book.until[c] = max(book.until[c], moves.high[k])
            k -= 1
    arrange(book)

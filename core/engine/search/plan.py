"""A plan on clusters: a reservation for every waiting job, and the walk that compresses it.

Source: Mu'alem and Feitelson (2001), section 2.2, and the compression of Klusacek and Rudova
(2012), section 4.2: in order of start, each reservation moves to its earliest gap, if this gap is
earlier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, routine, verb
from schedfarm.core.engine.lanes import (
    ALL,
    WORD,
    below,
    first_places,
    less,
    lowest,
    room,
    slide,
    up_to,
    without,
)
from schedfarm.core.engine.profile import HEAD, earlier_fit, move, step_at
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.search.clusters import (
    Clusters,
    earliest_place,
    idle_clusters,
    profile_of,
    take_at,
    untake,
)
from schedfarm.core.engine.search.gaps import (
    Gaps,
    clear_gaps,
    close_gap,
    first_fit,
    lay_levels,
    no_gaps,
    open_gap,
    reopen_gaps,
    wide_fits,
    widest_in,
)


class BookState:
    """State of the reservations.

    waiting: number of waiting jobs. news: number of news.
    """

    waiting: int
    news: int


class News(NamedTuple):
    """Processors that an accepted walk freed after it had examined other jobs.

    low, high, place: int64[n], the interval, s, and the cluster.
    """

    low: Int64
    high: Int64
    place: Int64


class Book(NamedTuple):
    """The reservations of the waiting jobs, in order of (start, submit, position).

    job, need, length, at, place: int64[room(n)], for each waiting job its index, processors,
    estimate, s, reserved start, s, and cluster.

    Invariant: a reservation that can start earlier does so in a window with a part of the news, or
    of the processors that the present walk has freed.
    """

    job: Int64
    need: Int64
    length: Int64
    at: Int64
    place: Int64
    news: News
    state: Record[BookState]


class Moves(NamedTuple):
    """The moves of a walk, in its order, and its intermediate results.

    moved, at, place: int64[n], position in the book, and former start, s, and cluster; low, high:
    int64[n], the interval that the move freed, s. gaps: the gaps that the news and the walk have
    opened. due: int64[n / WORD], for each word of reservations, the lane mask of the reservations
    just before which processors have been freed. dirty: int64[c], whether the profile of a cluster
    has changed since the walk began. count: int64[1].
    """

    moved: Int64
    at: Int64
    place: Int64
    low: Int64
    high: Int64
    gaps: Gaps
    due: Int64
    dirty: Int64
    count: Int64  # type: ignore[assignment]


class Plan(NamedTuple):
    """The clusters, the reservations, and the state of a walk."""

    clusters: Clusters
    book: Book
    moves: Moves


def empty_plan(size: Int64, n: int) -> Plan:
    """Return a plan without jobs, with room for n, on idle clusters."""
    count, clusters = size.size, idle_clusters(size, n)
    job, need, length, at, place = (np.zeros(room(n), np.int64) for _ in range(5))
    news = News(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64))
    book = Book(job, need, length, at, place, news, record(BookState))
    moves = Moves(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        # A gap ends at the start of a job, or never; some jobs wait and others run. `Gaps` explains
        # levels.
        no_gaps(2 * (n + count)),
        np.zeros(n // WORD + 1, np.int64),
        np.zeros(count, np.int64),
        np.zeros(1, np.int64),
    )
    return Plan(clusters, book, moves)


@verb
def columns_of(book: Book) -> tuple[Int64, Int64, Int64, Int64, Int64]:
    """Return the columns of the reservations."""
    return book.job, book.need, book.length, book.at, book.place


@verb
def settle(book: Book, i: int) -> None:
    """Sort in the reservation at place i, which starts no later than before."""
    job, at, k = book.job[i], book.at[i], i
    while k > 0 and (book.at[k - 1] > at or (book.at[k - 1] == at and book.job[k - 1] > job)):
        k -= 1
    if k < i:
        for column in columns_of(book):
            moved = column[i]
            slide((column,), k, i, 1)
            column[k] = moved


@verb
def arrange(book: Book) -> None:
    """Sort the reservations by start, ties by submit and position.

    The sort is by insertion, since a walk, or a move of a search, leaves them almost sorted.
    Invariant: places before i are sorted, and each place of the lane mask with an unset bit starts
    after its predecessor.
    """
    count = book.state[0].waiting
    for first in range(1, count, WORD):
        word = (less(book.at, first - 1, book.at, first) ^ ALL) & first_places(count - first)
        while word != 0:
            i = lowest(word)
            settle(book, first + i)
            # The next place may have another predecessor now.
            word = (word & (word - 1) | 2 << i) & first_places(count - first)
            if word & 2 << i and book.at[first + i] < book.at[first + i + 1]:
                word ^= 2 << i


@verb
def enter(plan: Plan, j: int, need: int, length: int, now: int) -> int:
    """Reserve for a job that arrives now, after all others; return its start, s."""
    clusters, book, _ = plan
    i = book.state[0].waiting
    t, c, step = earliest_place(clusters, need, length, now)
    take_at(clusters, c, step, t, length, need)
    book.job[i], book.need[i], book.length[i] = j, need, length
    book.at[i], book.place[i] = t, c
    book.state[0].waiting = i + 1
    settle(book, i)
    return t


@verb
def leave(book: Book, i: int) -> None:
    """Remove the reservation at place i from the book; its processors stay taken."""
    slide(columns_of(book), i + 1, book.state[0].waiting, -1)
    book.state[0].waiting -= 1


@routine
def recall_news(plan: Plan, now: int) -> None:
    """Open the gaps of the news."""
    news = plan.book.news
    for k in range(plan.book.state[0].news):
        low, high, c = max(now, news.low[k]), news.high[k], news.place[k]
        if low < high:
            reopen_gaps(plan.moves.gaps, profile_of(plan.clusters, c), c, low, high, now)


@verb
def begin_walk(plan: Plan, now: int) -> None:
    """Forget the moves and results of the last walk; nothing but the news has been freed yet."""
    book, moves = plan.book, plan.moves
    moves.count[0] = 0
    for k in range(0, book.state[0].waiting, WORD):
        moves.due[k // WORD] = 0
    for c in range(plan.clusters.size.size):
        moves.dirty[c] = 0
    clear_gaps(moves.gaps)
    if book.state[0].news > 0:
        recall_news(plan, now)


@verb
def first_after(book: Book, first: int, t: int) -> int:
    """Return the first place from `first` on of a reservation that starts after t."""
    low, left = first, book.state[0].waiting - first
    # Halving by a length has no branch to mispredict.
    while left > WORD:
        half = left >> 1
        low += half if book.at[low + half - 1] <= t else 0
        left -= half
    later = (up_to(book.at, low, t) ^ ALL) & first_places(left)
    return low + (lowest(later) if later != 0 else left)


@verb
def mark_due(plan: Plan, c: int, low: int, high: int, first: int) -> None:
    """Mark the reservations from place `first` on with processors freed just before them."""
    book, moves = plan.book, plan.moves
    count = book.state[0].waiting
    first = first_after(book, first, low)
    left = ALL << first % WORD
    for k in range(first - first % WORD, count, WORD):
        soon = up_to(book.at, k, high) & first_places(count - k)
        here = up_to(book.place, k, c) ^ below(book.place, k, c)
        moves.due[k // WORD] |= soon & here & left
        if soon != ALL:
            break
        left = ALL


@verb
def make_free(plan: Plan, c: int, step: int, low: int, high: int, now: int, first: int) -> None:
    """Record that processors of a cluster have been freed from `low` until `high`, s.

    The step of the cluster does not begin after `low`. The jobs from place `first` on have yet to
    be examined in this walk, in order of start.
    """
    moves = plan.moves
    open_gap(moves.gaps, profile_of(plan.clusters, c), c, step, low, high, now)
    mark_due(plan, c, low, high, first)


@verb
def search_gap(plan: Plan, i: int, g: int, stop: int) -> tuple[int, int]:
    """Return the first instant, s, before `stop` at which job i of the book fits a gap.

    Also return the step there. Without such an instant the result is `stop`.
    """
    book, gaps = plan.book, plan.moves.gaps
    need, length, c = book.need[i], book.length[i], gaps.place[g]
    # A window has a part between `first` and `last`.
    begin = max(gaps.begin[g], gaps.first[g] - max(length, 1) + 1)
    stop = min(stop, gaps.last[g])
    if begin >= stop:
        return stop, 0
    # On other clusters the job's own reservation does not cut off windows.
    at = book.at[i] if book.place[i] == c and length > 0 else NEVER
    return earlier_fit(profile_of(plan.clusters, c), need, length, begin, stop, at)


@verb
def note_move(moves: Moves, i: int, at: int, place: int, low: int, high: int) -> None:
    """Record a job's former start and cluster, and the interval that its move freed."""
    k = moves.count[0]
    moves.moved[k], moves.at[k], moves.place[k] = i, at, place
    moves.low[k], moves.high[k] = low, high
    moves.count[0] = k + 1


@verb
def shift(plan: Plan, i: int, t: int, c: int, step: int, now: int) -> None:
    """Move the reservation at place i of the book to an earlier start.

    The given step of cluster c contains this start.
    """
    clusters, book, moves = plan
    at, old, need, length = book.at[i], book.place[i], book.need[i], book.length[i]
    book.at[i], book.place[i] = t, c
    if length == 0:
        note_move(moves, i, at, old, NEVER, 0)
        return
    profile = profile_of(clusters, c)
    # A change of step i leaves steps i - 1 and i, or one of them.
    behind = max(step - 1, profile.mark[HEAD])
    if c == old:
        # In long profiles, the end of a long job is far from its start: 300 steps on 806
        # processors.
        far = step_at(profile, max(at, t + length))
        move(profile, step, far, at, t, length, need)
        low, taken, freed = max(at, t + length), min(at, t + length), behind
    else:
        freed = untake(clusters, old, at, length, need)
        take_at(clusters, c, step, t, length, need)
        low, taken = at, t + length
    close_gap(moves.gaps, profile, c, behind, t, taken)
    moves.dirty[old], moves.dirty[c] = 1, 1
    note_move(moves, i, at, old, low, at + length)
    make_free(plan, old, freed, low, at + length, now, i + 1)


@verb
def look_at(plan: Plan, i: int) -> tuple[int, int, int]:
    """Return the earliest start, s, and cluster of the job at place i, and the step there.

    If several clusters have that start, the first cluster is returned. Invariant, for jobs with a
    duration: windows on the job's own cluster that end at or in its reservation contain the second
    before the reservation, in which processors were short at the job's last examination. Such a
    window exists only if processors have been freed in that second (`Moves.due`), and lies in a
    gap. All other windows lie in gaps even without the job's own processors.
    """
    book, gaps = plan.book, plan.moves.gaps
    at, own, need, length = book.at[i], book.place[i], book.need[i], book.length[i]
    if need == 1:
        t, c = first_fit(gaps, length, own, at)
        return t, c, step_at(profile_of(plan.clusters, c), t) if t < at else 0
    best, place, found = at, own, 0
    for k in range(0, gaps.state[0].count, WORD):
        fits = wide_fits(gaps, k, need, length, own, at)
        while fits != 0:
            g = k + lowest(fits)
            fits &= fits - 1
            c = gaps.place[g]
            stop = min(at, best + 1 if c < place else best)
            t, step = search_gap(plan, i, g, stop)
            if t < stop and t < gaps.last[g]:
                best, place, found = t, c, step
    return best, place, found


@verb
def may_move(plan: Plan, k: int) -> int:
    """Return the lane mask of the places from k on of jobs that may start earlier."""
    book, gaps = plan.book, plan.moves.gaps
    word = plan.moves.due[k // WORD]
    for level in range(gaps.state[0].levels):
        late = up_to(book.at, k, gaps.since[level]) ^ ALL
        word |= late & up_to(book.length, k, gaps.long[level])
    return int(word)


@verb
def walk(plan: Plan, now: int, skip: int) -> None:
    """Move each reservation, except that at place `skip`, to its earliest gap.

    Processors freed before the walk have been recorded by `make_free`. Each move changes the bounds
    of the jobs that are still to come.
    """
    book, moves, gaps = plan.book, plan.moves, plan.moves.gaps
    count = book.state[0].waiting
    for k in range(0, count, WORD):
        left = without(first_places(count - k), skip - k)
        word = may_move(plan, k) & left
        while word != 0:
            p = lowest(word)
            left &= -2 << p
            t, c, step = look_at(plan, k + p)
            if t < book.at[k + p]:
                shift(plan, k + p, t, c, step, now)
                word = may_move(plan, k) & left
            elif gaps.state[0].stale == 1 and moves.due[k // WORD] >> p & 1 == 0:
                # The gap for this job may have been taken meanwhile.
                lay_levels(gaps)
                word = may_move(plan, k) & left
            else:
                word &= left


@routine
def compress(plan: Plan, now: int) -> None:
    """Move each reservation to its earliest gap."""
    walk(plan, now, -1)


@routine
def commit(plan: Plan) -> None:
    """Accept the moves of the walk; processors that these leave free are news to earlier jobs.

    No freed interval is just before the reservation of an earlier job: this job starts no later
    than the former start of the moved job, and thus not after the begin of the freed interval.
    """
    book, moves = plan.book, plan.moves
    book.state[0].news = 0
    for k in range(moves.count[0]):
        low, high, c = moves.low[k], moves.high[k], moves.place[k]
        if low < high:
            profile = profile_of(plan.clusters, c)
            if widest_in(profile, step_at(profile, low), high) > 0:
                news = book.state[0].news
                book.news.low[news], book.news.high[news], book.news.place[news] = low, high, c
                book.state[0].news = news + 1
    arrange(book)

"""Classical conservative backfilling: reservations of arrivals are kept, or moved earlier.

Source: Mu'alem and Feitelson (2001), section 2.2; the walk by start is the compression of
Klusacek and Rudova (2012), Performance and fairness for users in parallel job scheduling,
section 3; the walk by arrival is that of the pyss simulators; the walk by queue makes the order
matter under classical conservative backfilling (Sabin and Sadayappan 2005).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import machine
from schedfarm.core.engine.clock import Clock
from schedfarm.core.engine.jit import NEVER, generic, optional, rolled_kernel, routine, verb
from schedfarm.core.engine.lanes import (
    ALL,
    WORD,
    below,
    first_places,
    less,
    lower_to,
    lowest,
    raise_to,
    room,
    slide,
    up_to,
)
from schedfarm.core.engine.profile import (
    HEAD,
    TAIL,
    Profile,
    advance,
    change,
    earlier_fit,
    earliest_fit,
    empty_profile,
    fit_from,
    lift,
    move,
    step_from,
)
from schedfarm.core.engine.rank import AnyRankings, begun_by, follow_up, rank_list
from schedfarm.core.engine.ranking import Ranking, goes_before
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.running import Jobs, Running, launch, next_end, release
from schedfarm.core.engine.world import Options, starving_before

BY_START, BY_ARRIVAL, BY_QUEUE = 0, 1, 2
"""Codes of the walks: the order in which a compression moves reservations to earlier gaps."""

AHEAD = 2 * WORD
"""Number of places of a walk with updated bounds: with updates at all places, the walks of some 200
jobs on the HPC2N log take four times as long."""

TURNS, WALKS, STARTS = range(3)
"""The parts of an event: completions; the walk and arrivals; starts."""


class BookState:
    """State of the reservations of any machine.

    waiting: number of waiting jobs. due: the earliest reservation, s.
    """

    waiting: int
    due: int


class PoolBookState(BookState):
    """State of the reservations of a pool.

    freed: the last end, s, of processors freed since all reservations were examined; see
    `compress_book`.
    """

    freed: int


class KeeperClock(Clock):
    """Clock of reservations that are kept.

    stage: the next part of the event. early: whether a completion requires a walk.
    """

    stage: int
    early: int


class Book(NamedTuple):
    """The reservations of the waiting jobs, in the order of the walk.

    job, need, length, at, earliest: int64[room(n)], for each waiting job its index, processors,
    estimate, s, reserved start, s, and, during a walk, a lower bound of its earliest gap, s.
    profile: processors that are free next to the running jobs and all reservations; neighbouring
    steps differ.
    """

    job: Int64
    need: Int64
    length: Int64
    at: Int64
    earliest: Int64
    profile: Profile
    state: Record[PoolBookState]


class Bookkeeper(NamedTuple):
    """A pool, the reservations, their clock, and the starts that were promised at arrival."""

    jobs: Jobs
    running: Running
    book: Book
    clock: Record[KeeperClock]
    promised: Int64


AnyKeeper = Any
"""`Bookkeeper`, or a named tuple in its form with an implementation of each generic step here. Its
book has at least the fields job, need, length, at and state of `Book`."""


@generic
def columns_of(keeper: AnyKeeper) -> tuple[Int64, ...]:
    """Return the columns of the reservations."""
    raise NotImplementedError


@generic
def complete(keeper: AnyKeeper, per_event: bool) -> None:
    """End the jobs that complete now, and record whether they require a walk."""
    raise NotImplementedError


@generic
def place(keeper: AnyKeeper, i: int, now: int) -> None:
    """Reserve the earliest gap for the job at this place."""
    raise NotImplementedError


@generic
def compress(keeper: AnyKeeper, now: int) -> None:
    """Move each reservation in turn to its earliest gap, if that is earlier."""
    raise NotImplementedError


@generic
def start_at(keeper: AnyKeeper, i: int, now: int) -> bool:
    """Start the job at this place if it fits; return whether it did."""
    raise NotImplementedError


@optional
def drop_past(keeper: AnyKeeper, now: int) -> None:
    """Drop the steps of the profile before now. By default there is no profile."""


def empty_book(n: int, processors: int) -> Book:
    """Return a book with room for n waiting jobs on an idle machine."""
    # Zeros, since arithmetic with unwritten values might overflow without the JIT.
    job, need, length, at, earliest = (np.zeros(room(n), np.int64) for _ in range(5))
    profile, state = empty_profile(4 * n + 8), record(PoolBookState)
    state[0].due = NEVER
    profile.free[0], profile.mark[TAIL] = processors, 1
    return Book(job, need, length, at, earliest, profile, state)


@columns_of.of(Bookkeeper)
def columns_of_pool(keeper: Bookkeeper) -> tuple[Int64, Int64, Int64, Int64, Int64]:
    """Return the columns of the book."""
    book = keeper.book
    return book.job, book.need, book.length, book.at, book.earliest


@verb
def walks_before(
    book: Any, jobs: Jobs, ranking: Ranking, walk: int, now: int, limit: int, i: int, k: int
) -> bool:
    """Return whether the walk examines the reservation at place i before the one at place k."""
    if walk == BY_START:
        same = book.at[i] == book.at[k]
        return bool(book.at[i] < book.at[k] or (same and book.job[i] < book.job[k]))
    if walk == BY_ARRIVAL:
        return bool(book.job[i] < book.job[k])
    return goes_before(ranking, jobs, now, limit, book.job[i], book.job[k])


@verb
def misplaced(book: Any, walk: int, first: int) -> int:
    """Return the lane mask of the places from `first` on that may precede their predecessor."""
    if walk == BY_START:
        return less(book.at, first - 1, book.at, first) ^ ALL
    if walk == BY_ARRIVAL:
        return less(book.job, first - 1, book.job, first) ^ ALL
    return ALL


@verb
def arrange(keeper: AnyKeeper, ranking: Ranking, walk: int, now: int, limit: int) -> None:
    """Sort the reservations by the order of the walk.

    The sort is by insertion, since the last walk left them almost sorted. Invariant: places before
    i are sorted, and no place of the lane mask with an unset bit precedes its predecessor. An
    insertion changes the predecessor of the next place only, whose bit is then set.
    """
    jobs, book = keeper.jobs, keeper.book
    count = book.state[0].waiting
    for first in range(1, count, WORD):
        word = misplaced(book, walk, first) & first_places(count - first)
        while word != 0:
            i = first + lowest(word)
            word &= word - 1
            k = i
            while k > 0 and walks_before(book, jobs, ranking, walk, now, limit, i, k - 1):
                k -= 1
            if k < i:
                for column in columns_of(keeper):
                    moved = column[i]
                    slide((column,), k, i, 1)
                    column[k] = moved
                # The next place has another predecessor now.
                word |= 2 << (i - first) & first_places(count - first)


@complete.of(Bookkeeper)
def complete_on_pool(keeper: Bookkeeper, per_event: bool) -> None:
    """Release the jobs that complete now, and free their processors until the predicted end."""
    jobs, running, book, clock, _ = keeper
    now = clock[0].now
    clock[0].early = 0
    while next_end(running) == now:
        j = running.job[running.count[0] - 1]
        left = jobs.start[j] + jobs.estimate[j] - now
        release(jobs, running)
        if left > 0:
            lift(book.profile, now, left, jobs.procs[j])
            book.state[0].freed = max(book.state[0].freed, now + left)
            clock[0].early = 1
        if per_event:
            # The pyss family compresses even if nothing has been freed.
            clock[0].early = 1
            break


@place.of(Bookkeeper)
def place_on_pool(keeper: Bookkeeper, i: int, now: int) -> None:
    """Take the gap out of the profile."""
    book = keeper.book
    need, length = book.need[i], book.length[i]
    step = step_from(book.profile, book.profile.mark[HEAD], now)
    t, step = fit_from(book.profile, step, need, length, now)
    book.at[i] = t
    if length > 0:
        change(book.profile, step, t, t + length, need)
    book.state[0].due = min(book.state[0].due, t)


@verb
def next_movable(book: Book, i: int) -> int:
    """Return the first place from i on of a job that may move, or the place after the last.

    The bound of such a job is before its own reserved start, and before the end of all freed
    processors.
    """
    first, seen = i - i % WORD, first_places(i % WORD)
    while first < book.state[0].waiting:
        movable = less(book.earliest, first, book.at, first) & (seen ^ ALL)
        movable &= below(book.earliest, first, book.state[0].freed)
        if movable != 0:
            return first + lowest(movable)
        first, seen = first + WORD, 0
    return first


@verb
def rule_out(book: Book, t: int, i: int) -> None:
    """Raise the bounds of other jobs, given that the job at place i fits nowhere before t.

    Invariant: let job k be at least as wide and as long, and reserved no earlier, at[k] >= at[i].
    Then k fits nowhere before t. Proof: for each start t' < t there is an instant u of [t', t' +
    length of i) at which fewer processors are free than i needs, its own reservation counted as
    free; so u < at[i] <= at[k], and the reservation of k does not occupy u either. The window of k
    contains u. A job with an earlier reservation may itself occupy u: its bound is not changed.
    """
    need, length, at, first = book.need[i], book.length[i], book.at[i], i - i % WORD
    for k in range(first, min(first + AHEAD, book.state[0].waiting), WORD):
        smaller = below(book.need, k, need) | below(book.length, k, length)
        raise_to(book.earliest, k, t, (smaller | below(book.at, k, at)) ^ ALL)


@verb
def reopen(book: Book, t: int, i: int) -> None:
    """Lower the bounds of jobs that may fit because processors have been freed from t on.

    A window that ends by t is unchanged, so a job of length l gets no gap that begins by t - l. The
    walk does not return to earlier places: all raised bounds that still matter are behind place i,
    and are lowered here.
    """
    first = i - i % WORD
    for k in range(first, min(first + AHEAD, book.state[0].waiting), WORD):
        lower_to(book.earliest, k, t + 1, book.length)


@verb
def first_reservation(book: Any, after: int) -> int:
    """Return the earliest reservation after an instant, s."""
    first = NEVER
    for i in range(book.state[0].waiting):
        first = min(first, book.at[i] if book.at[i] > after else NEVER)
    return first


@routine
def compress_book(book: Book, now: int) -> None:
    """Compress the reservations of a pool.

    Invariants, for jobs with a duration, where the gaps of a job are those of the profile without
    its own reservation:

    1. Before a walk, each gap before at[i] begins before state.freed. A job gets its earliest gap
       at arrival. Later changes either take processors (arrivals), or free them until at most
       state.freed (early ends); a window that begins later is unchanged.
    2. In the walk, each gap of a job that is still to come begins at earliest[i] or later. This
       holds at the beginning, where the bound is now; `rule_out` raises bounds, and `reopen` lowers
       them after a move. Starts are integers.
    3. A move frees [max(at, t + length), at + length) and takes an earlier interval. For the jobs
       that are still to come, state.freed is raised accordingly. For the jobs before, which have
       not been examined since, `left` is raised, and becomes state.freed at the end of the walk. By
       then all jobs have been examined since the changes before the walk, so that 1 holds again.

    So only gaps in [max(now, earliest[i]), min(at[i], state.freed)) are searched.
    """
    for i in range(book.state[0].waiting):
        book.earliest[i] = now
    left = now
    i = next_movable(book, 0)
    while i < book.state[0].waiting:
        need, length, at = book.need[i], book.length[i], book.at[i]
        if length == 0:
            book.at[i] = min(at, earliest_fit(book.profile, need, 0, now))
        else:
            after, stop = max(now, book.earliest[i]), min(at, book.state[0].freed)
            t, step = earlier_fit(book.profile, need, length, after, stop, at)
            rule_out(book, min(t, stop), i)
            if t < at:
                move(book.profile, step, step, at, t, length, need)
                book.at[i] = t
                left = max(left, at + length)
                book.state[0].freed = max(book.state[0].freed, left)
                reopen(book, max(at, t + length), i)
        i = next_movable(book, i + 1)
    # Jobs before a move have not been examined since.
    book.state[0].freed = left
    book.state[0].due = first_reservation(book, -1)


@compress.of(Bookkeeper)
def compress_on_pool(keeper: Bookkeeper, now: int) -> None:
    """Search only gaps that may have opened."""
    compress_book(keeper.book, now)


@verb
def compact(keeper: AnyKeeper, rankings: AnyRankings, options: Options, walk: int) -> None:
    """Compress the plan if a completion has just required this.

    An end before the estimate requires a compression; with the per-event clock, each end does.
    """
    if keeper.clock[0].early == 1:
        now = keeper.clock[0].now
        rank_list(rankings, keeper.book.job, keeper.book.state[0].waiting)
        arrange(keeper, rankings.queue, walk, now, starving_before(options, now))
        compress(keeper, now)


@verb
def is_coming(keeper: AnyKeeper) -> bool:
    """Return whether the next job arrives at this instant."""
    jobs, _, _, clock, _ = keeper
    next_one = clock[0].arrived
    return bool(next_one < jobs.submit.size and jobs.submit[next_one] == clock[0].now)


@verb
def enter(keeper: AnyKeeper, j: int) -> None:
    """Reserve for a job that arrives now, after all others."""
    jobs, _, book, clock, promised = keeper
    i = book.state[0].waiting
    book.job[i], book.need[i], book.length[i] = j, jobs.procs[j], jobs.estimate[j]
    place(keeper, i, clock[0].now)
    promised[j] = book.at[i]
    book.state[0].waiting = i + 1


@verb
def enter_all(keeper: AnyKeeper, per_event: bool) -> None:
    """Reserve for the jobs that arrive now, in order of arrival."""
    while is_coming(keeper):
        enter(keeper, keeper.clock[0].arrived)
        keeper.clock[0].arrived += 1
        if per_event:
            break


@verb
def first_due(book: Any, jobs: Jobs, ranking: Ranking, now: int, limit: int, after: int) -> int:
    """Return the place of the first due job of the queue after job `after`; -1 if there is none."""
    best = -1
    for k in range(0, book.state[0].waiting, WORD):
        due = up_to(book.at, k, now) & first_places(book.state[0].waiting - k)
        while due != 0:
            i = k + lowest(due)
            due &= due - 1
            j = book.job[i]
            if (after < 0 or goes_before(ranking, jobs, now, limit, after, j)) and (
                best < 0 or goes_before(ranking, jobs, now, limit, j, book.job[best])
            ):
                best = i
    return best


@verb
def overtakes(book: Any, jobs: Jobs, ranking: Ranking, now: int, limit: int, j: int) -> bool:
    """Return whether a waiting job comes before job j in the queue."""
    for i in range(book.state[0].waiting):
        if book.job[i] != j and goes_before(ranking, jobs, now, limit, book.job[i], j):
            return True
    return False


@start_at.of(Bookkeeper)
def start_on_pool(keeper: Bookkeeper, i: int, now: int) -> bool:
    """Start the job if enough processors are free."""
    if keeper.book.need[i] > keeper.running.free[0]:
        return False
    launch(keeper.jobs, keeper.running, keeper.book.job[i], now)
    return True


@verb
def start_due(keeper: AnyKeeper, rankings: AnyRankings, options: Options) -> None:
    """Start the due jobs that fit, in queue order."""
    jobs, _, book, clock, _ = keeper
    now, after, ranking = clock[0].now, -1, rankings.queue
    if book.state[0].due > now:
        return
    rank_list(rankings, book.job, book.state[0].waiting)
    limit = starving_before(options, now)
    while True:
        i = first_due(book, jobs, ranking, now, limit, after)
        if i < 0:
            break
        j = after = book.job[i]
        if not start_at(keeper, i, now):
            continue
        jobs.backfilled[j] = overtakes(book, jobs, ranking, now, limit, j)
        slide(columns_of(keeper), i + 1, book.state[0].waiting, -1)
        book.state[0].waiting -= 1
    book.state[0].due = first_reservation(book, -1)


@verb
def next_reservation(book: Any, now: int) -> int:
    """Return the next reservation after now, s; each reservation is an event of its own."""
    if book.state[0].due > now:
        return int(book.state[0].due)
    # Due jobs wait for processors; only later reservations are events.
    return first_reservation(book, now)


@drop_past.of(Bookkeeper)
def drop_past_on_pool(keeper: Bookkeeper, now: int) -> None:
    """Advance the profile."""
    advance(keeper.book.profile, now)


@verb
def turn(keeper: AnyKeeper, rankings: AnyRankings, per_event: bool) -> bool:
    """Go to the next instant or event and its completions; return False at the end."""
    jobs, running, book, clock, _ = keeper
    arrival = jobs.submit[clock[0].arrived] if clock[0].arrived < jobs.submit.size else NEVER
    now = min(arrival, machine.next_end(running), next_reservation(book, clock[0].now))
    if now == NEVER:
        return False
    clock[0].now = now
    drop_past(keeper, now)
    clock[0].early = 0
    if per_event:
        # The profile has these ends already; the machine follows.
        machine.give_back(running, now)
    begun = begun_by(rankings, running)
    if not (per_event and arrival == now):
        complete(keeper, per_event)
    follow_up(rankings, running, jobs, begun, now)
    return True


@rolled_kernel
def run_planned(
    keeper: AnyKeeper, rankings: AnyRankings, options: Options, walk: int, stepwise: bool
) -> bool:
    """Run every event and its pass to the last completion; return False at the end or if cancelled.

    Stepwise, return True before each walk by queue and before each pass that may start a job, so
    that the caller computes the keys of the waiting jobs.
    """
    jobs, clock = keeper.jobs, keeper.clock
    while True:
        if clock[0].stage == TURNS:
            if jobs.leave[0] != 0 or not turn(keeper, rankings, options.per_event):
                return False
            clock[0].stage = WALKS
            if stepwise and clock[0].early == 1 and walk == BY_QUEUE:
                return True
        elif clock[0].stage == WALKS:
            compact(keeper, rankings, options, walk)
            enter_all(keeper, options.per_event)
            clock[0].stage = STARTS
            if stepwise:
                return True
        else:
            start_due(keeper, rankings, options)
            clock[0].stage = TURNS

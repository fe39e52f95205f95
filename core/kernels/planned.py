"""Classical conservative backfilling: a reservation at arrival, kept, moved only earlier.

Source: Mu'alem and Feitelson (2001), section 2.2; the walk by start is the compression of
Klusacek and Rudova (2012), Performance and fairness for users in parallel job scheduling,
section 3; the walk by arrival is that of the pyss simulators; the walk by queue is what lets an
order matter under classical conservative backfilling (Sabin and Sadayappan 2005).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.arrays import Int64
from core.kernels.clock import next_end
from core.kernels.floors import FLOOR, FLOORS, doubt, floor_for, learn
from core.kernels.jit import NEVER, kernel, routine, verb
from core.kernels.machine import Jobs, Running, give_back, launch, release
from core.kernels.profile import (
    Profile,
    advance,
    clear,
    earlier_fit,
    earliest_fit,
    lift,
    move,
    reserve,
)
from core.kernels.ranking import Ranking, goes_before
from core.kernels.words import WORD
from core.kernels.world import Options, starving_before

BY_START, BY_ARRIVAL, BY_QUEUE = 0, 1, 2
"""Codes of the walks: in which order reservations are lifted out and put into earlier gaps."""

COUNT, DUE = 0, 1
"""Places in the state of a book: jobs that wait; the earliest reservation, s."""

NOW, ARRIVED, STAGE, EARLY, LOW, HIGH, CLOCK = range(7)
"""Places in a clock: the instant, s; jobs that arrived; which part of the event is next; whether a
completion asks for a walk, and what it made free, from and until, s; their number."""

TURNS, WALKS, STARTS = range(3)
"""The parts of an event: completions; the walk and arrivals; starts."""


class Book(NamedTuple):
    """The reservations of the waiting jobs, in the order of the walk.

    job, need, length, at: int64[n], of each its index, processors, estimate, s, and reserved
    start, s. low, high: int64[n], what others made free since it was last looked at, from and
    until, s. profile: what is free beside all that run and all reservations. floor: int64[FLOORS
    * FLOOR], what the walk that is under way has found out. scratch: two of int64[steps]. state:
    int64[2].
    """

    job: Int64
    need: Int64
    length: Int64
    at: Int64
    low: Int64
    high: Int64
    profile: Profile
    floor: Int64
    scratch: tuple[Int64, Int64]
    state: Int64


class Bookkeeper(NamedTuple):
    """A machine, the reservations, their clock, and the starts that were promised at arrival."""

    jobs: Jobs
    running: Running
    book: Book
    clock: Int64
    promised: Int64


@kernel
def empty_book(n: int, processors: int) -> Book:
    """Return a book with room for n waiting jobs on an idle machine."""
    steps = 4 * n + 8 + WORD
    times, free, mark = np.empty(steps, np.int64), np.empty(steps, np.int64), np.zeros(2, np.int64)
    state = np.zeros(2, np.int64)
    state[DUE] = NEVER
    book = Book(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        Profile(times, free, mark),
        np.empty(FLOORS * FLOOR, np.int64),
        (np.empty(steps, np.int64), np.empty(steps, np.int64)),
        state,
    )
    clear(book.profile, 0, processors)
    return book


@verb
def copy_entry(book: Book, source: int, target: int) -> None:
    """Copy one reservation over another."""
    book.job[target], book.need[target] = book.job[source], book.need[source]
    book.length[target], book.at[target] = book.length[source], book.at[source]
    book.low[target], book.high[target] = book.low[source], book.high[source]


@verb
def walks_before(
    book: Book, jobs: Jobs, ranking: Ranking, walk: int, now: int, limit: int, i: int, k: int
) -> bool:
    """Say whether the reservation at place i comes before that at place k in the walk."""
    if walk == BY_START:
        same = book.at[i] == book.at[k]
        return bool(book.at[i] < book.at[k] or (same and book.job[i] < book.job[k]))
    if walk == BY_ARRIVAL:
        return bool(book.job[i] < book.job[k])
    return goes_before(ranking, jobs, now, limit, book.job[i], book.job[k])


@verb
def arrange(book: Book, jobs: Jobs, ranking: Ranking, walk: int, now: int, limit: int) -> None:
    """Bring the reservations into the order of the walk.

    By insertion: the last walk left them almost sorted.
    """
    for i in range(1, book.state[COUNT]):
        k = i
        while k > 0 and walks_before(book, jobs, ranking, walk, now, limit, i, k - 1):
            k -= 1
        if k < i:
            job, need, length, at = book.job[i], book.need[i], book.length[i], book.at[i]
            low, high = book.low[i], book.high[i]
            for p in range(i, k, -1):
                copy_entry(book, p - 1, p)
            book.job[k], book.need[k], book.length[k], book.at[k] = job, need, length, at
            book.low[k], book.high[k] = low, high


@verb
def complete(keeper: Bookkeeper, per_event: bool) -> None:
    """Release what completes now; give back what was predicted beyond."""
    jobs, running, book, clock, _ = keeper
    now = clock[NOW]
    clock[EARLY], clock[LOW], clock[HIGH] = 0, NEVER, 0
    while next_end(running) == now:
        j = running.job[running.count[0] - 1]
        left = jobs.start[j] + jobs.estimate[j] - now
        release(jobs, running)
        if left > 0:
            lift(book.profile, now, left, jobs.procs[j])
            clock[EARLY], clock[LOW], clock[HIGH] = 1, now, max(clock[HIGH], now + left)
        if per_event:
            # The pyss family compresses also where nothing has been made free.
            clock[EARLY] = 1
            break


@verb
def place(book: Book, i: int, now: int) -> None:
    """Reserve the earliest gap for the job at this place."""
    need, length = book.need[i], book.length[i]
    t = earliest_fit(book.profile, need, length, now)
    reserve(book.profile, t, length, need)
    book.at[i], book.low[i], book.high[i] = t, NEVER, 0
    book.state[DUE] = min(book.state[DUE], t)


@routine
def compress(book: Book, now: int, low: int, high: int) -> None:
    """Lift each reservation out in turn and put it into its earliest gap.

    A job can move only to a window that touches what was made free since it was last looked at,
    from `first` to `last`: it begins before `last` and ends after `first`. What was found out for
    one job of this walk holds for all that are no smaller: on the archive's logs that leaves one
    job in 2 to 3 to search, and each search 3 to 15 steps of the 20 to 65 of the profile.
    """
    known = 0
    for i in range(book.state[COUNT]):
        need, length, at = book.need[i], book.length[i], book.at[i]
        first, last = min(low, book.low[i]), max(high, book.high[i])
        # What this job makes free stands here until the walk is over.
        book.low[i], book.high[i] = NEVER, 0
        if length == 0:
            # It takes nothing, so others may have its instant: what it finds may be later.
            book.at[i] = min(at, earliest_fit(book.profile, need, 0, now))
            continue
        stop, begin = min(at, last), max(now, first - length + 1)
        if begin >= stop:
            continue
        begin = floor_for(book.floor, known, need, length, at, begin, stop)
        if begin >= stop:
            continue
        t = earlier_fit(book.profile, need, length, begin, stop, at)
        known = learn(book.floor, known, need, length, t, at)
        if t < at:
            move(book.profile, at, t, length, need, book.scratch)
            book.at[i] = t
            book.low[i], book.high[i] = max(at, t + length), at + length
            low, high = min(low, book.low[i]), max(high, book.high[i])
            doubt(book.floor, known, book.low[i])
    # From the last back: what was made free after a job was looked at is news to it.
    low, high, due = NEVER, 0, NEVER
    for i in range(book.state[COUNT] - 1, -1, -1):
        first, last = book.low[i], book.high[i]
        book.low[i], book.high[i] = low, high
        low, high, due = min(low, first), max(high, last), min(due, book.at[i])
    book.state[DUE] = due


@verb
def compact(keeper: Bookkeeper, ranking: Ranking, options: Options, walk: int) -> None:
    """Compress the plan where a job has just ended before its estimate, or per event ended."""
    jobs, _, book, clock, _ = keeper
    if clock[EARLY] == 1:
        now = clock[NOW]
        arrange(book, jobs, ranking, walk, now, starving_before(options, now))
        compress(book, now, clock[LOW], clock[HIGH])


@verb
def is_coming(keeper: Bookkeeper) -> bool:
    """Say whether the next job arrives at this instant."""
    jobs, _, _, clock, _ = keeper
    next_one = clock[ARRIVED]
    return bool(next_one < jobs.submit.size and jobs.submit[next_one] == clock[NOW])


@verb
def enter(keeper: Bookkeeper, j: int) -> None:
    """Reserve for a job that comes now, behind all others."""
    jobs, _, book, clock, promised = keeper
    i = book.state[COUNT]
    book.job[i], book.need[i], book.length[i] = j, jobs.procs[j], jobs.estimate[j]
    place(book, i, clock[NOW])
    promised[j] = book.at[i]
    book.state[COUNT] = i + 1


@verb
def enter_all(keeper: Bookkeeper, per_event: bool) -> None:
    """Reserve for those who arrive now, in order of arrival."""
    while is_coming(keeper):
        enter(keeper, keeper.clock[ARRIVED])
        keeper.clock[ARRIVED] += 1
        if per_event:
            break


@verb
def first_due(book: Book, jobs: Jobs, ranking: Ranking, now: int, limit: int, after: int) -> int:
    """Return the place of the first job of the queue whose start has come, behind job `after`."""
    best = -1
    for i in range(book.state[COUNT]):
        if book.at[i] <= now and (
            after < 0 or goes_before(ranking, jobs, now, limit, after, book.job[i])
        ):
            j = book.job[i]
            if best < 0 or goes_before(ranking, jobs, now, limit, j, book.job[best]):
                best = i
    return best


@verb
def passes_somebody(book: Book, jobs: Jobs, ranking: Ranking, now: int, limit: int, j: int) -> bool:
    """Say whether somebody who waits comes before job j in the queue."""
    for i in range(book.state[COUNT]):
        if book.job[i] != j and goes_before(ranking, jobs, now, limit, book.job[i], j):
            return True
    return False


@verb
def start_due(keeper: Bookkeeper, ranking: Ranking, options: Options) -> None:
    """Start the jobs whose reservation has come and who fit, in queue order."""
    jobs, running, book, clock, _ = keeper
    now, after = clock[NOW], -1
    if book.state[DUE] > now:
        return
    limit = starving_before(options, now)
    while True:
        i = first_due(book, jobs, ranking, now, limit, after)
        if i < 0:
            break
        j = after = book.job[i]
        if book.need[i] > running.free[0]:
            continue
        jobs.backfilled[j] = passes_somebody(book, jobs, ranking, now, limit, j)
        launch(jobs, running, j, now)
        book.state[COUNT] -= 1
        for p in range(i, book.state[COUNT]):
            copy_entry(book, p + 1, p)
    due = NEVER
    for i in range(book.state[COUNT]):
        due = min(due, book.at[i])
    book.state[DUE] = due


@verb
def next_reservation(book: Book, now: int) -> int:
    """Return the next reservation after now, s: it is an event of its own."""
    if book.state[DUE] > now:
        return int(book.state[DUE])
    # Whose start has come waits for processors; the others' may come yet.
    due = NEVER
    for i in range(book.state[COUNT]):
        if book.at[i] > now:
            due = min(due, book.at[i])
    return due


@verb
def turn(keeper: Bookkeeper, per_event: bool) -> bool:
    """Go to the next instant or event and its completions; return False at the end."""
    jobs, running, book, clock, _ = keeper
    arrival = jobs.submit[clock[ARRIVED]] if clock[ARRIVED] < jobs.submit.size else NEVER
    now = min(arrival, next_end(running), next_reservation(book, clock[NOW]))
    if now == NEVER:
        return False
    clock[NOW] = now
    advance(book.profile, now)
    clock[EARLY] = 0
    if per_event:
        # The profile knows already; the machine is to agree.
        give_back(running, now)
    if not (per_event and arrival == now):
        complete(keeper, per_event)
    return True


@kernel
def run_planned(
    keeper: Bookkeeper, ranking: Ranking, options: Options, walk: int, stepwise: bool
) -> bool:
    """Run every event and its pass, to the last completion; return False at the end, or if left.

    Stepwise, return True before each walk by queue and before each pass that may start a job,
    for the keys of the waiting jobs to be evaluated.
    """
    jobs, clock = keeper.jobs, keeper.clock
    while True:
        if clock[STAGE] == TURNS:
            if jobs.leave[0] != 0 or not turn(keeper, options.per_event):
                return False
            clock[STAGE] = WALKS
            if stepwise and clock[EARLY] == 1 and walk == BY_QUEUE:
                return True
        elif clock[STAGE] == WALKS:
            compact(keeper, ranking, options, walk)
            enter_all(keeper, options.per_event)
            clock[STAGE] = STARTS
            if stepwise:
                return True
        else:
            start_due(keeper, ranking, options)
            clock[STAGE] = TURNS

"""Fair start times under a plan that is kept, in the order of arrival."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import ARRIVED, NOW
from schedfarm.core.engine.clone.machine import copy_machine
from schedfarm.core.engine.clone.state import Fair, fill_in, is_over
from schedfarm.core.engine.jit import kernel, routine, verb
from schedfarm.core.engine.planned import (
    BOOK,
    COUNT,
    Book,
    Bookkeeper,
    compact,
    enter,
    is_coming,
    start_due,
    turn,
)
from schedfarm.core.engine.profile import HEAD, TAIL
from schedfarm.core.engine.ranking import Ranking
from schedfarm.core.engine.world import Options


@verb
def copy_book(book: Book, other: Book, start: Int64) -> None:
    """Copy the reservations and the profile that they make."""
    for i in range(book.state[COUNT]):
        other.job[i], other.need[i], other.length[i] = book.job[i], book.need[i], book.length[i]
        other.at[i], other.earliest[i] = book.at[i], book.earliest[i]
        start[book.job[i]] = -1
    for i in range(BOOK):
        other.state[i] = book.state[i]
    head, tail = book.profile.mark[HEAD], book.profile.mark[TAIL]
    for i in range(head, tail):
        other.profile.times[i - head] = book.profile.times[i]
        other.profile.free[i - head] = book.profile.free[i]
    other.profile.mark[HEAD], other.profile.mark[TAIL] = 0, tail - head


@routine
def fork(
    here: Bookkeeper,
    copy: Bookkeeper,
    ranking: Ranking,
    options: Options,
    walk: int,
    j: int,
    joined: bool,
) -> int:
    """Return when job j starts on a copy of what is here, to which nobody comes, s.

    The pass of this instant is still to come. A job that has not joined comes when all those
    who wait have started.
    """
    start, book, clock = copy.jobs.start, copy.book, copy.clock
    copy_machine(here.running, here.jobs, start, copy.running)
    copy_book(here.book, book, start)
    clock[NOW], clock[ARRIVED] = here.clock[NOW], start.size
    start[j] = -1
    while True:
        start_due(copy, ranking, options)
        if not joined and book.state[COUNT] == 0:
            joined = True
            enter(copy, j)
            start_due(copy, ranking, options)
        if start[j] >= 0:
            return int(start[j])
        turn(copy, options.per_event)
        compact(copy, ranking, options, walk)


@kernel
def fair_planned(
    here: Bookkeeper,
    copy: Bookkeeper,
    fair: Fair,
    ranking: Ranking,
    options: Options,
    walk: int,
    fst: Int64,
) -> None:
    """Fill `fst`, all -1, for the jobs wanted: the schedule and beside it a copy for each.

    Until somebody comes after it the schedule is a job's own copy; relaxed, if nobody waited
    when it came.
    """
    jobs, _, book, clock, _ = here
    while not is_over(jobs, fair, fst, clock[ARRIVED]):
        turn(here, options.per_event)
        compact(here, ranking, options, walk)
        while is_coming(here):
            j = clock[ARRIVED]
            if j > 0 and fair.wanted[j - 1] and fst[j - 1] < 0 and jobs.start[j - 1] < 0:
                fst[j - 1] = fork(here, copy, ranking, options, walk, j - 1, True)
            if fair.relaxed and fair.wanted[j] and book.state[COUNT] > 0:
                fst[j] = fork(here, copy, ranking, options, walk, j, False)
            enter(here, j)
            clock[ARRIVED] = j + 1
            if options.per_event:
                break
        start_due(here, ranking, options)
    fill_in(jobs, fair, fst)

"""Fair start times under a plan that is kept, in the order of arrival."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clone.machine import copy_machine
from schedfarm.core.engine.clone.state import Fair, fill_in, is_over
from schedfarm.core.engine.jit import rolled_kernel, routine, verb
from schedfarm.core.engine.planned import (
    Book,
    Bookkeeper,
    compact,
    enter,
    is_coming,
    start_due,
    turn,
)
from schedfarm.core.engine.profile import HEAD, TAIL
from schedfarm.core.engine.rank import AnyRankings, copy_usage
from schedfarm.core.engine.world import Options


@verb
def copy_book(book: Book, other: Book, start: Int64) -> None:
    """Copy the reservations and the profile."""
    for i in range(book.state[0].waiting):
        other.job[i], other.need[i], other.length[i] = book.job[i], book.need[i], book.length[i]
        other.at[i], other.earliest[i] = book.at[i], book.earliest[i]
        start[book.job[i]] = -1
    other.state[0] = book.state[0]
    head, tail = book.profile.mark[HEAD], book.profile.mark[TAIL]
    for i in range(head, tail):
        other.profile.times[i - head] = book.profile.times[i]
        other.profile.free[i - head] = book.profile.free[i]
    other.profile.mark[HEAD], other.profile.mark[TAIL] = 0, tail - head


@routine
def fork(
    here: Bookkeeper,
    copy: Bookkeeper,
    rankings: tuple[AnyRankings, AnyRankings],
    options: Options,
    walk: int,
    j: int,
    joined: bool,
) -> int:
    """Return the start, s, of job j on a clone of the state without arrivals.

    The pass of this instant is pending. A job that has not joined arrives when all waiting jobs
    have started. The second rankings are the clone's.
    """
    start, book, clock, own = copy.jobs.start, copy.book, copy.clock, rankings[1]
    copy_machine(here.running, here.jobs, start, copy.running)
    copy_book(here.book, book, start)
    copy_usage(rankings[0], own)
    clock[0].now, clock[0].arrived = here.clock[0].now, start.size
    start[j] = -1
    while True:
        start_due(copy, own, options)
        if not joined and book.state[0].waiting == 0:
            joined = True
            enter(copy, j)
            start_due(copy, own, options)
        if start[j] >= 0:
            return int(start[j])
        turn(copy, own, options.per_event)
        compact(copy, own, options, walk)


@rolled_kernel
def fair_planned(
    here: Bookkeeper,
    copy: Bookkeeper,
    fair: Fair,
    rankings: tuple[AnyRankings, AnyRankings],
    options: Options,
    walk: int,
    fst: Int64,
) -> None:
    """Simulate the schedule, and a clone for each wanted job; fill `fst`, all -1, for these.

    Invariant: the schedule is the clone of a job until the next arrival; for relaxed fair
    starts, only if no job waited at its arrival.
    """
    jobs, _, book, clock, _ = here
    while not is_over(jobs, fair, fst, clock[0].arrived):
        turn(here, rankings[0], options.per_event)
        compact(here, rankings[0], options, walk)
        while is_coming(here):
            j = clock[0].arrived
            if j > 0 and fair.wanted[j - 1] and fst[j - 1] < 0 and jobs.start[j - 1] < 0:
                fst[j - 1] = fork(here, copy, rankings, options, walk, j - 1, True)
            if fair.relaxed and fair.wanted[j] and book.state[0].waiting > 0:
                fst[j] = fork(here, copy, rankings, options, walk, j, False)
            enter(here, j)
            clock[0].arrived = j + 1
            if options.per_event:
                break
        start_due(here, rankings[0], options)
    fill_in(jobs, fair, fst)

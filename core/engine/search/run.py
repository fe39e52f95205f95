"""The clock of a plan on clusters: completions, arrivals, searches at ticks, and starts."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import Clock
from schedfarm.core.engine.jit import NEVER, rolled_kernel, routine, verb
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import Jobs, Running, launch, next_end, release
from schedfarm.core.engine.search.clusters import advance_all, untake
from schedfarm.core.engine.search.plan import (
    Book,
    Plan,
    begin_walk,
    commit,
    compress,
    enter,
    leave,
    make_free,
)
from schedfarm.core.engine.search.score import Past, Score, note_end, note_start
from schedfarm.core.engine.search.search import Aim, Search, change_plan, look_for_better


class SearchClock(Clock):
    """Clock of a plan that is searched.

    searched: the instant of the last search, s.
    """

    searched: int


class Planner(NamedTuple):
    """A machine of clusters, its plan, and the starts that were promised at arrival.

    where: int64[n], the cluster of each job that has started.
    """

    jobs: Jobs
    running: Running
    plan: Plan
    past: Past
    score: Score
    search: Search
    promised: Int64
    where: Int64


@verb
def next_reservation(book: Book, now: int) -> int:
    """Return the next reservation after now, s; each reservation is an event of its own."""
    for i in range(book.state[0].waiting):
        if book.at[i] > now:
            return int(book.at[i])
    return NEVER


@verb
def next_tick(book: Book, first: int, every: int, now: int) -> int:
    """Return the next instant after now at which the plan is searched, s, if a job waits."""
    if every == NEVER or book.state[0].waiting == 0:
        return NEVER
    return int(first + ((now - first) // every + 1) * every)


@verb
def is_tick(book: Book, first: int, every: int, now: int, searched: int) -> bool:
    """Return whether the plan is to be searched now; the last search was at `searched`, s."""
    if every == NEVER or now == searched or book.state[0].waiting == 0:
        return False
    return bool(now > first and (now - first) % every == 0)


@routine
def complete(planner: Planner, now: int) -> None:
    """Release the jobs that complete now; compress the plan if a completion was early."""
    jobs, running, plan, past = planner.jobs, planner.running, planner.plan, planner.past
    early = False
    begin_walk(plan, now)
    while next_end(running) == now:
        j = running.job[running.count[0] - 1]
        c, left = planner.where[j], jobs.start[j] + jobs.estimate[j] - now
        release(jobs, running)
        plan.clusters.room[c] += jobs.procs[j]
        note_end(past, jobs, planner.score.user[j], j)
        change_plan(planner.search)
        if left > 0:
            step = untake(plan.clusters, c, now, left, jobs.procs[j])
            make_free(plan, c, step, now, now + left, now, 0)
            early = True
    if early:
        compress(plan, now)
        commit(plan)


@verb
def first_due(book: Book, now: int, after: int) -> int:
    """Return the place of the first job after `after`, by arrival, whose planned start has come."""
    best = -1
    for i in range(book.state[0].waiting):
        if book.at[i] > now:
            break
        if book.job[i] > after and (best < 0 or book.job[i] < book.job[best]):
            best = i
    return best


@verb
def overtakes(book: Book, j: int) -> bool:
    """Return whether a waiting job was submitted before job j."""
    least = j
    for i in range(book.state[0].waiting):
        least = min(least, book.job[i])
    return bool(least < j)


@routine
def start_due(planner: Planner, now: int) -> None:
    """Start the jobs that fit and whose planned start has come, in order of arrival."""
    jobs, plan, after = planner.jobs, planner.plan, -1
    book, room = plan.book, plan.clusters.room
    while True:
        i = first_due(book, now, after)
        if i < 0:
            break
        j, c = book.job[i], book.place[i]
        after = j
        if book.need[i] > room[c]:
            continue
        jobs.backfilled[j] = overtakes(book, j)
        launch(jobs, planner.running, j, now)
        room[c] -= jobs.procs[j]
        planner.where[j] = c
        leave(book, i)
        note_start(planner.past, jobs, planner.score.user[j], j)
        change_plan(planner.search)


@rolled_kernel
def run_plan(planner: Planner, aim: Aim, clock: Record[SearchClock], due: Int64) -> bool:
    """Run every event and its pass, to the last completion or until cancelled.

    If the interval is NEVER, the plan is never searched. Returns True between two instants if
    `due` is nonzero: the next call continues from the clock.
    """
    jobs, running, plan = planner.jobs, planner.running, planner.plan
    book, n, first = plan.book, jobs.submit.size, jobs.submit[0]
    now, arrived, searched = clock[0].now, clock[0].arrived, clock[0].searched
    while jobs.leave[0] == 0:
        arrival = jobs.submit[arrived] if arrived < n else NEVER
        tick = next_tick(book, first, aim.every, now)
        now = min(min(arrival, tick), min(next_end(running), next_reservation(book, now)))
        if now == NEVER:
            break
        advance_all(plan.clusters, now)
        complete(planner, now)
        while arrived < n and jobs.submit[arrived] == now:
            j = arrived
            planner.promised[j] = enter(plan, j, jobs.procs[j], jobs.estimate[j], now)
            change_plan(planner.search)
            arrived += 1
        if is_tick(book, first, aim.every, now, searched):
            look_for_better(planner.search, plan, planner.score, planner.past, aim, jobs, now)
            searched = now
        start_due(planner, now)
        if due[0] != 0:
            clock[0].now, clock[0].arrived, clock[0].searched = now, arrived, searched
            return True
    return False

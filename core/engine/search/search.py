"""The search for a better plan: tabu search, and two controls.

Source: D. Klusacek and H. Rudova (2012), Performance and fairness for users in parallel job
scheduling, JSSPP, section 4.2, algorithm 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, routine, verb
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.search.clusters import (
    Clusters,
    copy_profile,
    earliest_place,
    idle_clusters,
    take_at,
    untake,
)
from schedfarm.core.engine.search.draws import draw
from schedfarm.core.engine.search.plan import (
    Book,
    Plan,
    arrange,
    begin_walk,
    commit,
    compress,
    make_free,
    note_move,
    walk,
)
from schedfarm.core.engine.search.score import Counts, Past, Score, count_jobs, count_users, weigh

TABU, RANDOM, GAP = 0, 1, 2
"""Codes of the searches."""


class Aim(NamedTuple):
    """Options of a policy for a search.

    every: s. times, moves: iterations are times x the waiting jobs + moves. kind: a code.
    """

    every: int
    times: int
    moves: int
    kind: int
    counts: Counts


class SearchState:
    """State of a search apart from its arrays.

    version: version of the plan. oldest: position of the oldest job in the tabu list. listed:
    number of jobs in the tabu list.
    """

    version: int
    oldest: int
    listed: int


class Search(NamedTuple):
    """State of a search.

    stream: state of the draws. tenure: int64[length of the tabu list], its jobs. listed: int64[n],
    number of times that each job is in the tabu list. tried, soonest: int64[n], version of the plan
    at the last attempt to move each job, and the earliest start, s, that the attempt gave. saved:
    profiles of the best plan; valid: int64[c], whether the profile of each cluster is saved. route:
    int64[n], jobs in the order of a control.

    Invariant: if tried[j] is the present version and soonest[j] >= now, moving job j gains nothing.
    The version changes with each arrival, start, completion and accepted move, so that the
    reservations and all that scores depend on are those of the last attempt. The attempt depends on
    the time only as a lower bound of starts; since all resulting starts are at `now` or later, the
    same attempt would give the same starts.
    """

    stream: Int64
    tenure: Int64
    listed: Int64
    tried: Int64
    soonest: Int64
    saved: Clusters
    valid: Int64
    route: Int64
    state: Record[SearchState]


def empty_search(size: Int64, n: int, tenure: int, seed: Int64) -> Search:
    """Return an initial search; seed: the state of its draws."""
    return Search(
        seed.copy(),
        np.zeros(tenure, np.int64),
        np.zeros(n, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        idle_clusters(size, n),
        np.zeros(size.size, np.int64),
        np.zeros(n, np.int64),
        record(SearchState),
    )


@verb
def change_plan(search: Search) -> None:
    """Begin a new version of the plan, for which no attempt or saved profile is valid."""
    search.state[0].version += 1
    for c in range(search.valid.size):
        search.valid[c] = 0


@verb
def save(search: Search, plan: Plan, c: int) -> None:
    """Save the profile of a cluster in the best plan."""
    if search.valid[c] == 0:
        copy_profile(plan.clusters, search.saved, c)
        search.valid[c] = 1


@verb
def restore(search: Search, plan: Plan) -> None:
    """Restore the best plan."""
    book, moves = plan.book, plan.moves
    for k in range(moves.count[0] - 1, -1, -1):
        i = moves.moved[k]
        book.at[i], book.place[i] = moves.at[k], moves.place[k]
    for c in range(search.valid.size):
        if moves.dirty[c] == 1:
            copy_profile(search.saved, plan.clusters, c)


@verb
def soonest_start(plan: Plan) -> int:
    """Return the earliest start that the moves gave a job, s; NEVER without a move."""
    soonest = NEVER
    for k in range(plan.moves.count[0]):
        soonest = min(soonest, plan.book.at[plan.moves.moved[k]])
    return soonest


@routine
def drop_news(search: Search, plan: Plan, now: int) -> None:
    """Compress the best plan, and discard its freed gaps if no job gains from the compression.

    Otherwise every move examines the news again: 20,000 jobs of MetaCentrum's grid took 3,600
    searches per move instead of 2,200.
    """
    if plan.book.state[0].news == 0:
        return
    for c in range(search.valid.size):
        save(search, plan, c)
    begin_walk(plan, now)
    compress(plan, now)
    if plan.moves.count[0] == 0:
        plan.book.state[0].news = 0
    else:
        restore(search, plan)


@verb
def try_move(
    search: Search, plan: Plan, score: Score, counts: Counts, jobs: Jobs, now: int, i: int
) -> bool:
    """Remove the job at place i, compress, reserve for the job again; keep a better result.

    All its steps are inlined. As routines they took half of the CPU time on the KTH log: a call
    copies the descriptors of some 50 arrays.
    """
    clusters, book, moves = plan
    j, at, c = book.job[i], book.at[i], book.place[i]
    need, length = book.need[i], book.length[i]
    if search.tried[j] == search.state[0].version and search.soonest[j] >= now:
        return False
    for k in range(clusters.size.size):
        save(search, plan, k)
    begin_walk(plan, now)
    if length > 0:
        step = untake(clusters, c, at, length, need)
        make_free(plan, c, step, at, at + length, now, 0)
    walk(plan, now, i)
    t, place, step = earliest_place(clusters, need, length, now)
    take_at(clusters, place, step, t, length, need)
    book.at[i], book.place[i] = t, place
    moves.dirty[c], moves.dirty[place] = 1, 1
    if t != at or place != c:
        note_move(moves, i, at, c, NEVER, 0)
    if moves.count[0] > 0 and weigh(score, counts, book, jobs, moves):
        if t != at or place != c:
            moves.count[0] -= 1
        commit(plan)
        change_plan(search)
        drop_news(search, plan, now)
        return True
    search.tried[j], search.soonest[j] = search.state[0].version, soonest_start(plan)
    restore(search, plan)
    return False


@verb
def empty_list(search: Search) -> None:
    """Empty the tabu list."""
    for k in range(search.state[0].listed):
        search.listed[search.tenure[(search.state[0].oldest + k) % search.tenure.size]] = 0
    search.state[0].listed = 0


@verb
def enlist(search: Search, j: int) -> None:
    """Add a job to the tabu list; a full list drops its oldest job."""
    size, state = search.tenure.size, search.state
    if size == 0:
        return
    if state[0].listed == size:
        search.listed[search.tenure[state[0].oldest]] = 0
        state[0].oldest = (state[0].oldest + 1) % size
        state[0].listed -= 1
    search.tenure[(state[0].oldest + state[0].listed) % size] = j
    search.listed[j] = 1
    state[0].listed += 1


@verb
def place_of(book: Book, j: int) -> int:
    """Return the place in the book of a job."""
    i = 0
    while book.job[i] != j:
        i += 1
    return i


@verb
def reorder(search: Search, book: Book) -> None:
    """Draw a job and its new position in the order of starts, and write the new order."""
    waiting = book.state[0].waiting
    source, target = draw(search.stream, waiting), draw(search.stream, waiting)
    k = 0
    for i in range(waiting):
        if k == target:
            k += 1
        if i != source:
            search.route[k] = i
            k += 1
    search.route[target] = source


@routine
def try_order(
    search: Search, plan: Plan, score: Score, counts: Counts, jobs: Jobs, now: int
) -> bool:
    """Make all reservations again, with one job at a random position; keep a better result."""
    clusters, book, moves = plan
    for c in range(clusters.size.size):
        save(search, plan, c)
    begin_walk(plan, now)
    for c in range(clusters.size.size):
        moves.dirty[c] = 1
    for i in range(book.state[0].waiting):
        untake(clusters, book.place[i], book.at[i], book.length[i], book.need[i])
    reorder(search, book)
    for k in range(book.state[0].waiting):
        i = search.route[k]
        at, place, need, length = book.at[i], book.place[i], book.need[i], book.length[i]
        t, c, step = earliest_place(clusters, need, length, now)
        take_at(clusters, c, step, t, length, need)
        book.at[i], book.place[i] = t, c
        if t != at or c != place:
            note_move(moves, i, at, place, NEVER, 0)
    if moves.count[0] > 0 and weigh(score, counts, book, jobs, moves):
        # Each job has its earliest gap next to the preceding jobs; later jobs only took processors.
        book.state[0].news = 0
        arrange(book)
        change_plan(search)
        return True
    restore(search, plan)
    return False


@verb
def next_place(search: Search, book: Book, kind: int, k: int) -> int:
    """Return the place of the job to move in iteration k; -1 if all jobs are tabu.

    The tabu search draws a job that is not tabu; if all jobs are tabu, the list is emptied.
    """
    waiting = book.state[0].waiting
    if kind == GAP:
        return place_of(book, search.route[k % waiting])
    if search.state[0].listed >= waiting:
        empty_list(search)
        return -1
    i = draw(search.stream, waiting)
    while search.listed[book.job[i]] > 0:
        i = draw(search.stream, waiting)
    return i


@routine
def look_for_better(
    search: Search, plan: Plan, score: Score, past: Past, aim: Aim, jobs: Jobs, now: int
) -> None:
    """Search for a better plan, and keep the best plan found."""
    book, counts = plan.book, aim.counts
    waiting = book.state[0].waiting
    drop_news(search, plan, now)
    count_jobs(score, past, counts, book, jobs)
    count_users(score, counts)
    if aim.kind == GAP:
        for i in range(waiting):
            search.route[i] = book.job[waiting - 1 - i]
    for k in range(aim.times * waiting + aim.moves):
        if aim.kind == RANDOM:
            try_order(search, plan, score, counts, jobs, now)
            continue
        i = next_place(search, book, aim.kind, k)
        if i >= 0:
            j = book.job[i]
            try_move(search, plan, score, counts, jobs, now, i)
            if aim.kind == TABU:
                enlist(search, j)
    empty_list(search)

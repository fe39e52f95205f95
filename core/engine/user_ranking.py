"""Ranking of users with waiting jobs by their usage, and the keys of their jobs."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import rank
from schedfarm.core.engine.jit import kernel, verb
from schedfarm.core.engine.machine import Machine, running_count
from schedfarm.core.engine.queue import Queue, gather
from schedfarm.core.engine.rank import AnyRankings
from schedfarm.core.engine.ranking import Ranking, Rankings
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.usage import Shares, copy_shares, follow, goes_first

NOBODY = -1
"""Code of a line that no order uses."""


class LineState:
    """State of a line of users.

    users: number of users in it. made: number of times that it was made.
    """

    users: int
    made: int


class Line(NamedTuple):
    """Hold the users with waiting jobs, sorted by one order.

    code: code of the order. user: int64[u], the line. rank: int64[u], of each user, from 0 on;
    equal users share one. stamp: int64[u], of each user, last time with waiting jobs.
    """

    code: int
    user: Int64
    rank: Int64
    stamp: Int64
    state: Record[LineState]


class Sharing(NamedTuple):
    """Hold the usage of users, and the lines for the queue's order and the backfill order."""

    shares: Shares
    queue: Line
    backfill: Line


@verb
def step_in(shares: Shares, line: Line, waiting: Int64, count: int) -> None:
    """Restrict the line to users of the first `count` waiting jobs; append new users."""
    state, stamp = line.state, line.stamp
    state[0].made += 1
    here, kept = 2 * state[0].made, 0
    for p in range(count):
        stamp[shares.user[waiting[p]]] = here
    for p in range(state[0].users):
        u = line.user[p]
        if stamp[u] == here:
            line.user[kept] = u
            stamp[u] = here + 1
            kept += 1
    for p in range(count):
        u = shares.user[waiting[p]]
        if stamp[u] == here:
            line.user[kept] = u
            stamp[u] = here + 1
            kept += 1
    state[0].users = kept


@verb
def line_up(shares: Shares, line: Line) -> None:
    """Sort the line by the usage of its users, and rank these users.

    An insertion sort is used, since the line of the last pass is almost sorted.
    """
    for p in range(1, line.state[0].users):
        u, k = line.user[p], p
        while k > 0 and goes_first(shares, line.code, u, line.user[k - 1]):
            line.user[k] = line.user[k - 1]
            k -= 1
        line.user[k] = u
    rank = 0
    for p in range(line.state[0].users):
        u = line.user[p]
        if p > 0 and goes_first(shares, line.code, line.user[p - 1], u):
            rank = p
        line.rank[u] = rank


@verb
def rank_jobs(shares: Shares, line: Line, waiting: Int64, count: int, key: Int64) -> None:
    """Set the keys of the first `count` waiting jobs to the ranks of their users."""
    if line.code == NOBODY:
        return
    step_in(shares, line, waiting, count)
    line_up(shares, line)
    for p in range(count):
        key[waiting[p]] = line.rank[shares.user[waiting[p]]]


@verb
def rank_by_shares(sharing: Sharing, rankings: AnyRankings, waiting: Int64, count: int) -> None:
    """Set the keys of the first `count` waiting jobs by the refreshed usage."""
    shares = sharing.shares
    rank_jobs(shares, sharing.queue, waiting, count, rankings.queue.key)
    rank_jobs(shares, sharing.backfill, waiting, count, rankings.backfill.key)


class SharedRankings(NamedTuple):
    """Hold `Rankings` of which at least one ranks users by their usage.

    waiting: int64[n], scratch space for the waiting jobs.
    """

    queue: Ranking
    backfill: Ranking
    moves: bool
    differ: bool
    sharing: Sharing
    waiting: Int64


@rank.begun_by.of(SharedRankings)
def begun_by(rankings: SharedRankings, machine: Machine) -> int:
    """Return the number of completed jobs counted so far plus the running ones."""
    return int(rankings.sharing.shares.passed[0].settled + running_count(machine))


@rank.follow_up.of(SharedRankings)
def follow_up(rankings: SharedRankings, machine: Machine, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the completed jobs to their users."""
    follow(machine, rankings.sharing.shares, jobs, begun, now)


@rank.rank_queue.of(SharedRankings)
def rank_queue(rankings: SharedRankings, queue: Queue) -> None:
    """Set the keys of the jobs of a queue to the ranks of their users."""
    waiting = rankings.waiting
    rank_by_shares(rankings.sharing, rankings, waiting, gather(queue, waiting))


rank.have_keys_by_job(SharedRankings)


@rank.rank_list.of(SharedRankings)
def rank_list(rankings: SharedRankings, waiting: Int64, count: int) -> None:
    """Set the keys of some waiting jobs to the ranks of their users."""
    rank_by_shares(rankings.sharing, rankings, waiting, count)


@rank.settled_until.of(SharedRankings)
def settled_until(rankings: SharedRankings, now: int) -> int:
    """Return now: a halving or refresh of the usage may change the order at any time."""
    return now


@rank.copy_usage.of(SharedRankings)
def copy_usage(rankings: SharedRankings, other: SharedRankings) -> None:
    """Copy the usage of users; clones share keys and ranks, made before each pass."""
    copy_shares(rankings.sharing.shares, other.sharing.shares)


@kernel
def rank_waiting(sharing: Sharing, rankings: Rankings, waiting: Int64) -> None:
    """Set the keys of all waiting jobs by the refreshed usage."""
    rank_by_shares(sharing, rankings, waiting, waiting.size)

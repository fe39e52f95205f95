"""The users who wait, in line by what they have got, and the keys that this gives their jobs."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import kernel, verb
from schedfarm.core.engine.ranking import Rankings
from schedfarm.core.engine.running import Jobs, Running
from schedfarm.core.engine.usage import Shares, follow, goes_first

NOBODY = -1
"""Code of a line that no order asks for."""

COUNT, STAMP = 0, 1
"""Places in the state of a line: users in it; how often it was made."""


class Line(NamedTuple):
    """The users who wait, for one order.

    code: who comes first. user: int64[u], the line. rank: int64[u], of each user, from 0 on; equal
    ones share one. stamp: int64[u], of each user, when it last waited. state: int64[2].
    """

    code: int
    user: Int64
    rank: Int64
    stamp: Int64
    state: Int64


class Sharing(NamedTuple):
    """What users have got, and the lines of the queue's order and of that of backfills."""

    shares: Shares
    queue: Line
    backfill: Line


@verb
def step_in(shares: Shares, line: Line, waiting: Int64, count: int) -> None:
    """Keep in line the users of the first `count` of the waiting jobs, new ones at its end."""
    state, stamp = line.state, line.stamp
    state[STAMP] += 1
    here, kept = 2 * state[STAMP], 0
    for p in range(count):
        stamp[shares.user[waiting[p]]] = here
    for p in range(state[COUNT]):
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
    state[COUNT] = kept


@verb
def line_up(shares: Shares, line: Line) -> None:
    """Sort the line by what its users have got, and rank them.

    By insertion: the last pass left it almost sorted.
    """
    for p in range(1, line.state[COUNT]):
        u, k = line.user[p], p
        while k > 0 and goes_first(shares, line.code, u, line.user[k - 1]):
            line.user[k] = line.user[k - 1]
            k -= 1
        line.user[k] = u
    rank = 0
    for p in range(line.state[COUNT]):
        u = line.user[p]
        if p > 0 and goes_first(shares, line.code, line.user[p - 1], u):
            rank = p
        line.rank[u] = rank


@verb
def rank_jobs(shares: Shares, line: Line, waiting: Int64, count: int, key: Int64) -> None:
    """Give the first `count` of the waiting jobs the keys that their users' places are."""
    if line.code == NOBODY:
        return
    step_in(shares, line, waiting, count)
    line_up(shares, line)
    for p in range(count):
        key[waiting[p]] = line.rank[shares.user[waiting[p]]]


@verb
def rank_by_shares(
    sharing: Sharing,
    rankings: Rankings,
    jobs: Jobs,
    running: Running,
    begun: int,
    waiting: Int64,
    count: int,
    now: int,
) -> None:
    """Give the waiting jobs their keys by what their users have got by now, s.

    Call it after the completions and before the first start of an instant, or event. `begun` jobs
    have ever started, and the first `count` of `waiting` wait, in any order.
    """
    shares = sharing.shares
    follow(shares, jobs, running, begun, now)
    rank_jobs(shares, sharing.queue, waiting, count, rankings.queue.key)
    rank_jobs(shares, sharing.backfill, waiting, count, rankings.backfill.key)


@kernel
def rank_waiting(sharing: Sharing, rankings: Rankings, waiting: Int64) -> None:
    """Give all the waiting jobs their keys by what orders see of their users' sums."""
    count = waiting.size
    rank_jobs(sharing.shares, sharing.queue, waiting, count, rankings.queue.key)
    rank_jobs(sharing.shares, sharing.backfill, waiting, count, rankings.backfill.key)

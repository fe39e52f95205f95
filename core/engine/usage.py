"""Usage of users: sums over their completed jobs, and the refreshed sums for orders."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.jit import generic, kernel, verb
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.ranking import ratio_exceeds
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import Jobs, Running

MOST_WAITED, LEAST_WORKED = range(2)
"""Codes of the orders of users: by largest wait per completed work, and by least work."""

EXACT = 2**53
"""Bound below which integers are exact floats, and their quotients keep their order."""

ALL_BITS = 63
"""Number of halvings that leave 0 of an int64."""


class Passed:
    """Counters of the changes of users' usage since the first submission.

    settled: number of completed jobs. refreshes: number of refreshes; the latest refresh is counted
    only after its instant. halvings: number of halvings.
    """

    settled: int
    refreshes: int
    halvings: int


class Shares(NamedTuple):
    """Hold waits and work of each user's completed jobs, now and at the last refresh.

    user: int64[n], index of each job's user in the arrays of users. work: int64[n], run x procs of
    each job, processor-seconds: halvings round this product, and kernels with larger units of
    processors would round differently. waited, worked: int64[u], the sums, s and processor-seconds.
    seen_waited, seen_worked: int64[u], the sums that orders use; quotient: float64[u], the
    normalised wait times from these sums, NaN if a value might be rounded. refresh: s, 0 to refresh
    at each pass.
    halflife: s, or NEVER.
    """

    user: Int64
    work: Int64
    waited: Int64
    worked: Int64
    seen_waited: Int64
    seen_worked: Int64
    quotient: Float64
    passed: Record[Passed]
    refresh: int
    halflife: int


@verb
def copy_shares(shares: Shares, other: Shares) -> None:
    """Copy the usage of users, and the sums that orders use."""
    for u in range(shares.waited.size):
        other.waited[u], other.worked[u] = shares.waited[u], shares.worked[u]
        other.seen_waited[u], other.seen_worked[u] = shares.seen_waited[u], shares.seen_worked[u]
        other.quotient[u] = shares.quotient[u]
    other.passed[0] = shares.passed[0]


@verb
def area(worked: int) -> int:
    """Return the divisor of a user's waits: the completed work, processor-seconds, at least 1."""
    return max(worked, 1)


@verb
def look_at(shares: Shares, u: int) -> None:
    """Refresh the sums of user `u` for orders."""
    waited, worked = shares.waited[u], shares.worked[u]
    shares.seen_waited[u], shares.seen_worked[u] = waited, worked
    if waited < EXACT and worked < EXACT:
        shares.quotient[u] = waited / area(worked)
    else:
        shares.quotient[u] = np.nan


@verb
def look_at_all(shares: Shares) -> None:
    """Refresh all sums for orders."""
    for u in range(shares.waited.size):
        look_at(shares, u)


@verb
def halve(shares: Shares, age: int) -> None:
    """Make the halvings that are due up to an age, s.

    The age of an instant is the time since the first submission, s.
    """
    halvings = age // shares.halflife
    if halvings == shares.passed[0].halvings:
        return
    bits = min(halvings - shares.passed[0].halvings, ALL_BITS)
    for u in range(shares.waited.size):
        shares.waited[u] >>= bits
        shares.worked[u] >>= bits
        if shares.refresh == 0:
            look_at(shares, u)
    shares.passed[0].halvings = halvings


@verb
def pass_time(shares: Shares, age: int) -> None:
    """Make the refreshes before an age, s, and the halvings up to this age."""
    if shares.refresh > 0:
        refreshes = (age - 1) // shares.refresh
        if refreshes > shares.passed[0].refreshes:
            halve(shares, refreshes * shares.refresh)
            look_at_all(shares)
            shares.passed[0].refreshes = refreshes
    halve(shares, age)


@verb
def settle(shares: Shares, j: int, wait: int, age: int) -> None:
    """Charge job j, which completed at an age, s; calls are in order of completions."""
    u = shares.user[j]
    pass_time(shares, age)
    shares.waited[u] += wait
    shares.worked[u] += shares.work[j]
    shares.passed[0].settled += 1
    if shares.refresh == 0:
        look_at(shares, u)


@verb
def refresh(shares: Shares, age: int) -> None:
    """Refresh the sums for orders if a refresh is due at an age, s."""
    pass_time(shares, age)
    if shares.refresh > 0 and age % shares.refresh == 0:
        look_at_all(shares)


@generic
def follow(machine: Machine, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the jobs that completed by now, s; `begun` jobs have started.

    Call this step before the next start, which overwrites the released jobs behind the list's end.
    """
    raise NotImplementedError


@verb
def charge_ended(running: Running, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the jobs behind the end of a list."""
    count = running.count[0]
    for p in range(begun - shares.passed[0].settled - 1, count - 1, -1):
        count_ended(shares, jobs, running.job[p], running.end[p])
    refresh(shares, now - jobs.submit[0])


@verb
def count_ended(shares: Shares, jobs: Jobs, j: int, end: int) -> None:
    """Charge job j, which completed at `end`, s."""
    settle(shares, j, jobs.start[j] - jobs.submit[j], end - jobs.submit[0])


@kernel
def settle_all(shares: Shares, job: Int64, wait: Int64, age: Int64, now: int) -> None:
    """Charge some jobs, in the order of their ends, at the age `now`, s."""
    for p in range(job.size):
        settle(shares, job[p], wait[p], age[p])
    refresh(shares, now)


@verb
def waited_more(shares: Shares, u: int, v: int) -> bool:
    """Return whether user u has a larger normalised wait time than user v, exactly."""
    if shares.quotient[u] > shares.quotient[v]:
        return True
    # Equal floats may be unequal ratios, and comparisons with NaN are false.
    if shares.quotient[u] < shares.quotient[v]:
        return False
    a, b = shares.seen_waited[v], area(shares.seen_worked[v])
    c, d = shares.seen_waited[u], area(shares.seen_worked[u])
    return ratio_exceeds(c, d, a, b)


@verb
def goes_first(shares: Shares, code: int, u: int, v: int) -> bool:
    """Return whether user u strictly precedes user v."""
    if code == LEAST_WORKED:
        return bool(shares.seen_worked[u] < shares.seen_worked[v])
    return waited_more(shares, u, v)

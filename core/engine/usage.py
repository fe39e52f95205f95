"""What users have got: sums over their completed jobs, and what an order sees of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.jit import kernel, verb
from schedfarm.core.engine.ranking import ratio_exceeds
from schedfarm.core.engine.running import Jobs, Running

MOST_WAITED, LEAST_WORKED = range(2)
"""Codes of who comes first: most wait for the work that was done; least work."""

SETTLED, REFRESHES, HALVINGS, PASSED = range(4)
"""Places in what has passed: jobs that have completed; since the first submission, refreshes, the
latest not counted while its instant lasts; and halvings. Their number."""

EXACT = 2**53
"""Whole numbers below this are floats without rounding, and quotients of such keep their order."""

ALL_BITS = 63
"""So many halvings leave nothing of an int64."""


class Shares(NamedTuple):
    """What each user's completed jobs have waited and worked, now and at the last refresh.

    user: int64[n], of each job its user's place in the arrays of users. work: int64[n], run x
    procs of each job, processor-seconds: halvings round that, where kernels count processors in
    larger units. waited, worked: int64[u], the sums, s and processor-seconds. seen_waited,
    seen_worked: int64[u], what orders see of them; quotient: float64[u], the normalised wait time
    of these, NaN where it might be rounded. passed: int64[PASSED].
    refresh: s, 0 to see the sums at each pass. halflife: s, or NEVER.
    """

    user: Int64
    work: Int64
    waited: Int64
    worked: Int64
    seen_waited: Int64
    seen_worked: Int64
    quotient: Float64
    passed: Int64
    refresh: int
    halflife: int


@verb
def area(worked: int) -> int:
    """Return what a user's waits are divided by: the work done, processor-seconds, at least 1."""
    return max(worked, 1)


@verb
def look_at(shares: Shares, u: int) -> None:
    """Let orders see the sums of user u as they are."""
    waited, worked = shares.waited[u], shares.worked[u]
    shares.seen_waited[u], shares.seen_worked[u] = waited, worked
    if waited < EXACT and worked < EXACT:
        shares.quotient[u] = waited / area(worked)
    else:
        shares.quotient[u] = np.nan


@verb
def look_at_all(shares: Shares) -> None:
    """Let orders see all sums as they are."""
    for u in range(shares.waited.size):
        look_at(shares, u)


@verb
def halve(shares: Shares, age: int) -> None:
    """Halve the sums as often as is due so long after the first submission."""
    halvings = age // shares.halflife
    if halvings == shares.passed[HALVINGS]:
        return
    bits = min(halvings - shares.passed[HALVINGS], ALL_BITS)
    for u in range(shares.waited.size):
        shares.waited[u] >>= bits
        shares.worked[u] >>= bits
        if shares.refresh == 0:
            look_at(shares, u)
    shares.passed[HALVINGS] = halvings


@verb
def pass_time(shares: Shares, age: int) -> None:
    """Make the refreshes before, and the halvings up to, so long after the first submission."""
    if shares.refresh > 0:
        refreshes = (age - 1) // shares.refresh
        if refreshes > shares.passed[REFRESHES]:
            halve(shares, refreshes * shares.refresh)
            look_at_all(shares)
            shares.passed[REFRESHES] = refreshes
    halve(shares, age)


@verb
def settle(shares: Shares, j: int, wait: int, age: int) -> None:
    """Count job j, which completed so long after the first submission; earlier ones go first."""
    u = shares.user[j]
    pass_time(shares, age)
    shares.waited[u] += wait
    shares.worked[u] += shares.work[j]
    shares.passed[SETTLED] += 1
    if shares.refresh == 0:
        look_at(shares, u)


@verb
def refresh(shares: Shares, age: int) -> None:
    """Let orders see what they are to so long after the first submission, completions counted."""
    pass_time(shares, age)
    if shares.refresh > 0 and age % shares.refresh == 0:
        look_at_all(shares)


@verb
def follow(shares: Shares, jobs: Jobs, running: Running, begun: int, now: int) -> None:
    """Count who has completed by now, s, of the `begun` jobs that have ever started.

    Whoever was released stands behind the end of the list, the latest first, until a job starts:
    call this before that.
    """
    first, count = jobs.submit[0], running.count[0]
    for p in range(begun - shares.passed[SETTLED] - 1, count - 1, -1):
        j = running.job[p]
        settle(shares, j, jobs.start[j] - jobs.submit[j], running.end[p] - first)
    refresh(shares, now - first)


@kernel
def settle_all(shares: Shares, job: Int64, wait: Int64, age: Int64, now: int) -> None:
    """Count some jobs, in the order of their ends, by the age `now` of the workload, s."""
    for p in range(job.size):
        settle(shares, job[p], wait[p], age[p])
    refresh(shares, now)


@verb
def waited_more(shares: Shares, u: int, v: int) -> bool:
    """Say whether user u has the larger normalised wait time of two, exactly."""
    if shares.quotient[u] > shares.quotient[v]:
        return True
    # Equal floats may be unequal ratios, and with NaN nothing is less or more.
    if shares.quotient[u] < shares.quotient[v]:
        return False
    a, b = shares.seen_waited[v], area(shares.seen_worked[v])
    c, d = shares.seen_waited[u], area(shares.seen_worked[u])
    return ratio_exceeds(c, d, a, b)


@verb
def goes_first(shares: Shares, code: int, u: int, v: int) -> bool:
    """Say whether user u comes strictly before user v."""
    if code == LEAST_WORKED:
        return bool(shares.seen_worked[u] < shares.seen_worked[v])
    return waited_more(shares, u, v)

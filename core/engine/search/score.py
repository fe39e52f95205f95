"""The score of a plan: sums over jobs and over users, and their change when starts change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.search.plan import Book, Moves
from schedfarm.core.engine.usage import area

SLOWDOWN, WAIT, RESPONSE, FAIRNESS, CRITERIA = range(5)
"""The criteria, in the order of their weights; their number."""

ROUNDING = 1e-12
"""Bound up to which a sum of relative gains counts as 0: the sum for equal plans is off by some
1e-16."""

LEVEL = 1e-18
"""Share of the sum of squares up to which the spread of users counts as 0."""


class Counts(NamedTuple):
    """Whether a score includes the jobs that no longer wait.

    jobs: in all criteria except fairness. users: in fairness. raised: 1 if fairness
    is the sum of (1 + mean - NUWT)^2, which is larger by the number of users.
    """

    jobs: bool
    users: bool
    raised: bool


class Past(NamedTuple):
    """Sums over the running and completed jobs.

    slowdown: float64[1]; wait, length: int64[1], s; waited, worked, jobs: int64[u], by user: s,
    processor s, and number.
    """

    slowdown: Float64
    wait: Int64
    length: Int64
    waited: Int64
    worked: Int64
    jobs: Int64


class Score(NamedTuple):
    """The criteria of the best plan, and the sums by user for the computation of fairness.

    value: float64[CRITERIA]. change: float64[CRITERIA], the change of each criterion. user:
    int64[n], the user of each job. waited, worked: int64[u]. nuwt: float64[u]. spread: float64[4]:
    users, the origin of deviations, their sum, and the sum of their squares. less: int64[u], the
    change of waits; touched: int64[u], the users with a change; number: int64[1], the number of
    these users. level: float64[1], below which the spread counts as 0. weights: float64[CRITERIA].
    """

    value: Float64
    change: Float64
    user: Int64
    waited: Int64
    worked: Int64
    nuwt: Float64
    spread: Float64
    less: Int64
    touched: Int64
    number: Int64
    level: Float64
    weights: Float64


USERS, MEAN, SUM, SQUARES = range(4)
"""Places in the spread."""


def empty_score(user: Int64, users: int, weights: Float64) -> Score:
    """Return the score of an empty plan, for jobs of `users` users."""
    return Score(
        np.zeros(CRITERIA),
        np.zeros(CRITERIA),
        user,
        np.zeros(users, np.int64),
        np.zeros(users, np.int64),
        np.zeros(users),
        np.zeros(4),
        np.zeros(users, np.int64),
        np.zeros(users, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1),
        weights,
    )


def empty_past(users: int) -> Past:
    """Return the sums over no jobs."""
    return Past(
        np.zeros(1),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(users, np.int64),
        np.zeros(users, np.int64),
        np.zeros(users, np.int64),
    )


@verb
def slowdown(wait: int, length: int) -> float:
    """Return the bounded slowdown with a bound of 1 s."""
    return float(max((wait + length) / max(length, 1), 1.0))


@verb
def note_start(past: Past, jobs: Jobs, u: int, j: int) -> None:
    """Add a job that has just started, with its estimate."""
    wait, length = jobs.start[j] - jobs.submit[j], jobs.estimate[j]
    past.slowdown[0] += slowdown(wait, length)
    past.wait[0] += wait
    past.length[0] += length
    past.waited[u] += wait
    past.worked[u] += length * jobs.procs[j]
    past.jobs[u] += 1


@verb
def note_end(past: Past, jobs: Jobs, u: int, j: int) -> None:
    """Replace the estimate of a job by its run time."""
    wait, run, length = jobs.start[j] - jobs.submit[j], jobs.run[j], jobs.estimate[j]
    if run < length:
        past.slowdown[0] += slowdown(wait, run) - slowdown(wait, length)
        past.length[0] += run - length
        past.worked[u] += (run - length) * jobs.procs[j]


@verb
def count_jobs(score: Score, past: Past, counts: Counts, book: Book, jobs: Jobs) -> None:
    """Add the waiting jobs, with their planned starts, to the sums over the other jobs."""
    slow, wait, length = 0.0, 0, 0
    if counts.jobs:
        slow, wait, length = past.slowdown[0], past.wait[0], past.length[0]
    users, spread = score.waited.size, score.spread
    spread[USERS] = 0.0
    for u in range(users):
        score.waited[u] = past.waited[u] if counts.users else 0
        score.worked[u] = past.worked[u] if counts.users else 0
        score.nuwt[u] = past.jobs[u] if counts.users else 0
    for i in range(book.state[0].waiting):
        j = book.job[i]
        u, late, size = score.user[j], book.at[i] - jobs.submit[j], book.length[i]
        slow += slowdown(late, size)
        wait += late
        length += size
        score.waited[u] += late
        score.worked[u] += size * book.need[i]
        score.nuwt[u] += 1.0
    score.value[SLOWDOWN], score.value[WAIT] = slow, float(wait)
    score.value[RESPONSE] = float(wait + length)


@verb
def fairness(score: Score, counts: Counts, total: float, squares: float) -> float:
    """Return the fairness of users from the sum of their deviations and the sum of the squares."""
    users = score.spread[USERS]
    if users == 0.0:
        return 0.0
    plain = squares - total * total / users
    if plain <= score.level[0]:
        plain = 0.0
    return float(plain + users if counts.raised else plain)


@verb
def count_users(score: Score, counts: Counts) -> None:
    """Compute the normalised waits of the users who count, and their spread."""
    users, mean, total = 0, 0.0, 0.0
    for u in range(score.nuwt.size):
        if score.nuwt[u] > 0.0:
            score.nuwt[u] = score.waited[u] / area(score.worked[u])
            total += score.nuwt[u]
            users += 1
        else:
            score.nuwt[u] = -1.0
    if users > 0:
        mean = total / users
    total, squares, level = 0.0, 0.0, 0.0
    for u in range(score.nuwt.size):
        if score.nuwt[u] >= 0.0:
            off = score.nuwt[u] - mean
            total += off
            squares += off * off
            level += score.nuwt[u] * score.nuwt[u]
    spread = score.spread
    spread[USERS], spread[MEAN], spread[SUM], spread[SQUARES] = float(users), mean, total, squares
    score.level[0] = LEVEL * level
    score.value[FAIRNESS] = fairness(score, counts, total, squares)


@verb
def gain(before: float, change: float) -> float:
    """Return the relative decrease of a criterion; -1 if the criterion rises from 0."""
    if before > 0.0:
        return -change / before
    return -1.0 if change > 0.0 else 0.0


@verb
def is_better(value: Float64, change: Float64, weights: Float64) -> bool:
    """Return whether a plan whose criteria differ by `change` is better (Algorithm 1).

    value, change, weights: float64[CRITERIA].
    """
    total = 0.0
    for k in range(CRITERIA):
        total += weights[k] * gain(value[k], change[k])
    return bool(total > ROUNDING)


@verb
def touch(score: Score, u: int, later: int) -> None:
    """Add the change of the start of a job of a user, s."""
    if score.less[u] == 0:
        score.touched[score.number[0]] = u
        score.number[0] += 1
    score.less[u] += later
    if score.less[u] == 0:
        forget(score, u)


@verb
def forget(score: Score, u: int) -> None:
    """Remove a user whose waits are unchanged from the touched users."""
    k = 0
    while score.touched[k] != u:
        k += 1
    score.number[0] -= 1
    score.touched[k] = score.touched[score.number[0]]


@verb
def weigh(score: Score, counts: Counts, book: Book, jobs: Jobs, moves: Moves) -> bool:
    """Return whether the present starts are better than those before the moves."""
    change, spread = score.change, score.spread
    score.number[0] = 0
    slow, wait = 0.0, 0.0
    for k in range(moves.count[0]):
        i, before = moves.moved[k], moves.at[k]
        j, length, at = book.job[i], book.length[i], book.at[i]
        submit = jobs.submit[j]
        slow += slowdown(at - submit, length) - slowdown(before - submit, length)
        wait += float(at - before)
        touch(score, score.user[j], at - before)
    change[SLOWDOWN], change[WAIT], change[RESPONSE] = slow, wait, wait
    total, squares = spread[SUM], spread[SQUARES]
    for k in range(score.number[0]):
        u = score.touched[k]
        old = score.nuwt[u] - spread[MEAN]
        new = (score.waited[u] + score.less[u]) / area(score.worked[u]) - spread[MEAN]
        total += new - old
        squares += new * new - old * old
    after = fairness(score, counts, total, squares)
    change[FAIRNESS] = after - score.value[FAIRNESS]
    better = is_better(score.value, change, score.weights)
    if better:
        spread[SUM], spread[SQUARES] = total, squares
        for k in range(CRITERIA):
            score.value[k] += change[k]
        score.value[FAIRNESS] = after
    for k in range(score.number[0]):
        u = score.touched[k]
        if better:
            score.waited[u] += score.less[u]
            score.nuwt[u] = score.waited[u] / area(score.worked[u])
        score.less[u] = 0
    return better

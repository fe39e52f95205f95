"""How good a plan is: sums over jobs and over users, and what a change of starts makes of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.jit import routine, verb
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.search.plan import COUNT, Book, Moves
from schedfarm.core.engine.usage import area

SLOWDOWN, WAIT, RESPONSE, FAIRNESS, CRITERIA = range(5)
"""The criteria, in the order of their weights; their number."""

ROUNDING = 1e-12
"""A sum of relative gains up to this is none: that of equal plans is off by some 1e-16."""

LEVEL = 1e-18
"""Up to this share of the sum of squares, the spread of users is none."""


class Counts(NamedTuple):
    """What a score counts: whether in all but fairness, and in that, those who no longer wait.

    raised: 1 if fairness is the sum of (1 + mean - NUWT)^2, which is larger by the number of users.
    """

    jobs: bool
    users: bool
    raised: bool


class Past(NamedTuple):
    """Sums over the jobs that run or have completed.

    slowdown: float64[1]; wait, length: int64[1], s; waited, worked, jobs: int64[u], of each user,
    s, processor s, and how many.
    """

    slowdown: Float64
    wait: Int64
    length: Int64
    waited: Int64
    worked: Int64
    jobs: Int64


class Score(NamedTuple):
    """The criteria of the best plan, and of users what they rest on.

    value: float64[CRITERIA]. change: float64[CRITERIA], what a change adds to them. user: int64[n],
    of each job. waited, worked: int64[u]. nuwt: float64[u]. spread: float64[4]: users, the mean
    from which deviations are, their sum, and that of their squares. less: int64[u], what a change
    adds to waits; touched: int64[u], whom it concerns; number: int64[1], how many. level:
    float64[1], below which there is no spread. weights: float64[CRITERIA].
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
    """Return a score of nothing, for jobs of so many users."""
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
    """Count a job that has just started, with its estimate."""
    wait, length = jobs.start[j] - jobs.submit[j], jobs.estimate[j]
    past.slowdown[0] += slowdown(wait, length)
    past.wait[0] += wait
    past.length[0] += length
    past.waited[u] += wait
    past.worked[u] += length * jobs.procs[j]
    past.jobs[u] += 1


@verb
def note_end(past: Past, jobs: Jobs, u: int, j: int) -> None:
    """Put what a job ran in place of its estimate."""
    wait, run, length = jobs.start[j] - jobs.submit[j], jobs.run[j], jobs.estimate[j]
    if run < length:
        past.slowdown[0] += slowdown(wait, run) - slowdown(wait, length)
        past.length[0] += run - length
        past.worked[u] += (run - length) * jobs.procs[j]


@verb
def count_jobs(score: Score, past: Past, counts: Counts, book: Book, jobs: Jobs) -> None:
    """Add up what the plan makes of those who wait, beside those who no longer do."""
    slow, wait, length = 0.0, 0, 0
    if counts.jobs:
        slow, wait, length = past.slowdown[0], past.wait[0], past.length[0]
    users, spread = score.waited.size, score.spread
    spread[USERS] = 0.0
    for u in range(users):
        score.waited[u] = past.waited[u] if counts.users else 0
        score.worked[u] = past.worked[u] if counts.users else 0
        score.nuwt[u] = past.jobs[u] if counts.users else 0
    for i in range(book.state[COUNT]):
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
    """Return the fairness of users whose deviations have this sum, and of squares."""
    users = score.spread[USERS]
    if users == 0.0:
        return 0.0
    plain = squares - total * total / users
    if plain <= score.level[0]:
        plain = 0.0
    return float(plain + users if counts.raised else plain)


@verb
def count_users(score: Score, counts: Counts) -> None:
    """Find the normalised waits of the users who count, and how far they lie apart."""
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
    """Return by which share of itself a criterion falls: -1 where it rises from 0."""
    if before > 0.0:
        return -change / before
    return -1.0 if change > 0.0 else 0.0


@verb
def is_better(value: Float64, change: Float64, weights: Float64) -> bool:
    """Say whether a plan is better whose criteria differ so (their Algorithm 1, SELECTBETTER).

    value, change, weights: float64[CRITERIA].
    """
    total = 0.0
    for k in range(CRITERIA):
        total += weights[k] * gain(value[k], change[k])
    return bool(total > ROUNDING)


@verb
def touch(score: Score, book: Book, jobs: Jobs, i: int, before: int) -> None:
    """Count that a job of the book has another start than before."""
    change, j, length = score.change, book.job[i], book.length[i]
    submit, at = jobs.submit[j], book.at[i]
    change[SLOWDOWN] += slowdown(at - submit, length) - slowdown(before - submit, length)
    change[WAIT] += float(at - before)
    u = score.user[j]
    if score.less[u] == 0:
        score.touched[score.number[0]] = u
        score.number[0] += 1
    score.less[u] += at - before
    if score.less[u] == 0:
        forget(score, u)


@verb
def forget(score: Score, u: int) -> None:
    """Take a user whom a change leaves as before out of those whom it concerns."""
    k = 0
    while score.touched[k] != u:
        k += 1
    score.number[0] -= 1
    score.touched[k] = score.touched[score.number[0]]


@routine
def weigh(score: Score, counts: Counts, book: Book, jobs: Jobs, moves: Moves) -> bool:
    """Say whether the starts of now are better than those before the moves."""
    change, spread = score.change, score.spread
    for k in range(CRITERIA):
        change[k] = 0.0
    score.number[0] = 0
    for k in range(moves.count[0]):
        touch(score, book, jobs, moves.moved[k], moves.at[k])
    change[RESPONSE] = change[WAIT]
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

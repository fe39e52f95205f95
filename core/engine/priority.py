"""Slurm's multifactor priority: usage and factors of associations, and keys of waiting jobs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine import rank
from schedfarm.core.engine.jit import generic, kernel, verb
from schedfarm.core.engine.machine import Machine, running_count
from schedfarm.core.engine.queue import Queue, gather
from schedfarm.core.engine.ranking import Ranking
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.usage import copy_shares, follow
from schedfarm.core.engine.user_ranking import Sharing, rank_by_shares

LARGEST = 4294967295.0
"""Largest priority."""


class Constants(NamedTuple):
    """Hold the arguments of the order.

    used: whether the order is Slurm's priority. calc, max_age: s. decay: factor of usage in a
    period. two: 2.0, the base of the classic formula; with a literal 2.0, LLVM would replace the
    power by another function.
    """

    used: bool
    classic: bool
    calc: int
    max_age: int
    decay: float
    damping: float
    two: float
    age: float
    fairshare: float


class TreeState:
    """State of a tree of associations.

    periods: number of calculations after the first submission. stale: whether usage has changed
    since the factors were computed.
    """

    periods: int
    stale: int


class Weights(NamedTuple):
    """Hold the tree of associations, and the components of jobs' priorities.

    For n jobs, a accounts (parents first) and u associations: submit, width, leaf: int64[n],
    submission, s, processors and association of each job. steady: float64[n], the constant part of
    its priority. tier: int64[n], the tier of its partition x 2^32, or 0 without tiers. usage:
    float64[a + u], usage of accounts and associations at the last calculation, processor-seconds.
    pending: int64[u], usage since this calculation. held: int64[u], usage of the running jobs in
    one period. fair: float64[u], weighted factors. parent, part, normal: for each account and
    association, its parent account, its share divided by the sum over the siblings, and the product
    of these quotients up to the root. value: float64[a + u], level fairshare or effective usage.
    child, first: children of account i are ``child[first[i] : first[i + 1]]``. path: int64[u, d],
    the accounts below the root and the association itself, then -1. order: int64[u], associations
    in order of their last visit.
    """

    constants: Constants
    submit: Int64
    width: Int64
    leaf: Int64
    steady: Float64
    tier: Int64
    usage: Float64
    pending: Int64
    held: Int64
    fair: Float64
    parent: Int64
    part: Float64
    normal: Float64
    value: Float64
    child: Int64
    first: Int64
    path: Int64
    order: Int64
    state: Record[TreeState]


@verb
def copy_weights(tree: Weights, other: Weights) -> None:
    """Copy the usage and factors of associations."""
    other.state[0] = tree.state[0]
    for i in range(tree.usage.size):
        other.usage[i] = tree.usage[i]
    for u in range(tree.pending.size):
        other.pending[u], other.fair[u] = tree.pending[u], tree.fair[u]
        other.order[u] = tree.order[u]


@verb
def calculate(tree: Weights, jobs: Jobs, active: Int64, count: int, periods: int) -> None:
    """Make all calculations up to number `periods`; active jobs run or have just ended."""
    calc, decay = tree.constants.calc, tree.constants.decay
    accounts = tree.first.size - 1
    begin = tree.state[0].periods * calc
    for p in range(count):
        j = active[p]
        since = max(jobs.start[j] - tree.submit[0], begin)
        tree.pending[tree.leaf[j]] += tree.width[j] * (begin + calc - since)
    for u in range(tree.pending.size):
        tree.usage[accounts + u] = decay * tree.usage[accounts + u] + tree.pending[u]
        tree.pending[u] = 0
    more = periods - tree.state[0].periods - 1
    if more > 0:
        for u in range(tree.held.size):
            tree.held[u] = 0
        for p in range(count):
            tree.held[tree.leaf[active[p]]] += tree.width[active[p]] * calc
        for _ in range(more):
            for u in range(tree.held.size):
                tree.usage[accounts + u] = decay * tree.usage[accounts + u] + tree.held[u]
    tree.state[0].periods, tree.state[0].stale = periods, 1


@verb
def charge(tree: Weights, jobs: Jobs, active: Int64, running: int, count: int, now: int) -> None:
    """Charge active jobs at an instant, s; the first `running` jobs still run, the others end."""
    age, calc = now - tree.submit[0], tree.constants.calc
    periods = age // calc
    if tree.constants.fairshare == 0:
        tree.state[0].periods = periods
        return
    if periods > tree.state[0].periods:
        calculate(tree, jobs, active, count, periods)
    begin = tree.state[0].periods * calc
    for p in range(running, count):
        j = active[p]
        since = max(jobs.start[j] - tree.submit[0], begin)
        tree.pending[tree.leaf[j]] += tree.width[j] * (age - since)


@verb
def add_up(tree: Weights) -> None:
    """Set the usage of each account to the sum over its children."""
    for i in range(tree.first.size - 2, -1, -1):
        total = 0.0
        for k in range(tree.first[i], tree.first[i + 1]):
            total = total + tree.usage[tree.child[k]]
        tree.usage[i] = total


@verb
def set_levels(tree: Weights) -> None:
    """Set the level fairshare of all accounts and associations."""
    for i in range(1, tree.usage.size):
        above = tree.usage[tree.parent[i]]
        used = tree.usage[i] / above if above > 0 else 0.0
        if tree.part[i] == 0:
            tree.value[i] = 0.0
        elif used > 0:
            tree.value[i] = tree.part[i] / used
        else:
            tree.value[i] = np.inf


@verb
def have_same_account(tree: Weights, u: int, v: int) -> bool:
    """Return whether two associations belong to the same account."""
    accounts = tree.first.size - 1
    return bool(tree.parent[accounts + u] == tree.parent[accounts + v])


@verb
def compare(tree: Weights, u: int, v: int) -> int:
    """Compare two associations: -1 if `u` is visited first, 1 if `v` is, 0 if they tie.

    The fair tree merges tied accounts, so the values along the paths determine the order.
    """
    if have_same_account(tree, u, v):
        a, b = tree.value[tree.first.size - 1 + u], tree.value[tree.first.size - 1 + v]
        return 0 if a == b else (-1 if a > b else 1)
    for d in range(tree.path.shape[1]):
        i, k = tree.path[u, d], tree.path[v, d]
        if i == k:
            if i < 0:
                return 0
        elif i < 0:
            return -1
        elif k < 0:
            return 1
        elif tree.value[i] != tree.value[k]:
            return -1 if tree.value[i] > tree.value[k] else 1
    return 0


@verb
def is_tied(tree: Weights, u: int, v: int) -> bool:
    """Return whether association v, visited right after u, has the same rank as u."""
    if have_same_account(tree, u, v):
        accounts = tree.first.size - 1
        return bool(tree.value[accounts + u] == tree.value[accounts + v])
    for d in range(tree.path.shape[1]):
        i, k = tree.path[u, d], tree.path[v, d]
        if i < 0:
            return True
        if k < 0 or tree.value[i] != tree.value[k]:
            return False
    return True


@verb
def visit(tree: Weights) -> None:
    """Set the factors of the fair tree.

    An insertion sort is used, since the order of the last visit is almost sorted.
    """
    order, number = tree.order, tree.order.size
    for p in range(1, number):
        u, k = order[p], p
        while k > 0 and compare(tree, u, order[k - 1]) < 0:
            order[k] = order[k - 1]
            k -= 1
        order[k] = u
    best = number
    for p in range(number):
        if p > 0 and not is_tied(tree, order[p - 1], order[p]):
            best = number - p
        tree.fair[order[p]] = tree.constants.fairshare * (best / number)


@verb
def set_classic(tree: Weights) -> None:
    """Set the factors of the classic formula."""
    total, accounts = tree.usage[0], tree.first.size - 1
    for i in range(1, tree.usage.size):
        actual = tree.usage[i] / total if total > 0 else 0.0
        above = tree.parent[i]
        if above > 0:
            actual = actual + (tree.value[above] - actual) * tree.part[i]
        tree.value[i] = actual
    for u in range(tree.fair.size):
        i, factor = accounts + u, 0.0
        if tree.normal[i] > 0:
            power = -(tree.value[i] / tree.normal[i] / tree.constants.damping)
            factor = tree.constants.two**power
        tree.fair[u] = tree.constants.fairshare * factor


@verb
def refresh(tree: Weights) -> None:
    """Compute the factors of associations from their usage."""
    tree.state[0].stale = 0
    if tree.constants.fairshare == 0:
        return
    add_up(tree)
    if tree.constants.classic:
        set_classic(tree)
    else:
        set_levels(tree)
        visit(tree)


@verb
def weigh(tree: Weights, waiting: Int64, count: int, key: Int64) -> None:
    """Set the keys of the first `count` waiting jobs to their negative priorities.

    A single job needs no key: on SDSC-BLUE this avoids half of the refreshes.
    """
    constants = tree.constants
    if not constants.used or count < 2:
        return
    if tree.state[0].stale == 1:
        refresh(tree)
    last = tree.submit[0] + tree.state[0].periods * constants.calc
    for p in range(count):
        j = waiting[p]
        age = min(max(last - tree.submit[j], 0) / constants.max_age, 1.0)
        total = constants.age * age + tree.fair[tree.leaf[j]] + tree.steady[j]
        key[j] = -int(min(max(total, 1.0), LARGEST)) - tree.tier[j]


class WeighedRankings(NamedTuple):
    """Hold `Rankings` with Slurm's priority in at least one; the other may rank users by usage.

    waiting, active: int64[n], scratch space for the waiting and the active jobs.
    """

    queue: Ranking
    backfill: Ranking
    moves: bool
    differ: bool
    sharing: Sharing
    waiting: Int64
    active: Int64
    first: Weights
    second: Weights


@generic
def list_ended(machine: Machine, begun: int, active: Int64, at: int) -> int:
    """Write the jobs that have just ended, from `at` on; return their number.

    `begun` jobs ran before.
    """
    raise NotImplementedError


@generic
def list_running(machine: Machine, active: Int64) -> int:
    """Write the running jobs; return their number."""
    raise NotImplementedError


@verb
def is_due(tree: Weights, now: int) -> bool:
    """Return whether a calculation is due at an instant, s."""
    constants = tree.constants
    return (
        constants.fairshare > 0 and (now - tree.submit[0]) // constants.calc > tree.state[0].periods
    )


@verb
def charge_all(rankings: WeighedRankings, jobs: Jobs, running: int, count: int, now: int) -> None:
    """Charge the active jobs to the associations of both orders."""
    if rankings.first.constants.used:
        charge(rankings.first, jobs, rankings.active, running, count, now)
    if rankings.second.constants.used:
        charge(rankings.second, jobs, rankings.active, running, count, now)


@rank.begun_by.of(WeighedRankings)
def begun_by(rankings: WeighedRankings, machine: Machine) -> int:
    """Return the number of completed jobs counted so far plus the running ones."""
    return int(rankings.sharing.shares.passed[0].settled + running_count(machine))


@rank.follow_up.of(WeighedRankings)
def follow_up(
    rankings: WeighedRankings, machine: Machine, jobs: Jobs, begun: int, now: int
) -> None:
    """Charge usage up to now; running jobs are read only if a calculation is due."""
    shares, running = rankings.sharing.shares, 0
    if is_due(rankings.first, now) or is_due(rankings.second, now):
        running = list_running(machine, rankings.active)
    before = begun - shares.passed[0].settled
    ended = list_ended(machine, before, rankings.active, running)
    charge_all(rankings, jobs, running, running + ended, now)
    follow(machine, shares, jobs, begun, now)


@verb
def weigh_all(rankings: WeighedRankings, waiting: Int64, count: int) -> None:
    """Set the keys of the first `count` waiting jobs in both orders."""
    weigh(rankings.first, waiting, count, rankings.queue.key)
    weigh(rankings.second, waiting, count, rankings.backfill.key)
    rank_by_shares(rankings.sharing, rankings, waiting, count)


@rank.rank_queue.of(WeighedRankings)
def rank_queue(rankings: WeighedRankings, queue: Queue) -> None:
    """Set the keys of the jobs of a queue."""
    weigh_all(rankings, rankings.waiting, gather(queue, rankings.waiting))


rank.have_keys_by_job(WeighedRankings)


@rank.rank_list.of(WeighedRankings)
def rank_list(rankings: WeighedRankings, waiting: Int64, count: int) -> None:
    """Set the keys of some waiting jobs."""
    weigh_all(rankings, waiting, count)


@rank.settled_until.of(WeighedRankings)
def settled_until(rankings: WeighedRankings, now: int) -> int:
    """Return the next calculation, s, if Slurm's priority orders the queue."""
    tree = rankings.first
    if not tree.constants.used:
        return now
    begin, calc = tree.submit[0], tree.constants.calc
    return int(begin + ((now - begin) // calc + 1) * calc)


@rank.copy_usage.of(WeighedRankings)
def copy_usage(rankings: WeighedRankings, other: WeighedRankings) -> None:
    """Copy the usage of users and associations; clones share keys, made before each pass."""
    copy_shares(rankings.sharing.shares, other.sharing.shares)
    copy_weights(rankings.first, other.first)
    copy_weights(rankings.second, other.second)


@kernel
def charge_ended(tree: Weights, jobs: Jobs, active: Int64, running: int, now: int) -> None:
    """Charge the active jobs behind the running ones, which have ended by now, s.

    The last active job ended first.
    """
    count = active.size
    while count > running:
        j = active[count - 1]
        charge(tree, jobs, active, count - 1, count, jobs.start[j] + jobs.run[j])
        count -= 1
    charge(tree, jobs, active, running, running, now)


@kernel
def weigh_waiting(tree: Weights, waiting: Int64, key: Int64) -> None:
    """Set the keys of waiting jobs to their negative priorities."""
    weigh(tree, waiting, waiting.size, key)

"""The order of the queue at an instant, by formulas of the auditor's own.

Each formula implements a sentence of semantics.md: the value of a job, and whether the smallest or
the largest value comes first. Values are integers, exact ratios of integers, or floats in double
precision, evaluated from left to right.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.audit.multifactor import Priorities
from schedfarm.core.durations import seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.policy.multifactor import is_multifactor, read_multifactor
from schedfarm.core.policy.orders import order_function
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

EXACT = 2**53
"""Bound below which integers are exact floats, and their quotients keep their order."""


class Ratio(NamedTuple):
    """Quotients that are compared exactly."""

    numerator: Int64
    denominator: Int64


Value = Int64 | Float64 | Ratio
"""A value of each job."""


@dataclass(frozen=True)
class Jobs:
    """The columns of some waiting jobs, int64[k], at an instant.

    `waited` and `worked` are the sums of waits, s, and of run x procs over the completed jobs of
    each job's user.
    """

    submit: Int64
    estimate: Int64
    procs: Int64
    now: int
    waited: Int64
    worked: Int64

    @property
    def wait(self) -> Int64:
        """Time since the submission, s."""
        return self.now - self.submit

    @property
    def length(self) -> Int64:
        """The estimate, at least 1 s."""
        return np.maximum(self.estimate, 1)

    @property
    def expansion(self) -> Ratio:
        """(wait + length) / length."""
        return Ratio(self.wait + self.length, self.length)


@dataclass(frozen=True)
class Formula:
    """Define an order: the value of each job, and whether the largest value comes first."""

    value: Callable[[Jobs], Value]
    largest_first: bool = False
    moves: bool = False
    """Whether the value of a job changes while it waits."""
    shares: bool = False
    """Whether the value belongs to the job's user."""


def _logarithm(base: Callable[[Int64], Float64], numbers: Int64) -> Float64:
    """Return a logarithm that treats 0 as 1."""
    return base(np.maximum(numbers, 1))


def _cube(numbers: Float64) -> Float64:
    # A power may differ from the two products in the last digit.
    return numbers * numbers * numbers


def _log2_of_width(jobs: Jobs) -> Float64:
    # log2 of a serial job is 0, which cannot be a divisor; 2^-40 replaces it.
    return np.where(jobs.procs > 1, _logarithm(np.log2, jobs.procs), 2.0**-40)


FORMULAS: dict[str, Formula] = {
    "fcfs": Formula(lambda jobs: jobs.submit),
    "spf": Formula(lambda jobs: jobs.estimate),
    "sqf": Formula(lambda jobs: jobs.procs),
    "saf": Formula(lambda jobs: jobs.estimate * jobs.procs),
    "lxf": Formula(lambda jobs: jobs.expansion, largest_first=True, moves=True),
    # Klusacek and Rudova 2012: the largest normalised user wait time first.
    "fair-share": Formula(
        lambda jobs: Ratio(jobs.waited, np.maximum(1, jobs.worked)),
        largest_first=True,
        moves=True,
        shares=True,
    ),
    "fair-usage": Formula(lambda jobs: jobs.worked, moves=True, shares=True),
    "lcfs": Formula(lambda jobs: jobs.submit, largest_first=True),
    "lpf": Formula(lambda jobs: jobs.estimate, largest_first=True),
    "lqf": Formula(lambda jobs: jobs.procs, largest_first=True),
    "laf": Formula(lambda jobs: jobs.estimate * jobs.procs, largest_first=True),
    "sxf": Formula(lambda jobs: jobs.expansion, moves=True),
    # Tang et al. 2009.
    "wfp3": Formula(
        lambda jobs: _cube(jobs.wait / jobs.length) * jobs.procs, largest_first=True, moves=True
    ),
    "unicef": Formula(
        lambda jobs: jobs.wait / (_log2_of_width(jobs) * jobs.length),
        largest_first=True,
        moves=True,
    ),
    # Carastan-Santos and de Camargo 2017.
    "f1": Formula(
        lambda jobs: (
            _logarithm(np.log10, jobs.estimate) * jobs.procs
            + 870.0 * _logarithm(np.log10, jobs.submit)
        )
    ),
    "f2": Formula(
        lambda jobs: (
            np.sqrt(jobs.estimate) * jobs.procs + 25_600.0 * _logarithm(np.log10, jobs.submit)
        )
    ),
    "f3": Formula(
        lambda jobs: (
            jobs.estimate.astype(np.float64) * jobs.procs
            + 6_860_000.0 * _logarithm(np.log10, jobs.submit)
        )
    ),
    "f4": Formula(
        lambda jobs: (
            jobs.estimate * np.sqrt(jobs.procs) + 530_000.0 * _logarithm(np.log10, jobs.submit)
        )
    ),
}
"""The orders for which the auditor has a formula."""


def ranks(value: Value) -> Int64:
    """Return the rank of each value, the smallest first; equal values have equal ranks.

    Examples
    --------
    >>> ranks(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    >>> ranks(Ratio(np.array([2, 2**60, 1]), np.array([6, 2**60 + 1, 3]))).tolist()
    [0, 1, 0]
    """
    if isinstance(value, Ratio):
        above, below = value
        if max(above.max(initial=0), below.max(initial=0)) >= EXACT:
            return _exact_ranks(above, below)
        quotient = above / below
        _, first, rank, counts = np.unique(quotient, True, True, True)
        tied = counts[rank] > 1
        # Different ratios may have equal quotients; most ties are between equal pairs of numbers.
        one = first[rank]
        if (tied & ((above[one] != above) | (below[one] != below))).any():
            return _exact_ranks(above, below)
        return np.asarray(rank, np.int64)
    return np.asarray(np.unique(value, return_inverse=True)[1], np.int64)


def _exact_ranks(above: Int64, below: Int64) -> Int64:
    exact = [Fraction(*pair) for pair in zip(above.tolist(), below.tolist(), strict=True)]
    rank = {one: i for i, one in enumerate(sorted({*exact}))}
    return np.array([rank[one] for one in exact], np.int64)


@dataclass
class Past:
    """The waits, s, and the work, s x processors, of each user's completed jobs.

    ends: for each user, the end, s, the wait and the work of each completed job. given: starts and
    ends of all jobs; times after the instant are not used.
    """

    given: tuple[Int64, Int64]
    waited: dict[int, int] = field(default_factory=dict)
    worked: dict[int, int] = field(default_factory=dict)
    ends: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)

    def add(self, user: int, wait: int, work: int, end: int) -> None:
        """Count a job that has ended; calls are in order of ends."""
        self.waited[user] = self.waited.get(user, 0) + wait
        self.worked[user] = self.worked.get(user, 0) + work
        self.ends.setdefault(user, []).append((end, wait, work))


class _Account:
    """Sum the history of one user, halved at each multiple of the half-life.

    The sums are halved and rounded down before the completions of the same instant are added.
    """

    def __init__(self, jobs: list[tuple[int, int, int]], first: int, halflife: int | None) -> None:
        self.jobs, self.first, self.halflife = jobs, first, halflife
        self.counted = self.halved = 0
        self.sums = [0, 0]

    def at(self, instant: int) -> list[int]:
        """Return waits and work of the jobs that ended by an instant, s, in ascending calls."""
        while self.counted < len(self.jobs) and self.jobs[self.counted][0] <= instant:
            end, wait, work = self.jobs[self.counted]
            self._halve(end)
            self.sums = [self.sums[0] + wait, self.sums[1] + work]
            self.counted += 1
        self._halve(instant)
        return self.sums

    def _halve(self, instant: int) -> None:
        if self.halflife is not None:
            due = (instant - self.first) // self.halflife
            # A sum is 0 after as many halvings as its number of bits.
            times = [min(due - self.halved, one.bit_length()) for one in self.sums]
            self.sums = [one // 2**n for one, n in zip(self.sums, times, strict=True)]
            self.halved = due


class _Accounts:
    """Return, for each job, the sums of its user at the last multiple of `refresh`."""

    def __init__(self, workload: Workload, policy: Policy, past: Past) -> None:
        self.user, self.past = workload.user, past
        self.first = int(workload.submit[0]) if len(workload) else 0
        self.refresh = seconds_of(policy.refresh) if policy.refresh else None
        self.halflife = seconds_of(policy.halflife) if policy.halflife else None
        self.accounts: dict[int, _Account] = {}

    def sums(self, jobs: Int64, now: int) -> tuple[Int64, Int64]:
        """Return waits and work of the user of each job, int64[k] or exact objects."""
        seen = now - ((now - self.first) % self.refresh if self.refresh else 0)
        users, which = np.unique(self.user[jobs], return_inverse=True)
        found = [self._of(user).at(seen) for user in users.tolist()]
        waited, worked = np.array(found, np.int64).reshape(-1, 2).T
        return waited[which], worked[which]

    def _of(self, user: int) -> _Account:
        if user not in self.accounts:
            ended = self.past.ends.setdefault(user, [])
            self.accounts[user] = _Account(ended, self.first, self.halflife)
        return self.accounts[user]


def _threshold(text: str | None, max_estimate: int) -> int | None:
    """Return the wait, s, beyond which a job starves; 2x is twice the largest estimate."""
    if text is None:
        return None
    return int(text[:-1]) * max_estimate if text.endswith("x") else seconds_of(text)


Sorter = Callable[[Int64, Int64, int], Int64]
"""Function that sorts some of the waiting jobs, given all of them, at an instant, s."""


class QueueOrder:
    """Put waiting jobs into the order in which a pass of this policy examines them."""

    def __init__(self, workload: Workload, policy: Policy, past: Past) -> None:
        self.submit = workload.submit
        self.theta = _threshold(policy.threshold, workload.max_estimate)
        self.primary = _sorter(workload, policy, policy.order, past)
        second = policy.backfill
        self.backfill = _sorter(workload, policy, second, past) if second else None

    def queue(self, waiting: Int64, now: int) -> Int64:
        """Sort the waiting jobs: starving jobs by arrival, then other jobs by value."""
        return self._starving_first(self.primary, waiting, waiting, now)

    def behind(self, rest: Int64, waiting: Int64, now: int) -> Int64:
        """Sort the jobs behind the head by the backfill order."""
        if self.backfill is None:
            return rest
        return self._starving_first(self.backfill, rest, waiting, now)

    def _starving_first(self, sort: Sorter, jobs: Int64, waiting: Int64, now: int) -> Int64:
        if self.theta is None:
            return sort(jobs, waiting, now)
        starving = now - self.submit[jobs] > self.theta
        others = sort(jobs[~starving], waiting, now)
        return np.concatenate((np.sort(jobs[starving]), others))


def _sorter(workload: Workload, policy: Policy, order: str, past: Past) -> Sorter:
    if is_multifactor(order):
        priorities = Priorities(read_multifactor(order), workload, *past.given)
        return _by_priority(priorities)
    formula = FORMULAS.get(order)
    if formula is None:
        ask = _Asking(workload, order, past)
        return _by_rank(ranks(ask(np.arange(len(workload)), 0))) if ask.once else _by_function(ask)
    accounts = _Accounts(workload, policy, past) if formula.shares else None

    def rank(jobs: Int64, now: int) -> Int64:
        sums = accounts.sums(jobs, now) if accounts else (_NOTHING, _NOTHING)
        submit, estimate, procs = (
            column[jobs] for column in (workload.submit, workload.estimate, workload.procs)
        )
        found = ranks(formula.value(Jobs(submit, estimate, procs, now, *sums)))
        return -found if formula.largest_first else found

    def sort(jobs: Int64, waiting: Int64, now: int) -> Int64:
        jobs = np.sort(jobs)
        return jobs[np.argsort(rank(jobs, now), kind="stable")]

    return sort if formula.moves else _by_rank(rank(np.arange(len(workload)), 0))


def _by_priority(priorities: Priorities) -> Sorter:
    """Sort by priorities, the largest first; ties go by index."""

    def sort(jobs: Int64, waiting: Int64, now: int) -> Int64:
        return jobs[np.lexsort((jobs, -priorities(jobs, now)))]

    return sort


_NOTHING = np.empty(0, np.int64)


def _by_rank(rank: Int64) -> Sorter:
    """Sort by constant ranks; ties go by index."""
    return lambda jobs, waiting, now: jobs[np.lexsort((jobs, rank[jobs]))]


COLUMNS = {"submit", "estimate", "procs", "user", "group", "queue", "partition"}
"""Columns that an order's function may take."""


class _Asking:
    """Call the function of an order with its columns, passed by name.

    The auditor has no formula for such an order, and the verdict lists the order.
    """

    def __init__(self, workload: Workload, order: str, past: Past) -> None:
        self.workload, self.order, self.past = workload, order, past
        self.function: Callable[..., Any] = order_function(order)
        self.once = bool(getattr(self.function, "static", False))
        self.wanted = set(inspect.signature(self.function).parameters)

    def __call__(self, jobs: Int64, now: int) -> npt.NDArray[Any]:
        given: dict[str, Any] = {
            name: getattr(self.workload, name)[jobs] for name in COLUMNS & self.wanted
        }
        if "now" in self.wanted:
            given["now"] = now
        for name in {"waited", "worked"} & self.wanted:
            total: dict[int, int] = getattr(self.past, name)
            users = self.workload.user[jobs].tolist()
            given[name] = np.array([total.get(user, 0) for user in users], np.int64)
        key: npt.NDArray[Any] = np.asarray(self.function(**given))
        if key.shape != jobs.shape or bool(np.isnan(key).any()):
            raise InputError(f"order {self.order!r} must return one number for each job")
        return key


def _by_function(ask: _Asking) -> Sorter:
    def sort(jobs: Int64, waiting: Int64, now: int) -> Int64:
        # A function may compare jobs, and therefore always receives all waiting jobs.
        all_waiting = np.sort(waiting)
        key = ask(all_waiting, now)
        jobs = np.sort(jobs)
        return jobs[np.argsort(key[np.searchsorted(all_waiting, jobs)], kind="stable")]

    return sort

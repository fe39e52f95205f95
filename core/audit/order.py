"""The order of the queue at an instant, written for the auditor alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.durations import seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.policy.orders import order_function
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

EXACT = 2**53
"""Below this, whole numbers are floats without rounding, and a quotient keeps their order."""

Key = npt.NDArray[Any]
"""A number of each job, smallest first."""


def _log10(seconds: Int64) -> Float64:
    logarithm = np.zeros(seconds.size)
    return np.log10(seconds, out=logarithm, where=seconds > 0)


# r is the estimate, n the width, s the submission (Carastan-Santos and de Camargo 2017).
_STATIC: dict[str, Callable[[Int64, Int64, Int64], Key]] = {
    "fcfs": lambda s, r, n: s,
    "lcfs": lambda s, r, n: -s,
    "spf": lambda s, r, n: r,
    "lpf": lambda s, r, n: -r,
    "sqf": lambda s, r, n: n,
    "lqf": lambda s, r, n: -n,
    "saf": lambda s, r, n: r * n,
    "laf": lambda s, r, n: -r * n,
    "f1": lambda s, r, n: _log10(r) * n + 870.0 * _log10(s),
    "f2": lambda s, r, n: np.sqrt(r) * n + 25_600.0 * _log10(s),
    "f3": lambda s, r, n: r.astype(np.float64) * n + 6_860_000.0 * _log10(s),
    "f4": lambda s, r, n: np.sqrt(n) * r + 530_000.0 * _log10(s),
}


def _wfp3(wait: Int64, length: Int64, procs: Int64) -> Float64:
    # The cube is multiplied out: numpy's power may round otherwise in the last place.
    slowness = wait / length
    return slowness * slowness * slowness * procs


def _unicef(wait: Int64, length: Int64, procs: Int64) -> Float64:
    # log2 of a serial job is 0, by which nobody divides: 2^-40 stands for it.
    logarithm = np.full(procs.size, 2.0**-40)
    np.log2(procs, out=logarithm, where=procs > 1)
    return wait / (logarithm * length)


_URGENCY: dict[str, Callable[[Int64, Int64, Int64], Float64]] = {"wfp3": _wfp3, "unicef": _unicef}
"""Of wait, estimate (at least 1 s) and processors, largest first (Tang et al. 2009)."""


@dataclass
class Past:
    """Hold what each user's completed jobs have waited, s, and worked, s x processors.

    ends: of each user, when each of these jobs ended, s, what it waited and what it worked.
    """

    waited: dict[int, int] = field(default_factory=dict)
    worked: dict[int, int] = field(default_factory=dict)
    ends: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)

    def add(self, user: int, wait: int, work: int, end: int) -> None:
        """Count a job that has ended, no earlier than those before."""
        self.waited[user] = self.waited.get(user, 0) + wait
        self.worked[user] = self.worked.get(user, 0) + work
        self.ends.setdefault(user, []).append((end, wait, work))


def _normalised(waited: int, worked: int) -> Fraction:
    return Fraction(waited, max(worked, 1))


_SHARES: dict[str, Callable[[int, int], Fraction]] = {
    "fair-share": lambda waited, worked: -_normalised(waited, worked),
    "fair-usage": lambda waited, worked: Fraction(worked),
}
"""Of what a user's completed jobs waited and worked, smallest first (Klusacek and Rudova 2012)."""


class _Account:
    """Sum up what one user got, as it stood at an instant, halved as often as was due by then."""

    def __init__(self, jobs: list[tuple[int, int, int]], first: int, halflife: int | None) -> None:
        self.jobs, self.first, self.halflife = jobs, first, halflife
        self.counted = self.halvings = self.waited = self.worked = 0

    def at(self, instant: int) -> tuple[int, int]:
        """Return waits and work of the jobs that ended by an instant, s, no earlier than before."""
        while self.counted < len(self.jobs) and self.jobs[self.counted][0] <= instant:
            end, wait, work = self.jobs[self.counted]
            self._halve(end)
            self.waited, self.worked = self.waited + wait, self.worked + work
            self.counted += 1
        self._halve(instant)
        return self.waited, self.worked

    def _halve(self, instant: int) -> None:
        due = (instant - self.first) // self.halflife if self.halflife else 0
        # Halves of halves, each rounded down, are the whole without so many of its last bits.
        self.waited >>= due - self.halvings
        self.worked >>= due - self.halvings
        self.halvings = due


def _by_shares(
    workload: Workload, policy: Policy, share: Callable[[int, int], Fraction], past: Past
) -> Sorter:
    """Sort by a number of each user, as known at the last refresh."""
    refresh, halflife = (
        None if text is None else seconds_of(text) for text in (policy.refresh, policy.halflife)
    )
    first = int(workload.submit[0]) if len(workload) else 0
    accounts: dict[int, _Account] = {}

    def sort(jobs: Int64, waiting: Int64, now: int) -> Int64:
        seen = now if not refresh else now - (now - first) % refresh
        jobs = np.sort(jobs)
        users, place = np.unique(workload.user[jobs], return_inverse=True)
        numbers = []
        for user in users.tolist():
            ended = past.ends.setdefault(user, [])
            account = accounts.setdefault(user, _Account(ended, first, halflife))
            numbers.append(share(*account.at(seen)))
        rank = {number: i for i, number in enumerate(sorted(set(numbers)))}
        ranks = np.array([rank[number] for number in numbers], np.int64)
        return jobs[np.argsort(ranks[place], kind="stable")]

    return sort


Sorter = Callable[[Int64, Int64, int], Int64]
"""Puts some of the waiting jobs into queue order at an instant, s; knows all who wait."""


class QueueOrder:
    """Put waiting jobs into the order in which a pass of this policy meets them."""

    def __init__(self, workload: Workload, policy: Policy, past: Past) -> None:
        self.submit = workload.submit
        self.theta = policy.threshold_seconds(workload.max_estimate)
        self.primary = _sorter(workload, policy, policy.order, past)
        second = policy.backfill
        self.backfill = _sorter(workload, policy, second, past) if second else None

    def queue(self, waiting: Int64, now: int) -> Int64:
        """Sort the waiting jobs: the starving ones by arrival, then the others by key."""
        return self._starving_first(self.primary, waiting, waiting, now)

    def behind(self, rest: Int64, waiting: Int64, now: int) -> Int64:
        """Sort the jobs behind the blocked ones as the rule looks for backfills among them."""
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
    if order in ("lxf", "sxf"):
        sign = -1 if order == "lxf" else 1
        return lambda jobs, waiting, now: _by_expansion(workload, np.sort(jobs), now, sign)
    if order in _SHARES:
        return _by_shares(workload, policy, _SHARES[order], past)
    if order in _URGENCY:
        return _by_urgency(workload, _URGENCY[order])
    if order in _STATIC:
        return _by_rank(_STATIC[order](workload.submit, workload.estimate, workload.procs))
    ask = _Asking(workload, order, past)
    if ask.once:
        return _by_rank(ask(np.arange(len(workload)), 0))
    return _by_function(ask)


def _by_rank(key: Key) -> Sorter:
    rank = np.empty(key.size, np.int64)
    rank[np.argsort(key, kind="stable")] = np.arange(key.size)
    return lambda jobs, waiting, now: jobs[np.argsort(rank[jobs])]


def _by_urgency(workload: Workload, urgency: Callable[[Int64, Int64, Int64], Float64]) -> Sorter:
    length = np.maximum(workload.estimate, 1)

    def sort(jobs: Int64, waiting: Int64, now: int) -> Int64:
        jobs = np.sort(jobs)
        key = urgency(now - workload.submit[jobs], length[jobs], workload.procs[jobs])
        return jobs[np.argsort(-key, kind="stable")]

    return sort


class _Asking:
    """Call a user's own order with what it asks for, by the names of its parameters."""

    def __init__(self, workload: Workload, order: str, past: Past) -> None:
        self.workload, self.order, self.past = workload, order, past
        self.function: Callable[..., Any] = order_function(order)
        self.once = bool(getattr(self.function, "static", False))
        self.wanted = set(inspect.signature(self.function).parameters)

    def __call__(self, jobs: Int64, now: int) -> Key:
        given: dict[str, Any] = {
            name: getattr(self.workload, name)[jobs]
            for name in {"submit", "estimate", "procs", "user"} & self.wanted
        }
        if "now" in self.wanted:
            given["now"] = now
        for name in {"waited", "worked"} & self.wanted:
            total: dict[int, int] = getattr(self.past, name)
            users = self.workload.user[jobs].tolist()
            given[name] = np.array([total.get(user, 0) for user in users], np.int64)
        key: Key = np.asarray(self.function(**given))
        if key.shape != jobs.shape or bool(np.isnan(key).any()):
            raise InputError(f"order {self.order!r} must return one number for each job")
        return key


def _by_function(ask: _Asking) -> Sorter:
    def sort(jobs: Int64, waiting: Int64, now: int) -> Int64:
        # A function may compare the jobs it is given, so it is given all who wait, always.
        everyone = np.sort(waiting)
        key = ask(everyone, now)
        jobs = np.sort(jobs)
        return jobs[np.argsort(key[np.searchsorted(everyone, jobs)], kind="stable")]

    return sort


def _by_expansion(workload: Workload, jobs: Int64, now: int, sign: int) -> Int64:
    """Sort by (wait + length) / length, that is by wait / length, without rounding."""
    wait = now - workload.submit[jobs]
    length = np.maximum(workload.estimate[jobs], 1)
    if max(wait.max(initial=0), length.max(initial=0)) >= EXACT:
        return _exactly(jobs, wait, length, sign)
    quotient = sign * (wait / length)
    order = np.argsort(quotient, kind="stable")
    jobs, wait, length, quotient = jobs[order], wait[order], length[order], quotient[order]
    # Rounding never swaps two quotients but may make them equal: only such runs need more.
    edges = np.flatnonzero(np.diff(quotient, prepend=np.nan, append=np.nan) != 0)
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if high - low > 1 and quotient[low] != 0:
            run = slice(low, high)
            jobs[run] = _exactly(jobs[run], wait[run], length[run], sign)
    return jobs


def _exactly(jobs: Int64, wait: Int64, length: Int64, sign: int) -> Int64:
    rows = zip(jobs.tolist(), wait.tolist(), length.tolist(), strict=True)
    ranked = sorted((sign * Fraction(w, size), job) for job, w, size in rows)
    return np.array([job for _, job in ranked], np.int64)

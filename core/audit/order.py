"""The order of the queue at an instant, written for the auditor alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from core.arrays import Int64
from core.policy.orders import find_order
from core.policy.policy import Policy
from core.workload.workload import Workload

EXACT = 2**53
"""Below this, whole numbers are floats without rounding, and a quotient keeps their order."""

_STATIC: dict[str, Callable[[Workload], Int64]] = {
    "fcfs": lambda w: w.submit,
    "lcfs": lambda w: -w.submit,
    "spf": lambda w: w.estimate,
    "lpf": lambda w: -w.estimate,
    "sqf": lambda w: w.procs,
    "lqf": lambda w: -w.procs,
    "saf": lambda w: w.estimate * w.procs,
    "laf": lambda w: -w.estimate * w.procs,
}

Sorter = Callable[[Int64, Int64, int], Int64]
"""Puts some of the waiting jobs into queue order at an instant, s; knows all who wait."""


class Order:
    """Put waiting jobs into the order in which a pass of this policy meets them."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        self.submit = workload.submit
        self.theta = policy.threshold_seconds(workload.max_estimate)
        self.primary = _sorter(workload, policy.order)
        self.backfill = _sorter(workload, policy.backfill) if policy.backfill else None

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


def _sorter(workload: Workload, order: str) -> Sorter:
    if order in ("lxf", "sxf"):
        sign = -1 if order == "lxf" else 1
        return lambda jobs, waiting, now: _by_expansion(workload, np.sort(jobs), now, sign)
    key = _STATIC[order](workload) if order in _STATIC else find_order(order).fixed_key(workload)
    if key is None:
        return _by_function(workload, order)
    rank = np.empty(len(workload), np.int64)
    rank[np.argsort(key, kind="stable")] = np.arange(len(workload))
    return lambda jobs, waiting, now: jobs[np.argsort(rank[jobs])]


def _by_function(workload: Workload, order: str) -> Sorter:
    function = find_order(order).function
    assert function is not None

    def sort(jobs: Int64, waiting: Int64, now: int) -> Int64:
        # A function may compare the jobs it is given, so it is given all who wait, always.
        everyone = np.sort(waiting)
        key = function.key(workload, everyone, now)
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

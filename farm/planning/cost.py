"""Planned costs: CPU time of simulating a cell and of measuring its fairness, s.

The costs are pure functions of the campaign, so that a store's layout is the same on each machine.
They combine measured rates of rules and orders (`core.policy.cost`) with the length of queues at a
load. A run corrects them by its own blocks (`farm.planning.backlog.Backlog`), and `farm plan`
corrects them by calibration (`farm.planning.calibration`). `tests/benchmarks/rates.py` compares
them with measurements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from schedfarm.core.policy.cost import Rate
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import ALL, GIVEN, RULES
from schedfarm.farm.campaign.scaling import ORIGINAL

CELL_SECONDS = 2.3e-4
"""Fixed cost of a cell, including metrics and weeks, s."""

FAIR_SECONDS = 1.5e-4
"""Fixed cost of fair start times in addition to the simulation, s."""

ORIGINAL_LOAD = 0.7
"""Assumed load of an unscaled log; the logs of the archive have loads of 0.6 to 0.85."""

HIGHEST_LOAD = 10.0
"""Load from which on all jobs wait."""

LOAD_POWER = 11
"""Power of the load with which queues of a long trace grow: 16 times from 0.7 to 0.9."""

JOBS_PER_QUEUE = 600
"""Number of jobs of a trace per unit of queue: a short trace ends before its queue has grown."""

IDLE_LOAD = 1.2
"""Factor of the apparent load if no job overtakes another, because processors then stay idle."""

DEPTH = 4
"""Depth at which the rules with a depth were measured."""

DEPTH_POWER = 0.6
"""Exponent of the depth in the cost of waiting jobs, up to the cost of reservations for all."""

RELAXED_FACTOR = 2.5
"""Cost of a relaxed fair start time relative to a strict one."""

RESOURCE_RATE = 0.2
"""Cost of resource equality per job, us."""

REFERENCE_JOBS = 300
"""Number of jobs in the cell with which relaxed fair start times without a kernel were measured."""


_parsed = lru_cache(maxsize=4096)(Policy.parse)
"""Policies are cached: parsing takes two thirds of the time of a cost, and a policy may have
100,000 loads."""


def no_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of stored values, s, which is 0."""
    return 0.0


def cell_seconds(jobs: int, policy: str, load: str, cell: int = 0) -> float:
    """Return the CPU time to simulate and summarise one cell of a number of jobs, s.

    load: a label. cell: the same as jobs, since a simulation is never cut.

    Examples
    --------
    >>> 0.001 < cell_seconds(5000, "fcfs+easy", "0.9") < 0.002
    True
    """
    return CELL_SECONDS + max(jobs, 1) * _job_seconds(jobs, _parsed(policy), load)


def strict_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of strict fair start times and their simulation, s.

    jobs: number of jobs, out of the `cell` jobs of the cell, whose fair start is computed.

    Examples
    --------
    >>> whole = strict_seconds(5000, "lxf+conservative", "0.9", 5000)
    >>> whole / 4 < strict_seconds(2500, "lxf+conservative", "0.9", 5000) < whole
    True
    """
    return _fair_seconds(jobs, _parsed(policy), load, cell, relaxed=False)


def relaxed_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of relaxed fair start times, s; arguments as for `strict_seconds`."""
    return _fair_seconds(jobs, _parsed(policy), load, cell, relaxed=True)


def resource_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of resource equality and its simulation, s."""
    return cell_seconds(cell, policy, load) + cell * RESOURCE_RATE * 1e-6


def promise_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of promised starts and of the simulation for comparison, s."""
    return 2 * cell_seconds(cell, policy, load)


def isolation_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of starts in isolation and of the simulation for comparison, s."""
    # Each cluster alone has the reservations of the policy, and no migration.
    return 2 * cell_seconds(cell, policy, load)


SECONDS: dict[str, Callable[[int, str, str, int], float]] = {
    "workload": no_seconds,
    "cells": cell_seconds,
    "strict": strict_seconds,
    "relaxed": relaxed_seconds,
    "resource": resource_seconds,
    "promise": promise_seconds,
    "isolation": isolation_seconds,
}
"""Function of each kind of block for the CPU time of a piece of a cell, s. Its arguments are the
number of jobs of the piece, a policy, a load, and the number of jobs of the whole cell."""


def queue(jobs: int, policy: Policy, load: str) -> float:
    """Return the mean length of the queue, relative to that of a long trace at load 0.7.

    Examples
    --------
    >>> policy = Policy.parse("fcfs+easy")
    >>> [round(queue(jobs, policy, "1.1")) for jobs in (6_000, 60_000)]
    [9, 59]
    >>> [round(queue(jobs, policy, "0.7")) for jobs in (6_000, 60_000)]
    [1, 1]
    """
    value = load_value(load)
    seeming = value if policy.row.overtakes else value * IDLE_LOAD
    steady = (seeming / ORIGINAL_LOAD) ** LOAD_POWER
    most = max(jobs, 1) / JOBS_PER_QUEUE
    return steady * most / (steady + most)


def load_value(load: str) -> float:
    """Return the numeric value of a load's label."""
    return ORIGINAL_LOAD if load == ORIGINAL else min(float(load), HIGHEST_LOAD)


def rate_of(policy: str) -> Rate:
    """Return the rates of a policy's simulation, equal for policies of equal cost.

    Examples
    --------
    >>> rate_of("spf+easy") == rate_of("saf+easy"), rate_of("lxf+easy") == rate_of("saf+easy")
    (True, False)
    """
    return _rate(_parsed(policy), "simulation")


def _job_seconds(jobs: int, policy: Policy, load: str) -> float:
    rate = _rate(policy, "simulation")
    return (rate.job + rate.waiting * queue(jobs, policy, load)) * 1e-6


def _fair_seconds(jobs: int, policy: Policy, load: str, cell: int, *, relaxed: bool) -> float:
    jobs, cell = max(jobs, 1), max(jobs, cell, 1)
    # The simulation of the schedule itself runs next to its clones.
    base = CELL_SECONDS + FAIR_SECONDS + 2 * cell * _job_seconds(cell, policy, load)
    if not policy.compiles_fair_starts:
        return base + jobs * _uncompiled_seconds(cell, policy, load, relaxed)
    rate = _rate(policy, "fair_start")
    each = (rate.job + rate.waiting * queue(cell, policy, load)) * 1e-6
    return base + jobs * each * (RELAXED_FACTOR if relaxed else 1.0)


def _uncompiled_seconds(cell: int, policy: Policy, load: str, relaxed: bool) -> float:
    if not relaxed:
        # Each job needs a simulation of the jobs before it, half of all jobs on average.
        return CELL_SECONDS + cell / 2 * _job_seconds(cell // 2, policy, load)
    seconds, power = policy.row.cost.reference
    return float(seconds * (cell / REFERENCE_JOBS) ** power)


@lru_cache(maxsize=4096)
def _rate(policy: Policy, of: str) -> Rate:
    """Return the summed rates of a policy's rule and orders, for a simulation or a fair start."""
    row, names = policy.row, {policy.order, policy.backfill or policy.order}
    job, waiting = getattr(row.cost, of)
    if row.holds == GIVEN:
        every = (r for r in RULES.values() if r.simulate == row.simulate and r.holds == ALL)
        most = max((getattr(r.cost, of).waiting for r in every), default=math.inf)
        waiting = min(most, waiting * (policy.depth / DEPTH) ** DEPTH_POWER)
    if row.promise is not None and policy.threshold is None:
        waiting *= find_order(policy.order).share
    added = [getattr(find_order(name).cost, of) for name in names]
    return Rate(job + sum(a.job for a in added), waiting + sum(a.waiting for a in added))

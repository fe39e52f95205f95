"""What a cell costs to simulate, and its fairness to find: CPU time to plan with, s.

Pure functions of the campaign, so that every machine lays a store out alike: the measured rates of
the rules' and orders' rows (`core.policy.cost`), and how long queues are at a load. A run corrects
them by what its own blocks take (`farm.planning.backlog.Backlog`), `farm plan` by a probe of them
(`farm.planning.probe`). `tests/benchmarks/rates.py` holds
them against measurements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from schedfarm.core.policy.cost import Rate
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import ALL, GIVEN, RULES
from schedfarm.farm.campaign.loads import ORIGINAL

CELL_SECONDS = 2.3e-4
"""What a cell costs however few its jobs are, metrics and weeks included, s."""

FAIR_SECONDS = 1.5e-4
"""The same of fair start times, beside the simulation, s."""

ORIGINAL_LOAD = 0.7
"""Stands for the load of a log as it is; the archive's are at 0.6 to 0.85."""

HIGHEST_LOAD = 10.0
"""No load makes a longer queue than this one: then all jobs wait."""

LOAD_POWER = 11
"""Queues of a long trace grow with this power of the load: 16 times from 0.7 to 0.9."""

JOBS_PER_QUEUE = 600
"""A trace has to have this many jobs for each unit of queue: a short one ends before it waits."""

IDLE_LOAD = 1.2
"""How much higher a load has to seem where nobody overtakes: processors stay idle."""

DEPTH = 4
"""The depth at which rules that are given one were measured."""

DEPTH_POWER = 0.6
"""What waits costs with this power of the depth, up to reservations for all."""

RELAXED_FACTOR = 2.5
"""How many times a strict fair start time a relaxed one takes."""

RESOURCE_RATE = 0.2
"""Resource equality of a job, us."""

REFERENCE_JOBS = 300
"""Jobs of a cell whose relaxed fair start times were measured where no kernel knows them."""


_parsed = lru_cache(maxsize=4096)(Policy.parse)
"""What it takes to read a policy is two thirds of a cost, and there may be 100,000 loads of one."""


def no_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of what is there already, s."""
    return 0.0


def cell_seconds(jobs: int, policy: str, load: str, cell: int = 0) -> float:
    """Return the CPU time to simulate and summarise one cell, s.

    Parameters
    ----------
    jobs : int
        Jobs of the cell.
    policy : str
        Name.
    load : str
        Label of the load: ``original``, or a number.
    cell : int
        The same as jobs: a simulation is never cut.

    Examples
    --------
    >>> 0.001 < cell_seconds(5000, "fcfs+easy", "0.9") < 0.002
    True
    """
    return CELL_SECONDS + max(jobs, 1) * _job_seconds(jobs, _parsed(policy), load)


def strict_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of strict fair start times and the simulation that they look at, s.

    Parameters
    ----------
    jobs : int
        Jobs whose fair start is asked for.
    policy, load : str
        As for `cell_seconds`.
    cell : int
        Jobs of the cell, of which those asked for are a part.

    Examples
    --------
    >>> whole = strict_seconds(5000, "lxf+conservative", "0.9", 5000)
    >>> whole / 4 < strict_seconds(2500, "lxf+conservative", "0.9", 5000) < whole
    True
    """
    return _fair_seconds(jobs, _parsed(policy), load, cell, relaxed=False)


def relaxed_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of relaxed fair start times; as `strict_seconds`."""
    return _fair_seconds(jobs, _parsed(policy), load, cell, relaxed=True)


def resource_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of resource equality and the simulation that it looks at, s."""
    return cell_seconds(cell, policy, load) + cell * RESOURCE_RATE * 1e-6


def promise_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of promised starts and the simulation that they are held against, s."""
    return 2 * cell_seconds(cell, policy, load)


def isolation_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of starts in isolation and the simulation held against them, s."""
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
"""CPU time of a piece of a cell, s, for each kind of block: of its jobs under a policy at a load,
and of the jobs of the whole cell."""


def queue(jobs: int, policy: Policy, load: str) -> float:
    """Return how long the queue is on average, against that of a long trace at load 0.7.

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
    """Return the number that stands for a load's label."""
    return ORIGINAL_LOAD if load == ORIGINAL else min(float(load), HIGHEST_LOAD)


def rate_of(policy: str) -> Rate:
    """Return the rates of a policy's simulation: what policies that cost alike have in common.

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
    # The schedule itself goes on beside the copies.
    beside = CELL_SECONDS + FAIR_SECONDS + 2 * cell * _job_seconds(cell, policy, load)
    orders = (find_order(name) for name in (policy.order, policy.backfill or policy.order))
    if policy.row.fair_start is None or not all(order.is_compiled for order in orders):
        return beside + jobs * _uncompiled_seconds(cell, policy, load, relaxed)
    rate = _rate(policy, "fair_start")
    each = (rate.job + rate.waiting * queue(cell, policy, load)) * 1e-6
    return beside + jobs * each * (RELAXED_FACTOR if relaxed else 1.0)


def _uncompiled_seconds(cell: int, policy: Policy, load: str, relaxed: bool) -> float:
    if not relaxed:
        # A simulation of the jobs up to each: of half of them on average.
        return CELL_SECONDS + cell / 2 * _job_seconds(cell // 2, policy, load)
    seconds, power = policy.row.cost.reference
    return float(seconds * (cell / REFERENCE_JOBS) ** power)


@lru_cache(maxsize=4096)
def _rate(policy: Policy, of: str) -> Rate:
    """Return what the policy's rule and orders cost together, of a simulation or a fair start."""
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

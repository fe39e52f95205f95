"""What a cell costs to simulate, and its fairness to find: CPU time to plan with, s.

Pure functions of the campaign, so that every machine lays a store out alike; seconds of one slow
core with compiled kernels, fitted to what is said here. On five logs of the archive and models of
50 to 80,000 jobs, 16 policies and loads 0.5 to 1.1, of 932 cells 98% are within a factor of 3 of
what was measured, 92% of 2, the worst (lxf+none) of 7; 24 longer ones were cut off; five of
them, on HPC2N, took 1.1 to 5.7 times the plan. Of 536 fair start times of up to 5,003 jobs 95% are
within 3 and all within 4.5; of 28,000 to 80,000 jobs, of which few were measured, within 7.
`tests/benchmarks/rates.py` measures again, where less than a second is planned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from core.policy.orders import ORDERS, find_order
from core.policy.policy import Policy
from core.policy.rules import RULES

CELL_SECONDS = 2.3e-4
"""What a cell costs however few its jobs are, metrics and weeks included, s."""

FAIR_SECONDS = {"strict": 1.5e-4, "relaxed": 1.5e-4, "resource": 4e-5}
"""The same of each kind of fairness, beside the simulation, s."""

ORIGINAL_LOAD = 0.7
"""Stands for the load of a log as it is; the archive's are at 0.6 to 0.85."""

HIGHEST_LOAD = 10.0
"""No load makes a longer queue than this one: then all jobs wait."""

LOAD_POWER = 11
"""Queues of a long trace grow with this power of the load: 16 times from 0.7 to 0.9."""

JOBS_PER_QUEUE = 600
"""A trace has to have this many jobs for each unit of queue: a short one ends before it waits."""

NONE_LOAD = 1.2
"""How much higher a load has to seem where nothing is backfilled: processors stay idle."""

DEPTH = 4
"""The depth at which `depth(K)` was measured."""

DEPTH_POWER = 0.6
"""What waits costs with this power of the depth, up to that of `conservative`."""


class Rate(NamedTuple):
    """What each job costs, us, and beside it for each unit of `queue`."""

    job: float
    waiting: float


RATES = {
    "none": (Rate(0.18, 0.0005), Rate(0.42, 0.28)),
    "aggressive": (Rate(0.17, 0.003), Rate(0.28, 0.043)),
    "easy": (Rate(0.19, 0.007), Rate(0.28, 0.09)),
    "depth": (Rate(0.55, 0.1), Rate(0.7, 0.25)),
    "conservative": (Rate(0.7, 1.0), Rate(0.75, 1.0)),
    "planned": (Rate(2.7, 3.8), Rate(2.7, 3.8)),
}
"""By rule, in orders that stay as they are and in those that move, or differ for backfills."""

FAIR_RATES = {
    "none": (Rate(0.5, 0.25), Rate(0.5, 7.0)),
    "aggressive": (Rate(0.7, 0.13), Rate(1.0, 0.2)),
    "easy": (Rate(0.7, 0.55), Rate(1.5, 0.9)),
    "depth": (Rate(1.5, 4.5), Rate(1.5, 4.5)),
    "conservative": (Rate(1.5, 14.0), Rate(1.5, 14.0)),
}
"""The same for a strict fair start time, found on a copy of the machine."""

RESERVING = ("depth", "conservative")
"""Rules for which it matters who waits."""

SHARES = {
    **dict.fromkeys(("lcfs", "spf", "sqf", "saf", "f1", "f2", "f3", "f4"), 0.15),
    **dict.fromkeys(("lqf", "laf"), 3.0),
}
"""What waits under `conservative` against first come first served, 1 for other orders: little
where short jobs go first, more where large ones do; under a starvation threshold all are alike."""

RELAXED_FACTOR = 2.5
"""How many times a strict fair start time a relaxed one takes."""

RESOURCE_RATE = 0.2
"""Resource equality of a job, us."""

PYTHON = Rate(60.0, 1.5)
"""What a user's own order adds to a job: it is called at each pass."""

REFERENCE_JOBS = 300
"""Jobs of a cell whose relaxed fair start times were measured where no kernel knows them."""

REFERENCE = {"planned": (0.3, 2.2), "conservative": (0.3, 1.4), "depth": (0.3, 1.4)}
REFERENCE_QUEUE = (0.04, 1.3)
"""By rule, and for the others: s for each job of such a cell, and the power of its jobs."""


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
    return CELL_SECONDS + max(jobs, 1) * _job_seconds(jobs, Policy.parse(policy), load)


def fair_seconds(
    jobs: int, policy: str, load: str, kind: str = "strict", cell: int | None = None
) -> float:
    """Return the CPU time of one kind of fairness beside the simulation of its cell, s.

    Parameters
    ----------
    jobs : int
        Jobs whose fairness is asked for.
    policy : str
        Name.
    load : str
        Label of the load.
    kind : {"strict", "relaxed", "resource"}
        Which fairness.
    cell : int, optional
        Jobs of the cell, of which those asked for are a part; by default all.

    Examples
    --------
    >>> whole = fair_seconds(5000, "lxf+conservative", "0.9")
    >>> whole / 4 < fair_seconds(2500, "lxf+conservative", "0.9", cell=5000) < whole
    True
    """
    parsed, jobs = Policy.parse(policy), max(jobs, 1)
    whole = max(cell or 0, jobs)
    if kind == "resource":
        return FAIR_SECONDS[kind] + whole * RESOURCE_RATE * 1e-6
    relaxed = kind == "relaxed"
    if parsed.rule == "planned" or _is_own(parsed):
        return jobs * _uncompiled_seconds(whole, parsed, load, relaxed)
    # The schedule itself goes on beside the copies; where nobody passes anybody there are none.
    beside = FAIR_SECONDS[kind] + whole * _job_seconds(whole, parsed, load)
    if parsed.rule == "none" and parsed.order == "fcfs" and not _moves(parsed):
        return beside
    rate = _rate(parsed, FAIR_RATES)
    each = (rate.job + rate.waiting * queue(whole, parsed, load)) * 1e-6
    return beside + jobs * each * (RELAXED_FACTOR if relaxed else 1.0)


def strict_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of strict fair start times and the simulation that they look at, s."""
    return fair_seconds(jobs, policy, load, "strict", cell) + cell_seconds(cell, policy, load)


def relaxed_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of relaxed fair start times and the simulation that they look at, s."""
    return fair_seconds(jobs, policy, load, "relaxed", cell) + cell_seconds(cell, policy, load)


def resource_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of resource equality and the simulation that it looks at, s."""
    return fair_seconds(jobs, policy, load, "resource", cell) + cell_seconds(cell, policy, load)


def promise_seconds(jobs: int, policy: str, load: str, cell: int) -> float:
    """Return the CPU time of promised starts and the simulation that they are held against, s."""
    return 2 * cell_seconds(cell, policy, load)


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
    value = ORIGINAL_LOAD if load == "original" else min(float(load), HIGHEST_LOAD)
    seeming = value * NONE_LOAD if policy.rule == "none" else value
    steady = (seeming / ORIGINAL_LOAD) ** LOAD_POWER
    most = max(jobs, 1) / JOBS_PER_QUEUE
    return steady * most / (steady + most)


def _job_seconds(jobs: int, policy: Policy, load: str) -> float:
    rate, waiting = _rate(policy, RATES), queue(jobs, policy, load)
    micro = rate.job + rate.waiting * waiting
    if _is_own(policy):
        micro += PYTHON.job + PYTHON.waiting * waiting
    return micro * 1e-6


def _uncompiled_seconds(cell: int, policy: Policy, load: str, relaxed: bool) -> float:
    if not relaxed:
        # A simulation of the jobs up to each: of half of them on average.
        return CELL_SECONDS + cell / 2 * _job_seconds(cell // 2, policy, load)
    seconds, power = REFERENCE.get(_family(policy), REFERENCE_QUEUE)
    return float(seconds * (cell / REFERENCE_JOBS) ** power)


def _rate(policy: Policy, rates: Mapping[str, tuple[Rate, Rate]]) -> Rate:
    """Return the rate of a policy: a depth costs no more than reservations for all that wait."""
    family, moves = _family(policy), _moves(policy)
    rate = rates[family][moves]
    if family not in RESERVING:
        return rate
    share = 1.0 if policy.threshold else SHARES.get(policy.order, 1.0)
    waiting = share * rates["conservative"][moves].waiting
    if family == "depth":
        waiting = min(waiting, rate.waiting * (policy.depth / DEPTH) ** DEPTH_POWER)
    return Rate(rate.job, waiting)


def _family(policy: Policy) -> str:
    return policy.rule if policy.rule in RULES else "depth"


def _moves(policy: Policy) -> bool:
    """Tell whether kernels look anew at each pass for who is next."""
    other = policy.backfill not in (None, policy.order)
    return other or find_order(policy.order).moves or _is_own(policy)


def _is_own(policy: Policy) -> bool:
    """Tell whether one of a policy's orders is a user's function."""
    return not {policy.order, policy.backfill or policy.order} <= set(ORDERS)

"""Crowds: workloads in which most jobs wait together, and policies for them."""

from __future__ import annotations

from dataclasses import replace

import numba

from schedfarm.core.audit import audit
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.compare import check
from tests.support.strategies import crowd, grid_of, orders_of

RESERVING = ("depth", "conservative", "planned")
"""Rules whose reference takes time with the cube of the queue."""


def crowd_on(platform: str, seed: int, count: int) -> Workload:
    """Return jobs that most wait together; without the compiler they are a third as many."""
    work = crowd(seed, count // 3 if numba.config.DISABLE_JIT else count)
    return work if platform == "pool" else replace(work, platform=grid_of(8, 16, 3))


def crowd_policies(platform: str, rule: str, **options: str) -> list[Policy]:
    """Return a rule with an order of each kind that it goes with."""
    orders = ("fcfs", "saf", "lxf", "wfp3", "fair-share")
    named = "depth(3)" if rule == "depth" else rule
    if rule == "planned":
        options = options | {"walk": "queue"} if platform == "pool" else {}
    known = [order for order in orders if order in orders_of(platform, rule)]
    return [Policy(order, named, **options) for order in known]


def check_crowds(platform: str, rule: str) -> None:
    """Assert that all programs agree on queues longer than the blocks of the kernels."""
    for seed, policy in enumerate(crowd_policies(platform, rule, threshold="100s")):
        check(crowd_on(platform, seed, 60 if rule in RESERVING else 150), policy)


def check_larger_crowds(platform: str, rule: str) -> None:
    """Assert that the audit passes crowds that the reference could not follow."""
    work = crowd_on(platform, 7, 150 if rule in RESERVING else 400)
    for policy in crowd_policies(platform, rule):
        verdict = audit(simulate(work, policy), policy)
        assert verdict.ok, verdict.why

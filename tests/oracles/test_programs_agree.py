"""Kernels, reference, programs by seconds and audit on the same random workloads."""

from __future__ import annotations

from dataclasses import replace

import numba
import pytest
from hypothesis import assume, given, strategies as st

from schedfarm.core.audit import audit
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.compare import check, check_all, trials
from tests.oracles.programs import moved
from tests.support.strategies import (
    RULES,
    crowd,
    grid_of,
    orders_of,
    policies,
    workloads_on,
)

KINDS = [(platform, rule) for platform, rules in RULES.items() for rule in rules]

AUDITED = [(platform, rule) for platform, rule in KINDS if rule != "tabu"]
"""Only the search of a plan draws numbers that no schedule shows."""


@pytest.mark.parametrize(("platform", "rule"), KINDS)
@given(data=st.data())
def test_small_workloads(platform: str, rule: str, data: st.DataObject) -> None:
    """Every order and option of a rule gives one schedule, which the auditor passes."""
    check_all(data.draw(trials(platform, rule)))


@pytest.mark.parametrize(("platform", "rule"), AUDITED)
@given(data=st.data())
def test_any_job_moved_is_named(platform: str, rule: str, data: st.DataObject) -> None:
    """A schedule is refuted at the very instant at which it leaves ours, and by the moved job."""
    policy = data.draw(policies(rule=rule, platform=platform))
    good = simulate(data.draw(workloads_on(platform, policy).filter(len)), policy)
    shift = data.draw(st.sampled_from((-3600, -9, -3, -1, 1, 2, 9, 3600)))
    job = data.draw(st.integers(0, len(good.workload) - 1))
    old = int(good.start[job])
    assume(old >= 0 and old + shift >= 0)
    verdict = audit(moved(good, job, shift), policy)
    assert not verdict.ok
    assert (verdict.job, verdict.instant) == (job, min(old, old + shift)), verdict.why


CROWDS = [(platform, rule) for platform, rule in AUDITED if platform in ("pool", "grid")]

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


@pytest.mark.parametrize(("platform", "rule"), CROWDS)
def test_crowds(platform: str, rule: str) -> None:
    """Queues are longer than the blocks in which kernels keep them."""
    for seed, policy in enumerate(crowd_policies(platform, rule, threshold="100s")):
        check(crowd_on(platform, seed, 60 if rule in RESERVING else 150), policy)


@pytest.mark.parametrize(("platform", "rule"), CROWDS)
def test_larger_crowds_pass_the_audit(platform: str, rule: str) -> None:
    """Hundreds of jobs wait together, more than the reference could follow."""
    work = crowd_on(platform, 7, 150 if rule in RESERVING else 400)
    for policy in crowd_policies(platform, rule):
        verdict = audit(simulate(work, policy), policy)
        assert verdict.ok, verdict.why

"""Fair start times by every rule, and the identities that the default tiers leave out."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core.engine.fair_order import fair_order, is_patient
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.fair_starts import (
    FAIR_RULES,
    KINDS,
    ORDERS_OF_EACH_KIND,
    check,
    check_common_units,
    check_cut_logs,
    check_golden,
    check_orders,
)
from tests.oracles.planned_by_seconds import fair_starts_planned
from tests.oracles.test_fst_golden import try_instances
from tests.support.golden import ORDERS, RULES
from tests.support.strategies import FIXED, crowd, policies, workloads

PATIENT = ("none", "aggressive", "easy", "depth(1)", "depth(2)", "depth(3)", "conservative")
"""Rules of which a copy may be taken late."""


@pytest.mark.parametrize("rule", FAIR_RULES)
@settings(max_examples=max(settings.default.max_examples // 3, 1))
@given(work=workloads(max_jobs=10), data=st.data())
def test_kernels_equal_the_reference(rule: str, work: Workload, data: st.DataObject) -> None:
    """Both kinds and clocks, with every option, in orders of each kind."""
    check_orders(data, work, rule, ORDERS_OF_EACH_KIND)


@pytest.mark.parametrize("rule", FAIR_RULES)
@given(work=workloads(), data=st.data())
def test_strict_is_the_start_in_the_log_cut_after_the_job(
    rule: str, work: Workload, data: st.DataObject
) -> None:
    """The identity of SEMANTICS, for every order, rule, threshold and clock."""
    check_cut_logs(data, work, rule)


@pytest.mark.parametrize("later", ["spf", "lcfs", "sqf"])
@given(work=workloads(max_jobs=10), policy=policies())
def test_another_fair_order(later: str, work: Workload, policy: Policy) -> None:
    """Which jobs are later may go by any fixed key; what is not later still arrives."""
    for kind in KINDS:
        check(work, policy, kind, later)


@given(work=workloads(max_jobs=8, units=(1,)), data=st.data())
def test_fair_starts_of_plans_by_seconds(work: Workload, data: st.DataObject) -> None:
    """The program that looks at every second finds the same, of both kinds."""
    order = data.draw(st.sampled_from(FIXED))
    policy = data.draw(policies(order=order, rule="planned"))
    for kind in KINDS:
        found = fair_start_times(work, policy, kind).tolist()
        assert found == fair_starts_planned(work, policy, kind).tolist(), (policy.name, kind)


@pytest.mark.parametrize("rule", PATIENT)
@given(work=workloads(max_jobs=30), kind=st.sampled_from(KINDS))
def test_patience_changes_nothing(rule: str, kind: str, work: Workload) -> None:
    """First come first served, copies taken late give what copies at every arrival give."""
    if len(work):
        policy, everyone = Policy("fcfs", rule, threshold="3s"), np.arange(len(work))
        assert is_patient(policy)
        find = policy.row.find("fair_start")
        late, early = (
            find(work, policy, fair_order(everyone, everyone, kind == "relaxed", True, patient))
            for patient in (True, False)
        )
        assert late.tolist() == early.tolist()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a simulation a job, minutes without the JIT")
@pytest.mark.parametrize("order", ["fcfs", "saf", "lxf"])
@pytest.mark.parametrize("rule", ["aggressive", "easy", "conservative"])
def test_a_crowd(rule: str, order: str) -> None:
    """Queues longer than a block: strict by the cut log, and both kinds in two runs of jobs."""
    work = crowd(3, 150)
    policy = Policy(order, rule, threshold="30s")
    fst = fair_start_times(work, policy)
    for j in (60, 100, 149):
        assert fst[j] == simulate(work.take(slice(j + 1)), policy).start[j]
    for kind in KINDS:
        whole = fair_start_times(work, policy, kind)
        parts = [
            fair_start_times(work, policy, kind, jobs=slice(a, b)) for a, b in ((0, 70), (70, 150))
        ]
        assert (parts[0][70:] == -1).all()
        assert (parts[1][:70] == -1).all()
        assert np.maximum(*parts).tolist() == whole.tolist()


@pytest.mark.parametrize("rule", ["depth(2)", "planned"])
@pytest.mark.parametrize("kind", ["strict", "relaxed"])
def test_widths_are_counted_in_what_they_have_in_common(rule: str, kind: str) -> None:
    """A machine of 4 times 2**40 processors is one of 4, and needs no more memory."""
    check_common_units(rule, kind)


@pytest.mark.parametrize("rule", RULES)
def test_golden_instances_by_the_reference(rule: str) -> None:
    """The reference gives the known fair starts of a third of the instances."""
    check_golden(rule, slice(0, None, 3))


@pytest.mark.parametrize("rule", RULES)
def test_all_tiny_instances(rule: str) -> None:
    """Every fair start of the 30 golden instances."""
    assert try_instances(rule, slice(None)) == 60 * len(ORDERS)

"""Fair start times: the kernels against the reference, and what SEMANTICS says of them."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from schedfarm.core.engine.fair_order import fair_order, is_patient
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.policy.orders import ORDERS
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.fair_start import fair_start_reference
from schedfarm.core.workload.workload import Workload
from tests.oracles.planned_by_seconds import fair_starts_planned
from tests.oracles.programs import described
from tests.support.strategies import (
    FIXED,
    LOGARITHMIC,
    RULES,
    SHARING,
    WRITTEN,
    crowd,
    every_order,
    policies,
    workloads,
)

KINDS = ("strict", "relaxed")

FAIR_RULES = [rule for rule in RULES["pool"] if rule != "tabu"]
"""Rules that have kernels for fair starts."""

PATIENT = ("none", "aggressive", "easy", "depth(1)", "depth(2)", "depth(3)", "conservative")
"""Rules of which a copy may be taken late."""


def ranks(work: Workload, later: str) -> np.ndarray:
    """Return the place of each job in a fair order, by sorting tuples."""
    keys = {
        "arrival": np.arange(len(work)),
        "spf": work.estimate,
        "lcfs": -work.submit,
        "sqf": work.procs,
    }[later]
    order = sorted(range(len(work)), key=lambda j: (keys[j], j))
    rank = np.empty(len(work), np.int64)
    rank[order] = np.arange(len(work))
    return rank


def check(work: Workload, policy: Policy, kind: str, later: str = "arrival") -> None:
    # Where the last place of a logarithm may decide, the two programs need not agree.
    assume(not {policy.order, policy.backfill} & LOGARITHMIC)
    fst = fair_start_times(work, policy, kind, later=later).tolist()
    everyone = range(len(work))
    expected = fair_start_reference(work, policy, kind == "relaxed", everyone, ranks(work, later))
    assert fst == expected, (policy.name, kind, later, described(work))


@pytest.mark.parametrize("rule", FAIR_RULES)
@settings(max_examples=max(settings.default.max_examples // 3, 1))
@given(work=workloads(max_jobs=10), data=st.data())
def test_kernels_equal_the_reference(rule: str, work: Workload, data: st.DataObject) -> None:
    """Both kinds and clocks, with every option, in orders of each kind."""
    for policy in data.draw(every_order("pool", rule)):
        if policy.order in ("fcfs", "spf", "lxf", "saf", "wfp3", WRITTEN[0], *SHARING):
            for kind in KINDS:
                check(work, policy, kind)


@pytest.mark.parametrize("later", ["spf", "lcfs", "sqf"])
@given(work=workloads(max_jobs=10), policy=policies())
def test_another_fair_order(later: str, work: Workload, policy: Policy) -> None:
    """Which jobs are later may go by any fixed key; what is not later still arrives."""
    for kind in KINDS:
        check(work, policy, kind, later)


@pytest.mark.parametrize("rule", FAIR_RULES)
@given(work=workloads(), data=st.data())
def test_strict_is_the_start_in_the_log_cut_after_the_job(
    rule: str, work: Workload, data: st.DataObject
) -> None:
    """The identity of SEMANTICS, for every order, rule, threshold and clock."""
    for orders in (ORDERS, SHARING):
        order = data.draw(st.sampled_from(tuple(orders)))
        policy = data.draw(policies(order=order, rule=rule))
        fst = fair_start_times(work, policy)
        for j in range(len(work)):
            cut = work.take(slice(j + 1))
            assert fst[j] == simulate(cut, policy).start[j], policy.name


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


def three_jobs() -> Workload:
    return Workload.from_columns(
        submit=[0, 1, 2], run=[6, 4, 9], estimate=[9, 4, 9], procs=[2, 3, 1], processors=3
    )


def test_a_later_job_delays_an_earlier_one() -> None:
    """Job 2 passes job 1, which would start at 6 but for it; relaxed, it waits behind it."""
    work = three_jobs()
    assert simulate(work, "fcfs+aggressive").start.tolist() == [0, 11, 2]
    assert fair_start_times(work, "fcfs+aggressive").tolist() == [0, 6, 2]
    assert fair_start_times(work, "fcfs+aggressive", "relaxed").tolist() == [0, 6, 10]


def test_only_the_jobs_asked_for() -> None:
    """By a list, a range or a slice, in any order, none at all."""
    work = three_jobs()
    expected = [-1, 6, 2]
    for jobs in ([2, 1], range(1, 3), slice(1, None), np.array([1, 2])):
        assert fair_start_times(work, "fcfs+aggressive", jobs=jobs).tolist() == expected
    assert fair_start_times(work, "fcfs+aggressive", jobs=[]).tolist() == [-1, -1, -1]
    empty = Workload.from_columns(submit=[], run=[], estimate=[], procs=[], processors=3)
    assert fair_start_times(empty, "fcfs+easy").tolist() == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kind": "loose"}, "kind='loose'"),
        ({"jobs": [0, 3]}, "no job 3"),
        ({"jobs": [-1]}, "no job -1"),
        ({"jobs": [0.5]}, "jobs=0.5"),
        ({"later": "lxf"}, "later='lxf' changes"),
        ({"later": "soonest"}, "unknown order 'soonest'"),
    ],
)
def test_bad_arguments(options: dict[str, object], told: str) -> None:
    """One sentence that names the argument and its value."""
    with pytest.raises(InputError) as caught:
        fair_start_times(three_jobs(), "fcfs+easy", **options)
    assert told in str(caught.value)


def test_a_function_that_moves() -> None:
    """A user's own order has no kernel here: the reference serves it."""
    work = crowd(1, 12)
    policy = Policy("tests.support.strategies:by_share", "easy")
    everyone = np.arange(len(work))
    for kind in KINDS:
        expected = fair_start_reference(work, policy, kind == "relaxed", everyone, everyone)
        assert fair_start_times(work, policy, kind).tolist() == expected


@pytest.mark.parametrize("rule", ["depth(2)", "conservative", "planned"])
@pytest.mark.parametrize("kind", ["strict", "relaxed"])
def test_widths_are_counted_in_what_they_have_in_common(rule: str, kind: str) -> None:
    """A machine of 4 times 2**40 processors is one of 4, and needs no more memory."""
    few = Workload.from_columns(
        submit=[0, 1, 2, 3],
        run=[4, 5, 2, 3],
        estimate=[6, 5, 4, 3],
        procs=[3, 4, 1, 1],
        processors=4,
    )
    many = Workload.from_columns(
        submit=few.submit,
        run=few.run,
        estimate=few.estimate,
        procs=few.procs * 2**40,
        processors=4 * 2**40,
    )
    of_few, of_many = (fair_start_times(w, f"fcfs+{rule}", kind).tolist() for w in (few, many))
    assert of_few == of_many


def test_fair_starts_refuse_a_width_that_no_plan_has_tables_for() -> None:
    w = Workload.from_columns(
        submit=[0, 0], run=[1, 1], estimate=[1, 1], procs=[1, 2**40], processors=2**40
    )
    with pytest.raises(InputError, match="counts? in larger units"):
        fair_start_times(w, "fcfs+conservative")

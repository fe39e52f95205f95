"""Fair start times: the kernels against the reference, and what SEMANTICS says of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.errors import InputError
from core.policy.orders import ORDERS
from core.policy.policy import Policy
from core.reference.fair_start import fair_start_reference
from core.simulation.fair_start import fair_start_times
from core.simulation.fair_start_pool import fair_order, is_patient
from core.simulation.simulate import simulate
from core.workload.workload import Workload
from tests.strategies import BACKFILLING, LOGARITHMIC, RULES, THRESHOLDS, crowd, policies, workloads

KINDS = ("strict", "relaxed")


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
    columns = (work.submit, work.run, work.estimate, work.procs)
    jobs = list(zip(*(c.tolist() for c in columns), strict=True))
    assert fst == expected, (policy.name, kind, later, work.processors, jobs)


@pytest.mark.parametrize("starving", [False, True], ids=["", "threshold"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ["fcfs", "spf", "lxf", "saf", "wfp3"])
@given(work=workloads(max_jobs=10), data=st.data())
def test_kernels_equal_the_reference(
    order: str, rule: str, starving: bool, work: Workload, data: st.DataObject
) -> None:
    """Both kinds, both clocks, every option, with an order of its own for backfills or not."""
    threshold = data.draw(st.sampled_from(THRESHOLDS)) if starving else None
    backfill = (
        data.draw(st.none() | st.sampled_from(tuple(ORDERS))) if rule in BACKFILLING else None
    )
    events = data.draw(st.sampled_from(("instant", "per-event")))
    policy = Policy(order, rule, threshold=threshold, backfill=backfill, events=events)
    for kind in KINDS:
        check(work, policy, kind)


@pytest.mark.parametrize("later", ["spf", "lcfs", "sqf"])
@given(work=workloads(max_jobs=10), policy=policies())
def test_another_fair_order(later: str, work: Workload, policy: Policy) -> None:
    """Who is later may go by any fixed key; what is not later still arrives."""
    for kind in KINDS:
        check(work, policy, kind, later)


@pytest.mark.parametrize("rule", [*RULES, "planned"])
@given(work=workloads(), data=st.data())
def test_strict_is_the_start_in_the_log_cut_after_the_job(
    rule: str, work: Workload, data: st.DataObject
) -> None:
    """The identity of SEMANTICS, for every order, rule, threshold and clock."""
    policy = data.draw(policies(rule=rule))
    fst = fair_start_times(work, policy)
    for j in range(len(work)):
        cut = work.take(slice(j + 1))
        assert fst[j] == simulate(cut, policy).start[j], policy.name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
@given(work=workloads(max_jobs=30))
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
    policy = Policy("tests.strategies:by_share", "easy")
    everyone = np.arange(len(work))
    for kind in KINDS:
        expected = fair_start_reference(work, policy, kind == "relaxed", everyone, everyone)
        assert fair_start_times(work, policy, kind).tolist() == expected


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="this is the run without the JIT")
def test_kernels_without_the_jit() -> None:
    """The same source gives the same integers when Python runs it, and oversteps no array."""
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "few"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    command += ["-k", "not crowd"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]

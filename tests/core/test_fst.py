"""Fair start times: the kernels against the reference, and what SEMANTICS says of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.fst import fair_start_times
from core.policy import ORDERS, Policy
from core.reference_fst import fair_start_reference
from core.workload import Workload
from tests.strategies import BACKFILLING, RULES, THRESHOLDS, policies, workloads

STATIC = ("fcfs", "lcfs", "spf", "sqf", "saf", "f2")
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

"""The compiled simulator of networks and the reference, case by case, and the auditor over both."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given

import core
from core.audit import audit
from core.platform.pool import Pool
from core.reference.simulation import simulate_reference
from core.simulation.simulate import simulate
from tests.core.compare_network import draw
from tests.core.network_cases import NETWORK_QUESTIONS, NetworkCase, Row, network_cases, on_network
from tests.core.node_cases import segments
from tests.core.reference_cases import compare


def test_networks() -> None:
    """All that is asked of random tiny workloads."""
    assert compare(300, 1, draw, NETWORK_QUESTIONS) == []


@given(network_cases())
def test_both_make_the_same_of_any_jobs(case: NetworkCase) -> None:
    """Starts, ends, parts and flags; and the auditor passes them."""
    work = case.workload()
    ours, theirs = simulate(work, case.policy), simulate_reference(work, case.policy)
    for name in ("start", "end", "backfilled"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), name
    assert segments(ours) == segments(theirs)
    verdict = audit(ours, case.policy)
    assert verdict.ok, verdict.why


@pytest.mark.parametrize(
    ("rule", "of_pool"),
    [("isolated(2)", "depth(2)"), ("icsb(1)", "easy"), ("icsb(3)", "depth(3)"), ("ics", "bf")],
)
@given(case=network_cases(most=14))
def test_one_cluster_is_a_pool(rule: str, of_pool: str, case: NetworkCase) -> None:
    """Nobody has anywhere else to go."""
    size = case.clusters[0]
    rows = [row._replace(procs=min(row.procs, size), origin=0) for row in case.rows]
    work = on_network([size], case.links[:1], rows)
    there = simulate(work, f"saf+{rule}")
    alone = simulate(replace(work, platform=Pool(size)), f"saf+{of_pool}")
    for name in ("start", "end", "backfilled"):
        assert getattr(there, name).tolist() == getattr(alone, name).tolist(), name


WIDE = "job 1 asks for 3 processors; "


@pytest.mark.parametrize(
    ("policy", "why", "stuck"),
    [
        (
            "fcfs+isolated(1)",
            "it runs on its own cluster, 'a', which has 2",
            "job 1 asks for 3 processors; under 'isolated(1)' it runs on its own cluster",
        ),
        (
            "fcfs+ics,links=unused",
            "the widest cluster has 2, and jobs stay inside one cluster",
            "would wait for ever under fcfs+ics,links=unused",
        ),
        (
            "fcfs+ics",
            "the widest cluster has 2, and no split of it asks every link for at most what that",
            "would wait for ever under fcfs+ics",
        ),
    ],
)
def test_who_would_wait_for_ever_is_refused(policy: str, why: str, stuck: str) -> None:
    """Wider than its cluster, than every cluster, or more than the links carry."""
    work = on_network([2, 2], [10, 10], [Row(0, 5, 5, 3, bandwidth=100, alltoall=1000)])
    with pytest.raises(core.InputError, match=re.escape(WIDE + why)):
        simulate(work, policy)
    with pytest.raises((core.InputError, RuntimeError), match=re.escape(stuck)):
        simulate_reference(work, policy)

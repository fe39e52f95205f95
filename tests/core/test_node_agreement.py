"""The compiled simulator of nodes and the reference, case by case, and the auditor over both."""

from __future__ import annotations

from hypothesis import assume, given

from core.audit import audit
from core.policy.policy import Policy
from core.reference.simulation import promises_reference, simulate_reference
from core.simulation.promises import promises
from core.simulation.simulate import simulate
from core.workload.workload import Workload
from tests.core.compare_nodes import draw
from tests.core.node_cases import NODE_QUESTIONS, segments
from tests.core.reference_cases import compare
from tests.strategies import is_close_call, node_policies, node_workloads


def test_nodes() -> None:
    """All that is asked of random tiny workloads."""
    assert compare(300, 1, draw, NODE_QUESTIONS) == []


@given(node_workloads(), node_policies())
def test_both_make_the_same_of_any_jobs(work: Workload, policy: Policy) -> None:
    """Starts, ends, states, nodes, counts, flags and promises; and the auditor passes them."""
    ours, theirs = simulate(work, policy), simulate_reference(work, policy)
    assume(not is_close_call(theirs, policy))
    for name in ("start", "end", "state", "backfilled"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), name
    assert segments(ours) == segments(theirs)
    assert dict(ours.counts) == dict(theirs.counts)
    assert promises(work, policy).tolist() == promises_reference(work, policy).tolist()
    verdict = audit(ours, policy)
    assert verdict.ok, verdict.why

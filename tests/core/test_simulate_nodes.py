"""Rules on nodes: cases by hand, what always holds, and nodes of one processor as a pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.platform.nodes import Nodes
from core.policy.orders import ORDERS
from core.policy.policy import Policy
from core.simulation.promises import promises
from core.simulation.simulate import simulate
from core.workload.workload import Workload
from tests.strategies import THRESHOLDS, by_share, by_width_then_wait, crowd, workloads

CALLED = tuple(f"tests.strategies:{f.__name__}" for f in (by_share, by_width_then_wait))

KEPT = tuple(name for name, row in ORDERS.items() if row.shares is None)
"""Orders that nodes know."""


def as_nodes(work: Workload) -> Workload:
    """Bring a pool's jobs to as many nodes of one processor each."""
    names = [f"n{i}" for i in range(work.processors)]
    return replace(work, platform=Nodes([1] * work.processors, names))


def timed(work: Workload) -> Workload:
    """Let every estimate be above 0.

    With 0 it is not enough that as many nodes are free: they must be those that a job has found.
    """
    return replace(work, estimate=np.maximum(work.estimate, 1))


def assert_same(work: Workload, policy: Policy) -> None:
    """Nodes of one processor are a pool: start for start, flag for flag, promise for promise."""
    nodes, pool = simulate(as_nodes(work), policy), simulate(work, policy)
    assert nodes.start.tolist() == pool.start.tolist()
    assert nodes.end.tolist() == pool.end.tolist()
    assert nodes.backfilled.tolist() == pool.backfilled.tolist()
    assert promises(as_nodes(work), policy).tolist() == promises(work, policy).tolist()


@given(workloads(), st.sampled_from((*KEPT, *CALLED)), st.none() | st.sampled_from(THRESHOLDS))
def test_single_processors__are_a_pool(work: Workload, order: str, threshold: str | None) -> None:
    """In any order, with thresholds, with jobs that end at once."""
    assert_same(timed(work), Policy(order, "conservative", threshold=threshold))


@pytest.mark.parametrize("order", ["fcfs", "saf", "lxf,threshold=9s"])
def test_single_processors__are_a_pool_in_a_crowd(order: str) -> None:
    """Queues of hundreds."""
    order, _, options = order.partition(",")
    policy = Policy.parse(f"{order}+conservative" + (f",{options}" if options else ""))
    assert_same(timed(crowd(7, 60)), policy)

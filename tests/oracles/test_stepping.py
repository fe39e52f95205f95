"""Simulations played decision by decision against `simulate`."""

from __future__ import annotations

import random

from hypothesis import given, settings, strategies as st

from schedfarm.core.workload.workload import Workload
from tests.oracles.stepping import ORDERS, check, play
from tests.support.golden import micro
from tests.support.strategies import workloads

GOLDEN = {"fcfs": "FCFS", "spf": "SJF", "saf": "SAF"}
"""Their names in the golden instances; F1 has none there."""


@settings(max_examples=min(20, settings().max_examples))
@given(work=workloads(), dice=st.randoms(use_true_random=False))
def test_the_same_actions_give_the_same_starts(work: Workload, dice: random.Random) -> None:
    """With detours on clones; `tests.oracles.stepping` tries more."""
    check(work, dice)


def test_starts_of_the_golden_instances() -> None:
    assert set(GOLDEN) < set(ORDERS)
    for order, name in GOLDEN.items():
        for rule in ("none", "easy"):
            runs = [(work, run) for work, run in micro(name, rule) if run["theta"] is None]
            for work, run in runs:
                assert play(work, order, rule).tolist() == run["start"], (order, rule)

"""Kernels, reference, programs by seconds and audit on the same random workloads."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tests.oracles.compare import check_all, check_moved, trials
from tests.oracles.crowds import check_crowds, check_larger_crowds
from tests.support.strategies import COMPILED_LAST, RULES

KINDS = [
    (platform, rule)
    for platform, rules in RULES.items()
    for rule in rules
    if (platform, rule) not in COMPILED_LAST
]

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
    check_moved(data, platform, rule)


CROWDS = [rule for platform, rule in AUDITED if platform == "pool"]


@pytest.mark.parametrize("rule", CROWDS)
def test_crowds(rule: str) -> None:
    """Queues are longer than the blocks in which kernels keep them."""
    check_crowds("pool", rule)


@pytest.mark.parametrize("rule", CROWDS)
def test_larger_crowds_pass_the_audit(rule: str) -> None:
    """Hundreds of jobs wait together, more than the reference could follow."""
    check_larger_crowds("pool", rule)

"""As the default tier's comparison of programs, for the kernels that take longest to compile."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tests.oracles.compare import check_all, check_moved, trials
from tests.oracles.crowds import check_crowds, check_larger_crowds
from tests.support.strategies import COMPILED_LAST

KINDS = pytest.mark.parametrize(("platform", "rule"), COMPILED_LAST)

AUDITED = [(platform, rule) for platform, rule in COMPILED_LAST if rule != "tabu"]


@KINDS
@given(data=st.data())
def test_small_workloads(platform: str, rule: str, data: st.DataObject) -> None:
    """Every order and option of a rule gives one schedule, which the auditor passes."""
    check_all(data.draw(trials(platform, rule)))


@pytest.mark.parametrize(("platform", "rule"), AUDITED)
@given(data=st.data())
def test_any_job_moved_is_named(platform: str, rule: str, data: st.DataObject) -> None:
    """A schedule is refuted at the very instant at which it leaves ours, and by the moved job."""
    check_moved(data, platform, rule)


CROWDS = pytest.mark.parametrize(
    ("platform", "rule"), [one for one in AUDITED if one[0] in ("pool", "grid")]
)


@CROWDS
def test_crowds(platform: str, rule: str) -> None:
    """Queues are longer than the blocks in which kernels keep them."""
    check_crowds(platform, rule)


@CROWDS
def test_larger_crowds_pass_the_audit(platform: str, rule: str) -> None:
    """Hundreds of jobs wait together, more than the reference could follow."""
    check_larger_crowds(platform, rule)

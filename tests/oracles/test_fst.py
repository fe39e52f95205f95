"""Fair start times: the kernels against the reference, and what SEMANTICS says of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.fair_start import fair_start_reference
from schedfarm.core.workload.workload import Workload
from tests.oracles.fair_starts import (
    DEFAULT,
    KINDS,
    ORDERS_BY_DEFAULT,
    check_common_units,
    check_orders,
)
from tests.support.strategies import (
    crowd,
    workloads,
)


@pytest.mark.parametrize("rule", DEFAULT)
@settings(max_examples=max(settings.default.max_examples // 3, 1))
@given(work=workloads(max_jobs=10), data=st.data())
def test_kernels_equal_the_reference(rule: str, work: Workload, data: st.DataObject) -> None:
    """Both kinds and clocks, with every option; the exhaustive tests try orders of each kind."""
    check_orders(data, work, rule, ORDERS_BY_DEFAULT)


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


@pytest.mark.parametrize("rule", ["none", "easy", "conservative"])
def test_a_job_that_joins_late_may_starve_already(rule: str) -> None:
    """Job 2 joins its relaxed world at 6, behind jobs 0 and 1. At 12 it has waited for 12 s, job 3,
    which the fair order has before it, for 5 s: both starve, and the older one goes first.
    """
    work = Workload.from_columns(
        submit=[0, 0, 0, 7], run=[6] * 4, estimate=[6] * 4, procs=[1] * 4, processors=1
    )
    policy = f"fcfs+{rule},threshold=0s"
    assert fair_start_times(work, policy, "relaxed", later="lcfs").tolist() == [0, 6, 12, 12]


def test_an_expression_next_to_the_usage_of_users() -> None:
    """Job 3 starts before job 2 at 5, when the first is longer and user 0 has waited more."""
    work = Workload.from_columns(
        submit=[0, 0, 0, 1],
        run=[4, 1, 1, 5],
        estimate=[5, 1, 4, 5],
        procs=[1, 1, 1, 1],
        user=[1, 0, 1, 0],
        processors=1,
    )
    everyone = np.arange(4)
    for backfill in ("(-(now - submit) * procs / max(estimate, 1))", "(submit - now)"):
        policy = Policy("fair-share", "easy", backfill=backfill)
        for kind in KINDS:
            expected = fair_start_reference(work, policy, kind == "relaxed", everyone, everyone)
            assert fair_start_times(work, policy, kind).tolist() == expected
    assert fair_start_times(work, policy).tolist() == [0, 4, 5, 5]


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


@pytest.mark.parametrize("rule", ["conservative"])
@pytest.mark.parametrize("kind", ["strict", "relaxed"])
def test_widths_are_counted_in_what_they_have_in_common(rule: str, kind: str) -> None:
    """A machine of 4 times 2**40 processors is one of 4, and needs no more memory."""
    check_common_units(rule, kind)


def test_fair_starts_refuse_a_width_that_no_plan_has_tables_for() -> None:
    w = Workload.from_columns(
        submit=[0, 0], run=[1, 1], estimate=[1, 1], procs=[1, 2**40], processors=2**40
    )
    with pytest.raises(InputError, match="counts? in larger units"):
        fair_start_times(w, "fcfs+conservative")

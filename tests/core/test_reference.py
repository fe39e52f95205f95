"""The reference simulator by timelines that can be worked out by hand."""

from __future__ import annotations

import ast
import inspect

import pytest

import core.reference.pool
from core.arrays import NO_PROMISE
from core.policy.orders import ORDERS
from core.reference.pool import simulate_reference
from core.workload.workload import Workload

NO = NO_PROMISE

Rows = list[tuple[int, int, int, int]]
"""Jobs as (submit, run, estimate, procs)."""


def workload(rows: Rows, processors: int) -> Workload:
    submit, run, estimate, procs = zip(*rows, strict=True)
    return Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, processors=processors
    )


def starts(rows: Rows, processors: int, policy: str) -> list[int]:
    found: list[int] = simulate_reference(workload(rows, processors), policy).start.tolist()
    return found


BLOCKED: Rows = [(0, 10, 10, 3), (1, 5, 5, 4), (2, 9, 9, 1), (3, 7, 7, 1), (4, 2, 2, 1)]
"""On 4 processors the second job waits until 10; the fourth would end by then."""

DEEP: Rows = [(0, 10, 10, 3), (1, 5, 5, 3), (2, 3, 3, 4), (3, 13, 13, 1)]
"""The fourth job fits beside the second, but not beside the third, which could start at 15."""


@pytest.mark.parametrize(
    ("rule", "blocked", "deep"),
    [
        ("none", [0, 10, 15, 15, 15], [0, 10, 15, 18]),
        ("aggressive", [0, 17, 2, 10, 10], [0, 10, 16, 3]),
        ("easy", [0, 10, 15, 3, 15], [0, 10, 16, 3]),
        ("depth(1)", [0, 10, 15, 3, 15], [0, 10, 16, 3]),
        ("depth(2)", [0, 10, 15, 3, 15], [0, 10, 15, 18]),
        ("conservative", [0, 10, 15, 3, 15], [0, 10, 15, 18]),
        ("planned", [0, 10, 15, 3, 15], [0, 10, 15, 18]),
    ],
)
def test_rules(rule: str, blocked: list[int], deep: list[int]) -> None:
    """A few jobs under every rule, first come first served."""
    assert starts(BLOCKED, 4, f"fcfs+{rule}") == blocked
    assert starts(DEEP, 4, f"fcfs+{rule}") == deep


ORDERED: Rows = [(0, 10, 10, 4), (1, 6, 6, 3), (2, 4, 4, 4), (3, 8, 8, 2), (4, 6, 6, 2)]
"""The first job holds the machine until 10; the others are then started in queue order."""


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("fcfs", [0, 10, 16, 20, 20]),
        ("lcfs", [0, 22, 18, 10, 10]),
        ("spf", [0, 14, 10, 20, 20]),
        ("lpf", [0, 18, 30, 10, 24]),
        ("sqf", [0, 18, 24, 10, 10]),
        ("lqf", [0, 14, 10, 20, 20]),
        ("saf", [0, 28, 16, 20, 10]),
        ("laf", [0, 10, 16, 20, 20]),
        ("lxf", [0, 14, 10, 20, 20]),
        ("sxf", [0, 18, 24, 10, 10]),
    ],
)
def test_orders(order: str, expected: list[int]) -> None:
    """The same five jobs in every order that whole numbers decide, without backfilling."""
    assert starts(ORDERED, 4, f"{order}+none") == expected


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rule", ["none", "easy", "depth(2)", "conservative"])
def test_equal_jobs_go_by_position(order: str, rule: str) -> None:
    """In every order but the newest first, jobs that differ in nothing go as they came."""
    rows: Rows = [(0, 3, 3, 1)] * 4
    assert starts(rows, 1, f"{order}+{rule}") == [0, 3, 6, 9]


def test_backfilled_is_to_start_past_a_waiting_job() -> None:
    """Only the fourth job overtakes."""
    schedule = simulate_reference(workload(BLOCKED, 4), "fcfs+conservative")
    assert schedule.backfilled.tolist() == [False, False, False, True, False]


def test_promises() -> None:
    """Conservative promises each job its first reservation; easy promises nothing."""
    rows: Rows = [(0, 4, 10, 3), (1, 5, 5, 4), (2, 9, 9, 1)]
    promised = simulate_reference(workload(rows, 4), "fcfs+conservative").promised
    assert promised.tolist() == [0, 10, 15]
    assert simulate_reference(workload(rows, 4), "fcfs+depth(1)").promised.tolist() == [0, 10, NO]
    assert simulate_reference(workload(rows, 4), "fcfs+easy").promised.tolist() == [NO] * 3


def test_the_shadow_counts_every_tie() -> None:
    """Two jobs are predicted to end at 10; the first alone would do for the head."""
    rows: Rows = [(0, 10, 10, 1), (0, 10, 10, 2), (1, 5, 5, 2), (2, 20, 20, 1)]
    assert starts(rows, 4, "fcfs+easy") == [0, 0, 10, 2]


def test_a_short_backfill_takes_nothing_from_extra() -> None:
    """The third job ends by the shadow time, so the fourth may have the one extra processor."""
    rows: Rows = [(0, 10, 10, 2), (1, 5, 5, 3), (2, 8, 8, 1), (2, 20, 20, 1)]
    assert starts(rows, 4, "fcfs+easy") == [0, 10, 2, 2]


def test_a_job_with_run_0_gives_its_processors_to_the_same_instant() -> None:
    """Its completion and another pass follow at once."""
    assert starts([(5, 0, 3, 2), (5, 4, 4, 2)], 2, "fcfs+none") == [5, 5]


def test_the_threshold_is_strict() -> None:
    """A wait of 9 s is not above a threshold of 9 s."""
    rows: Rows = [(0, 10, 10, 1), (1, 5, 5, 1), (2, 3, 3, 1)]
    assert starts(rows, 1, "spf+easy,threshold=9s") == [0, 13, 10]
    assert starts(rows, 1, "spf+easy,threshold=8s") == [0, 10, 15]


def test_the_backfill_order() -> None:
    """One of two jobs can be backfilled at a time: the first come, or the shorter."""
    rows: Rows = [(0, 10, 10, 3), (1, 5, 5, 4), (2, 6, 6, 2), (2, 4, 4, 1), (2, 3, 3, 1)]
    assert starts(rows, 4, "fcfs+easy") == [0, 10, 15, 2, 6]
    assert starts(rows, 4, "fcfs+easy,backfill=spf") == [0, 10, 15, 5, 2]


def test_per_event_submits_before_it_completes() -> None:
    """At 10 the narrow job comes while the machine is held: it is backfilled before the head."""
    rows: Rows = [(0, 10, 10, 3), (1, 5, 5, 4), (10, 3, 3, 1)]
    assert starts(rows, 4, "fcfs+easy") == [0, 10, 15]
    assert starts(rows, 4, "fcfs+aggressive,events=per-event") == [0, 13, 10]


PLAN: Rows = [(0, 4, 6, 1), (0, 3, 4, 2), (1, 3, 4, 1), (3, 1, 1, 1)]
"""At 4 two jobs end early; the fourth's reservation at 5 stands before the second's at 6."""


def test_a_plan_is_compressed_by_start_or_by_arrival() -> None:
    """By arrival the second job finds no gap and keeps 6, where nothing ends and nothing comes."""
    assert starts(PLAN, 2, "fcfs+planned") == [0, 5, 1, 4]
    assert starts(PLAN, 2, "fcfs+planned,walk=arrival") == [0, 6, 1, 4]
    promised = simulate_reference(workload(PLAN, 2), "fcfs+planned").promised
    assert promised.tolist() == [0, 6, 1, 5]


def test_a_head_with_estimate_0_is_not_delayed() -> None:
    """Nobody beyond the depth crosses the instant of its start, in depth(1) as in easy."""
    rows: Rows = [(0, 10, 10, 1), (1, 0, 0, 2), (2, 20, 20, 1)]
    for rule in ("easy", "depth(1)"):
        assert starts(rows, 2, f"fcfs+{rule}") == [0, 10, 10]
    assert starts(rows, 2, "fcfs+conservative") == [0, 22, 2]


def test_it_shares_nothing_with_the_fast_simulator() -> None:
    """The reference imports the shared types, and the formulas of the orders in floats."""
    tree = ast.parse(inspect.getsource(core.reference.pool))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {name for name in names if name and name.startswith("core")}
    assert ours == {
        "core.arrays",
        "core.policy.orders",
        "core.policy.policy",
        "core.schedule",
        "core.workload.workload",
    }

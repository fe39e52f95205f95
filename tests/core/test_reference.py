"""The reference simulator by timelines that can be worked out by hand."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import core.reference
from core.errors import InputError
from core.policy.orders import ORDERS
from core.policy.policy import Policy
from core.reference.job import jobs_of
from core.reference.order import KEYS, SHARES
from core.reference.pool import Planned, Strict
from core.reference.simulation import promises_reference, simulate_reference
from core.workload.workload import Workload

NO = -1
"""No promise."""

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


def promises(rows: Rows, processors: int, policy: str) -> list[int]:
    found: list[int] = promises_reference(workload(rows, processors), policy).tolist()
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
    assert promises(rows, 4, "fcfs+conservative") == [0, 10, 15]
    assert promises(rows, 4, "fcfs+depth(1)") == [0, 10, NO]
    assert promises(rows, 4, "fcfs+easy") == [NO] * 3


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
    rows: Rows = [(0, 10, 12, 3), (1, 5, 5, 4), (10, 3, 3, 1)]
    assert starts(rows, 4, "fcfs+aggressive") == [0, 10, 15]
    assert starts(rows, 4, "fcfs+aggressive,events=per-event") == [0, 13, 10]


def test_per_event_knows_who_is_predicted_to_end() -> None:
    """At 10 the first job has its whole estimate behind it: the head starts when another comes."""
    rows: Rows = [(0, 10, 10, 3), (1, 5, 5, 4), (10, 3, 3, 1)]
    assert starts(rows, 4, "fcfs+aggressive,events=per-event") == [0, 10, 15]


def test_per_event_completes_by_start() -> None:
    """At 4 the third starts before the second; at 9 it is the first to complete: 3 are free."""
    rows: Rows = [(0, 4, 4, 4), (1, 5, 9, 1), (1, 5, 8, 3), (2, 3, 21, 2), (2, 3, 20, 4)]
    assert starts(rows, 4, "spf+aggressive,events=per-event") == [0, 4, 4, 9, 12]


PLAN: Rows = [(0, 4, 6, 1), (0, 3, 4, 2), (1, 3, 4, 1), (3, 1, 1, 1)]
"""At 4 two jobs end early; the fourth's reservation at 5 stands before the second's at 6."""


def test_a_plan_is_compressed_by_start_or_by_arrival() -> None:
    """By arrival the second job finds no gap and keeps 6, where nothing ends and nothing comes."""
    assert starts(PLAN, 2, "fcfs+planned") == [0, 5, 1, 4]
    assert starts(PLAN, 2, "fcfs+planned,walk=arrival") == [0, 6, 1, 4]
    assert promises(PLAN, 2, "fcfs+planned") == [0, 6, 1, 5]


def test_a_head_with_estimate_0_is_not_delayed() -> None:
    """Nobody beyond the depth crosses the instant of its start, in depth(1) as in easy."""
    rows: Rows = [(0, 10, 10, 1), (1, 0, 0, 2), (2, 20, 20, 1)]
    for rule in ("easy", "depth(1)"):
        assert starts(rows, 2, f"fcfs+{rule}") == [0, 10, 10]
    assert starts(rows, 2, "fcfs+conservative") == [0, 22, 2]


ALONE: Rows = [(0, 0, 2, 3), (0, 1, 1, 2), (0, 4, 4, 3), (0, 1, 1, 2)]
"""At 0 the first ends early; the third then waits for 3, where nothing ends and nobody comes."""


def test_a_reservation_is_an_event_of_its_own() -> None:
    """The compression by arrival leaves the third job such a start."""
    assert starts(ALONE, 4, "fcfs+planned,walk=arrival") == [0, 0, 3, 0]


def test_per_event_a_plan_is_compressed_at_every_completion() -> None:
    """At 4 the first ends early: the second and the fourth move there, the third only to 8.

    The fourth ends at 6, as it said, and for that the third is looked at again, and moves to 7.
    """
    rows: Rows = [(1, 3, 5, 3), (2, 3, 3, 2), (3, 2, 2, 4), (4, 2, 2, 2)]
    assert starts(rows, 4, "fcfs+planned,walk=arrival,events=per-event") == [1, 4, 7, 4]


def planned_by_queue(rows: Rows, processors: int, order: str) -> list[int]:
    """Simulate `planned` with walk=queue, which policies may not name yet."""
    policy = Policy(order, "conservative")
    for name, value in {"rule": "planned", "walk": "queue"}.items():
        object.__setattr__(policy, name, value)
    simulation = Planned(workload(rows, processors), policy)
    simulation.run()
    return [job.start for job in simulation.jobs]


def test_a_plan_is_compressed_by_the_queue() -> None:
    """The first job ends early at 5: the older or the shorter of the two is moved there."""
    rows: Rows = [(0, 5, 10, 2), (1, 4, 4, 2), (2, 3, 3, 2)]
    assert planned_by_queue(rows, 2, "fcfs") == [0, 5, 9]
    assert planned_by_queue(rows, 2, "spf") == [0, 8, 5]


def test_nobody_waits_for_ever() -> None:
    """A rule that forgets a job is refused, with the job's number; so is a plan that misses one."""

    class Forgetful(Strict):
        def queue(self, order: str | None = None) -> list[core.reference.job.Job]:
            return [job for job in super().queue(order) if job.number != 2]

    with pytest.raises(RuntimeError, match=r"job 2 \(4 processors, submitted at 1 s\) would wait"):
        Forgetful(workload(BLOCKED, 4), Policy("fcfs", "none")).run()


def least_served(user: np.ndarray, waited: np.ndarray, worked: np.ndarray) -> np.ndarray:
    """Order by the normalised wait of the user's completed jobs, the largest first."""
    return -waited / np.maximum(worked, 1)


def heaviest(worked: np.ndarray) -> np.ndarray:
    """Order by the work of the user's completed jobs."""
    return worked


def unheard_of(worked: np.ndarray) -> np.ndarray:
    """Return no number for anyone."""
    return np.full(worked.size, np.nan)


def of_users(users: list[int], rows: Rows, processors: int) -> Workload:
    submit, run, estimate, procs = zip(*rows, strict=True)
    return Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, user=users, processors=processors
    )


def test_an_order_asks_for_what_users_had() -> None:
    """At 2 user 7 has had 2 s of work, user 8 none; at 4, under the other, 7 has waited 2 s."""
    rows: Rows = [(0, 2, 2, 1), (0, 2, 2, 1), (0, 3, 3, 1), (0, 3, 3, 1), (3, 1, 1, 1)]
    work = of_users([7, 7, 8, 8, 7], rows, 1)
    here = "tests.core.test_reference"
    assert simulate_reference(work, f"{here}:heaviest+none").start.tolist() == [0, 5, 2, 7, 10]
    assert simulate_reference(work, f"{here}:least_served+none").start.tolist() == [0, 2, 5, 8, 4]
    with pytest.raises(InputError, match="must return one number for each of 5 jobs"):
        simulate_reference(of_users([1] * 5, [(0, 1, 1, 1)] * 5, 1), f"{here}:unheard_of+none")


def test_only_completed_jobs_are_asked_for() -> None:
    """User 7 has a long job running, user 8 a short one completed: 7 goes first at 2."""
    rows: Rows = [(0, 10, 10, 1), (0, 2, 2, 1), (0, 3, 3, 1), (0, 3, 3, 1)]
    order = "tests.core.test_reference:heaviest"
    for users in ([7, 8, 8, 7], [-1, 8, 8, -1]):
        schedule = simulate_reference(of_users(users, rows, 2), f"{order}+none")
        assert schedule.start.tolist() == [0, 0, 5, 2]


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("fcfs", 10),
        ("spf", 100),
        ("sqf", 4),
        ("saf", 400),
        ("lxf", -3),
        ("sxf", 3),
        ("wfp3", -32),
        ("unicef", -1),
        ("f1", 2 * 4 + 870),
        ("f2", 10 * 4 + 25_600),
        ("f3", 400 + 6_860_000),
        ("f4", 100 * 2 + 530_000),
    ],
)
def test_keys_by_hand(order: str, key: float) -> None:
    """A job of 4 processors and 100 s, submitted at 10, has waited 200 s."""
    (job,) = jobs_of(workload([(10, 7, 100, 4)], 4))
    assert KEYS[order](job, 210) == pytest.approx(key, rel=1e-15)


def test_ties_of_a_cube_fall_as_in_the_formula() -> None:
    """A third cubed times 27 is 1 by products, and was less by a power."""
    one, other = jobs_of(workload([(0, 3, 3, 1), (2, 3, 3, 27)], 27))
    assert KEYS["wfp3"](one, 3) == KEYS["wfp3"](other, 3) == -1


def test_every_order_has_a_key_of_its_own() -> None:
    """The reference takes no formula from elsewhere."""
    assert {*KEYS, *SHARES} == {*ORDERS}


def test_it_shares_nothing_with_the_fast_simulator() -> None:
    """The reference imports the shared types, and what finds a user's own order."""
    names: set[str | None] = set()
    for path in Path(core.reference.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "core.policy.orders":
                assert [alias.name for alias in node.names] == ["order_function"]
    ours = {n for n in names if n and n.startswith("core") and not n.startswith("core.reference")}
    assert ours == {
        "core.arrays",
        "core.durations",
        "core.errors",
        "core.platform.grid",
        "core.platform.network",
        "core.platform.nodes",
        "core.policy.orders",
        "core.policy.policy",
        "core.schedule",
        "core.workload.workload",
    }

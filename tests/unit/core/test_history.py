"""What an order learns of users' completed jobs, on timelines worked by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import workloads

Row = tuple[int, int, int, int, int]
Rows = Sequence[Row]

MODULE = f"{__name__}:"


def least_worked(worked: np.ndarray) -> np.ndarray:
    """Order the users first whose completed jobs worked least."""
    return worked


def least_waited(waited: np.ndarray) -> np.ndarray:
    """Order the users first whose completed jobs waited least."""
    return waited


def starts(policy: str, processors: int, *rows: Row) -> list[int]:
    """Simulate rows of (submit, run, estimate, procs, user)."""
    submit, run, estimate, procs, user = zip(*rows, strict=True)
    work = Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, user=user, processors=processors
    )
    return [int(s) for s in simulate(work, policy).start]


RULES = ("none", "aggressive", "easy", "depth(2)", "conservative")


def hold(
    order: str, rules: Sequence[str], processors: int, rows: Rows, expected: list[int]
) -> None:
    """Hold the starts under every rule, by instants and event by event."""
    names = [f"{order}+{rule}{clock}" for rule in rules for clock in ("", ",events=per-event")]
    found = {name: starts(name, processors, *rows) for name in names}
    assert {name: got for name, got in found.items() if got != expected} == {}


@pytest.mark.parametrize("other", [2, -1])
def test_worked_counts_what_completed(other: int) -> None:
    """At 4 user 1 has worked 4; at 7 the other, known or not, has worked 3, which is still less."""
    rows = ((0, 4, 4, 1, 1), (1, 3, 3, 1, 1), (2, 3, 3, 1, other), (3, 2, 2, 1, other))
    hold(f"{MODULE}least_worked", RULES, 1, rows, [0, 9, 4, 7])


def test_waited_counts_what_completed() -> None:
    """At 7 user 1 has waited 3 and the other 0; at 10 they have waited 3 and 5."""
    rows = ((0, 4, 4, 1, 1), (1, 3, 3, 1, 1), (2, 3, 3, 1, 2), (3, 2, 2, 1, 2), (3, 1, 1, 1, 1))
    hold(f"{MODULE}least_waited", RULES, 1, rows, [0, 4, 7, 11, 10])


def test_a_running_job_does_not_count() -> None:
    """At 4 user 1 still runs its first job, so that its next goes before user 2's wide one."""
    rows = ((0, 10, 10, 1, 1), (0, 4, 4, 1, 2), (1, 5, 5, 2, 2), (2, 7, 7, 1, 1))
    rules = ("easy", "conservative", "depth(1)")
    hold("fcfs", rules, 2, rows, [0, 0, 10, 15])
    hold(f"{MODULE}least_worked", rules, 2, rows, [0, 0, 11, 4])


@pytest.mark.parametrize("rule", ["none", "easy", "conservative"])
def test_both_completions_of_an_instant_count_or_one_at_a_time(rule: str) -> None:
    """At 4 both have worked 4; event by event, user 1 has when user 2 has not yet."""
    rows = ((0, 4, 4, 1, 1), (0, 4, 4, 1, 2), (2, 3, 3, 2, 1), (2, 5, 5, 1, 2))
    order = f"{MODULE}least_worked+{rule}"
    assert starts(order, 2, *rows) == [0, 0, 4, 7]
    assert starts(f"{order},events=per-event", 2, *rows) == [0, 0, 9, 4]


def test_a_job_of_run_0_counts_in_the_next_pass_of_its_instant() -> None:
    """User 2's job starts and completes at 5 after a wait of 4: then user 1 is next."""
    rows = ((0, 5, 5, 1, 1), (1, 0, 3, 1, 2), (1, 2, 2, 1, 2), (2, 2, 2, 1, 1))
    hold("fcfs", RULES, 1, rows, [0, 5, 5, 7])
    hold(f"{MODULE}least_waited", RULES, 1, rows, [0, 5, 7, 5])


def test_a_backfill_order_may_ask_too() -> None:
    """At 4 one processor is free beside the head: user 1's job, who has worked nothing, gets it."""
    rows = ((0, 10, 10, 2, 3), (0, 4, 4, 1, 2), (1, 5, 5, 3, 3), (2, 3, 3, 1, 2), (3, 3, 3, 1, 1))
    assert starts("fcfs+easy", 3, *rows) == [0, 0, 10, 4, 7]
    assert starts(f"fcfs+easy,backfill={MODULE}least_worked", 3, *rows) == [0, 0, 10, 7, 4]


SEEN: list[tuple[int, dict[int, tuple[int, int]]]] = []


def spy(user: np.ndarray, waited: np.ndarray, worked: np.ndarray, now: int) -> np.ndarray:
    """Order by number of user, and keep what is told."""
    told = zip(waited.tolist(), worked.tolist(), strict=True)
    SEEN.append((now, dict(zip(user.tolist(), told, strict=True))))
    return user


@pytest.mark.parametrize("rule", RULES)
@given(work=workloads(max_jobs=30).filter(lambda w: w.run.min(initial=1) > 0))
def test_the_sums_are_those_of_the_schedule(rule: str, work: Workload) -> None:
    """At each pass, of the jobs that end by then; with runs above 0 that is who has completed."""
    SEEN.clear()
    schedule = simulate(work, Policy(f"{MODULE}spy", rule))
    for now, told in SEEN:
        for user, sums in told.items():
            done = (schedule.end <= now) & (work.user == user)
            area = (work.run * work.procs)[done].sum()
            assert sums == (schedule.wait[done].sum(), area)

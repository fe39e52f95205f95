"""The fast simulator against the reference, schedule for schedule."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.policy.orders import ORDERS
from core.policy.policy import Policy
from core.reference.simulation import promises_reference, simulate_reference
from core.schedule import Schedule
from core.simulation.promises import promises
from core.simulation.simulate import simulate
from core.workload.workload import Workload
from tests.strategies import (
    BACKFILLING,
    LOGARITHMIC,
    PLANNED,
    RULES,
    THRESHOLDS,
    crowd,
    is_close_call,
    workloads,
)

Simulator = Callable[[Workload, Policy], dict[str, object]]

EVENTS = ("instant", "per-event")


def story(schedule: Schedule, promised: np.ndarray) -> dict[str, object]:
    """Return everything that a schedule says, and of what jobs, to compare and to print."""
    work = schedule.workload
    columns = (work.submit, work.run, work.estimate, work.procs)
    return {
        "processors": work.processors,
        "submit, run, estimate, procs": list(zip(*(c.tolist() for c in columns), strict=True)),
        "start": schedule.start.tolist(),
        "backfilled": schedule.backfilled.tolist(),
        "promised": promised.tolist(),
    }


def compiled(work: Workload, policy: Policy) -> dict[str, object]:
    schedule = simulate(work, policy)
    assert schedule.policy == policy.name
    return story(schedule, promises(work, policy))


def reference(work: Workload, policy: Policy) -> dict[str, object]:
    schedule = simulate_reference(work, policy)
    assert schedule.policy == policy.name
    return story(schedule, promises_reference(work, policy))


def check(work: Workload, policy: Policy) -> None:
    """Compare, unless the last place of a float decides: then nobody is wrong."""
    if {policy.order, policy.backfill} & LOGARITHMIC:
        assume(not is_close_call(simulate_reference(work, policy), policy))
    assert compiled(work, policy) == reference(work, policy), policy.name


@pytest.mark.parametrize("starving", [False, True], ids=["", "threshold"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ORDERS)
@given(work=workloads(), data=st.data())
def test_fast_equals_reference(
    order: str, rule: str, starving: bool, work: Workload, data: st.DataObject
) -> None:
    """Start, backfilled and promised of every job, under both conventions of the clock."""
    threshold = data.draw(st.sampled_from(THRESHOLDS)) if starving else None
    orders = st.none() | st.sampled_from(tuple(ORDERS))
    backfill = data.draw(orders) if rule in BACKFILLING else None
    for events in EVENTS:
        check(work, Policy(order, rule, threshold=threshold, backfill=backfill, events=events))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("function", ["by_share", "by_width_then_wait"])
@given(work=workloads(), events=st.sampled_from(EVENTS), second=st.booleans())
def test_fast_equals_reference_with_a_function(
    function: str, rule: str, work: Workload, events: str, second: bool
) -> None:
    """A user's own order, as the first or the backfill order, sees the same queue in both."""
    order = f"tests.strategies:{function}"
    if second and rule in BACKFILLING:
        check(work, Policy("spf", rule, backfill=order, events=events))
    else:
        check(work, Policy(order, rule, threshold="12s", events=events))


@pytest.mark.parametrize("order", ["fcfs", "saf", "lxf", "wfp3"])
@pytest.mark.parametrize("rule", ["none", "aggressive", "easy", "depth(3)", "conservative"])
def test_fast_equals_reference_in_a_crowd(rule: str, order: str) -> None:
    """Queues of a hundred jobs, longer than any block that a kernel keeps of them."""
    few = rule in ("depth(3)", "conservative")
    for seed in range(2):
        check(crowd(seed, 70 if few else 200), Policy(order, rule, threshold="100s"))


@pytest.mark.parametrize("policy", PLANNED, ids=str)
@given(work=workloads())
def test_fast_equals_reference_where_a_plan_is_kept(policy: Policy, work: Workload) -> None:
    """The classical conservative backfilling, with each walk and clock."""
    check(work, policy)


@pytest.mark.parametrize("order", [*ORDERS, "tests.strategies:by_share"])
@given(work=workloads(), data=st.data())
def test_fast_equals_reference_where_a_plan_is_walked_by_the_queue(
    order: str, work: Workload, data: st.DataObject
) -> None:
    """Every order, a user's own among them, decides who is moved first and who starts first."""
    threshold = data.draw(st.none() | st.sampled_from(THRESHOLDS))
    for events in EVENTS:
        check(work, Policy(order, "planned", threshold=threshold, events=events, walk="queue"))


@pytest.mark.parametrize("policy", PLANNED, ids=str)
def test_fast_equals_reference_in_a_crowd_with_a_plan(policy: Policy) -> None:
    """Queues in which one early completion moves dozens of reservations."""
    for seed in range(2):
        check(crowd(seed, 60), policy)


ALONE = {
    "fcfs+planned,walk=arrival": (
        4,
        [(0, 0, 2, 3), (0, 1, 1, 2), (0, 4, 4, 3), (0, 1, 1, 2)],
        [0, 0, 3, 0],
    ),
    # At 1 the third goes to 1, the fourth to 6, before the second, and only then the second to 2.
    "spf+planned,walk=queue": (
        1,
        [(0, 1, 3, 1), (0, 3, 3, 1), (0, 1, 1, 1), (0, 2, 2, 1)],
        [0, 2, 1, 6],
    ),
}
"""Machines, jobs (submit, run, estimate, procs) and the starts: one is where nothing happens."""


def alone(policy: str) -> tuple[Workload, list[int]]:
    processors, rows, starts = ALONE[policy]
    submit, run, estimate, procs = zip(*rows, strict=True)
    work = Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, processors=processors
    )
    return work, starts


@pytest.mark.parametrize("policy", ALONE)
def test_a_reservation_is_an_event_of_its_own__reference(policy: str) -> None:
    """Every job of a schedule starts, also where nothing ends and nobody arrives."""
    work, starts = alone(policy)
    assert simulate_reference(work, policy).start.tolist() == starts


@pytest.mark.parametrize("policy", ALONE)
def test_a_reservation_is_an_event_of_its_own(policy: str) -> None:
    """What the reference does the compiled simulator does."""
    work, starts = alone(policy)
    assert simulate(work, policy).start.tolist() == starts


@pytest.mark.parametrize("simulator", [compiled, reference])
@given(work=workloads(), data=st.data())
def test_easy_is_depth_one(simulator: Simulator, work: Workload, data: st.DataObject) -> None:
    """One reservation is easy's; only that easy does not promise it."""
    order = data.draw(st.sampled_from(tuple(ORDERS)))
    options = {
        "threshold": data.draw(st.none() | st.sampled_from(THRESHOLDS)),
        "backfill": data.draw(st.none() | st.sampled_from(tuple(ORDERS))),
        "events": data.draw(st.sampled_from(EVENTS)),
    }
    one = simulator(work, Policy(order, "depth(1)", **options))
    easy = simulator(work, Policy(order, "easy", **options))
    assert easy.pop("promised") == [-1] * len(work)
    del one["promised"]
    assert one == easy


@pytest.mark.parametrize("simulator", [compiled, reference])
@given(work=workloads(), data=st.data())
def test_conservative_is_depth_of_all(
    simulator: Simulator, work: Workload, data: st.DataObject
) -> None:
    """As many reservations as jobs are conservative's, and so are the promises."""
    order = data.draw(st.sampled_from(tuple(ORDERS)))
    events = data.draw(st.sampled_from(EVENTS))
    depth = max(len(work), 1)
    deep = simulator(work, Policy(order, f"depth({depth})", events=events))
    assert deep == simulator(work, Policy(order, "conservative", events=events))


@pytest.mark.parametrize("simulator", [compiled, reference])
@given(work=workloads(exact=True).filter(lambda w: w.estimate.min(initial=1) > 0))
def test_planned_is_conservative_with_exact_estimates(simulator: Simulator, work: Workload) -> None:
    """Where nothing ends early no reservation moves, so making them anew changes nothing."""
    planned = simulator(work, Policy("fcfs", "planned"))
    assert planned == simulator(work, Policy("fcfs", "conservative"))


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="this is the run without the JIT")
def test_agreement_without_the_jit() -> None:
    """The same source gives the same integers when Python runs it."""
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "few"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    command += ["-k", "not crowd"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout.splitlines()[-1]

"""Rules over clusters: cases by hand, what always holds, and a grid of one cluster as a pool."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.errors import InputError
from core.policy.orders import ORDERS
from core.policy.policy import Policy
from core.policy.rules import Rule
from core.schedule import Schedule
from core.simulation.fair_start import fair_start_times
from core.simulation.grid import schedule_reserving
from core.simulation.promises import NO_PROMISE, promises
from core.simulation.simulate import simulate
from core.workload.workload import Workload
from tests.golden import read_log
from tests.strategies import RULES, crowd, grid_of, grid_policies, grid_workloads, workloads

PROMISING = ("depth(1)", "depth(2)", "depth(3)", "conservative")


def as_grid(work: Workload) -> Workload:
    return replace(work, platform=grid_of(work.processors))


def assert_sound(schedule: Schedule) -> None:
    """No job is wider than its cluster, and no cluster is ever over its size."""
    work = schedule.workload
    sizes = np.array(work.platform.clusters)
    assert (work.procs <= sizes[schedule.place]).all()
    assert (schedule.start >= work.submit).all()
    for c, size in enumerate(sizes):
        here = np.flatnonzero((schedule.place == c) & (work.run > 0))
        for instant in schedule.start[here]:
            runs = (schedule.start[here] <= instant) & (schedule.end[here] > instant)
            assert work.procs[here][runs].sum() <= size


def hand(clusters: tuple[int, ...], *jobs: tuple[int, ...]) -> Workload:
    """Build a workload of jobs (submit, estimate, processors, and run where that is less)."""
    return Workload.from_columns(
        submit=[job[0] for job in jobs],
        run=[job[3] if len(job) > 3 else job[1] for job in jobs],
        estimate=[job[1] for job in jobs],
        procs=[job[2] for job in jobs],
        platform=grid_of(*clusters),
    )


# The third job fits nowhere at 1 s. Its shadow is 3 s on the first cluster, 8 s on the second, so
# that one fourth and one fifth job may cross the first cluster only by 3 s.
NARROW_FIRST = hand((2, 4), (0, 8, 4), (0, 3, 1), (1, 5, 2), (1, 3, 1), (1, 2, 1))

# The third job is as wide as the second cluster, reserved there at 8 s with nothing to spare: the
# fourth may run on the first for as long as it likes, the fifth would end on the second at 9 s.
WIDE_HEAD = hand((2, 6), (0, 8, 4), (0, 3, 1), (1, 2, 6), (1, 10, 1), (1, 8, 2), (1, 7, 2))

# The first job ends on the second cluster at 2 s and not at 8 s: the third, reserved on the first
# at 5 s until then, starts there.
EARLY_END = hand((2, 4), (0, 8, 4, 2), (0, 5, 2), (1, 4, 2))


@pytest.mark.parametrize(
    ("work", "rule", "start", "place"),
    [
        (NARROW_FIRST, "none", [0, 0, 3, 8, 8], [1, 0, 0, 0, 0]),
        (NARROW_FIRST, "aggressive", [0, 0, 5, 1, 3], [1, 0, 0, 0, 0]),
        (NARROW_FIRST, "easy", [0, 0, 3, 8, 1], [1, 0, 0, 0, 0]),
        (NARROW_FIRST, "depth(2)", [0, 0, 3, 8, 1], [1, 0, 0, 0, 0]),
        (NARROW_FIRST, "conservative", [0, 0, 3, 8, 1], [1, 0, 0, 0, 0]),
        (WIDE_HEAD, "none", [0, 0, 8, 8, 10, 10], [1, 0, 1, 0, 1, 1]),
        (WIDE_HEAD, "aggressive", [0, 0, 15, 1, 1, 8], [1, 0, 1, 0, 1, 1]),
        (WIDE_HEAD, "easy", [0, 0, 8, 1, 10, 1], [1, 0, 1, 0, 1, 1]),
        (WIDE_HEAD, "depth(1)", [0, 0, 8, 1, 10, 1], [1, 0, 1, 0, 1, 1]),
        (WIDE_HEAD, "conservative", [0, 0, 8, 1, 10, 1], [1, 0, 1, 0, 1, 1]),
        (EARLY_END, "none", [0, 0, 2], [1, 0, 1]),
        (EARLY_END, "easy", [0, 0, 2], [1, 0, 1]),
        (EARLY_END, "conservative", [0, 0, 2], [1, 0, 1]),
    ],
)
def test_by_hand(work: Workload, rule: str, start: list[int], place: list[int]) -> None:
    """Starts and clusters, worked out on paper."""
    schedule = simulate(work, f"fcfs+{rule}")
    assert (schedule.start.tolist(), schedule.place.tolist()) == (start, place)


def test_promises_by_hand() -> None:
    """A job is promised the earliest start of any cluster, ties by declared order."""
    assert promises(EARLY_END, "fcfs+conservative").tolist() == [0, 0, 5]
    assert promises(NARROW_FIRST, "fcfs+conservative").tolist() == [0, 0, 3, 8, 1]
    assert promises(WIDE_HEAD, "fcfs+depth(1)").tolist() == [0, 0, 8, -1, -1, -1]


@given(workloads(), grid_policies())
def test_one_cluster__is_a_pool(work: Workload, policy: Policy) -> None:
    """Start for start, flag for flag, promise for promise."""
    alone, pool = simulate(as_grid(work), policy), simulate(work, policy)
    assert alone.start.tolist() == pool.start.tolist()
    assert alone.backfilled.tolist() == pool.backfilled.tolist()
    assert not alone.place.any()
    if policy.rule in PROMISING:
        assert promises(as_grid(work), policy).tolist() == promises(work, policy).tolist()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ["saf", "lxf,threshold=9s", "spf,threshold=20s"])
def test_one_cluster__is_a_pool_in_a_crowd(order: str, rule: str) -> None:
    """Queues of more than a block, in fixed and moving orders, with jobs that starve."""
    order, _, options = order.partition(",")
    policy = Policy.parse(f"{order}+{rule}" + (f",{options}" if options else ""))
    work = crowd(7, 400)
    alone, pool = simulate(as_grid(work), policy), simulate(work, policy)
    assert alone.digest() == pool.digest()
    assert (alone.backfilled == pool.backfilled).all()


@pytest.mark.parametrize(
    "policy", ["fcfs+none", "saf+aggressive", "spf+easy,threshold=3x", "fcfs+conservative"]
)
def test_one_cluster__is_a_pool_on_kth(traces: Path, policy: str) -> None:
    """A whole log, to the last bit."""
    work = read_log(traces, "KTH-SP2-1996-2.1-cln.swf.gz")
    alone, pool = simulate(as_grid(work), policy), simulate(work, policy)
    assert alone.digest() == pool.digest()
    assert (alone.backfilled == pool.backfilled).all()


@given(grid_workloads(), grid_policies())
def test_clusters_are_kept(work: Workload, policy: Policy) -> None:
    """Nobody is wider than the cluster, and no cluster is ever over its size."""
    assert_sound(simulate(work, policy))


@given(grid_workloads(), st.sampled_from(tuple(ORDERS)), st.sampled_from(PROMISING))
def test_promising__changes_no_start(work: Workload, order: str, rule: str) -> None:
    """Reservations behind the last job that may start are made for promises alone."""
    schedule = simulate(work, f"{order}+{rule}")
    start, _, place, promised = schedule_reserving(work, Policy(order, rule))
    assert start.tolist() == schedule.start.tolist()
    assert place.tolist() == schedule.place.tolist()
    assert ((promised >= work.submit) | (promised == NO_PROMISE)).all()
    if rule == "conservative":
        assert (promised != NO_PROMISE).all()


@given(grid_workloads(), st.sampled_from(tuple(ORDERS)))
def test_easy__is_depth_1(work: Workload, order: str) -> None:
    """The one reservation is that of the first waiting job, on clusters too.

    Not where an estimate is 0: such a job holds its cluster until the next pass and reserves
    nothing there, so that the next one is reserved there now, where easy looks for another.
    """
    assume((work.estimate > 0).all())
    easy, first = simulate(work, f"{order}+easy"), simulate(work, f"{order}+depth(1)")
    assert easy.start.tolist() == first.start.tolist()
    assert easy.place.tolist() == first.place.tolist()


def test_fair_starts__are_those_of_a_simulation_each() -> None:
    """There is no kernel for clusters: strict and by arrival, each job takes a simulation."""
    work = replace(crowd(3, 60), platform=grid_of(8, 16))
    fair = fair_start_times(work, "fcfs+easy", jobs=range(60))
    each = [simulate(work.take(slice(j + 1)), "fcfs+easy").start[j] for j in range(60)]
    assert fair.tolist() == each
    assert (simulate(work, "fcfs+easy").start != fair).any()


@pytest.mark.parametrize("rule", ["fcfs+none", "lxf+easy", "fcfs+conservative"])
def test_per_event__is_refused(rule: str) -> None:
    """The clock of the pyss family knows one pool."""
    with pytest.raises(InputError, match=r"events=per-event is for one pool"):
        simulate(NARROW_FIRST, f"{rule},events=per-event")


def test_a_function_for_a_rule__is_refused() -> None:
    """Starts do not say where jobs run."""
    with pytest.raises(InputError, match=r"does not know platforms of kind 'grid'"):
        simulate(NARROW_FIRST, "fcfs+tests.core.test_simulate_grid:as_submitted")
    with pytest.raises(InputError, match=r"returned starts alone; on platform 'grid'"):
        simulate(NARROW_FIRST, "fcfs+tests.core.test_simulate_grid:BROUGHT")


def as_submitted(workload: Workload, policy: Policy) -> np.ndarray:
    """Start every job at its submission."""
    return workload.submit


BROUGHT = Rule("brought", "at once", simulate=as_submitted, platforms=("pool", "grid"))

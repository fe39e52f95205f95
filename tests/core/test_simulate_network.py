"""Rules on a network: one cluster as a pool, links by hand, and what is refused."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.errors import InputError, Left
from core.platform.network import LONGEST_ON_LINKS, Network
from core.policy.policy import Policy
from core.schedule import Schedule
from core.simulation.network import isolated_starts
from core.simulation.simulate import simulate
from core.simulation.underway import Underway
from core.workload.workload import Workload
from tests.golden import read_log
from tests.strategies import crowd, workloads

ORDERS = ("fcfs", "lcfs", "spf", "saf", "laf")
"""Orders that stay as they are, with ties and without."""

ALIKE = (
    ("icsb(1)", "depth(1)"),
    ("icsb(3)", "depth(3)"),
    ("icsb(10)", "depth(10)"),
    ("isolated(2)", "depth(2)"),
    ("ics", "aggressive"),
)
"""Rules of a network, and what they are where it has one cluster."""


def network(*sizes: int, links: tuple[int, ...] = ()) -> Network:
    """Name clusters c0, c1 and so on."""
    return Network(sizes, [f"c{i}" for i in range(len(sizes))], links)


def assert_pool(work: Workload, order: str, rule: str, same: str) -> None:
    """One cluster is a pool: start for start, end for end, flag for flag."""
    here = simulate(replace(work, platform=network(work.processors)), f"{order}+{rule}")
    pool = simulate(work, f"{order}+{same}")
    assert here.start.tolist() == pool.start.tolist()
    assert here.end.tolist() == pool.end.tolist()
    assert here.backfilled.tolist() == pool.backfilled.tolist()
    assert here.segments is not None
    assert here.segments.procs.tolist() == work.procs.tolist()


@given(workloads(), st.sampled_from(ORDERS), st.sampled_from(ALIKE))
def test_one_cluster__is_a_pool(work: Workload, order: str, rules: tuple[str, str]) -> None:
    """In any order, with jobs that end at once and reservations without duration."""
    assume(work.estimate.max(initial=0) < LONGEST_ON_LINKS)
    assert_pool(work, order, *rules)


@pytest.mark.parametrize("rules", ALIKE)
@pytest.mark.parametrize("order", ["fcfs", "saf"])
def test_one_cluster__is_a_pool_in_a_crowd(order: str, rules: tuple[str, str]) -> None:
    """Queues of hundreds."""
    assert_pool(crowd(18, 300), order, *rules)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="minutes without the JIT")
def test_one_cluster__is_a_pool_on_kth(traces: Path) -> None:
    """A whole log."""
    work = read_log(traces, "KTH-SP2-1996-2.1-cln.swf.gz")
    assert_pool(work, "fcfs", "icsb(10)", "depth(10)")
    assert_pool(work, "fcfs", "isolated(10)", "depth(10)")
    assert_pool(work, "fcfs", "ics", "aggressive")


def drawn(seed: int, links: tuple[int, ...] = (), count: int = 400) -> Workload:
    """Draw jobs of three clusters, some wider than theirs, that keep the network busy."""
    draw = np.random.default_rng(seed)
    estimate = draw.integers(0, 60, count)
    return Workload.from_columns(
        submit=np.sort(draw.integers(0, count * 12, count)),
        run=np.where(draw.random(count) < 0.5, estimate, draw.integers(0, estimate + 1)),
        estimate=estimate,
        procs=draw.integers(1, 14, count),
        origin=draw.integers(0, 3, count),
        communication=draw.integers(0, 1001, count),
        bandwidth=draw.integers(0, 50, count),
        alltoall=draw.choice([0, 500, 1000], count),
        platform=network(8, 6, 4, links=links),
    )


@pytest.mark.parametrize("policy", ["fcfs+ics", "saf+ics,to=first", "fcfs+icsb(3)"])
@pytest.mark.parametrize("links", [(), (2**52, 2**52, 2**52)])
def test_links_without_limit__are_as_no_communication(links: tuple[int, ...], policy: str) -> None:
    """Start for start, end for end; some jobs are co-allocated."""
    work = drawn(3, links)
    silent = work.take(slice(None), bandwidth=np.zeros(len(work), np.int64))
    one, other = simulate(work, policy), simulate(silent, policy)
    assert one.start.tolist() == other.start.tolist()
    assert one.end.tolist() == other.end.tolist() == (one.start + work.run).tolist()
    assert one.segments is not None
    assert np.bincount(one.segments.job).max() > 1


def parts(schedule: Schedule) -> list[tuple[int, int, int]]:
    """Return job, place and processors of each segment."""
    segments = schedule.segments
    assert segments is not None
    columns = (segments.job.tolist(), segments.place.tolist(), segments.procs.tolist())
    return list(zip(*columns, strict=True))


def test_segments__are_of_every_job_and_in_order() -> None:
    """All processors of each job, by job, then by place; nobody over a cluster's size."""
    work = drawn(4, (250, 240, 250))
    schedule = simulate(work, "fcfs+icsb(2)")
    found = parts(schedule)
    assert found == sorted(found)
    assert schedule.taken.tolist() == work.procs.tolist()
    for place, size in enumerate(work.platform.sizes):
        rows = [(schedule.start[j], schedule.end[j], k) for j, c, k in found if c == place]
        for instant in {start for start, _, _ in rows}:
            assert sum(k for start, end, k in rows if start <= instant < end) <= size


def hand(sizes: tuple[int, ...], links: tuple[int, ...], *jobs: tuple[int, ...]) -> Workload:
    """Build jobs of communication alone (submit, estimate, processors, origin, bandwidth, run)."""
    return Workload.from_columns(
        submit=[job[0] for job in jobs],
        estimate=[job[1] for job in jobs],
        procs=[job[2] for job in jobs],
        origin=[job[3] if len(job) > 3 else 0 for job in jobs],
        bandwidth=[job[4] if len(job) > 4 else 0 for job in jobs],
        run=[job[5] if len(job) > 5 else job[1] for job in jobs],
        communication=[1000] * len(jobs),
        alltoall=[1000] * len(jobs),
        platform=network(*sizes, links=links),
    )


# Three processors on two clusters ask 10 of each link; both jobs want that of the middle one.
CROSSING = hand((2, 2, 2), (10, 10, 10), (0, 10, 3, 0, 10), (4, 3, 3, 1, 10))


def test_ends__slide_later_and_earlier() -> None:
    """From 4 s on both do half a second's work each second; at 10 s one is through."""
    schedule = simulate(CROSSING, "fcfs+ics,links=ignored")
    assert schedule.start.tolist() == [0, 4]
    assert schedule.end.tolist() == [13, 10]
    assert parts(schedule) == [(0, 0, 2), (0, 1, 1), (1, 1, 1), (1, 2, 2)]


def test_links_kept__make_the_second_wait() -> None:
    """The middle link has room for one."""
    schedule = simulate(CROSSING, "fcfs+ics")
    assert (schedule.start.tolist(), schedule.end.tolist()) == ([0, 10], [10, 13])


def test_predicted_ends__slide_with_the_others() -> None:
    """The last one is reserved when the first is predicted to end: at 16 s, then at 13 s again.

    It could not start at 6 s on its own cluster before that of the second job's end.
    """
    work = hand((2, 2, 2), (10, 10, 10), (0, 10, 3, 0, 10), (4, 3, 3, 1, 10), (5, 9, 2, 0))
    schedule = simulate(work, "fcfs+icsb(1),links=ignored")
    assert schedule.start.tolist() == [0, 4, 10]
    assert parts(schedule)[-1] == (2, 2, 2)


def test_job_that_ends_at_once__slows_nobody() -> None:
    """It starts on links that are full, and is gone in the same second."""
    work = hand((2, 2, 2), (10, 10, 10), (0, 10, 3, 0, 10), (4, 3, 3, 1, 10, 0), (6, 0, 3, 2, 10))
    schedule = simulate(work, "fcfs+ics,links=ignored")
    assert (schedule.start.tolist(), schedule.end.tolist()) == ([0, 4, 6], [10, 4, 6])


@pytest.mark.parametrize(("to", "place"), [("most", 2), ("least", 1), ("first", 0)])
def test_migration__goes_where_the_option_says(to: str, place: int) -> None:
    """Three clusters have room for two; the job's own has none."""
    work = hand((3, 2, 4, 1), (), (0, 9, 1, 3), (1, 9, 2, 3))
    assert parts(simulate(work, f"fcfs+ics,to={to}"))[1] == (1, place, 2)


def test_migration__does_not_wait_for_its_own_cluster() -> None:
    """A reservation at 9 s is given up for a start elsewhere."""
    work = hand((2, 2), (), (0, 9, 2), (1, 9, 2))
    schedule = simulate(work, "fcfs+icsb(10)")
    assert schedule.start.tolist() == [0, 1]
    assert simulate(work, "fcfs+isolated(10)").start.tolist() == [0, 9]


def test_reservations__are_not_delayed_by_others() -> None:
    """The wide job of the second cluster holds 5 s there; only a guest that ends by then comes."""
    work = hand((2, 2), (), (0, 5, 1, 1), (0, 20, 2, 0), (1, 9, 2, 1), (2, 4, 1, 0), (2, 3, 1, 0))
    assert simulate(work, "fcfs+icsb(1)").start.tolist() == [0, 0, 5, 14, 2]
    assert simulate(work, "fcfs+ics").start.tolist() == [0, 0, 8, 2, 5]


def test_unused_links__leave_migration() -> None:
    """Three processors are free on two clusters, and the job waits for one."""
    work = hand((2, 2), (), (0, 9, 1, 0), (1, 9, 2, 0), (2, 4, 1, 0), (3, 5, 2, 0))
    assert simulate(work, "fcfs+ics,links=unused").start.tolist() == [0, 1, 2, 9]


def test_backfilled__are_those_who_overtake_their_own() -> None:
    """A job of the other cluster overtakes nobody of its own."""
    work = hand((2, 2), (), (0, 9, 2, 0), (0, 9, 1, 1), (1, 5, 3, 0), (2, 3, 1, 0), (2, 3, 1, 1))
    schedule = simulate(work, "fcfs+ics")
    assert schedule.start.tolist()[:3] == [0, 0, 9]
    assert schedule.backfilled.tolist() == [False, False, False, True, False]


def test_isolated__refuses_what_is_wider_than_its_cluster() -> None:
    """With the job's number, its processors, and the cluster's name and size."""
    work = hand((2, 4), (), (0, 9, 2, 0), (0, 9, 3, 0))
    with pytest.raises(InputError, match="job 2 asks for 3 processors; .* 'c0', which has 2"):
        simulate(work, "fcfs+isolated(10)")


def test_jobs_that_nothing_can_hold__are_refused() -> None:
    """Wider than each cluster where links are not used; or for links in every split."""
    work = hand((2, 2), (9, 9), (0, 8, 3, 0, 10))
    with pytest.raises(InputError, match="job 1 asks for 3 processors; the widest cluster has 2"):
        simulate(work, "fcfs+ics,links=unused")
    with pytest.raises(InputError, match="no split of it asks every link"):
        simulate(work, "fcfs+icsb(10)")
    assert simulate(work, "fcfs+ics,links=ignored").end.tolist() == [9]


def test_isolated_starts__are_those_of_the_clusters_alone() -> None:
    """By the policy's order and depth; who is wider than its cluster is left out."""
    work = drawn(5)
    narrow = work.procs <= np.array(work.platform.sizes)[work.origin]
    fits = work.take(narrow)
    for order, rule, depth in (("fcfs", "icsb(2)", 2), ("saf", "ics", 10)):
        starts = isolated_starts(work, Policy.parse(f"{order}+{rule}"))
        assert (starts[~narrow] == -1).all()
        assert (
            starts[narrow].tolist() == simulate(fits, f"{order}+isolated({depth})").start.tolist()
        )


def test_leaving__is_heard() -> None:
    """A simulation that is to be left is."""
    with Underway() as under:
        under.leave()
        with pytest.raises(Left):
            simulate(drawn(6), "fcfs+ics")

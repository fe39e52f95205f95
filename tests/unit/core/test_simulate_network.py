"""Rules on a network: one cluster as a pool, links by hand, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from schedfarm.core.engine.cancel import Underway
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError, Left
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.network.simulation import isolated_starts
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload


def network(*sizes: int, links: tuple[int, ...] = ()) -> Network:
    """Name clusters c0, c1 and so on."""
    return Network(sizes, [f"c{i}" for i in range(len(sizes))], links)


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


def test_isolated__refuses_what_is_wider_than_its_cluster() -> None:
    """With the job's number, its processors, and the cluster's name and size."""
    work = hand((2, 4), (), (0, 9, 2, 0), (0, 9, 3, 0))
    with pytest.raises(InputError, match="job 2 requests 3 processors; .* 'c0', which has 2"):
        simulate(work, "fcfs+isolated(10)")


def test_jobs_that_nothing_can_hold__are_refused() -> None:
    """Wider than each cluster where links are not used; or for links in every split."""
    work = hand((2, 2), (9, 9), (0, 8, 3, 0, 10))
    with pytest.raises(InputError, match="job 1 requests 3 processors; the widest cluster has 2"):
        simulate(work, "fcfs+ics,links=unused")
    with pytest.raises(InputError, match="no split of it keeps every link"):
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

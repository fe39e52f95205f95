"""The reference of nodes, by hand where that can be done and by enumeration where not."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations, product
from random import Random

import numpy as np
import pytest
from hypothesis import given

from core.platform.nodes import Nodes
from core.reference.job import Job
from core.reference.rooms import Rooms
from core.reference.selection import best_choice, greedy_choice, selected
from core.reference.simulation import promises_reference, simulate_reference
from core.schedule import Schedule, State
from core.workload.molding import molded
from core.workload.workload import Workload
from tests.strategies import workloads


def on_nodes(platform: Nodes, *rows: dict[str, int], epoch: int = -1) -> Workload:
    """Build jobs of 1 processor for 10 s from what is said of each beside."""
    usual = {"submit": 0, "estimate": 10, "procs": 1, "weight": 1, "properties": -1}
    usual |= {"reserved": -1, "serial": -1}
    full = [usual | row for row in rows]
    columns = {name: [row[name] for row in full] for name in usual}
    columns["run"] = [row.get("run", row["estimate"]) for row in full]
    return Workload.from_columns(**columns, platform=platform, epoch=epoch)  # type: ignore[arg-type]


def nodes(*capacities: int, down: tuple[tuple[str, int, int], ...] = (), **sets: str) -> Nodes:
    """Name nodes a, b and so on; a set is a word of their letters."""
    names = "abcdefgh"[: len(capacities)]
    return Nodes(capacities, list(names), {k: list(v) for k, v in sets.items()}, down)


def where(schedule: Schedule) -> list[str]:
    """Return the nodes of each job as a word."""
    parts = schedule.segments
    assert parts is not None
    words = [""] * len(schedule.workload)
    for job, place in zip(parts.job.tolist(), parts.place.tolist(), strict=True):
        words[job] += schedule.workload.platform.places[place]
    return words


# The selection.


def brute_force(jobs: list[Job], worth: list[int], rooms: Rooms, room: list[int]) -> list[Job]:
    """Try every set of jobs, and for each every nodes of each job."""
    best: tuple[int, tuple[bool, ...]] = (-1, ())
    for taken in product((True, False), repeat=len(jobs)):
        chosen = [job for job, is_taken in zip(jobs, taken, strict=True) if is_taken]
        value = sum(w for w, is_taken in zip(worth, taken, strict=True) if is_taken)
        if (value, taken) > best and can_run(chosen, rooms, room):
            best = value, taken
    return [job for job, is_taken in zip(jobs, best[1], strict=True) if is_taken]


def can_run(jobs: list[Job], rooms: Rooms, room: list[int]) -> bool:
    if not jobs:
        return True
    first, *rest = jobs
    for picked in combinations(rooms.allowed(first), first.width):
        left = [r - first.weight * (node in picked) for node, r in enumerate(room)]
        if min(left) >= 0 and can_run(rest, rooms, left):
            return True
    return False


def draw_selection(random: Random) -> tuple[list[Job], list[int], Rooms, list[int]]:
    capacities = [random.randint(1, 3) for _ in range(random.randint(1, 4))]
    sets = {
        f"s{i}": random.sample("abcd"[: len(capacities)], random.randint(1, len(capacities)))
        for i in range(random.randint(0, 2))
    }
    rooms = Rooms(Nodes(capacities, list("abcd"[: len(capacities)]), sets))
    jobs = []
    for i in range(random.randint(1, 5)):
        weight = random.choice([1, 1, 2, 3])
        procs = weight * random.randint(1, len(capacities))
        properties = random.randint(-1, len(sets) - 1)
        jobs.append(Job(i, i, 0, 5, 5, procs, -1, weight=weight, properties=properties))
    room = [random.randint(0, capacity) for capacity in capacities]
    return jobs, [random.randint(1, 4) for _ in jobs], rooms, room


def test_the_best_choice_is_that_of_all_sets() -> None:
    """Of as worthy sets that with the first candidate; the greedy choice is never better."""
    random, better = Random(1), 0
    for _ in range(1500):
        jobs, worth, rooms, room = draw_selection(random)
        value = dict(zip(jobs, worth, strict=True))
        best = best_choice(jobs, worth, rooms, room, 10**9)
        assert best == brute_force(jobs, worth, rooms, room)
        greedy = greedy_choice(jobs, worth, rooms, room)
        assert best is not None
        assert can_run(greedy, rooms, room)
        lost = sum(value[job] for job in best) - sum(value[job] for job in greedy)
        assert lost >= 0
        better += lost > 0
    assert better > 50


def test_ways_are_counted() -> None:
    """The first job takes one of two classes, the second from each of two states one of as many."""
    rooms = Rooms(nodes(1, 2, 2))
    jobs = [Job(i, i, 0, 5, 5, procs, -1) for i, procs in enumerate((1, 1, 3, 3))]
    # One job: left out, a, or b or c. Then beside being left out from each of these 3 states: 2
    # (none is taken), 1 (a is), 2 (b is).
    assert best_choice(jobs[:1], [1], rooms, [1, 2, 2], 2) is None
    assert best_choice(jobs[:1], [1], rooms, [1, 2, 2], 3) == jobs[:1]
    assert best_choice(jobs[:2], [1, 1], rooms, [1, 2, 2], 10) is None
    assert best_choice(jobs[:2], [1, 1], rooms, [1, 2, 2], 11) == jobs[:2]
    # All fit greedily: nothing is counted.
    assert selected(jobs[:2], [1, 1], rooms, [1, 2, 2], 0) == (jobs[:2], False)
    assert selected(jobs, [1] * 4, rooms, [1, 2, 2], 0) == (jobs[:2], True)


# Nodes.


def test_a_job_takes_the_nodes_with_the_least_room() -> None:
    """Of those the ones in the fewest sets, of these the first."""
    platform = nodes(2, 1, 1, 1, one="bc", other="b")
    done = simulate_reference(on_nodes(platform, {}, {}, {}, {"procs": 2}), "fcfs+conservative")
    assert done.start.tolist() == [0, 0, 0, 10]
    assert where(done) == ["d", "c", "b", "cd"]


def test_a_reservation_in_advance_starts_on_time_and_another_is_refused() -> None:
    """The second asks for what the first has; the job that waits has no right yet."""
    work = on_nodes(
        nodes(2, 2),
        {"estimate": 30, "procs": 2, "weight": 2},
        {"submit": 1, "procs": 4, "weight": 2, "reserved": 39},
        {"submit": 2, "reserved": 40},
        {"submit": 3, "estimate": 20, "procs": 4, "weight": 2},
        {"submit": 4, "reserved": 25, "procs": 2, "weight": 2},
    )
    done = simulate_reference(work, "fcfs+conservative")
    assert done.start.tolist() == [0, 40, -1, 50, 29]
    assert done.end.tolist() == [30, 50, -1, 70, 39]
    assert [State(code).name for code in done.state] == ["DONE", "DONE", "REFUSED", "DONE", "DONE"]
    assert where(done) == ["a", "ab", "", "ab", "b"]
    assert promises_reference(work, "fcfs+conservative").tolist() == [0, 40, -1, 50, 29]


def test_a_node_that_goes_down_takes_its_jobs_along() -> None:
    """A job that ends then has ended; a reservation whose node is down when it is due is lost."""
    platform = nodes(1, 1, down=(("a", 10, 25), ("b", 10, 12)))
    work = on_nodes(
        platform,
        {"estimate": 20, "run": 15},
        {"estimate": 20, "run": 10},
        {"submit": 1, "reserved": 21, "procs": 2, "estimate": 3},
        {"submit": 2, "estimate": 12},
    )
    done = simulate_reference(work, "fcfs+conservative")
    assert done.start.tolist() == [0, 0, 22, 22]
    assert done.end.tolist() == [10, 10, 22, 34]
    names = [State(code).name for code in done.state]
    assert names == ["LOST", "DONE", "LOST", "DONE"]


def test_a_job_of_no_length_is_in_the_way_until_the_next_pass() -> None:
    """Both are planned for now on the one node; the second has it when the first has ended."""
    work = on_nodes(nodes(1), {"estimate": 0}, {}, {"submit": 3, "estimate": 0})
    done = simulate_reference(work, "fcfs+conservative")
    assert done.start.tolist() == [0, 0, 10]


@given(workloads())
def test_nodes_of_one_processor_are_a_pool(work: Workload) -> None:
    """Only their number matters, but where a job of no length is in the way of a single node."""
    work = replace(work, estimate=np.maximum(work.estimate, 1))
    platform = Nodes([1] * work.processors, [f"n{i}" for i in range(work.processors)])
    there = simulate_reference(replace(work, platform=platform), "saf+conservative,threshold=12s")
    here = simulate_reference(work, "saf+conservative,threshold=12s")
    np.testing.assert_array_equal(there.start, here.start)
    np.testing.assert_array_equal(there.backfilled, here.backfilled)


# Shelves.


def test_a_moldable_job_lasts_as_amdahl_says() -> None:
    """The reference's formula is the house's, which is written apart."""
    for serial, asked, most in product((0, 1, 250_000, 999_999, 1_000_000), (1, 3, 7), (1, 9)):
        job = Job(0, 1, 0, 1, 1, asked, -1, serial=serial)
        for seconds in (0, 1, 100, 86_399):
            there = [job.on(seconds, k) for k in range(1, most + 1)]
            assert there == molded(seconds, asked, serial, most).tolist()


def test_a_reset_fills_the_shortest_shelf_with_most_jobs() -> None:
    """At 60 s two short jobs go before the long one that came first."""
    work = on_nodes(
        nodes(1, 1),
        {"estimate": 70, "procs": 2},
        {"submit": 1, "estimate": 40, "procs": 2},
        {"submit": 2, "estimate": 10},
        {"submit": 3, "estimate": 9},
    )
    done = simulate_reference(work, "fcfs+demt,shelf=10s,resets=1m")
    assert done.start.tolist() == [0, 80, 70, 70]
    assert done.counts == {"selections": 3, "given_up": 0}
    late = simulate_reference(work, "fcfs+demt,shelf=80s,resets=2m")
    assert late.start.tolist() == [0, 70, 110, 110]


@pytest.mark.parametrize(
    ("epoch", "utc", "begins"), [(-1, "50s", 60), (0, "0s", 60), (7, "8s", 45)]
)
def test_resets_are_at_local_times(epoch: int, utc: str, begins: int) -> None:
    """Where a log does not say when it began, instant 0 is local midnight."""
    rows = [{"estimate": 90, "run": 45}, {"submit": 1, "estimate": 40}, {"submit": 2}]
    work = on_nodes(nodes(1), *rows, epoch=epoch)
    done = simulate_reference(work, f"fcfs+demt,shelf=10s,resets=1m,utc={utc}")
    # The first ends at 45 s; only a reset by then puts the short job first.
    assert done.start.tolist() == ([0, 45, 85] if begins > 45 else [0, 55, 45])


def test_moldable_jobs_have_the_fewest_nodes_that_make_the_shelf() -> None:
    """100 s on four nodes are 200 s on two: the shelf is 200 s long."""
    work = on_nodes(nodes(1, 1, 1, 1), {"estimate": 100, "procs": 4, "serial": 0})
    done = simulate_reference(work, "fcfs+demt,shelf=200s,resets=1m")
    assert (where(done), done.end.tolist()) == (["ab"], [200])
    assert where(simulate_reference(work, "fcfs+conservative")) == ["abcd"]


def test_candidates_by_any_order_are_the_same_for_any_worth() -> None:
    """Whoever can all run together is on one shelf."""
    rows = [{"estimate": 50}, *({"submit": 1, "estimate": e} for e in (8, 9, 10))]
    for places in permutations(range(1, 4)):
        work = on_nodes(nodes(3), rows[0] | {"procs": 3, "weight": 3}, *(rows[i] for i in places))
        for worth in ("jobs", "procs", "area"):
            policy = f"saf+demt,shelf=10s,resets=20s,worth={worth}"
            assert simulate_reference(work, policy).start.tolist() == [0, 50, 50, 50]

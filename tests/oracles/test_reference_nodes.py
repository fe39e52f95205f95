"""The reference of nodes, by hand where that can be done and by enumeration where not."""

from __future__ import annotations

from itertools import combinations, permutations, product
from random import Random

from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.rooms import Rooms
from schedfarm.core.reference.selection import best_choice, greedy_choice, selected
from schedfarm.core.reference.simulation import simulate_reference
from schedfarm.core.workload.molding import molded
from schedfarm.core.workload.workload import Workload


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


# Shelves.


def test_a_moldable_job_lasts_as_amdahl_says() -> None:
    """The reference's formula is the house's, which is written apart."""
    for serial, asked, most in product((0, 1, 250_000, 999_999, 1_000_000), (1, 3, 7), (1, 9)):
        job = Job(0, 1, 0, 1, 1, asked, -1, serial=serial)
        for seconds in (0, 1, 100, 86_399):
            there = [job.on(seconds, k) for k in range(1, most + 1)]
            assert there == molded(seconds, asked, serial, most).tolist()


def test_candidates_by_any_order_are_the_same_for_any_worth() -> None:
    """Whoever can all run together is on one shelf."""
    rows = [{"estimate": 50}, *({"submit": 1, "estimate": e} for e in (8, 9, 10))]
    for places in permutations(range(1, 4)):
        work = on_nodes(nodes(3), rows[0] | {"procs": 3, "weight": 3}, *(rows[i] for i in places))
        for worth in ("jobs", "procs", "area"):
            policy = f"saf+demt,shelf=10s,resets=20s,worth={worth}"
            assert simulate_reference(work, policy).start.tolist() == [0, 50, 50, 50]

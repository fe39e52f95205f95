"""The reference of nodes, by hand where that can be done and by enumeration where not."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations, product
from random import Random

from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.nodes.reference.plan import Holding, Plan
from schedfarm.core.machines.nodes.reference.selection import best_choice, greedy_choice, selected
from schedfarm.core.machines.nodes.reference.timetable import Inventory
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.loop import simulate_reference
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


def brute_force(
    jobs: list[Job], worth: list[int], inventory: Inventory, room: list[int]
) -> list[Job]:
    """Try every set of jobs, and for each every nodes of each job."""
    best: tuple[int, tuple[bool, ...]] = (-1, ())
    for taken in product((True, False), repeat=len(jobs)):
        chosen = [job for job, is_taken in zip(jobs, taken, strict=True) if is_taken]
        value = sum(w for w, is_taken in zip(worth, taken, strict=True) if is_taken)
        if (value, taken) > best and can_run(chosen, inventory, room):
            best = value, taken
    return [job for job, is_taken in zip(jobs, best[1], strict=True) if is_taken]


def can_run(jobs: list[Job], inventory: Inventory, room: list[int]) -> bool:
    if not jobs:
        return True
    first, *rest = jobs
    for picked in combinations(inventory.allowed(first), first.width):
        left = [r - first.weight * (node in picked) for node, r in enumerate(room)]
        if min(left) >= 0 and can_run(rest, inventory, left):
            return True
    return False


def draw_selection(random: Random) -> tuple[list[Job], list[int], Inventory, list[int]]:
    capacities = [random.randint(1, 3) for _ in range(random.randint(1, 4))]
    sets = {
        f"s{i}": random.sample("abcd"[: len(capacities)], random.randint(1, len(capacities)))
        for i in range(random.randint(0, 2))
    }
    inventory = Inventory(Nodes(capacities, list("abcd"[: len(capacities)]), sets))
    jobs = []
    for i in range(random.randint(1, 5)):
        weight = random.choice([1, 1, 2, 3])
        procs = weight * random.randint(1, len(capacities))
        properties = random.randint(-1, len(sets) - 1)
        jobs.append(Job(i, i, 0, 5, 5, procs, -1, weight=weight, properties=properties))
    room = [random.randint(0, capacity) for capacity in capacities]
    return jobs, [random.randint(1, 4) for _ in jobs], inventory, room


def test_the_best_choice_is_that_of_all_sets() -> None:
    """Of as worthy sets that with the first candidate; the greedy choice is never better."""
    random, better = Random(1), 0
    for _ in range(1500):
        jobs, worth, inventory, room = draw_selection(random)
        value = dict(zip(jobs, worth, strict=True))
        best = best_choice(jobs, worth, inventory, room, 10**9)
        assert best == brute_force(jobs, worth, inventory, room)
        greedy = greedy_choice(jobs, worth, inventory, room)
        assert best is not None
        assert can_run(greedy, inventory, room)
        lost = sum(value[job] for job in best) - sum(value[job] for job in greedy)
        assert lost >= 0
        better += lost > 0
    assert better > 50


def test_ways_are_counted() -> None:
    """The first job takes one of two classes, the second from each of two states one of as many."""
    inventory = Inventory(nodes(1, 2, 2))
    jobs = [Job(i, i, 0, 5, 5, procs, -1) for i, procs in enumerate((1, 1, 3, 3))]
    # One job: left out, a, or b or c. Then beside being left out from each of these 3 states: 2
    # (none is taken), 1 (a is), 2 (b is).
    assert best_choice(jobs[:1], [1], inventory, [1, 2, 2], 2) is None
    assert best_choice(jobs[:1], [1], inventory, [1, 2, 2], 3) == jobs[:1]
    assert best_choice(jobs[:2], [1, 1], inventory, [1, 2, 2], 10) is None
    assert best_choice(jobs[:2], [1, 1], inventory, [1, 2, 2], 11) == jobs[:2]
    # All fit greedily: nothing is counted.
    assert selected(jobs[:2], [1, 1], inventory, [1, 2, 2], 0) == (jobs[:2], False)
    assert selected(jobs, [1] * 4, inventory, [1, 2, 2], 0) == (jobs[:2], True)


# Plans.

Got = dict[Job, tuple[int, tuple[int, ...]]]
"""Start and nodes of each job of a plan."""


def carried_out(
    plan: list[tuple[int, Job]], inventory: Inventory, held: list[Holding]
) -> Got | None:
    """Give each job of a plan its nodes in order of start, second by second; None if one has none.

    A job with estimate 0 that does not find them, since others came after it, gets nothing.
    """
    taken, got = list(held), Got()
    for start, job in sorted(plan, key=lambda entry: entry[0]):
        room = [
            min(
                capacity
                - sum(one.weight for one in taken if node in one.nodes and one.begin <= t < one.end)
                for t in range(start, start + max(job.lasts, 1))
            )
            for node, capacity in enumerate(inventory.capacities)
        ]
        up = [0 if node in inventory.down else left for node, left in enumerate(room)]
        nodes = inventory.picked(job, job.width, up)
        if nodes is None and job.lasts > 0:
            return None
        if nodes is not None:
            got[job] = start, nodes
            taken.append(Holding(start, start + job.lasts, nodes, job.weight))
    return got


def with_job(
    plan: list[tuple[int, Job]], job: Job, inventory: Inventory, held: list[Holding]
) -> list[tuple[int, Job]]:
    """Put a job in at the first instant at which all can be carried out."""
    ends = {one.end for one in held} | {start + other.lasts for start, other in plan}
    for instant in sorted({0} | ends):
        longer = [*plan, (instant, job)]
        if job in (carried_out(longer, inventory, held) or {}):
            return longer
    return plan


def test_plans_are_those_of_the_definition() -> None:
    """Starts and nodes are those of a plan that is carried out from the beginning each time."""
    random, unplanned, without_nodes = Random(1), 0, 0
    for _ in range(600):
        jobs, _, inventory, _ = draw_selection(random)
        jobs += draw_selection(random)[0]
        inventory.down = {*random.sample([*inventory.everywhere], random.choice([0, 0, 0, 1]))}
        jobs = [
            replace(job, position=i, estimate=random.choice([0, 1, 2, 3, 5, 8]), properties=-1)
            for i, job in enumerate(jobs)
            if job.width <= len(inventory.capacities)
        ]
        held = [
            Holding(random.choice([0, 0, 4]), random.randint(1, 9), (node,), 1)
            for node in inventory.everywhere
            if random.random() < 0.5
        ]
        ours, definition = Plan(0, inventory, held), list[tuple[int, Job]]()
        for job in jobs:
            put = ours.put(job)
            longer = with_job(definition, job, inventory, held)
            unplanned += put is None
            assert (put is None) == (longer == definition)
            definition = longer
        got = carried_out(definition, inventory, held)
        found = {entry.job: (entry.start, entry.nodes) for entry in ours.entries}
        assert got == {job: there for job, there in found.items() if there[1]}
        without_nodes += len(found) - len(got)
    assert min(unplanned, without_nodes) > 10


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

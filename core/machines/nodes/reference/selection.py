"""Selection of jobs for a shelf: the set of greatest worth that can run at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from schedfarm.core.machines.nodes.reference.timetable import Inventory
from schedfarm.core.reference.job import Job

Class = tuple[tuple[int, ...], int]
"""Class of nodes: their sets, and their equal number of free processors."""

State = frozenset[tuple[Class, int]]
"""Number of nodes in each class."""


def selected(
    jobs: list[Job], worth: list[int], nodes: Inventory, free: list[int], budget: int
) -> tuple[list[Job], bool]:
    """Return the jobs for a shelf, in queue order, and whether the search was abandoned.

    The candidates are in queue order, each with its intended number of nodes; `free` has the
    available processors of each node. The search is abandoned after `budget` ways.
    """
    greedy = greedy_choice(jobs, worth, nodes, free)
    if len(greedy) == len(jobs):
        return jobs, False
    best = best_choice(jobs, worth, nodes, free, budget)
    return (greedy, True) if best is None else (best, False)


def greedy_choice(
    jobs: list[Job], worth: list[int], nodes: Inventory, free: list[int]
) -> list[Job]:
    """Return the jobs that find nodes one after the other, by worth per processor."""
    value = {job: Fraction(w, job.weight * job.width) for job, w in zip(jobs, worth, strict=True)}
    left, taken = list(free), []
    for job in sorted(jobs, key=lambda job: -value[job]):
        found = nodes.picked(job, job.width, left)
        if found is not None:
            taken.append(job)
            for node in found:
                left[node] -= job.weight
    return [job for job in jobs if job in taken]


def best_choice(
    jobs: list[Job], worth: list[int], nodes: Inventory, free: list[int], budget: int
) -> list[Job] | None:
    """Return the first set of greatest worth; None if the search needs too many ways.

    Each state stores the best set of jobs so far. Of two sets that leave the same nodes, the set of
    greater worth is better; with equal worth, the set with the first job.
    """
    first = frozenset(Counter((nodes.in_sets(i), free[i]) for i in nodes.everywhere).items())
    best: dict[State, tuple[int, tuple[bool, ...]]] = {first: (0, ())}
    ways = 0
    for job, gain in zip(jobs, worth, strict=True):
        following: dict[State, tuple[int, tuple[bool, ...]]] = {}
        for state, (sum_, taken) in best.items():
            options = [(state, (sum_, (*taken, False)))]
            for after in ways_to_take(state, job):
                options.append((after, (sum_ + gain, (*taken, True))))
            ways += len(options)
            for after, option in options:
                following[after] = max(following.get(after, option), option)
            if ways > budget:
                return None
        best = following
    _, taken = max(best.values())
    return [job for job, is_taken in zip(jobs, taken, strict=True) if is_taken]


def ways_to_take(state: State, job: Job) -> Iterator[State]:
    """Return the states that remain after each way to take a job's nodes from the classes."""
    classes = sorted(kind for kind, _ in state if _is_for(kind, job))
    for counts in _distributions(job.width, [dict(state)[kind] for kind in classes]):
        left = Counter(dict(state))
        for (sets, free), count in zip(classes, counts, strict=True):
            left[sets, free] -= count
            left[sets, free - job.weight] += count
        yield frozenset((kind, count) for kind, count in left.items() if count)


def _is_for(kind: Class, job: Job) -> bool:
    sets, free = kind
    return free >= job.weight and (job.properties < 0 or job.properties in sets)


def _distributions(total: int, most: list[int]) -> Iterator[tuple[int, ...]]:
    """Return every way to split a number into parts with given upper bounds."""
    if not most:
        if total == 0:
            yield ()
        return
    for count in range(min(total, most[0]) + 1):
        for others in _distributions(total - count, most[1:]):
            yield (count, *others)

"""Which jobs go onto a shelf: the set of greatest worth that can run at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from schedfarm.core.reference.job import Job
from schedfarm.core.reference.rooms import Rooms

Class = tuple[tuple[int, ...], int]
"""Nodes that are in the same sets and have the same room: those sets, and the room."""

State = frozenset[tuple[Class, int]]
"""How many nodes are in each class."""


def selected(
    jobs: list[Job], worth: list[int], rooms: Rooms, room: list[int], budget: int
) -> tuple[list[Job], bool]:
    """Return the jobs that go onto a shelf, in queue order, and whether the search was given up.

    Parameters
    ----------
    jobs : list of Job
        The candidates in queue order, each with as many nodes as it is to have.
    worth : list of int
        What each is worth.
    rooms : Rooms
        The nodes.
    room : list of int
        Processors that each node has to give.
    budget : int
        Ways after which the search is given up.
    """
    greedy = greedy_choice(jobs, worth, rooms, room)
    if len(greedy) == len(jobs):
        return jobs, False
    best = best_choice(jobs, worth, rooms, room, budget)
    return (greedy, True) if best is None else (best, False)


def greedy_choice(jobs: list[Job], worth: list[int], rooms: Rooms, room: list[int]) -> list[Job]:
    """Return those that find their nodes one after the other, the worthiest by processor first."""
    value = {job: Fraction(w, job.weight * job.width) for job, w in zip(jobs, worth, strict=True)}
    left, taken = list(room), []
    for job in sorted(jobs, key=lambda job: -value[job]):
        nodes = rooms.picked(job, job.width, left)
        if nodes is not None:
            taken.append(job)
            for node in nodes:
                left[node] -= job.weight
    return [job for job in jobs if job in taken]


def best_choice(
    jobs: list[Job], worth: list[int], rooms: Rooms, room: list[int], budget: int
) -> list[Job] | None:
    """Return the set of greatest worth, of several the first; None if that takes too many ways.

    Which of the jobs so far are taken is kept with every state; of two sets that leave the same
    nodes the one of greater worth is better, of as worthy ones that with the first job.
    """
    first = frozenset(Counter((rooms.in_sets(i), room[i]) for i in rooms.everywhere).items())
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
    """Return what each way to take a job's nodes from the classes leaves."""
    classes = sorted(kind for kind, _ in state if _is_for(kind, job))
    for counts in _shares(job.width, [dict(state)[kind] for kind in classes]):
        left = Counter(dict(state))
        for (sets, room), count in zip(classes, counts, strict=True):
            left[sets, room] -= count
            left[sets, room - job.weight] += count
        yield frozenset((kind, count) for kind, count in left.items() if count)


def _is_for(kind: Class, job: Job) -> bool:
    sets, room = kind
    return room >= job.weight and (job.properties < 0 or job.properties in sets)


def _shares(total: int, most: list[int]) -> Iterator[tuple[int, ...]]:
    """Return every way to share out a number, no share above its most."""
    if not most:
        if total == 0:
            yield ()
        return
    for count in range(min(total, most[0]) + 1):
        for others in _shares(total - count, most[1:]):
            yield (count, *others)

"""Which candidates a shelf takes: the auditor's own search, from the last candidate backwards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.machine_of_nodes import Asks

Counts = tuple[int, ...]
"""How many nodes are in each class."""


def choice(
    asks: Asks, jobs: list[int], worth: dict[int, int], room: Int64, budget: int
) -> list[int]:
    """Return the candidates that a shelf takes, in the order in which they are given."""
    greedy = _one_by_one(asks, jobs, worth, room)
    if len(greedy) == len(jobs):
        return jobs
    best = _Search(asks, room).best(jobs, worth, budget)
    return greedy if best is None else best


def _one_by_one(asks: Asks, jobs: list[int], worth: dict[int, int], room: Int64) -> list[int]:
    """Take whoever still finds nodes, most worth by processor first."""

    def before(one: int, other: int) -> int:
        size = {job: asks.width[job] * asks.weight[job] for job in (one, other)}
        difference: int = worth[other] * size[one] - worth[one] * size[other]
        return difference

    left, taken = room.copy(), set[int]()
    for job in sorted(jobs, key=cmp_to_key(before)):
        nodes = asks.picks(job, left)
        if nodes is not None:
            left[list(nodes)] -= asks.weight[job]
            taken.add(job)
    return [job for job in jobs if job in taken]


class _Search:
    """Search all states of the classes of nodes: of a kind, which no job tells apart, and room."""

    def __init__(self, asks: Asks, room: Int64) -> None:
        self.asks = asks
        members = asks.platform.members.T
        kinds, kind = np.unique(members, axis=0, return_inverse=True)
        kind = kind.reshape(-1)
        # Class k * levels + r: nodes of kind k with room r.
        self.levels = int(room.max(initial=0)) + 1
        counts = np.zeros(len(kinds) * self.levels, np.int64)
        np.add.at(counts, kind * self.levels + room, 1)
        self.first: Counts = tuple(counts.tolist())
        self.example = [int(np.argmax(kind == k)) for k in range(len(kinds))]

    def best(self, jobs: list[int], worth: dict[int, int], budget: int) -> list[int] | None:
        """Return the set of greatest worth, of such the one with the first jobs; or give up."""
        layers: list[dict[Counts, list[Counts]]] = []
        states: set[Counts] = {self.first}
        counted = 0
        for job in jobs:
            layer: dict[Counts, list[Counts]] = {}
            for state in states:
                layer[state] = []
                for after in self._after(state, job):
                    layer[state].append(after)
                    if counted + len(layer[state]) >= budget:
                        return None
                counted += 1 + len(layer[state])
                if counted > budget:
                    return None
            layers.append(layer)
            states = {*states, *(after for afters in layer.values() for after in afters)}
        return self._walk(jobs, worth, layers)

    def _walk(
        self, jobs: list[int], worth: dict[int, int], layers: list[dict[Counts, list[Counts]]]
    ) -> list[int]:
        """Value every state by what can be gained from it on, then walk from the first."""
        values: list[dict[Counts, int]] = []
        beyond: dict[Counts, int] = {}
        for job, layer in zip(reversed(jobs), reversed(layers), strict=True):
            values.append(beyond)
            beyond = {
                state: max(
                    [beyond.get(state, 0)] + [beyond.get(after, 0) + worth[job] for after in afters]
                )
                for state, afters in layer.items()
            }
        return self._taken(jobs, worth, layers, [beyond, *reversed(values)])

    def _taken(
        self,
        jobs: list[int],
        worth: dict[int, int],
        layers: list[dict[Counts, list[Counts]]],
        values: list[dict[Counts, int]],
    ) -> list[int]:
        # All states of equal value that the jobs taken so far can leave: which jobs can follow
        # may depend on how these took their nodes.
        now, taken = {self.first}, []
        for i, job in enumerate(jobs):
            aim = max(values[i][state] for state in now)
            good = [state for state in now if values[i][state] == aim]
            beyond = values[i + 1]
            following = {
                after
                for state in good
                for after in layers[i][state]
                if beyond.get(after, 0) + worth[job] == aim
            }
            if following:
                taken.append(job)
            now = following or {state for state in good if beyond.get(state, 0) == aim}
        return taken

    def _after(self, state: Counts, job: int) -> Iterator[Counts]:
        """Return every state that a job leaves which takes its nodes."""
        asks, levels = self.asks, self.levels
        weight = asks.weight[job]
        from_ = [
            k * levels + r
            for k, node in enumerate(self.example)
            if asks.allows(job, node)
            for r in range(weight, levels)
            if state[k * levels + r]
        ]

        def spread(left: int, i: int, made: list[int]) -> Iterator[Counts]:
            if left == 0:
                yield tuple(made)
            elif i < len(from_):
                # What was put into a class by the job itself is no node that it could take.
                for count in range(min(left, state[from_[i]]) + 1):
                    changed = made.copy()
                    changed[from_[i]] -= count
                    changed[from_[i] - weight] += count
                    yield from spread(left - count, i + 1, changed)

        yield from spread(asks.width[job], 0, list(state))

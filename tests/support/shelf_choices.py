"""Random shelves of a few nodes: all subsets of the candidates, and the search held to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, product

import numpy as np

from schedfarm.core.machines.nodes.selection import Wish, select

PLENTY = 10**6


class Instance:
    """A few nodes with sets, and a few candidates, in plain Python."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        nodes, sets, count = draw.integers(1, 6), draw.integers(0, 3), draw.integers(1, 7)
        self.members = np.concatenate(
            (np.ones((1, nodes), np.bool_), draw.random((sets, nodes)) < 0.6)
        )
        self.room = draw.integers(0, draw.integers(2, 5), nodes)
        self.row = draw.integers(0, sets + 1, count)
        self.need = draw.integers(1, min(nodes, 3) + 1, count)
        self.weight = draw.integers(1, 3, count)
        procs = self.need * self.weight
        worth = (np.ones(count, np.int64), procs, procs * draw.integers(0, 4, count))
        self.worth = worth[draw.integers(3)]
        density = [-w / p for w, p in zip(self.worth, procs, strict=True)]
        self.rank = np.unique(density, return_inverse=True)[1].reshape(-1)

    def select(self, budget: int) -> tuple[list[bool], bool]:
        """Return the choice, and whether the search was given up."""
        wish = Wish(self.row, self.need, self.weight, self.worth, self.rank)
        chosen, given_up = select(self.members, self.room, wish, budget)
        return chosen.tolist(), given_up

    def worth_of(self, chosen: list[bool]) -> int:
        """Return the worth of a choice."""
        return int(self.worth[np.array(chosen)].sum())

    def can_run(self, jobs: list[int], room: tuple[int, ...]) -> bool:
        """Try all nodes for the first job, and so on."""
        if not jobs:
            return True
        j, rest = jobs[0], jobs[1:]
        good = [v for v, r in enumerate(room) if r >= self.weight[j] and self.may_use(j, v)]
        for taken in combinations(good, int(self.need[j])):
            left = tuple(r - int(self.weight[j]) * (v in taken) for v, r in enumerate(room))
            if self.can_run(rest, left):
                return True
        return False

    def may_use(self, j: int, v: int) -> bool:
        """Whether node v is in the set of candidate j."""
        return bool(self.members[self.row[j], v])

    def best(self) -> list[bool]:
        """Return the set of greatest worth; all that have it come in the order of the text."""
        best, found = -1, []
        for chosen in product((True, False), repeat=self.need.size):
            jobs = [j for j, yes in enumerate(chosen) if yes]
            worth = self.worth_of(list(chosen))
            if worth > best and self.can_run(jobs, tuple(self.room.tolist())):
                best, found = worth, list(chosen)
        return found

    def greedy(self) -> list[bool]:
        """Take candidates one by one, on the nodes with the least room."""
        room, chosen = self.room.tolist(), [False] * self.need.size
        for j in sorted(range(self.need.size), key=lambda j: (self.rank[j], j)):
            good = [v for v, r in enumerate(room) if r >= self.weight[j] and self.may_use(j, v)]
            good.sort(key=lambda v: (room[v], v))
            if len(good) >= self.need[j]:
                chosen[j] = True
                for v in good[: self.need[j]]:
                    room[v] -= int(self.weight[j])
        return chosen

    def ways(self) -> int:
        """Count the ways of all candidates from all states, as the text has them."""
        kinds = [tuple(column) for column in self.members.T.tolist()]
        start = Counter((kinds[v], int(r)) for v, r in enumerate(self.room) if r > 0)
        states, count = {frozenset(start.items())}, 0
        for j in range(self.need.size):
            reached = set(states)
            for state in states:
                count += 1
                good = [
                    (kind, room, many)
                    for (kind, room), many in state
                    if kind[self.row[j]] and room >= self.weight[j]
                ]
                for taken in product(*(range(many + 1) for *_, many in good)):
                    if sum(taken) == self.need[j]:
                        count += 1
                        after = Counter(dict(state))
                        for (kind, room, _), k in zip(good, taken, strict=True):
                            after[kind, room] -= k
                            after[kind, room - int(self.weight[j])] += k
                        reached.add(frozenset(x for x in after.items() if x[0][1] and x[1]))
            states = reached
        return count


def hold_best(seeds: Iterable[int]) -> None:
    """Compare worth and ties with all subsets; the greedy choice is never better, and once
    worse."""
    worse = 0
    for seed in seeds:
        one = Instance(seed)
        best = one.best()
        assert one.select(PLENTY) == (best, False), seed
        greedy, given_up = one.select(0)
        assert greedy == one.greedy(), seed
        assert given_up == (not all(greedy)), seed
        assert one.worth_of(greedy) <= one.worth_of(best), seed
        worse += one.worth_of(greedy) < one.worth_of(best)
    assert worse > 0


def hold_budgets(seeds: range) -> None:
    """Assert that the search ends within the number of existing ways, but not within one less."""
    tried = 0
    for seed in seeds:
        one = Instance(seed)
        if not all(one.greedy()):
            ways, tried = one.ways(), tried + 1
            assert not one.select(ways)[1], seed
            assert one.select(ways - 1) == (one.greedy(), True), seed
    assert tried > len(seeds) // 10

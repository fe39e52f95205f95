"""Small expressions by genetic programming, on the syntax trees of the language of orders.

Libraries for genetic programming compile programs with eval (DEAP) or have their own functions
(gplearn). Here a tree is itself an order, and every change of a tree gives another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from schedfarm.core.philox import philox
from schedfarm.core.policy.expression import (
    NUMBER,
    OPERATIONS,
    Applied,
    Constant,
    Expression,
    Input,
    Tree,
)
from schedfarm.core.policy.functions import ARGUMENTS
from schedfarm.farm.search.orders import nodes, number, order_text
from schedfarm.farm.search.spec import Grow, Spec

ELITE = 2
"""Number of best trees that the next generation keeps unchanged."""

TOURNAMENT = 3
"""Number of trees in a tournament; the best one becomes a parent."""

CROSSOVER, SUBTREE, POINT = 0.6, 0.8, 0.9
"""Cumulative shares of children: from two parents, with a new subtree, and with another operation
or input at one node. The remaining children have a changed constant."""

FRESH = 0.1
"""Share of new random trees in each generation, so that the search does not narrow too early."""

CONSTANT = 0.2
"""Share of constants among the leaves of a random tree."""

DEPTH = 3
"""Largest depth of a random tree."""

DECADES = 6
"""Largest exponent of a random constant, which is a power of 10."""

TRIES = 100
"""Number of attempts at a tree that is new and not too large."""


class Growth:
    """Propose expressions, and breed the next generation from the best expressions."""

    def __init__(self, spec: Spec) -> None:
        self._grow, self._size = Grow(**(spec.grow or {})), spec.candidates
        self._seed, self._generation = spec.seed, 0
        self._trees: list[Tree] = []
        self._ranked: list[Tree] = []

    def ask(self) -> list[str]:
        """Return the orders of the next generation, all different."""
        random = np.random.Generator(philox("search", self._seed, "grow", self._generation))
        self._generation += 1
        start = [Expression.parse(text, ARGUMENTS).tree for text in self._grow.start]
        seen = {order_text(one): one for one in self._ranked[:ELITE] or start}
        fresh = self._size - round(FRESH * self._size) if self._ranked else len(seen)
        for _ in range(TRIES * self._size):
            if len(seen) >= self._size:
                break
            tree = self._bred(random) if len(seen) < fresh else self._random(random, DEPTH)
            if nodes(tree) <= self._grow.size and tree.names:
                seen.setdefault(order_text(tree), tree)
        self._trees = list(seen.values())[: self._size]
        return [order_text(one) for one in self._trees]

    def tell(self, ranks: Sequence[int]) -> None:
        """Update the search with the ranks of the orders, 0 for the best."""
        places = sorted(range(len(ranks)), key=lambda k: (ranks[k], nodes(self._trees[k])))
        self._ranked = [self._trees[k] for k in places]

    def centre(self) -> list[str]:
        """Return no order: a population has no centre."""
        return []

    def _bred(self, random: np.random.Generator) -> Tree:
        tree, chance = self._parent(random), random.random()
        place = int(random.integers(nodes(tree)))
        if chance < CROSSOVER:
            other = self._parent(random)
            part = _at(other, int(random.integers(nodes(other))))
            return _replaced(tree, place, part)
        if chance < SUBTREE:
            return _replaced(tree, place, self._random(random, 2))
        if chance < POINT:
            return _replaced(tree, place, self._altered(random, _at(tree, place)))
        return self._scaled(random, tree)

    def _parent(self, random: np.random.Generator) -> Tree:
        return self._ranked[int(random.integers(len(self._ranked), size=TOURNAMENT).min())]

    def _random(self, random: np.random.Generator, depth: int) -> Tree:
        """Return a random tree with at most `depth` nested operations."""
        if depth == 0 or random.random() < 0.2:
            return self._leaf(random)
        row = OPERATIONS[self._chosen(random, self._grow.operations)]
        return Applied(row, tuple(self._random(random, depth - 1) for _ in row.takes))

    def _leaf(self, random: np.random.Generator) -> Tree:
        if random.random() < CONSTANT:
            return number(10.0 ** random.uniform(0, DECADES))
        return Input(self._chosen(random, self._grow.inputs))

    def _altered(self, random: np.random.Generator, tree: Tree) -> Tree:
        """Return the tree with another operation on the same values, or with another leaf."""
        if not isinstance(tree, Applied):
            return self._leaf(random)
        alike = [
            name
            for name in self._grow.operations
            if len(OPERATIONS[name].takes) == len(tree.values)
        ]
        if not alike:
            return tree
        return Applied(OPERATIONS[self._chosen(random, alike)], tree.values)

    def _scaled(self, random: np.random.Generator, tree: Tree) -> Tree:
        """Return the tree with one constant multiplied or divided by a random factor."""
        places = [k for k, one in enumerate(_parts(tree)) if isinstance(one, Constant)]
        if not places:
            return _replaced(tree, int(random.integers(nodes(tree))), self._leaf(random))
        place = places[int(random.integers(len(places)))]
        one = _at(tree, place)
        assert isinstance(one, Constant), "the index of a constant"
        return _replaced(tree, place, number(one.value * 10.0 ** random.normal(0, 0.5)))

    @staticmethod
    def _chosen(random: np.random.Generator, names: Sequence[str]) -> str:
        return names[int(random.integers(len(names)))]


def _parts(tree: Tree) -> Iterator[Tree]:
    """Yield a tree and all trees in it, from the left."""
    yield tree
    if isinstance(tree, Applied):
        for one in tree.values:
            yield from _parts(one)


def _at(tree: Tree, place: int) -> Tree:
    return next(one for k, one in enumerate(_parts(tree)) if k == place)


def _replaced(tree: Tree, place: int, part: Tree) -> Tree:
    """Return the tree with a subtree replaced, unless one of the two subtrees is not a number."""
    if place == 0:
        return part if part.gives == tree.gives == NUMBER else tree
    assert isinstance(tree, Applied), "an index inside of a tree"
    place -= 1
    values = list(tree.values)
    for k, one in enumerate(values):
        if place < (size := nodes(one)):
            values[k] = _replaced(one, place, part)
            break
        place -= size
    return Applied(tree.operation, tuple(values))

"""Orders as expressions, lowered to instructions on registers.

A tree is lowered to instructions; each computes a value for every job of a block of the queue.
Parts of the tree without the instant become columns, which numpy computes once.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from schedfarm.core.policy.expression import (
    MINUS,
    Applied,
    Constant,
    Tree,
    evaluate,
    repeated_factors,
)

ADD, SUBTRACT, MULTIPLY, DIVIDE, LEAST, GREATEST = range(6)
LESS, LESS_EQUAL, EQUAL, UNEQUAL, AND, OR, NOT, CHOICE = range(6, 14)
ABSOLUTE, ROOT, REMAINDER, POWER, LOG, LOG2, LOG10, EXP, FLOOR = range(14, 23)
"""Codes of instructions for arithmetic, conditions and functions.

Conditions have values 1 and 0.
"""

FILL, ELAPSED_QUOTIENT = 23, 24
"""Codes of instructions with the instant.

FILL writes the instant to a register. ELAPSED_QUOTIENT divides an elapsed time by a value; its
third operand is the sign of the instant (`AFTER`, `BEFORE`).
"""

AFTER, BEFORE = 1, -1
"""Sign of `now` in the difference now - a, and in the difference a - now."""

CODES = {
    "+": ADD,
    "-": SUBTRACT,
    "*": MULTIPLY,
    "/": DIVIDE,
    "%": REMAINDER,
    "**": POWER,
    "<": LESS,
    "<=": LESS_EQUAL,
    "==": EQUAL,
    "!=": UNEQUAL,
    "and": AND,
    "or": OR,
    "not": NOT,
    "if": CHOICE,
    "min": LEAST,
    "max": GREATEST,
    "abs": ABSOLUTE,
    "sqrt": ROOT,
    "log": LOG,
    "log2": LOG2,
    "log10": LOG10,
    "exp": EXP,
    "floor": FLOOR,
}
"""Code of each operation; operations with reversed operands use the code of their counterparts."""

EXCHANGED = {">": LESS, ">=": LESS_EQUAL}


class Lowering:
    """Assign one register to each distinct part of a tree."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, int, int, int]] = []
        self.columns: list[Tree] = []
        self.places: dict[Any, int] = {"now": 0}
        self.constants: dict[int, float] = {}
        self.count = 0

    def load(self, tree: Tree) -> None:
        """Assign the registers after register 0, the instant, to the parts without the instant."""
        if "now" in tree.names:
            if isinstance(tree, Applied):
                tree = sign_moved(tree)
                for value in tree.values[: 1 if repeated_factors(tree) else None]:
                    self.load(value)
        elif tree.names and tree not in self.places:
            self.columns.append(tree)
            self.places[tree] = len(self.columns)

    def place(self, tree: Tree) -> int:
        """Return the register of a part, and add the instructions that compute the part."""
        if tree in self.places:
            return self.places[tree]
        if not tree.names:
            with np.errstate(all="ignore"):
                value = float(evaluate(tree, {}))
            self.places[tree] = place = self._fresh()
            self.constants[place] = value
            return place
        if not isinstance(tree, Applied):
            return 0
        self.places[tree] = place = self._applied(sign_moved(tree))
        return place

    def _applied(self, tree: Applied) -> int:
        first = self.place(tree.values[0])
        if factors := repeated_factors(tree):
            place = first
            for _ in range(factors - 1):
                place = self._step(MULTIPLY, place, first)
            return place
        if tree.operation.name == MINUS:
            # The product of x and -1 has the same bits as -x.
            return self._step(MULTIPLY, first, self.place(Constant(-1.0)))
        name, places = tree.operation.name, [first, *map(self.place, tree.values[1:])]
        if name in EXCHANGED:
            return self._step(EXCHANGED[name], *reversed(places))
        taken = len(tree.operation.takes)
        place = self._step(CODES[name], *places[:taken])
        for other in places[taken:]:
            place = self._step(CODES[name], place, other)
        return place

    def _step(self, code: int, *values: int) -> int:
        place = self._fresh()
        # The first operand replaces missing ones, so that no instruction reads the instant
        # unnecessarily.
        a, b, c = (*values, values[0], values[0])[:3]
        self.steps.append((code, place, a, b, c))
        return place

    def _fresh(self) -> int:
        self.count += 1
        return len(self.columns) + self.count

    def fused(self) -> list[tuple[int, int, int, int, int]]:
        """Return the instructions, with differences from the instant merged into their quotients.

        A difference that another instruction also reads keeps its register. The instant has a
        register only if an instruction reads it.
        """
        uses = Counter(place for step in self.steps for place in set(step[2:]))
        elapsed = {
            to: (a or b, AFTER if a == 0 else BEFORE)
            for code, to, a, b, _ in self.steps
            if code == SUBTRACT and (a == 0) != (b == 0) and uses[to] == 1
        }
        found, taken = [], set()
        for code, to, a, b, c in self.steps:
            if code == DIVIDE and a in elapsed and a != b:
                value, sign = elapsed[a]
                taken.add(a)
                found.append((ELAPSED_QUOTIENT, to, value, b, sign))
            else:
                found.append((code, to, a, b, c))
        kept = [step for step in found if step[1] not in taken]
        reads_instant = any(0 in step[2:] for step in kept)
        return [(FILL, 0, 0, 0, 0), *kept] if reads_instant else kept


def sign_moved(tree: Applied) -> Applied:
    """Return (-x) / c, -(x / c) and their products as x / (-c), which has the same bits.

    The divisor c does not depend on the instant, so that no instruction changes its sign.
    """
    outer: Tree = tree
    inner = tree.values[0]
    if tree.operation.name == MINUS:
        outer, inner = inner, tree
    if (
        isinstance(outer, Applied)
        and outer.operation.name in ("*", "/")
        and "now" not in outer.values[1].names
        and isinstance(inner, Applied)
        and inner.operation.name == MINUS
    ):
        first = outer.values[0] if inner is tree else inner.values[0]
        return Applied(outer.operation, (first, Applied(inner.operation, outer.values[1:])))
    return tree

"""Orders as values that a search changes: trees of the language of expressions."""

from __future__ import annotations

from collections.abc import Mapping

from schedfarm.core.policy.expression import (
    MINUS,
    OPERATIONS,
    Applied,
    Constant,
    Tree,
    text_of,
)

DIGITS = 4
"""Significant digits of a constant in a found order, few enough to be read and typed."""


def number(value: float) -> Tree:
    """Return a constant with a few digits; a negative constant is a negation, as from the parser.

    Examples
    --------
    >>> text_of(number(-1234.56))
    '-1235'
    """
    rounded = float(f"{value:.{DIGITS}g}")
    if rounded < 0:
        return Applied(OPERATIONS[MINUS], (Constant(-rounded),))
    return Constant(rounded)


def with_values(tree: Tree, values: Mapping[str, float]) -> Tree:
    """Return a tree in which constants replace the inputs with values."""
    if isinstance(tree, Applied):
        return Applied(tree.operation, tuple(with_values(one, values) for one in tree.values))
    if isinstance(tree, Constant) or tree.name not in values:
        return tree
    return number(values[tree.name])


def order_text(tree: Tree) -> str:
    """Return an order as the text of a policy, in parentheses."""
    return f"({text_of(tree)})"


def nodes(tree: Tree) -> int:
    """Return the number of operations, inputs and constants of a tree."""
    return 1 + sum(map(nodes, tree.values)) if isinstance(tree, Applied) else 1

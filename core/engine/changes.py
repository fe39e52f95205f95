"""Changes of a machine at instants that are known in advance.

Kernels are compiled for one of two types of table. On a machine without changes, the type is
`Constant`, with empty steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from schedfarm.core.engine.jit import NEVER, generic


class TableState:
    """State of a table of changes.

    next: index of the next change.
    """

    next: int


class Constant(NamedTuple):
    """Stand for the table of a machine without changes."""

    none: int


CONSTANT = Constant(0)
"""The table of most machines."""

AnyTable = Any
"""Changes in order of time; its type has an implementation of all steps below."""


@generic
def next_change(table: AnyTable) -> int:
    """Return the index of the next change."""
    raise NotImplementedError


@generic
def change_at(table: AnyTable, k: int) -> int:
    """Return the instant of change `k`, s; NEVER after the last change."""
    raise NotImplementedError


@generic
def pass_change(table: AnyTable) -> None:
    """Go to the following change."""
    raise NotImplementedError


@next_change.of(Constant)
def no_change(table: Constant) -> int:
    """Return 0."""
    return 0


@change_at.of(Constant)
def never_changes(table: Constant, k: int) -> int:
    """Return NEVER."""
    return NEVER


@pass_change.of(Constant)
def pass_nothing(table: Constant) -> None:
    """Do nothing."""

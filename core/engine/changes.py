"""Changes of a machine at instants that are known in advance.

Kernels are compiled for one of two types: on a machine without changes the steps are empty.
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
    """Nothing changes."""

    none: int


CONSTANT = Constant(0)
"""Most machines."""

AnyTable = Any
"""Changes in order of time, of a type for which all steps here are implemented."""


@generic
def next_change(table: AnyTable) -> int:
    """Return the index of the next change."""
    raise NotImplementedError


@generic
def change_at(table: AnyTable, k: int) -> int:
    """Return the instant of change k, s, NEVER behind the last."""
    raise NotImplementedError


@generic
def pass_change(table: AnyTable) -> None:
    """Go on to the change after the next."""
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

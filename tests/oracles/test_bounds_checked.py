"""Places outside an array: IndexError in kernels that check bounds, nearby memory in all others.

The tests hold for the build of this process, which NUMBA_BOUNDSCHECK=1 makes a checked one.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
import pytest

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.bounds import CHECKED
from schedfarm.core.engine.jit import kernel, routine, verb
from schedfarm.core.engine.lanes import (
    ALL,
    WORD,
    below,
    copy,
    least,
    less,
    lessen,
    lower_to,
    raise_to,
)
from schedfarm.core.engine.ratios import as_large, ratios_from

ROWS, COLUMNS = 3, 4 * WORD


@verb
def _read(table: Int64, row: Int64, i: int, j: int) -> int:
    return row[j]


@routine
def _read_apart(table: Int64, row: Int64, i: int, j: int) -> int:
    return row[j]


@kernel
def _read_in_kernel(table: Int64, row: Int64, i: int, j: int) -> int:
    return row[j]


@kernel
def _read_by_steps(table: Int64, row: Int64, i: int, j: int) -> int:
    return _read(table, row, i, j) + _read_apart(table, row, i, j)


@verb
def _write(table: Int64, row: Int64, i: int, j: int) -> int:
    row[j] = 1
    return 0


@verb
def _add(table: Int64, row: Int64, i: int, j: int) -> int:
    row[j] += 1
    return 0


@verb
def _read_table(table: Int64, row: Int64, i: int, j: int) -> int:
    return table[i, j]


@verb
def _read_row(table: Int64, row: Int64, i: int, j: int) -> int:
    return table[i][j]


@verb
def _write_table(table: Int64, row: Int64, i: int, j: int) -> int:
    table[i, j] = 1
    return 0


Step = Callable[[Int64, Int64, int, int], int]

IN_ROWS: tuple[Step, ...] = (_read, _read_apart, _read_in_kernel, _read_by_steps, _write, _add)
IN_TABLES: tuple[Step, ...] = (_read_table, _read_row, _write_table)


@verb
def _below(table: Int64, row: Int64, i: int, j: int) -> int:
    return below(row, j, 0)


@verb
def _least(table: Int64, row: Int64, i: int, j: int) -> int:
    return least(row, j, ALL)


@verb
def _less(table: Int64, row: Int64, i: int, j: int) -> int:
    return less(row, WORD, row, j)


@verb
def _lessen(table: Int64, row: Int64, i: int, j: int) -> int:
    lessen(row, j, 1, ALL)
    return 0


@verb
def _raise_to(table: Int64, row: Int64, i: int, j: int) -> int:
    raise_to(row, j, 1, ALL)
    return 0


@verb
def _lower_to(table: Int64, row: Int64, i: int, j: int) -> int:
    lower_to(row, j, 1, row)
    return 0


@verb
def _copy_from(table: Int64, row: Int64, i: int, j: int) -> int:
    copy(row, j, WORD, 1)
    return 0


@verb
def _copy_to(table: Int64, row: Int64, i: int, j: int) -> int:
    copy(row, WORD, j, 1)
    return 0


@verb
def _ratios_from(table: Int64, row: Int64, i: int, j: int) -> int:
    return ratios_from(row, row, 0, j, 1, 1)


@verb
def _as_large(table: Int64, row: Int64, i: int, j: int) -> int:
    return as_large(row, row, 0, WORD, j)


IN_WORDS: tuple[Step, ...] = (
    _below,
    _least,
    _less,
    _lessen,
    _raise_to,
    _lower_to,
    _copy_from,
    _copy_to,
    _ratios_from,
    _as_large,
)

LAST = COLUMNS - 1
LAST_WORD = COLUMNS - WORD

INSIDE = (
    (IN_ROWS, ((0, 0), (0, LAST))),
    (IN_TABLES, ((0, 0), (0, LAST), (ROWS - 1, 0), (ROWS - 1, LAST))),
    (IN_WORDS, ((0, 0), (0, 1), (0, LAST_WORD))),
)
OUTSIDE = (
    (IN_ROWS, ((0, -1), (0, -COLUMNS), (0, COLUMNS), (0, 2**62), (0, -(2**63)))),
    (IN_TABLES, ((-1, 0), (0, -1), (ROWS, 0), (0, COLUMNS), (-1, -1), (ROWS - 1, COLUMNS))),
    (IN_WORDS, ((0, -1), (0, LAST_WORD + 1), (0, COLUMNS), (0, 2**63 - 1), (0, -(2**63)))),
)


def _table() -> Int64:
    """Return the inner rows of a larger array, so that the surrounding memory is known."""
    around = np.arange((ROWS + 2) * COLUMNS).reshape(ROWS + 2, COLUMNS)
    return around[1:-1]


def _raised(step: Step, i: int, j: int) -> bool:
    table = _table()
    try:
        step(table, table[1], i, j)
    except IndexError:
        return True
    return False


def _refused(cases: tuple[tuple[tuple[Step, ...], tuple[tuple[int, int], ...]], ...]) -> set[str]:
    """Return the cases that raise IndexError."""
    return {
        f"{step.__name__} at {i}, {j}"
        for steps, places in cases
        for step in steps
        for i, j in places
        if _raised(step, i, j)
    }


def test_every_place_inside_an_array_is_accepted() -> None:
    """The first and the last place, and the first and the last word, are read and written."""
    assert _refused(INSIDE) == set()


def test_a_place_outside_an_array_is_refused_where_bounds_are_checked() -> None:
    """Kernels, routines and verbs raise for single places, rows, columns and words.

    The unchecked build reads the neighbouring memory instead; Python counts from the end.
    """
    if CHECKED:
        every = {
            f"{step.__name__} at {i}, {j}"
            for steps, places in OUTSIDE
            for step in steps
            for i, j in places
        }
        assert every - _refused(OUTSIDE) == set()
        return
    table = _table()
    wrapped = numba.config.DISABLE_JIT
    assert _read(table, table[1], 0, -1) == (table[1, -1] if wrapped else table[0, -1])


def test_a_literal_place_counts_from_the_end() -> None:
    """A literal -1 is the last place in every build."""

    @verb
    def last(row: Int64) -> int:
        return row[-1]

    assert last(np.array([3, 4, 5])) == 5


def test_a_kernel_can_be_called_again_after_an_error() -> None:
    """An IndexError from a step leaves its kernel usable."""
    table = _table()
    for _ in range(2):
        if CHECKED:
            with pytest.raises(IndexError):
                _read_by_steps(table, table[1], 0, -1)
        assert _read_by_steps(table, table[1], 0, 1) == 2 * table[1, 1]

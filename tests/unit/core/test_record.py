"""Records of kernels, with numpy's fields and as Python reads them without the JIT."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numba
import numpy as np
import pytest

from schedfarm.core.engine.record import record, records


class Base:
    now: int


class Clock(Base):
    arrived: int
    cells: int


@pytest.fixture(params=[0, 1], ids=["jit", "no-jit"], autouse=True)
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", request.param)


def test_fields_are_int64_and_begin_at_0() -> None:
    """Those of the base come first; values are converted as numpy converts them."""
    clock = record(Clock)
    assert (clock[0].now, clock[0].arrived, clock[0].cells) == (0, 0, 0)
    clock[0].arrived, clock[0].cells = np.True_, np.int64(-(2**63))
    clock[0].now += 3
    assert np.asarray(clock).tolist() == [(3, 1, -(2**63))]
    with pytest.raises((OverflowError, ValueError)):
        clock[0].now = 2**63


def test_a_copy_has_its_own_fields() -> None:
    """So has a record to which another is copied."""
    clock = record(Clock)
    clock[0].now = 3
    other, third = clock.copy(), record(Clock)
    third[0] = clock[0]
    clock[0].now = 5
    assert (other[0].now, third[0].now, clock[0].now) == (3, 3, 5)


def test_a_copy_that_was_read_is_freed() -> None:
    """No cycle of references keeps it."""
    clock = record(Clock)
    kept: list[weakref.ref[Any]] = []
    for _ in range(3):
        other: Any = clock.copy()
        other[0].now = 5
        kept.append(weakref.ref(other))
        del other
    gc.collect()
    assert [one() for one in kept] == [None, None, None]


def test_a_name_gives_the_field_of_all_records() -> None:
    """A change of it is a change of the records, before and after they were read."""
    clocks = records(Clock, 3)
    clocks["now"] = 7
    clocks[1].arrived = 2
    clocks["arrived"] += 1
    clocks[0] = clocks[1]
    assert clocks.size == 3
    assert [clocks[place].arrived for place in range(3)] == [3, 3, 1]
    assert clocks["now"].tolist() == [7, 7, 7]
    with pytest.raises(IndexError):
        clocks[3]


def test_arrays_that_numpy_restores() -> None:
    """Checkpoints read and write whole arrays in place."""
    clocks: Any = records(Clock, 2)
    assert clocks[1].now == 0
    clocks[...] = np.array([(1, 2, 3), (4, 5, 6)], clocks.dtype)
    assert (clocks[0].cells, clocks[1].now) == (3, 4)
    clocks[np.int64(0)] = clocks[np.int64(1)]
    assert [tuple(row) for row in clocks[:].tolist()] == [(4, 5, 6), (4, 5, 6)]
    assert "(4, 5, 6)" in repr(clocks)


def test_a_name_of_an_attribute_of_numpy__is_refused() -> None:
    class Shape:
        shape: int

    with pytest.raises(TypeError, match=r"Shape\.shape: Python would find the attribute"):
        record(Shape)

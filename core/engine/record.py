"""Named numbers that a kernel keeps: one record of int64 fields, or an array of records.

A record costs a kernel no more than an array that is indexed by constants: KTH under conservative,
depth(4), and in the orders `spf` and `lxf`, took 0.9 to 1.0 of the time, and as long to compile. A
wrong name is an error of the type checker, where a wrong constant would be silent.
"""

from __future__ import annotations

from functools import cache
from inspect import get_annotations
from typing import Any, Protocol, TypeVar, cast, overload

import numba
import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64

Fields = TypeVar("Fields")
Fields_co = TypeVar("Fields_co", covariant=True)


class Record(Protocol[Fields_co]):
    """An array with one element, the record, of which each annotated name is an int64.

    A record with the fields of a subclass may stand for one with those of its base.
    """

    def __getitem__(self, place: int, /) -> Fields_co:
        """Return the record at place 0."""

    def __setitem__(self, place: int, fields: object, /) -> None:
        """Copy another record, which has the same fields, to place 0."""

    def copy(self) -> Record[Fields_co]:
        """Return a copy."""


class Records(Protocol[Fields]):
    """An array of records, of each of which each annotated name is an int64.

    Outside kernels, a name gives that field of all records.
    """

    @property
    def size(self) -> int:
        """Number of records."""

    @overload
    def __getitem__(self, place: int, /) -> Fields: ...
    @overload
    def __getitem__(self, name: str, /) -> Int64: ...
    @overload
    def __setitem__(self, place: int, fields: Fields, /) -> None: ...
    @overload
    def __setitem__(self, name: str, values: Int64 | int, /) -> None: ...


def record(fields: type[Fields]) -> Record[Fields]:
    """Return a record with the annotated names of a class and of its bases, all 0.

    Raises `TypeError` if a name is an attribute of `numpy.record`.

    Examples
    --------
    >>> class Clock:
    ...     now: int
    ...     arrived: int
    >>> clock = record(Clock)
    >>> clock[0].arrived = 3
    >>> print(clock[0].now, clock[0].arrived)
    0 3
    """
    return cast("Record[Fields]", _zeros(fields, 1))


def records(fields: type[Fields], n: int) -> Records[Fields]:
    """Return n records with the annotated names of a class and of its bases, all 0.

    Examples
    --------
    >>> class Clock:
    ...     now: int
    ...     arrived: int
    >>> clocks = records(Clock, 3)
    >>> clocks[1].arrived, clocks["now"] = 3, 7
    >>> print(clocks[1].now, clocks["arrived"])
    7 [0 3 0]
    """
    return cast("Records[Fields]", _zeros(fields, n))


def _zeros(fields: type, n: int) -> Any:
    """Return an array of n records of int64 fields."""
    found = np.zeros(n, _type_of(fields))
    return found.view(_Interpreted) if numba.config.DISABLE_JIT else found


class _Interpreted(npt.NDArray[Any]):
    """An array of records whose fields Python reads in 0.5 us, where numpy takes 4."""

    def __array_finalize__(self, source: object) -> None:
        self._rows: list[_Row] | None = None

    def copy(self, order: Any = "C") -> _Interpreted:
        """Return a copy over an array of its own; an array with rows over itself is never freed."""
        return self.view(np.ndarray).copy(order).view(_Interpreted)

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, (int, np.integer)):
            return self.view(np.ndarray)[place]
        if self._rows is None:
            row, width = _row(self.dtype), len(self.dtype.names or ())
            cells: Any = memoryview(cast("Any", self.view(np.int64, np.ndarray)))
            self._rows = [row(cells[i : i + width]) for i in range(0, len(cells), width)]
        return self._rows[place]

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, tuple(value._cells) if isinstance(value, _Row) else value)

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    __str__ = __repr__


class _Row:
    """A record of an interpreted array, over the memory of its fields."""

    __slots__ = ("_cells",)

    def __init__(self, cells: memoryview) -> None:
        self._cells = cells


@cache
def _row(kind: np.dtype[Any]) -> type[_Row]:
    """Return the class of a row, with an attribute for each field of a type of records."""

    def field(place: int) -> property:
        def write(row: _Row, value: Any) -> None:
            row._cells[place] = int(value)

        return property(lambda row: row._cells[place], write)

    fields = {name: field(place) for place, name in enumerate(kind.names or ())}
    return type("Row", (_Row,), {"__slots__": (), **fields})


@cache
def _type_of(fields: type) -> np.dtype[Any]:
    """Return the type of the records, always the same object, with aligned fields.

    numba recognises the type by its address: a simulation with another object took 12 us longer for
    each kernel that it called, and numba would keep each object. Where compiled code could not know
    that fields are aligned, simulations with predictions took 1.1 times as long.
    """
    names = [name for kind in reversed(fields.__mro__) for name in get_annotations(kind)]
    for name in names:
        if hasattr(np.record, name):
            raise TypeError(
                f"{fields.__qualname__}.{name}: Python would find the attribute of numpy.record, "
                "where compiled code finds the field; give the field another name"
            )
    aligned = np.dtype([(name, np.int64) for name in names], align=True)
    return np.dtype((np.record, aligned))

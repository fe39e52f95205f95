"""Hold what is read of a store against its completion records.

Zarr takes a shard that is missing for fill, and one in another's place for that one's values; only
the records know better.
"""

from __future__ import annotations

import json
import math
import zlib
from base64 import b64decode
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.place import StoreName, list_files, read_file, read_files
from schedfarm.core.policy.orders import revised_orders

SINCE = 5
"""The version of the format from which on records are as they are read here."""

CELL = ("resample", "load", "policy")
"""Dimensions of a trace's group along which blocks are cut."""

LONG = ("strict", "relaxed")
"""Products whose blocks have the lengths `long` of a layout, and are cut along `job`."""

Values = npt.NDArray[Any]

Key = tuple[Any, ...]
"""A slice or places along each of some dimensions."""

BlockKey = tuple[str, int, int, int, int]
"""Kind, and numbers along `CELL` and along `job`, as in the name of a record."""


class _Record(NamedTuple):
    """Columns of a record's body; they stay encoded until they are asked for.

    `shape` is of its cells along `CELL`, `failed` the places of those that have failed. `former`
    names the orders of its policies that were revised after it was written.
    """

    shape: tuple[int, ...]
    failed: frozenset[int]
    jobs: Values
    crc: Mapping[str, str]
    figures: Mapping[str, str]
    former: tuple[str, ...]


class Records:
    """The completion records of one trace of a store, each read when it is first asked for.

    Parameters
    ----------
    store : path
        The store's folder, or its address.
    head : mapping
        What its store.json says.
    trace : str
        A label of its trace axis.
    """

    def __init__(self, store: StoreName, head: Mapping[str, Any], trace: str) -> None:
        self._store, self._trace, self._axes = store, trace, head["axes"]
        self._layout = head["layouts"][trace]
        self._arrays, self._figures = (
            {v["name"]: kind for kind, holding in head["holds"].items() for v in holding[what]}
            for what in ("arrays", "figures")
        )
        self._known: dict[BlockKey, _Record | None] = {}
        self._columns: dict[tuple[BlockKey, str], list[int]] = {}

    def knows(self, name: str) -> bool:
        """Tell whether records vouch for an array of the trace's group."""
        return name in self._arrays

    def check(self, name: str, at: Sequence[int], row: Values, length: int | None) -> None:
        """Refuse values of one cell that are not those which its record vouches for.

        Parameters
        ----------
        name : str
            Of the array.
        at : sequence of 3 int
            Places of the cell along `CELL`; 0 along policy where the array has none.
        row : ndarray, shape (values,)
            Its values, padding included.
        length : int or None
            How many of them are no padding; None of jobs, which the record counts.

        Raises
        ------
        StoreError
            If they are others.
        """
        kind = self._arrays[name]
        lengths = self._lengths(kind)
        numbers = [place // n for place, n in zip(at, lengths, strict=True)]
        offsets = [place % n for place, n in zip(at, lengths, strict=True)]
        for piece, begin in enumerate(self._begins(kind, row.size)):
            block = (kind, *numbers, piece)
            record = self._record(block)
            if record is None or any(i >= n for i, n in zip(offsets, record.shape, strict=True)):
                continue  # nobody has acknowledged it
            _, loads, policies = record.shape
            place = (offsets[0] * loads + offsets[1]) * policies + offsets[2]
            if place in record.failed or name not in record.crc:
                continue
            count = int(record.jobs[place]) if length is None else length
            found = zlib.crc32(np.ascontiguousarray(row[begin : begin + count]).data)
            if found != self._column(block, name, record.crc)[place]:
                raise self.refused(f"{name} of {self._trace}")

    def figures(self, name: str) -> Values | None:
        """Return a figure as the records have it, float64 along `CELL`, NaN where none does.

        None where they do not have it as it stands in the summary.
        """
        kind = self._figures.get(name)
        if kind is None:
            return None
        found, seen = np.full([len(self._axes[axis]) for axis in CELL], np.nan), False
        for block in self._load(kind):
            record, numbers = self._known[block], block[1:-1]
            if record is None or name not in record.figures:
                continue
            seen = True
            first = [i * n for i, n in zip(numbers, self._lengths(kind), strict=True)]
            place = tuple(slice(i, i + n) for i, n in zip(first, record.shape, strict=True))
            column = np.frombuffer(b64decode(record.figures[name]), "<f8")
            found[place] = column.reshape(record.shape)
        return found if seen else None

    def refused(self, what: str) -> StoreError:
        """Return the sentence for what is not as the records have it."""
        return StoreError(
            f"store {str(self._store)!r}: {what} is not what its records vouch for; 'farm verify "
            f"{self._store}' tells what is wrong, and with --repair what the next run mends"
        )

    def _lengths(self, kind: str) -> list[int]:
        lengths: list[int] = self._layout["long" if kind in LONG else "cells"]
        return lengths

    def _begins(self, kind: str, size: int) -> range:
        step = self._layout["long_jobs"]
        if kind in LONG and step < self._layout["inner"]["job"]:
            return range(0, size, step)
        return range(1)

    def _record(self, block: BlockKey) -> _Record | None:
        if block not in self._known:
            try:
                data = read_file(self._store, f"records/{self._trace}/{_name(block)}")
            except FileNotFoundError:
                self._known[block] = None
            else:
                self._take(block, data)
        return self._known[block]

    def _load(self, kind: str) -> list[BlockKey]:
        """Read all records of a kind, and return their blocks."""
        files = list_files(self._store, f"records/{self._trace}/{kind}")
        blocks = {name: _block(kind, name) for name in files if name.endswith(".json")}
        new = [name for name, block in blocks.items() if block not in self._known]
        for name, data in zip(new, read_files(self._store, new), strict=True):
            self._take(blocks[name], data)
        return list(blocks.values())

    def _take(self, block: BlockKey, data: bytes) -> None:
        try:
            record = _read(data)
        except (ValueError, KeyError, TypeError):
            kind, _, name = _name(block).partition("/")
            raise self.refused(f"the record {name} of {self._trace}/{kind}") from None
        if record.former:
            raise StoreError(
                f"store {str(self._store)!r}: order {record.former[0]!r} has another definition "
                f"now than when {self._trace} was simulated; 'farm verify {self._store} --repair' "
                "and the next run simulate its cells again"
            )
        self._known[block] = record

    def _column(self, block: BlockKey, name: str, crc: Mapping[str, str]) -> list[int]:
        if (block, name) not in self._columns:
            self._columns[block, name] = np.frombuffer(b64decode(crc[name]), "<u4").tolist()
        return self._columns[block, name]


def _name(block: BlockKey) -> str:
    kind, resample, load, policy, piece = block
    return f"{kind}/{resample:05d}-{load:05d}-{policy:05d}.{piece:05d}.json"


def _block(kind: str, name: str) -> BlockKey:
    places, piece, _ = name.rpartition("/")[2].split(".")
    resample, load, policy = map(int, places.split("-"))
    return kind, resample, load, policy, int(piece)


def _read(data: bytes) -> _Record:
    head, body, last = data.splitlines(keepends=True)
    if json.loads(last)["crc32"] != zlib.crc32(head + body):
        raise ValueError("its CRC-32 is not that of its content")
    known, plain = json.loads(head), json.loads(body)
    span = known["span"]
    return _Record(
        shape=tuple(len(span[axis]) for axis in ("resamples", "loads", "policies")),
        failed=frozenset(map(int, plain["errors"])),
        jobs=np.frombuffer(b64decode(plain["jobs"]), "<i8"),
        crc=plain["crc"],
        figures=plain["figures"],
        # Orders that are as they first were leave nothing there.
        former=() if known.get("own") else tuple(revised_orders(span["policies"])),
    )


def vouched_trace(data: xr.Dataset, records: Records) -> xr.Dataset:
    """Return a trace's group such that what is read of it is held against the records.

    Parameters
    ----------
    data : Dataset
        The group, lazily read.
    records : Records
        Those of the trace.

    Returns
    -------
    Dataset
        The same, as lazy; a `StoreError` when something is read that no record vouches for though
        one has its cell.
    """
    known = {}
    for name, values in data.data_vars.items():
        cells = sum(axis in CELL for axis in values.dims)
        if records.knows(str(name)) and len(values.dims) <= cells + 1:
            check = _OfCells(records, str(name), values.variable, cells, data.get("weeks"))
            known[name] = _checked(values.variable, cells, check)
    return data.assign(known)


def vouched_summary(data: xr.Dataset, records: Mapping[str, Records]) -> xr.Dataset:
    """Return a summary such that what is read of it is held against the figures of the records.

    Parameters
    ----------
    data : Dataset
        The root of a store, lazily read.
    records : mapping of str to Records
        Those of each trace.

    Returns
    -------
    Dataset
        The same, as lazy; a `StoreError` when another value is read than a record has. A cell
        without a value is taken as it is: a run folds the summary a minute apart.
    """
    known = {}
    for name, values in data.data_vars.items():
        if values.dims == ("trace", *CELL) and records.keys() >= set(values["trace"].values):
            check = _OfFigures(records, str(name), values)
            known[name] = _checked(values.variable, values.ndim, check)
    return data.assign(known)


class _Check(Protocol):
    """Refuses values that were read, whole along each dimension that `key` does not have."""

    def __call__(self, key: Key, values: Values) -> None: ...


class _OfCells:
    """Hold rows of an array of a trace's group against the records' checksums."""

    def __init__(
        self,
        records: Records,
        name: str,
        variable: xr.Variable,
        cells: int,
        weeks: xr.DataArray | None,
    ) -> None:
        self._records, self._name, self._sizes = records, name, variable.shape[:cells]
        self._along = str(variable.dims[-1]) if variable.ndim > cells else ""
        self._weeks = weeks.values if self._along == "week" and weeks is not None else None

    def __call__(self, key: Key, values: Values) -> None:
        if not values.size:
            return
        places = _places(key, self._sizes)
        rows = values.reshape(math.prod(map(len, places)), -1)
        for at, row in zip(product(*places), rows, strict=True):
            # Every policy shares what has none.
            cell = (*at, 0)[: len(CELL)]
            self._records.check(self._name, cell, row, self._length(cell, row.size))

    def _length(self, cell: Sequence[int], size: int) -> int | None:
        if self._weeks is not None:
            return 1 + int(self._weeks[cell[0], cell[1]])
        return None if self._along == "job" else size


class _OfFigures:
    """Hold values of the summary against the figures of the records."""

    def __init__(self, records: Mapping[str, Records], name: str, values: xr.DataArray) -> None:
        self._records, self._name, self._sizes = records, name, values.shape
        self._traces = values["trace"].values.tolist()

    def __call__(self, key: Key, values: Values) -> None:
        traces, *cells = _places(key, self._sizes)
        for place, found in zip(traces, values, strict=True):
            trace = self._traces[place]
            figures = self._records[trace].figures(self._name)
            if figures is None:
                continue
            due = figures[np.ix_(*cells)]
            if not ((found == due) | np.isnan(found) | np.isnan(due)).all():
                raise self._records[trace].refused(f"{self._name} in the summary of {trace}")


def _places(key: Key, sizes: Sequence[int]) -> list[list[int]]:
    return [np.arange(size)[one].tolist() for one, size in zip(key, sizes, strict=True)]


class _Checked(BackendArray):
    """An array of which all that is read is checked first, in whole rows.

    Parameters
    ----------
    variable : Variable
        The array.
    cells : int
        How many of its dimensions are of cells; what is left is along a cell's row.
    check : callable
        Raises if what is read is not right.
    """

    def __init__(self, variable: xr.Variable, cells: int, check: _Check) -> None:
        self.shape, self.dtype = variable.shape, variable.dtype
        self._variable, self._cells, self._check = variable, cells, check

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self._read)

    def _read(self, key: Key) -> Values:
        first, within = key[0], zip(key[self._cells :], self.shape[self._cells :], strict=True)
        if _is_one(first) or all(_is_all(one, size) for one, size in within):
            return self._rows(key)
        # Whole rows of all may not fit the memory, where only parts of them are asked for.
        parts = [self._rows((int(i), *key[1:])) for i in np.arange(self.shape[0])[first]]
        return np.stack(parts) if parts else np.asarray(self._variable[key].values)

    def _rows(self, key: Key) -> Values:
        cells, within = key[: self._cells], key[self._cells :]
        kept = tuple(slice(int(k), int(k) + 1) if _is_one(k) else k for k in cells)
        values = self._variable[kept].values
        self._check(kept, values)
        values = values[tuple(0 if _is_one(k) else slice(None) for k in cells)]
        return np.asarray(values[(..., *within)])


def _is_one(key: Any) -> bool:
    return not isinstance(key, slice) and np.ndim(key) == 0


def _is_all(key: Any, size: int) -> bool:
    return isinstance(key, slice) and key.indices(size) == (0, size, 1)


def _checked(variable: xr.Variable, cells: int, check: _Check) -> xr.Variable:
    # As xarray wraps what it opens: the types of that are its own business.
    array: Any = indexing.LazilyIndexedArray(_Checked(variable, cells, check))
    cached: Any = indexing.MemoryCachedArray
    array = cached(indexing.CopyOnWriteArray(array))
    return xr.Variable(variable.dims, array, variable.attrs, variable.encoding)

"""Verify values read from a store against its completion records.

Zarr returns fill values for a missing shard, and other values for a misplaced shard. Only the
records reveal either fault.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.place import StoreName, has_file, list_files, read_file, read_files
from schedfarm.core.format.geometry import CELL, JOBS, KINDS, REFUSED, Block, Kind, Layout
from schedfarm.core.format.names import (
    LOCK,
    RECORD_SUFFIX,
    block_of,
    is_free,
    record_name,
    records_of,
    summary_object,
)
from schedfarm.core.format.record import Record
from schedfarm.core.policy.orders import revised_orders

Values = npt.NDArray[Any]

Key = tuple[Any, ...]
"""A slice or indices along each of some dimensions."""


class Records:
    """Read the completion records of one trace of a store, each when it is first needed.

    Parameters
    ----------
    store : path
        The store's folder, or its address.
    description : mapping
        Content of the store's store.json.
    trace : str
        A label of the store's trace axis.
    """

    def __init__(self, store: StoreName, description: Mapping[str, Any], trace: str) -> None:
        self._store, self._trace, self._axes = store, trace, description["axes"]
        self._layout = Layout.from_dict(description["layouts"][trace])
        self._arrays, self._figures = (
            {
                v["name"]: KINDS.get(kind, Kind(name=kind))
                for kind, holding in description["holds"].items()
                for v in holding[what]
            }
            for what in ("arrays", "figures")
        )
        self._known: dict[Block, Record | None] = {}

    def knows(self, name: str) -> bool:
        """Return whether records have checksums of an array of the trace's group."""
        return name in self._arrays

    def check(self, name: str, at: Sequence[int], row: Values, length: int | None) -> None:
        """Refuse values of one cell whose checksum differs from the checksum in the cell's record.

        `at` has the index of the cell along each of `CELL`; the index along policy is 0 if the
        array lacks this dimension. `row` has the values, including padding. `length` is the number
        of values without padding; None stands for the number of jobs in the record.
        """
        for begin, record, place in self._pieces(name, at, row.size):
            if record is None:
                continue
            payload = record.payload
            if place in payload.errors or name not in payload.crc:
                continue
            count = int(payload.jobs[place]) if length is None else length
            found = zlib.crc32(np.ascontiguousarray(row[begin : begin + count]).data)
            if found != payload.crc[name][place]:
                raise self.refused(f"{name} of {self._trace}")

    def blank(self, name: str, at: Sequence[int], row: Values) -> None:
        """Set a cell's jobs without an acknowledgement to -1: a killed run may have left values.

        Values that all policies share are unchanged.
        """
        if not self._arrays[name].policies or row.dtype.kind != "i":
            return
        pieces = list(self._pieces(name, at, row.size))
        ends = [begin for begin, *_ in pieces[1:]] + [row.size]
        for (begin, record, _), end in zip(pieces, ends, strict=True):
            if record is None:
                row[begin:end] = -1

    def _pieces(
        self, name: str, at: Sequence[int], size: int
    ) -> Iterator[tuple[int, Record | None, int]]:
        """Yield the pieces of one cell: first job, record, and position in the record.

        The record is None if no record acknowledges the cell.
        """
        kind = self._arrays[name]
        lengths = self._layout.shape(kind)
        resample, load, policy = (place // n for place, n in zip(at, lengths, strict=True))
        offsets = [place % n for place, n in zip(at, lengths, strict=True)]
        step = self._layout.jobs(kind) if self._layout.cuts(kind) else size
        for piece, begin in enumerate(range(0, size, step)):
            record = self._record(Block(self._trace, kind.name, resample, load, policy, piece))
            shape = record.header.span.shape if record else (0, 0, 0)
            # A cell that was added later is outside of the span, and no record acknowledges it.
            if record is None or any(i >= n for i, n in zip(offsets, shape, strict=True)):
                yield begin, None, 0
            else:
                yield begin, record, (offsets[0] * shape[1] + offsets[1]) * shape[2] + offsets[2]

    def described(self, name: str) -> str:
        """Return a description of an array of the trace's group for a sentence."""
        return f"store {str(self._store)!r}: {name} of {self._trace}"

    def describes(self, name: str) -> bool:
        """Return whether the first record of the array's kind has a checksum of the array."""
        files = list_files(self._store, records_of(self._trace, self._arrays[name].name))
        first = [one for one in files if one.endswith(RECORD_SUFFIX)][:1]
        record = self._record(block_of(first[0])) if first else None
        return record is not None and name in record.payload.crc

    def failed(self) -> Values:
        """Return the failed cells: bool[resample, load, policy]."""
        simulated = next(kind for kind in KINDS.values() if kind.simulates)
        found = np.zeros(self._shape(simulated), bool)
        for place, record in self._placed(simulated):
            failed = np.zeros(len(record.payload.jobs), bool)
            failed[list(record.payload.errors)] = True
            found[place] = self._column(simulated, place, record, failed)
        return found

    def figure(self, name: str) -> Values | None:
        """Return a figure of the summary from the records; None for other variables.

        The figure is NaN for cells without a value.
        """
        kind = self._figures.get(name)
        if kind is None or kind.name not in KINDS:  # of a program with further kinds
            return None
        sums = {figure: sum_ for sum_, figure in kind.means}
        if name not in sums:
            return self._joined(kind, name)
        total, seen = self._summed(kind, sums[name]), self._summed(kind, JOBS)
        jobs = self._count(JOBS)[..., np.newaxis]
        counted = jobs - self._count(REFUSED)
        mean: Values = np.full_like(total, np.nan)
        np.divide(total, counted, out=mean, where=(seen == jobs) & (counted > 0))
        return mean

    def forget(self) -> None:
        """Discard the records that have been read."""
        self._known.clear()

    def refused(self, what: str) -> StoreError:
        """Return the error for values that do not match the records."""
        return StoreError(
            f"store {str(self._store)!r}: {what} does not match its records; 'farm verify "
            f"{self._store}' names each fault, and with --repair the next run repairs it"
        )

    def _joined(self, kind: Kind, name: str) -> Values:
        """Return a column of all records of a kind along its axes."""
        found = np.full(self._shape(kind), np.nan)
        for place, record in self._placed(kind):
            if name in record.payload.figures:
                found[place] = self._column(kind, place, record, record.payload.figures[name])
        return found

    def _count(self, name: str) -> Values:
        """Return a figure that counts jobs; 0 if no record has the figure."""
        kind = self._figures.get(name)
        return np.nan_to_num(self._joined(kind, name)) if kind else np.zeros(())

    def _summed(self, kind: Kind, name: str) -> Values:
        """Return the sums of a column over the pieces of each cell."""
        total = np.zeros(self._shape(kind))
        for place, record in self._placed(kind):
            jobs = record.payload.jobs
            # A block in which all cells have failed has no figures.
            missing = np.full(len(jobs), np.nan)
            column = jobs if name == JOBS else record.payload.figures.get(name, missing)
            total[place] += self._column(kind, place, record, column)
        return total

    def _shape(self, kind: Kind) -> list[int]:
        return [len(self._axes[axis]) for axis in kind.dims]

    def _placed(self, kind: Kind) -> Iterator[tuple[tuple[slice, ...], Record]]:
        """Yield all records of a kind, with the indices of their cells along the kind's axes."""
        names = list_files(self._store, records_of(self._trace, kind.name))
        blocks = [block_of(name) for name in names if name.endswith(RECORD_SUFFIX)]
        new = [block for block in blocks if block not in self._known]
        for block, data in zip(new, read_files(self._store, map(record_name, new)), strict=True):
            self._take(block, data)
        for block in blocks:
            record = self._known[block]
            if record is not None:
                shape, yet = record.header.span.shape, self._shape(kind)
                first = [
                    getattr(block, axis) * length
                    for axis, length in zip(kind.dims, self._layout.shape(kind), strict=False)
                ]
                runs = zip(first, shape, yet, strict=False)
                yield tuple(slice(i, min(i + n, end)) for i, n, end in runs), record

    def _column(self, kind: Kind, place: Key, record: Record, column: Values) -> Values:
        """Return a column along the axes of its kind, without cells that store.json lacks."""
        shaped = column.reshape(record.header.span.shape[: len(kind.dims)])
        return shaped[tuple(slice(one.stop - one.start) for one in place)]

    def _record(self, block: Block) -> Record | None:
        if block not in self._known:
            try:
                data = read_file(self._store, record_name(block))
            except FileNotFoundError:
                self._known[block] = None
            else:
                self._take(block, data)
        return self._known[block]

    def _take(self, block: Block, data: bytes) -> None:
        try:
            record = Record.from_bytes(data)
        except ValueError:
            name = record_name(block).rpartition("/")[2]
            raise self.refused(f"the record {name} of {self._trace}/{block.kind}") from None
        # `own` lacks orders with unchanged definitions.
        revised = [] if record.header.own else list(revised_orders(record.header.span.policies))
        if revised:
            raise StoreError(
                f"store {str(self._store)!r}: the definition of order {revised[0]!r} has changed "
                f"since {self._trace} was simulated; 'farm verify {self._store} --repair' and the "
                "next run simulate its cells again"
            )
        self._known[block] = record


def verified_trace(data: xr.Dataset, records: Records) -> xr.Dataset:
    """Return a trace's group whose values are verified on reading.

    Reading raises a `StoreError` if values do not match the record of their cell.
    """
    known = {}
    for name, values in data.data_vars.items():
        cells = sum(axis in CELL for axis in values.dims)
        if records.knows(str(name)) and len(values.dims) <= cells + 1:
            check = _OfCells(records, str(name), values.variable, cells, data.get("weeks"))
            known[name] = _checked(values.variable, cells, check)
    return data.assign(known)


def verified_summary(
    data: xr.Dataset, store: StoreName, records: Mapping[str, Records]
) -> xr.Dataset:
    """Return the summary of a store whose values are verified on reading.

    A value that is missing in the summary is taken from its record, since a run folds the summary
    once a minute, and a killed run does not fold it. Reading raises a `StoreError` if a value
    differs from the records. Reading also raises this error if the object with all values of a
    variable is missing, although the records have values and the lock names no run.
    """
    known = {}
    for name, values in data.data_vars.items():
        axes = values.dims[1:]
        if values.dims[:1] != ("trace",) or axes not in (CELL, CELL[:2]):
            continue
        if records.keys() >= set(values["trace"].values):
            check = _OfFigures(store, records, str(name), values)
            known[name] = _checked(values.variable, values.ndim, check)
    return data.assign(known)


class _Check(Protocol):
    """Refuse wrong values, which are complete along each dimension that `key` lacks.

    Returns the values; missing values are replaced by those of the records. name: name of the
    array.
    """

    name: str

    def __call__(self, key: Key, values: Values) -> Values: ...

    def renew(self) -> None:
        """Discard the data of records that have been read."""


class _OfCells:
    """Compare rows of an array in a trace's group with checksums in the records."""

    def __init__(
        self,
        records: Records,
        name: str,
        variable: xr.Variable,
        cells: int,
        weeks: xr.DataArray | None,
    ) -> None:
        self._records, self._name, self._sizes = records, name, variable.shape[:cells]
        self.name = records.described(name)
        self._along = str(variable.dims[-1]) if variable.ndim > cells else ""
        self._weeks = weeks.values if self._along == "week" and weeks is not None else None

    def renew(self) -> None:
        """Discard the records that have been read."""
        self._records.forget()

    def __call__(self, key: Key, values: Values) -> Values:
        if not values.size:
            return values
        places = _places(key, self._sizes)
        values = np.array(values)
        rows = values.reshape(math.prod(map(len, places)), -1)
        for at, row in zip(product(*places), rows, strict=True):
            # All policies share an array without this dimension.
            cell = (*at, 0)[: len(CELL)]
            self._records.check(self._name, cell, row, self._length(cell, row.size))
            if self._along == "job":
                self._records.blank(self._name, cell, row)
        return values

    def _length(self, cell: Sequence[int], size: int) -> int | None:
        if self._weeks is not None:
            return 1 + int(self._weeks[cell[0], cell[1]])
        return None if self._along == "job" else size


class _OfFigures:
    """Compare values of the summary with figures in the records; fill in missing values."""

    def __init__(
        self, store: StoreName, records: Mapping[str, Records], name: str, values: xr.DataArray
    ) -> None:
        self._store, self._records, self._name = store, records, name
        self.name = f"store {str(store)!r}: {name} of the summary"
        self._sizes, self._whole = values.shape, values.dtype.kind != "f"
        self._object = summary_object(name, [str(axis) for axis in values.dims])
        self._traces = values["trace"].values.tolist()

    def renew(self) -> None:
        """Discard the records that have been read."""
        for records in self._records.values():
            records.forget()

    def __call__(self, key: Key, values: Values) -> Values:
        traces, *cells = _places(key, self._sizes)
        known = values.copy()
        for place, found, whole in zip(traces, values, known, strict=True):
            trace = self._traces[place]
            figure = self._records[trace].figure(self._name)
            if figure is None:
                continue
            due = figure[np.ix_(*cells)]
            fill = found == 0 if self._whole else np.isnan(found)
            nothing = np.isnan(due) | (self._whole & (due == 0))
            if not ((found == due) | fill | nothing).all():
                raise self._records[trace].refused(f"{self._name} in the summary of {trace}")
            unfolded = fill & ~nothing
            whole[unfolded] = due[unfolded]
            # A cell without a record is missing, even if an earlier fold has written a value.
            whole[nothing] = 0 if self._whole else np.nan
            if unfolded.any() and self._is_missing():
                raise StoreError(
                    f"store {str(self._store)!r}: {self._object}, which has all values of "
                    f"{self._name} in the summary, is missing; 'farm verify {self._store} "
                    "--repair' or the next 'farm run' makes it again from the records"
                )
        return known

    def _is_missing(self) -> bool:
        """Return whether the variable's object is missing and the lock names no run to write it."""
        try:
            lock = read_file(self._store, LOCK)
        except FileNotFoundError:
            lock = None
        # The order matters, since a run may have ended after the values were read.
        return is_free(lock) and not has_file(self._store, self._object)


def _places(key: Key, sizes: Sequence[int]) -> list[list[int]]:
    return [np.arange(size)[one].tolist() for one, size in zip(key, sizes, strict=True)]


class _Checked(BackendArray):
    """Hold an array whose values are checked in whole rows before they are returned.

    The first `cells` dimensions of the array index cells; the others are along the row of a cell.
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
        # All whole rows may not fit into memory if only parts of rows are requested.
        parts = [self._rows((int(i), *key[1:])) for i in np.arange(self.shape[0])[first]]
        return np.stack(parts) if parts else np.asarray(self._variable[key].values)

    def _rows(self, key: Key) -> Values:
        cells, within = key[: self._cells], key[self._cells :]
        kept = tuple(slice(int(k), int(k) + 1) if _is_one(k) else k for k in cells)
        values = self._values(kept)
        try:
            values = self._check(kept, values)
        except StoreError:
            # A run may have written a block and its record between the two reads.
            self._check.renew()
            values = self._check(kept, self._values(kept))
        values = values[tuple(0 if _is_one(k) else slice(None) for k in cells)]
        return np.asarray(values[(..., *within)])

    def _values(self, key: Key) -> Values:
        try:
            found: Values = self._variable[key].values
        except ValueError as error:
            # Either the data are damaged, or a run has extended the object with all values of a
            # variable.
            raise StoreError(
                f"{self._check.name} cannot be read ({error}); while a run extends the store, "
                "read it again, otherwise 'farm verify' names the fault"
            ) from error
        return found


def _is_one(key: Any) -> bool:
    return not isinstance(key, slice) and np.ndim(key) == 0


def _is_all(key: Any, size: int) -> bool:
    return isinstance(key, slice) and key.indices(size) == (0, size, 1)


def _checked(variable: xr.Variable, cells: int, check: _Check) -> xr.Variable:
    # xarray wraps opened arrays in this way; its internal types are not public.
    array: Any = indexing.LazilyIndexedArray(_Checked(variable, cells, check))
    cached: Any = indexing.MemoryCachedArray
    array = cached(indexing.CopyOnWriteArray(array))
    return xr.Variable(variable.dims, array, variable.attrs, variable.encoding)

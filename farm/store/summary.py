"""The summary at the root of a store, folded from the completion records.

For ten million cells, one figure takes 76 MiB and all figures 2 GiB. The records are therefore read
only once, into a temporary file per figure. The figures are then computed one after the other.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Container, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product as product_of
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import JOBS, REFUSED
from schedfarm.farm.store.arrays import StoredArray, open_results
from schedfarm.farm.store.records import iterate_records

if TYPE_CHECKING:
    from schedfarm.core.format.geometry import Kind
    from schedfarm.core.format.record import Record
    from schedfarm.farm.store.product import Variable
    from schedfarm.farm.store.store import Store

REFRESH_SECONDS = 60.0
"""Least time between two folds of the summary during a run, s."""

REFRESH_SHARE = 0.02
"""Largest share of a run's time for folds, which matters for summaries with millions of cells."""

SPOOL_BYTES = 2**20
"""Bytes of one figure in memory; further bytes go to a file."""

ROWS = 1024
"""Number of resamples whose means are computed together."""

Values = npt.NDArray[Any]

_spool = partial(tempfile.SpooledTemporaryFile, SPOOL_BYTES)


class Unfolded(InputError):
    """Report a lack of space for the temporary files of a summary; all cells are stored."""

    def __init__(self, error: OSError) -> None:
        folder = tempfile.tempdir or os.environ.get("TMPDIR", "TMPDIR")
        super().__init__(
            f"the summary is not folded: its temporary files do not fit {folder} "
            f"({error.strerror or error}); all simulated cells are stored, and the same command "
            "with another TMPDIR folds it"
        )


def fold(store: Store) -> None:
    """Write the summary of all finished blocks of a store, durably.

    Raises `OSError` if the store cannot be written, and `Unfolded` if temporary files do not fit.
    """
    root, shards = open_results(store.place), []
    for name, values in folded(store):
        shards += StoredArray(store.place, root[name]).stage((), values)
    store.place.sync(shards)
    store.place.publish(shards)


class Refresher:
    """Fold a store's summary periodically during a run, for readers."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._next = time.monotonic() + REFRESH_SECONDS

    def look(self) -> None:
        """Fold if the period is over; a new period starts even if `fold` raises an error."""
        begun = time.monotonic()
        if begun < self._next:
            return
        try:
            fold(self._store)
        finally:
            ended = time.monotonic()
            self._next = ended + max(REFRESH_SECONDS, (ended - begun) / REFRESH_SHARE)


def folded(store: Store, only: Container[str] | None = None) -> Iterator[tuple[str, Values]]:
    """Yield names and values of the summary of all finished blocks; `only`: names to yield.

    The values are on (trace, resample, load[, policy]). Where no cell is done, they are NaN, or 0
    for integers.
    """
    with ExitStack() as stack:
        heap = _Heap(stack)
        means: dict[str, tuple[Kind, str]] = {}
        for record in iterate_records(store):
            kind = record.header.block.product
            means |= {figure: (kind, name) for name, figure in kind.means}
            heap.take(store, record)
        for variable in store.figures:
            if only is not None and variable.name not in only:
                continue
            if variable.name in means:
                yield variable.name, _mean(store, heap, variable, *means[variable.name])
            else:
                yield variable.name, _values(store, heap, variable)


@dataclass
class _Columns:
    """Keep the columns of one figure and their regions, in the order of the records."""

    file: Any
    places: list[tuple[slice, ...]] = field(default_factory=list)

    def add(self, place: tuple[slice, ...], column: Values) -> None:
        try:
            self.file.write(np.ascontiguousarray(column, np.float64).data)
        except OSError as error:
            raise Unfolded(error) from None
        self.places.append(place)

    def __iter__(self) -> Iterator[tuple[Any, Values]]:
        try:
            self.file.seek(0)
        except OSError as error:  # seeking writes the buffer
            raise Unfolded(error) from None
        for place in self.places:
            shape = [along.stop - along.start for along in place]
            data = self.file.read(8 * math.prod(shape))
            yield place, np.frombuffer(data, np.float64).reshape(shape)


class _Heap:
    """Keep the columns of all records, by kind of block and figure."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack, self._columns = stack, dict[str, _Columns]()

    def columns(self, name: str) -> _Columns:
        """Return the columns of a figure, or of a sum over the pieces of one kind of block."""
        if name not in self._columns:
            file = _spool()
            self._stack.callback(_close, file)
            self._columns[name] = _Columns(file)
        return self._columns[name]

    def take(self, store: Store, record: Record) -> None:
        """Keep the columns of a record."""
        block, payload = record.header.block, record.payload
        trace = store.axes["trace"].index(block.trace)
        place = slice(trace, trace + 1), *store.region_of(block, record.header.span)
        if not block.product.means:
            for name, column in payload.figures.items():
                self.columns(name).add(place, column)
            return
        for name, _ in block.product.means:
            # A block without a successful cell has no figures.
            column = payload.figures.get(name, np.full(len(payload.jobs), np.nan))
            self.columns(_sum_of(block.product, name)).add(place, column)
        self.columns(_sum_of(block.product, JOBS)).add(place, payload.jobs)


def _close(file: Any) -> None:
    # Closing tries to write the buffer again, but the error has already been reported.
    with suppress(OSError):
        file.close()


def _sum_of(kind: Kind, name: str) -> str:
    return f"{kind.name}/{name}"


def _values(store: Store, heap: _Heap, variable: Variable) -> Values:
    """Return a variable of the summary from the columns of the records."""
    target: Values = np.full(_shape(store, variable), variable.fill, variable.dtype)
    for place, column in heap.columns(variable.name):
        # Missing integers are 0.
        target[place] = column if target.dtype.kind == "f" else np.nan_to_num(column)
    return target


def _mean(store: Store, heap: _Heap, variable: Variable, kind: Kind, name: str) -> Values:
    """Return the sums over the pieces of cells divided by the cells' numbers of jobs."""
    figures = {v.name: v for v in store.figures}
    total, seen = (_total(store, heap, variable, _sum_of(kind, key)) for key in (name, JOBS))
    jobs = _values(store, heap, figures[JOBS])[..., np.newaxis]
    # Stores of earlier programs lack this metric.
    refused = _values(store, heap, figures[REFUSED]) if REFUSED in figures else np.zeros_like(jobs)
    for trace, first in product_of(range(len(total)), range(0, total.shape[1], ROWS)):
        part = trace, slice(first, first + ROWS)
        counted = jobs[part] - np.nan_to_num(refused[part])
        # A cell has no mean until all of its pieces are done.
        whole = (seen[part] == jobs[part]) & (counted > 0)
        total[part] = np.divide(
            total[part], counted, out=np.full_like(total[part], np.nan), where=whole
        )
    return total


def _total(store: Store, heap: _Heap, variable: Variable, name: str) -> Values:
    total = np.zeros(_shape(store, variable))
    for place, column in heap.columns(name):
        total[place] += column
    return total


def _shape(store: Store, variable: Variable) -> list[int]:
    return [len(store.axes[dimension]) for dimension in variable.dims]

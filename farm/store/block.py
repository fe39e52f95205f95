"""A block in progress: its cells are added one by one, then the block is written as a whole."""

from __future__ import annotations

import math
import traceback
import uuid
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block, Span
from schedfarm.core.format.names import record_name
from schedfarm.core.format.record import Header, Payload, Record
from schedfarm.farm.store.arrays import open_arrays
from schedfarm.farm.store.files import Shard
from schedfarm.farm.store.product import PRODUCTS
from schedfarm.farm.store.provenance import origin
from schedfarm.farm.store.store import Store

Rows = Mapping[str, npt.NDArray[Any]]


class OpenBlock:
    """Gather the cells of one block; cells of an earlier record are read back.

    Parameters
    ----------
    store : Store
        The store of the block.
    block : Block
        The block.
    run : str
        Fencing token of the run; see `farm.store.place.Exclusion`.

    Attributes
    ----------
    cells : list of Cell
        Every cell of the block.
    missing : list of int
        Positions of the cells without an acknowledgement in a record.
    backfill : mapping of int to Rows
        Stored values, without padding, of acknowledged cells whose record lacks an array or metric
        of the store, such as a metric that was added later.
    """

    def __init__(self, store: Store, block: Block, run: str = "") -> None:
        self.store, self.block, self.run = store, block, run
        self._record = record_name(block)
        # The etag is read before the arrays, since a record is written after its arrays.
        self._known, self._etag = store.place.read_with_etag(self._record)
        self._span = store.span_of(block)
        self.cells = self._span.cells
        self._arrays = open_arrays(store.place, block.trace, run or uuid.uuid4().hex)
        count = len(self.cells)
        self._values: dict[str, npt.NDArray[Any]] = {}
        for v in store.arrays_of(block.trace, block.kind):
            self._values[v.name] = np.full((count, *store.block_shape(block, v)), v.fill, v.dtype)
        self._jobs = np.zeros(count, np.int64)
        self._errors: dict[int, dict[str, str]] = {}
        self._figures: dict[str, npt.NDArray[np.float64]] = {}
        self._crc = {name: np.zeros(count, np.uint32) for name in self._values}
        columns = PRODUCTS[block.kind].columns(store.platform(block.trace))
        self._unkept = {v.name: v.dtype for v in columns if v.name not in self._values}
        self._proofs = {name: np.zeros(count, np.uint32) for name in self._unkept}
        self._last: dict[str, tuple[npt.NDArray[Any], int]] = {}
        self.seconds = 0.0
        self._others: tuple[Mapping[str, str], ...] = ()
        self.backfill: dict[int, Rows] = {}
        self._written: frozenset[str] = frozenset()
        self._complete = self._given_up = False
        kept = self._recall()
        self.missing = [i for i in range(count) if i not in kept]

    @property
    def failed(self) -> int:
        """Number of failed cells."""
        return len(self._errors)

    @property
    def backfill_errors(self) -> list[str]:
        """Errors of acknowledged cells that could not be backfilled."""
        errors = [self._errors[cell] for cell in self.backfill if cell in self._errors]
        return [f"{error['type']}: {error['message']}" for error in errors]

    def add(
        self, cell: int, jobs: int, rows: Rows, figures: Mapping[str, float], seconds: float
    ) -> None:
        """Add one cell: its jobs in this block, values without padding, figures, CPU time.

        Values that the store does not keep are reduced to checksums.
        """
        proofs = {name: self._checked(name, rows[name], t) for name, t in self._unkept.items()}
        for name, crc in proofs.items():
            if cell in self.backfill and crc != self._proofs[name][cell]:
                # The recorded values are from another program, and only one of the two programs can
                # be right.
                why = f"simulated again for new metrics, {name} comes out differently"
                self.fail(cell, InputError(f"{self.block}: {self.cells[cell]} {why}"))
                return
        kept = {name: row for name, row in rows.items() if name in self._values}
        self._take(cell, jobs, kept, proofs, figures)
        self.seconds += seconds

    def _take(
        self,
        cell: int,
        jobs: int,
        rows: Rows,
        proofs: Mapping[str, int],
        figures: Mapping[str, float],
    ) -> None:
        for name, proof in proofs.items():
            self._proofs[name][cell] = proof
        for name, row in rows.items():
            target = self._values[name]
            kept = np.ascontiguousarray(row, dtype=target.dtype)
            # Only the first dimension is padded, so that values precede padding.
            flat = target.reshape(len(target), math.prod(target.shape[1:]))
            flat[cell, : kept.size] = kept.ravel()
            crc = self._checked(name, row, target.dtype)
            if cell in self.backfill and crc != self._crc[name][cell]:
                # The user has corrected the metric since the first simulation.
                self._written -= {name}
            self._crc[name][cell] = crc
        for name, value in figures.items():
            if name not in self._figures:
                self._figures[name] = np.full(len(self.cells), np.nan)
            self._figures[name][cell] = value
        self._jobs[cell] = jobs

    def _checked(self, name: str, row: npt.NDArray[Any], dtype: npt.DTypeLike) -> int:
        """Return the CRC-32 of a row; loads of a sample share most columns of their jobs."""
        last = self._last.get(name)
        if last is not None and last[0] is row:
            return last[1]
        crc = _crc(row, dtype)
        if not row.flags.writeable:
            self._last[name] = row, crc
        return crc

    def fail(self, cell: int, error: Exception) -> None:
        """Add the error of a cell that could not be simulated.

        An acknowledged cell remains acknowledged, since its block is not written.
        """
        self._given_up |= cell in self.backfill
        self._errors[cell] = {
            "type": type(error).__name__,
            "message": str(error),
            "traceback": "".join(traceback.format_exception(error)),
        }

    def write(self) -> list[Shard]:
        """Stage the missing shards of the block in every array.

        An acknowledged block is left unchanged. In this case, another attempt of the same task
        wrote the block, and the worker of that attempt died later, or the scheduler considered the
        worker lost. Raises `OSError` if the store cannot be written or belongs to another run.
        """
        # The run is checked before the work; `commit` checks the run again inside the fence.
        self.store.place.check_fence(self.run)
        if self._is_settled():
            return []
        shape = [p.stop - p.start for p in self.store.region_of(self.block, self._span)]
        region = self._region()
        written = []
        for name, values in self._values.items():
            if name not in self._written:
                shaped = values.reshape([*shape, *values.shape[1:]])
                written += self._arrays[name].stage(region, shaped)
        return written

    def acknowledge(self) -> None:
        """Write the record of a block whose arrays are durable; errors as from `write`."""
        if self._complete or self._given_up:
            return
        payload = Payload(
            jobs=self._jobs,
            errors=self._errors,
            figures=self._figures,
            crc=self._crc,
            proofs=self._proofs,
            seconds=self.seconds,
            origins=self._origins(),
        )
        data, place = Record(self._header, payload).to_bytes(), self.store.place
        while not place.write_if_match(self._record, data, self._etag):
            if self._is_settled():
                return
            # The run is checked after the etag was read, so that an ended run replaces nothing.
            place.check_fence(self.run)

    @property
    def _header(self) -> Header:
        holds = self.store.holding_digest(self.block)
        failed = tuple(sorted(self._errors))
        own = self.store.definition_digest(self._span.policies)
        return Header(self.block, self.store.identity, self._span, failed, holds, own)

    def _is_settled(self) -> bool:
        """Read the record again; return whether nothing remains to be written.

        The record may be from another attempt of the same task, or from a late worker of an earlier
        run with fewer cells.
        """
        if self._complete or self._given_up:
            return True
        place = self.store.place
        if place.etag(self._record) != self._etag:
            found, self._etag = place.read_with_etag(self._record)
            self._complete = _acknowledges(found, self._header)
        return self._complete

    def _origins(self) -> tuple[Mapping[str, str], ...]:
        """Return the programs that computed the block's cells, the earlier ones first."""
        own = origin()
        worked = self.missing or self.backfill
        return (*self._others, *([] if own in self._others or not worked else [own]))

    def _region(self, span: Span | None = None) -> tuple[slice, ...]:
        region = self.store.region_of(self.block, span or self._span)
        cut = self.store.layouts[self.block.trace].cuts(self.block.product)
        return (*region, self.store.job_range(self.block)) if cut else region

    def _recall(self) -> set[int]:
        if self._known is None:
            return set()
        try:
            record = Record.from_bytes(self._known)
        except ValueError:
            # An unreadable record acknowledges nothing; its cells are simulated again.
            return set()
        header, payload = record.header, record.payload
        known = [name for name in self._values if name in payload.crc]
        stored = self._stored(header.span, known)
        if stored is None:
            return set()
        kept, places = set(), {cell: i for i, cell in enumerate(self.cells)}
        lacks = header.holds != self.store.holding_digest(self.block)
        for old, label in enumerate(header.span.cells):
            if old in payload.errors or label not in places:
                continue
            jobs = int(payload.jobs[old])
            lengths = self.store.lengths_of(self.block, label, jobs)
            rows = {name: row[old, : lengths[name]] for name, row in stored.items()}
            if _checksums(rows) != {name: int(payload.crc[name][old]) for name in known}:
                continue  # altered values: a new checksum would hide the damage
            figures = {name: float(column[old]) for name, column in payload.figures.items()}
            proofs = {name: int(column[old]) for name, column in payload.proofs.items()}
            self._take(places[label], jobs, rows, proofs, figures)
            kept.add(places[label])
            if lacks:
                self.backfill[places[label]] = rows
        self.seconds = payload.seconds
        self._others = payload.origins if kept else ()
        whole = header.span == self._span and len(kept) == len(self.cells)
        self._complete = whole and not lacks
        # Acknowledged shards are never overwritten: a worker that was suspended during such a write
        # would destroy the shard after resuming.
        self._written = frozenset(known) if whole else frozenset()
        return kept

    def _stored(self, span: Span, names: Iterable[str]) -> Rows | None:
        """Return the stored values of a span, one row per cell; None if they are unreadable."""
        found, at = {}, self._region(span)
        try:
            for name in names:
                region = np.asarray(self._arrays[name].array[at])
                found[name] = region.reshape(len(span), -1)
        except OSError:
            raise
        except Exception:  # zarr's codecs raise many kinds of errors on altered bytes
            return None
        return found


def commit(blocks: Iterable[OpenBlock]) -> None:
    """Write the shards and then the records of blocks of one store and run.

    The files are published inside the run's fence. A worker that was suspended before and resumes
    after the store has grown gets `StaleRun`. Raises `OSError` if the store cannot be written.
    """
    opened = list(blocks)
    if not opened:
        return
    place, run = opened[0].store.place, opened[0].run
    shards: list[Shard] = []
    try:
        try:
            for block in opened:
                shards += block.write()
            place.sync(shards)
        except FileNotFoundError:
            # The next run has deleted unfinished files.
            place.check_fence(run)
            raise
        with place.fenced(run):
            place.publish(shards, run)
            for block in opened:
                block.acknowledge()
    finally:
        place.discard(shards)


def _acknowledges(data: bytes | None, header: Header) -> bool:
    """Return whether a record acknowledges the cells, arrays and definitions of a header."""
    if data is None:
        return False
    try:
        found = Record.from_bytes(data).header
    except ValueError:
        return False
    return (found.span, found.holds, found.own) == (header.span, header.holds, header.own)


def _checksums(rows: Rows) -> dict[str, int]:
    return {name: _crc(row) for name, row in rows.items()}


def _crc(row: npt.NDArray[Any], dtype: npt.DTypeLike | None = None) -> int:
    return zlib.crc32(np.ascontiguousarray(row, dtype).data)

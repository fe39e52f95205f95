"""One block in the making: cells are put in one by one, then the whole goes to the disk."""

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
from schedfarm.farm.store.arrays import open_arrays, write_values
from schedfarm.farm.store.product import PRODUCTS
from schedfarm.farm.store.provenance import origin
from schedfarm.farm.store.shards import Shard
from schedfarm.farm.store.store import Store

Rows = Mapping[str, npt.NDArray[Any]]


class OpenBlock:
    """Gather the cells of one block; what an earlier record acknowledged is read back.

    Parameters
    ----------
    store : Store
        Where the block belongs.
    block : Block
        Which block.
    run : str
        Name of the run that asks for it; see `farm.store.place.Place`.

    Attributes
    ----------
    cells : list of Cell
        Every cell of the block.
    missing : list of int
        Places among them of those that no record acknowledges.
    lacking : mapping of int to Rows
        What is stored, without padding, of those that a record acknowledges but of which it
        lacks something that the store is to hold: a metric that was added since.
    """

    def __init__(self, store: Store, block: Block, run: str = "") -> None:
        self.store, self.block, self.run = store, block, run
        self._record = record_name(block)
        # The mark is of before the arrays are looked at: whoever acknowledges has written first.
        self._known, self._mark = store.place.look(self._record)
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
        self.seconds = 0.0
        self._others: tuple[Mapping[str, str], ...] = ()
        self.lacking: dict[int, Rows] = {}
        self._written: frozenset[str] = frozenset()
        self._complete = self._given_up = False
        kept = self._recall()
        self.missing = [i for i in range(count) if i not in kept]

    @property
    def failed(self) -> int:
        """How many cells have failed."""
        return len(self._errors)

    @property
    def unlearnt(self) -> list[str]:
        """Why acknowledged cells stay without what they lack, an error each."""
        errors = [self._errors[cell] for cell in self.lacking if cell in self._errors]
        return [f"{error['type']}: {error['message']}" for error in errors]

    def put(
        self, cell: int, jobs: int, rows: Rows, figures: Mapping[str, float], seconds: float
    ) -> None:
        """Put in one cell: its jobs in this block, values without padding, figures, CPU time.

        Of values that the store does not keep it keeps the checksum.
        """
        proofs = {name: _crc(rows[name], dtype) for name, dtype in self._unkept.items()}
        for name, crc in proofs.items():
            if cell in self.lacking and crc != self._proofs[name][cell]:
                # What the record has is of another program's simulation: both cannot be right.
                why = f"simulated again for what is new, {name} comes out differently"
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
            # Of several dimensions the first alone is padded: what is known comes first in a row.
            flat = target.reshape(len(target), math.prod(target.shape[1:]))
            flat[cell, : kept.size] = kept.ravel()
            crc = _crc(kept)
            if cell in self.lacking and crc != self._crc[name][cell]:
                # A metric that its user has mended since.
                self._written -= {name}
            self._crc[name][cell] = crc
        for name, value in figures.items():
            if name not in self._figures:
                self._figures[name] = np.full(len(self.cells), np.nan)
            self._figures[name][cell] = value
        self._jobs[cell] = jobs

    def fail(self, cell: int, error: Exception) -> None:
        """Put in one cell that could not be simulated, as data.

        One that is acknowledged stays so: its block is then left as it is, and lacks what it
        lacked.
        """
        self._given_up |= cell in self.lacking
        self._errors[cell] = {
            "type": type(error).__name__,
            "message": str(error),
            "traceback": "".join(traceback.format_exception(error)),
        }

    def write(self) -> list[Shard]:
        """Write the block's shard of every array that lacks it, beside its place.

        A block that is acknowledged already is left alone, whoever did it: an earlier attempt of
        the same task whose worker died later, or one that the scheduler took for lost.

        Raises
        ------
        OSError
            If the store cannot be written, or is another run's by now.
        """
        # Before the work; again where it counts, in `commit`.
        self.store.place.check_turn(self.run)
        if self._is_settled():
            return []
        shape = [p.stop - p.start for p in self.store.place_of(self.block, self._span)]
        place = self._place()
        written = []
        for name, values in self._values.items():
            if name not in self._written:
                shaped = values.reshape([*shape, *values.shape[1:]])
                written += write_values(self._arrays[name], place, shaped)
        return written

    def acknowledge(self) -> None:
        """Write the record of a block whose arrays are there to stay.

        Raises
        ------
        OSError
            If the store cannot be written, or is another run's by now.
        """
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
        while not place.replace(self._record, data, self._mark):
            if self._is_settled():
                return
            # After the look at it, so that a run that has ended replaces nothing.
            place.check_turn(self.run)

    @property
    def _header(self) -> Header:
        holds = self.store.holding_digest(self.block)
        failed = tuple(sorted(self._errors))
        own = self.store.definition_digest(self._span.policies)
        return Header(self.block, self.store.identity, self._span, failed, holds, own)

    def _is_settled(self) -> bool:
        """Tell whether the block is acknowledged, or stays as it is; look at its record anew.

        Another attempt of the same task may have written it, or a worker of an earlier run, which
        comes late and knows fewer cells.
        """
        if self._complete or self._given_up:
            return True
        place = self.store.place
        if place.mark(self._record) != self._mark:
            found, self._mark = place.look(self._record)
            self._complete = _says(found, self._header)
        return self._complete

    def _origins(self) -> tuple[Mapping[str, str], ...]:
        """Return what computed the block's cells: those that are kept, and those of now."""
        own = origin()
        worked = self.missing or self.lacking
        return (*self._others, *([] if own in self._others or not worked else [own]))

    def _place(self, span: Span | None = None) -> tuple[slice, ...]:
        place = self.store.place_of(self.block, span or self._span)
        cut = self.store.layouts[self.block.trace].cuts(self.block.product)
        return (*place, self.store.job_range(self.block)) if cut else place

    def _recall(self) -> set[int]:
        if self._known is None:
            return set()
        try:
            record = Record.from_bytes(self._known)
        except ValueError:
            # Whatever it acknowledged cannot be told any more; the cells can be had again.
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
                continue  # torn or altered: a new checksum would call it sound
            figures = {name: float(column[old]) for name, column in payload.figures.items()}
            proofs = {name: int(column[old]) for name, column in payload.proofs.items()}
            self._take(places[label], jobs, rows, proofs, figures)
            kept.add(places[label])
            if lacks:
                self.lacking[places[label]] = rows
        self.seconds = payload.seconds
        self._others = payload.origins if kept else ()
        whole = header.span == self._span and len(kept) == len(self.cells)
        self._complete = whole and not lacks
        # Shards that are acknowledged are not written over: a worker that slept in writing one
        # would destroy it.
        self._written = frozenset(known) if whole else frozenset()
        return kept

    def _stored(self, span: Span, names: Iterable[str]) -> Rows | None:
        """Return what the arrays hold of a span, one row a cell; None where that is unreadable."""
        found, place = {}, self._place(span)
        try:
            for name in names:
                region = np.asarray(self._arrays[name][place])
                found[name] = region.reshape(len(span), -1)
        except OSError:
            raise
        except Exception:  # zarr's codecs raise many kinds on altered bytes
            return None
        return found


def commit(blocks: Iterable[OpenBlock]) -> None:
    """Write the shards of blocks of one store and run, and only then the records.

    They get to where they belong in the turn of their run: a worker that was stopped before and
    goes on when the store has grown finds that it is over.

    Raises
    ------
    OSError
        If the store cannot be written, or is another run's by now.
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
            place.settle(shards)
        except FileNotFoundError:
            # The next run has tidied up.
            place.check_turn(run)
            raise
        with place.turn(run):
            place.put(shards, run)
            for block in opened:
                block.acknowledge()
    finally:
        place.drop(shards)


def _says(data: bytes | None, header: Header) -> bool:
    """Tell whether a record says of a block what is to be said."""
    if data is None:
        return False
    try:
        found = Record.from_bytes(data).header
    except ValueError:
        return False
    return (found.span, found.holds, found.own) == (header.span, header.holds, header.own)


def _checksums(rows: Rows) -> dict[str, int]:
    return {name: _crc(row) for name, row in rows.items()}


def _crc(row: npt.NDArray[Any], dtype: str | None = None) -> int:
    return zlib.crc32(np.ascontiguousarray(row, dtype).data)

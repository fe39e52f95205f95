"""One block in the making: cells are put in one by one, then the whole goes to the disk."""

from __future__ import annotations

import traceback
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from farm.arrays import open_trace, write_block
from farm.layout import Block, block_positions
from farm.lock import check_turn
from farm.provenance import versions
from farm.records import Body, Head, Record, read_record, record_path, write_record
from farm.store import Store

Rows = Mapping[str, npt.NDArray[Any]]


class Draft:
    """Gather the cells of one block; what an earlier record acknowledged is taken from the disk.

    Parameters
    ----------
    store : Store
        Where the block belongs.
    block : Block
        Which block.
    run : str
        Name of the run that asks for it; see `farm.lock.check_turn`.

    Attributes
    ----------
    missing : list of int
        Cells, by their place in the block, that no record acknowledges.
    """

    def __init__(self, store: Store, block: Block, run: str = "") -> None:
        self.store, self.block, self._run = store, block, run
        self._record = record_path(store.records, block)
        self._mark = _mark(self._record)
        self._complete = False
        self.resamples = store.resamples_of(block)
        self._group = open_trace(store.results, block.trace)
        self._jobs_at = store.job_range(block)
        self._values: dict[str, npt.NDArray[Any]] = {}
        self._variables = {v.name: v for v in store.variables_of(block)}
        for v in self._variables.values():
            inner = {
                "job": (self._jobs_at.stop - self._jobs_at.start,),
                "week": (store.layouts[block.trace].weeks,),
            }.get(v.dims[-1], ())
            self._values[v.name] = np.full((len(self.resamples), *inner), v.fill, v.dtype)
        count = len(self.resamples)
        self._jobs = [0] * count
        self._errors: list[dict[str, str] | None] = [None] * count
        self._metrics: dict[str, list[float]] = {}
        self._crc = {name: [0] * count for name in self._values}
        self.seconds = 0.0
        kept = self._recall()
        self.missing = [i for i in range(count) if i not in kept]

    @property
    def failed(self) -> int:
        """How many cells have failed."""
        return sum(error is not None for error in self._errors)

    def put(
        self, cell: int, jobs: int, rows: Rows, metrics: Mapping[str, float], seconds: float
    ) -> None:
        """Put in one cell: its jobs in this block, values without padding, metrics, CPU time."""
        for name, row in rows.items():
            target = self._values[name]
            kept = np.asarray(row, dtype=target.dtype)
            if target.ndim == 1:
                target[cell] = kept
            else:
                target[cell, : kept.size] = kept
            self._crc[name][cell] = zlib.crc32(kept.tobytes())
        for name, value in metrics.items():
            column = self._metrics.setdefault(name, [float("nan")] * len(self.resamples))
            column[cell] = float(value)
        self._jobs[cell] = jobs
        self.seconds += seconds

    def fail(self, cell: int, error: Exception) -> None:
        """Put in one cell that could not be simulated, as data."""
        self._errors[cell] = {
            "type": type(error).__name__,
            "message": str(error),
            "traceback": "".join(traceback.format_exception(error)),
        }

    def commit(self) -> None:
        """Write the block's shard of every array, and only then its record.

        A block that is acknowledged already is left alone, whoever did it: an earlier attempt of
        the same task whose worker died later, or one that the scheduler took for lost.

        Raises
        ------
        OSError
            If the store cannot be written, or is another run's by now.
        """
        self._check_turn()
        if self._complete or _mark(self._record) != self._mark:
            return
        layout = self.store.layouts[self.block.trace]
        samples = len(self.store.axes["resample"])
        run = block_positions(self.block.number, layout.resamples_per_block, samples)
        place: tuple[slice | int, ...] = (
            slice(run.start, run.stop),
            *self.store.place_of(self.block),
        )
        for name, values in self._values.items():
            write_block(self._group, name, (*place, *self._along(name)), values)
        head = Head(
            self.block,
            self.store.identity,
            self.resamples,
            [r for r, e in zip(self.resamples, self._errors, strict=True) if e is not None],
        )
        body = Body(self._jobs, self._errors, self._metrics, self._crc, self.seconds, versions())
        self._check_turn()
        write_record(self.store.records, Record(head, body))

    def _check_turn(self) -> None:
        if self._run:
            check_turn(self.store.path, self._run)

    def _recall(self) -> set[int]:
        try:
            record = read_record(self.store.records, self.block)
        except ValueError:
            # Whatever it acknowledged cannot be told any more; the cells can be had again.
            return set()
        if record is None:
            return set()
        kept = set()
        head, body = record.head, record.body
        for old, resample in enumerate(head.resamples):
            if body.errors[old] is None and resample in self.resamples:
                cell = self.resamples.index(resample)
                metrics = {name: column[old] for name, column in body.metrics.items()}
                rows = self._stored(resample, body.jobs[old])
                crc = {name: column[old] for name, column in body.crc.items()}
                if rows is None or _checksums(rows) != crc:
                    continue  # torn or altered: a new checksum would call it sound
                self.put(cell, body.jobs[old], rows, metrics, 0.0)
                kept.add(cell)
        self.seconds = body.seconds
        self._complete = head.resamples == self.resamples and len(kept) == len(self.resamples)
        return kept

    def _along(self, name: str) -> tuple[slice, ...]:
        return (self._jobs_at,) if self._variables[name].dims[-1] == "job" else ()

    def _stored(self, resample: int, jobs: int) -> Rows | None:
        place = self.store.axes["resample"].index(resample), *self.store.place_of(self.block)
        try:
            rows = {
                name: np.asarray(self._group[name][(*place, *self._along(name))])
                for name in self._values
            }
        except OSError:
            raise
        except Exception:  # zarr's codecs raise many kinds on altered bytes
            return None
        return {name: row[:jobs] if self._along(name) else row for name, row in rows.items()}


def _checksums(rows: Rows) -> dict[str, int]:
    return {name: zlib.crc32(np.ascontiguousarray(row).tobytes()) for name, row in rows.items()}


def _mark(path: Path) -> tuple[int, int] | None:
    """Return what changes whenever a file is replaced."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns

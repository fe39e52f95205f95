"""Fingerprints: results of cells as checksums, which are equal for two correct simulations."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from schedfarm.core.format.geometry import Block
from schedfarm.core.format.record import Record
from schedfarm.farm.store.block import Rows
from schedfarm.farm.store.product import PRODUCTS
from schedfarm.farm.store.store import Store

NO_VALUES: Mapping[str, int] = {}
"""Checksums of a failed cell."""


class Difference(NamedTuple):
    """Name a differing field of a fingerprint, and the entry in the field."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        if self.kind == "failed":
            return "success"
        return f"summary {self.name}" if self.kind == "figures" else self.name or "number of jobs"


@dataclass(frozen=True)
class Fingerprint:
    """Hold the checksums of one cell.

    Parameters
    ----------
    failed : bool
        Whether the cell failed; if so, the other fields are empty.
    jobs : int
        Number of the cell's jobs in the block.
    values : mapping of str to int
        CRC-32 of the values of each array, whether the store keeps the values or not.
    figures : mapping of str to int
        Bits of each figure; all NaNs have the same bits.
    """

    failed: bool = False
    jobs: int = 0
    values: Mapping[str, int] = field(default_factory=lambda: NO_VALUES)
    figures: Mapping[str, int] = field(default_factory=lambda: NO_VALUES)

    def differing(self, other: Fingerprint) -> list[Difference]:
        """Return the differences between the entries that both fingerprints have.

        Examples
        --------
        >>> one, two = Fingerprint(jobs=3, values={"wait": 7}), Fingerprint(jobs=3)
        >>> one.differing(two), one.differing(Fingerprint(jobs=3, values={"wait": 8}))
        ([], [Difference(kind='values', name='wait')])
        >>> one.differing(Fingerprint(failed=True))
        [Difference(kind='failed', name='')]
        """
        if self.failed or other.failed:
            return [Difference("failed")] * (self.failed != other.failed)
        found = [Difference("jobs")] * (self.jobs != other.jobs)
        for kind in ("values", "figures"):
            mine, theirs = getattr(self, kind), getattr(other, kind)
            found += [Difference(kind, n) for n in mine if n in theirs and mine[n] != theirs[n]]
        return found


def fingerprint_of(
    store: Store, block: Block, jobs: int, rows: Rows, figures: Mapping[str, float]
) -> Fingerprint:
    """Return the fingerprint of a simulated cell of a block."""
    columns = PRODUCTS[block.kind].columns(store.platform(block.trace))
    kinds = {v.name: v.dtype for v in (*columns, *store.arrays_of(block.trace, block.kind))}
    values = {
        name: zlib.crc32(np.ascontiguousarray(row, kinds[name]).data)
        for name, row in rows.items()
        if name in kinds
    }
    return Fingerprint(jobs=jobs, values=values, figures=_bits(figures.items()))


def recorded(record: Record, place: int) -> Fingerprint:
    """Return the fingerprint of one cell of a record, by its position in the record's span."""
    payload = record.payload
    if place in payload.errors:
        return Fingerprint(failed=True)
    columns = {**payload.crc, **payload.proofs}
    return Fingerprint(
        jobs=int(payload.jobs[place]),
        values={name: int(column[place]) for name, column in columns.items()},
        figures=_bits((name, column[place]) for name, column in payload.figures.items()),
    )


def _bits(figures: Iterable[tuple[str, float]]) -> dict[str, int]:
    floats = ((name, np.float64(figure)) for name, figure in figures)
    return {
        name: int((np.float64(np.nan) if figure != figure else figure).view(np.int64))
        for name, figure in floats
    }

"""Completion records: one small file for each finished block, written last.

A record is three lines of JSON: the header, the payload with the values of each cell, and the
CRC-32 of both. A resumed run reads only the header.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from schedfarm.core.format.geometry import Block, Cell, Span

_JOBS, _FIGURE, _CRC = "<i8", "<f8", "<u4"
"""Types of the columns of a payload, which are written in base64.

With decimal numbers instead, the metrics of a million cells took 12 s to read, and 40 microseconds
a cell to write.
"""


@dataclass(frozen=True)
class Totals:
    """Hold the totals of the cells of a block.

    Parameters
    ----------
    jobs : int
        Number of jobs in the cells that did not fail.
    seconds : float
        CPU time of the simulations, s.
    origins : tuple of mapping of str to str
        As for `Payload`.
    """

    jobs: int
    seconds: float
    origins: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class Header:
    """Identify the cells of a block, and the failed cells.

    Parameters
    ----------
    block : Block
        The block.
    store : str
        Identity of its store.
    span : Span
        Labels of its cells.
    failed : tuple of int
        Positions of the failed cells in the span.
    holds : str
        Digest of the names of a cell's arrays and figures.
    own : str
        Digest of definitions in the simulation: the text of the user's orders and rules, and the
        revisions of orders; empty without such definitions.
    totals : Totals, optional
        Totals of the payload; None in records of earlier programs, which lack the totals.
    """

    block: Block
    store: str
    span: Span
    failed: tuple[int, ...]
    holds: str
    own: str = ""
    totals: Totals | None = field(default=None, compare=False)

    @property
    def succeeded(self) -> set[Cell]:
        """Cells that did not fail."""
        bad = set(self.failed)
        return {cell for i, cell in enumerate(self.span.cells) if i not in bad}

    @classmethod
    def from_bytes(cls, line: bytes) -> Header:
        """Read the first line of a record; raise ValueError for other text."""
        plain = msgspec.json.decode(line, type=_Header)
        return cls(
            plain.block, plain.store, plain.span, plain.failed, plain.holds, plain.own, plain.tally
        )

    def to_bytes(self) -> bytes:
        """Return the first line of a record."""
        plain = asdict(self)
        plain["tally"] = plain.pop("totals")
        return _line(plain)


class _Header(msgspec.Struct):
    """Hold the header by the keys of its JSON."""

    block: Block
    store: str
    span: Span
    failed: tuple[int, ...]
    holds: str
    own: str = ""
    tally: Totals | None = None


@dataclass(frozen=True, eq=False)
class Payload:
    """Hold the results of a block's cells, one entry per cell in the order of the span.

    Parameters
    ----------
    jobs : int64[n]
        Number of jobs of each cell; 0 for a failed cell.
    errors : mapping of int to dict
        For the position of each failed cell, the error's `type`, `message` and `traceback`.
    figures : mapping of str to float64[n]
        Summary metrics; NaN for a failed cell.
    crc : mapping of str to uint32[n]
        CRC-32 of each cell's stored values without padding, by array.
    proofs : mapping of str to uint32[n]
        CRC-32 of values that the store does not retain, for comparison with a repeated simulation.
    seconds : float
        CPU time of the simulations, s.
    origins : tuple of mapping of str to str
        Hosts, versions and commits of the computing programs; several if cells were added later.
    """

    jobs: npt.NDArray[np.int64]
    errors: Mapping[int, Mapping[str, str]]
    figures: Mapping[str, npt.NDArray[np.float64]]
    crc: Mapping[str, npt.NDArray[np.uint32]]
    proofs: Mapping[str, npt.NDArray[np.uint32]]
    seconds: float
    origins: tuple[Mapping[str, str], ...]

    @classmethod
    def from_bytes(cls, line: bytes, cells: int) -> Payload:
        """Read the second line of a record of `cells` cells; raise ValueError for other text."""
        plain = msgspec.json.decode(line, type=_Payload)
        return cls(
            jobs=_decoded(plain.jobs, _JOBS, cells),
            errors=plain.errors,
            figures={k: _decoded(v, _FIGURE, cells) for k, v in plain.figures.items()},
            crc={k: _decoded(v, _CRC, cells) for k, v in plain.crc.items()},
            proofs={k: _decoded(v, _CRC, cells) for k, v in plain.proofs.items()},
            seconds=plain.seconds,
            origins=plain.origins,
        )

    def to_bytes(self) -> bytes:
        """Return the second line of a record; raise ValueError if a number is not finite."""
        return _line({
            "jobs": _encoded(self.jobs, _JOBS),
            "errors": dict(self.errors),
            "figures": {k: _encoded(v, _FIGURE) for k, v in self.figures.items()},
            "crc": {k: _encoded(v, _CRC) for k, v in self.crc.items()},
            "proofs": {k: _encoded(v, _CRC) for k, v in self.proofs.items()},
            "seconds": self.seconds,
            "origins": self.origins,
        })  # fmt: skip


class _Payload(msgspec.Struct):
    """Hold the payload by the keys of its JSON; version 5 of the format has no `proofs`."""

    jobs: str
    errors: dict[int, dict[str, str]]
    figures: dict[str, str]
    crc: dict[str, str]
    seconds: float
    origins: tuple[dict[str, str], ...]
    proofs: dict[str, str] = {}


@dataclass(frozen=True, eq=False)
class Record:
    """Hold the record of one block; a block is complete if and only if it has a record."""

    header: Header
    payload: Payload

    @property
    def totals(self) -> Totals:
        """Totals of the payload."""
        payload = self.payload
        return Totals(int(payload.jobs.sum()), payload.seconds, payload.origins)

    def to_bytes(self) -> bytes:
        """Return the content of the record's file."""
        lines = [replace(self.header, totals=self.totals).to_bytes(), self.payload.to_bytes()]
        return b"".join([*lines, _line({"crc32": zlib.crc32(b"".join(lines))})])

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        """Read a record's file; raise ValueError for other content or a changed byte."""
        try:
            header, payload, last = data.splitlines(keepends=True)
            if json.loads(last)["crc32"] != zlib.crc32(header + payload):
                raise ValueError("its CRC-32 does not match its content")
            known = Header.from_bytes(header)
            return cls(known, Payload.from_bytes(payload, len(known.span)))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a completion record ({error!r})") from None


def _line(plain: dict[str, Any]) -> bytes:
    return json.dumps(plain, allow_nan=False, sort_keys=True).encode() + b"\n"


def _encoded(column: npt.NDArray[Any], kind: str) -> str:
    return b64encode(np.ascontiguousarray(column, kind).tobytes()).decode()


def _decoded(text: str, kind: str, cells: int) -> npt.NDArray[Any]:
    column = np.frombuffer(b64decode(text, validate=True), kind)
    if len(column) != cells:
        raise ValueError(f"a column of {len(column)} values for {cells} cells")
    return column

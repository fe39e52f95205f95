"""Completion records: one small file per finished block, written last, listed on resume.

A record is three lines of JSON: the head, which is all that resume reads; the body, which has a
value for each cell; and the CRC-32 of both.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.errors import InputError
from schedfarm.farm.store.geometry import Block, Cell, Span

if TYPE_CHECKING:
    from schedfarm.farm.store.place import Place

FOLDER = "records"
"""The folder of a store that holds them."""

REMEDY = "delete it to have its cells run again"

JOBS, METRIC, CRC = "<i8", "<f8", "<u4"
"""Kinds of the columns of a record's body. They are written in base64: a million cells' metrics
as decimal numbers took 12 s to read back, and 40 microseconds a cell to write."""


@dataclass(frozen=True)
class Tally:
    """Say what the cells of a block are in all.

    Parameters
    ----------
    jobs : int
        Jobs of those that did not fail.
    seconds : float
        CPU time of the simulations, s.
    origins : tuple of mapping of str to str
        What computed it, as of `Body`.
    """

    jobs: int
    seconds: float
    origins: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class Head:
    """Say which cells a block holds, and which of them failed.

    Parameters
    ----------
    block : Block
        Which block.
    store : str
        Identity of the store that it belongs to.
    span : Span
        Labels of its cells.
    failed : tuple of int
        Places, among the cells of the span, of those that failed.
    holds : str
        Digest of the names of what it has of each cell (`farm.store.product.Holding`).
    own : str
        Digest of the definitions of its policies by which its cells were simulated: the text of the
        user's own orders and rules, and revisions of orders; empty where there are none.
    tally : Tally, optional
        What its body comes to; None where it was written by a program that did not say.
    """

    block: Block
    store: str
    span: Span
    failed: tuple[int, ...]
    holds: str
    own: str = ""
    tally: Tally | None = field(default=None, compare=False)

    @property
    def kept(self) -> set[Cell]:
        """Cells that are done and did not fail."""
        bad = set(self.failed)
        return {cell for i, cell in enumerate(self.span.cells) if i not in bad}


@dataclass(frozen=True, eq=False)
class Body:
    """Hold what a block's cells came to, one entry a cell in the order of its span.

    Parameters
    ----------
    jobs : int64[n]
        Jobs of each cell; 0 where it failed.
    errors : mapping of int to dict
        For the place of each failed cell, the error's `type`, `message` and `traceback`.
    figures : mapping of str to float64[n]
        Summary metrics, NaN where the cell failed.
    crc : mapping of str to uint32[n]
        CRC-32 of each cell's stored values, padding left out, by array.
    proofs : mapping of str to uint32[n]
        The same of values that the store does not keep: what simulates the cell again has to come
        to them.
    seconds : float
        CPU time of the simulations, s.
    origins : tuple of mapping of str to str
        Host, versions and commit of what computed it: several, where it was not filled at once.
    """

    jobs: npt.NDArray[np.int64]
    errors: Mapping[int, Mapping[str, str]]
    figures: Mapping[str, npt.NDArray[np.float64]]
    crc: Mapping[str, npt.NDArray[np.uint32]]
    proofs: Mapping[str, npt.NDArray[np.uint32]]
    seconds: float
    origins: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, eq=False)
class Record:
    """Say what one block holds. What has a record is done; nothing else is."""

    head: Head
    body: Body

    @property
    def tally(self) -> Tally:
        """What its body comes to."""
        return Tally(int(self.body.jobs.sum()), self.body.seconds, self.body.origins)

    def to_bytes(self) -> bytes:
        """Return the record's file."""
        body = {
            **vars(self.body),
            "jobs": _encoded(self.body.jobs, JOBS),
            "figures": {k: _encoded(v, METRIC) for k, v in self.body.figures.items()},
            "crc": {k: _encoded(v, CRC) for k, v in self.body.crc.items()},
            "proofs": {k: _encoded(v, CRC) for k, v in self.body.proofs.items()},
        }
        head = replace(self.head, tally=self.tally)
        lines = [_line(asdict(head)), _line(body)]
        return b"".join([*lines, _line({"crc32": zlib.crc32(b"".join(lines))})])

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        """Read a record's file.

        Raises
        ------
        ValueError
            If it is not one, or a byte of it has changed.
        """
        try:
            head, body, last = data.splitlines(keepends=True)
            if json.loads(last)["crc32"] != zlib.crc32(head + body):
                raise ValueError("its CRC-32 is not that of its content")
            plain = json.loads(body)
            plain["origins"] = tuple(plain["origins"])
            plain["jobs"] = _decoded(plain["jobs"], JOBS)
            plain["errors"] = {int(k): v for k, v in plain["errors"].items()}
            plain["figures"] = {k: _decoded(v, METRIC) for k, v in plain["figures"].items()}
            plain["crc"] = {k: _decoded(v, CRC) for k, v in plain["crc"].items()}
            plain["proofs"] = {k: _decoded(v, CRC) for k, v in plain["proofs"].items()}
            return cls(_head(head), Body(**plain))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a completion record ({error!r})") from None


def record_name(block: Block) -> str:
    """Return the name of a block's record in its store."""
    name = f"{block.resample:05d}-{block.load:05d}-{block.policy:05d}.{block.piece:05d}.json"
    return f"{FOLDER}/{block.trace}/{block.kind}/{name}"


def block_of(name: str) -> Block:
    """Return the block whose record has a name.

    Raises
    ------
    ValueError
        If no block's record has it.
    """
    _, trace, kind, last = name.split("/")
    places, piece = last.removesuffix(".json").split(".")
    resample, load, policy = map(int, places.split("-"))
    return Block(trace, kind, resample, load, policy, int(piece))


def read_record(place: Place, block: Block) -> Record | None:
    """Return a block's record, or None where it has none."""
    data, _ = place.look(record_name(block))
    return None if data is None else Record.from_bytes(data)


def record_names(place: Place) -> list[str]:
    """Return the names of a store's records; a trace may be called such as one of them."""
    return [name for name in place.names(FOLDER) if name.endswith(".json")]


def read_heads(place: Place, store: str) -> dict[Block, Head]:
    """Return the head of every record of a store, by block.

    Parameters
    ----------
    place : Place
        Where the store is.
    store : str
        Identity that each must carry.

    Raises
    ------
    InputError
        If a file is not a record, or is another store's.
    """
    found, names = {}, record_names(place)
    for name, first in zip(names, place.first_lines(names), strict=True):
        head = _own_head(place, name, first, store)
        found[head.block] = head
    return found


def iterate_records(
    place: Place, store: str, blocks: Iterable[Block] | None = None
) -> Iterator[Record]:
    """Yield the records of a store, a few at a time: a million cells would not fit memory.

    Parameters
    ----------
    place, store
        As for `read_heads`.
    blocks : iterable of Block, optional
        Which; by default all.

    Raises
    ------
    InputError
        As `read_heads`, and if a byte of a record has changed.
    """
    names = record_names(place) if blocks is None else [record_name(block) for block in blocks]
    for name, data in zip(names, place.read_each(names), strict=True):
        if data is None:
            continue  # somebody has had it run again
        _own_head(place, name, data.partition(b"\n")[0], store)
        try:
            yield Record.from_bytes(data)
        except ValueError as error:
            raise InputError(f"record {place.at(name)}: {error}; {REMEDY}") from None


def _own_head(place: Place, name: str, line: bytes, store: str) -> Head:
    """Read the head of a record, which has to be one of this store and of its name."""
    try:
        head = _head(line)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"record {place.at(name)} is not one ({error!r}); {REMEDY}") from None
    if head.store != store or record_name(head.block) != name:
        raise InputError(f"record {place.at(name)} belongs to another campaign or block; {REMEDY}")
    return head


def _line(plain: dict[str, Any]) -> bytes:
    return json.dumps(plain, allow_nan=False, sort_keys=True).encode() + b"\n"


def _head(line: bytes) -> Head:
    plain = json.loads(line)
    span = {axis: tuple(labels) for axis, labels in plain["span"].items()}
    failed, tally = tuple(plain["failed"]), plain.get("tally")
    if tally:
        tally = Tally(tally["jobs"], tally["seconds"], tuple(tally["origins"]))
    return Head(
        Block(**plain["block"]),
        plain["store"],
        Span(**span),
        failed,
        plain["holds"],
        plain.get("own", ""),
        tally,
    )


def _encoded(column: npt.NDArray[Any], kind: str) -> str:
    return b64encode(np.ascontiguousarray(column, kind).tobytes()).decode()


def _decoded(text: str, kind: str) -> npt.NDArray[Any]:
    return np.frombuffer(b64decode(text, validate=True), kind)

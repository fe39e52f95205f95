"""Completion records: one small file per finished block, written last, listed on resume.

A record is three lines of JSON: the head, which is all that resume reads; the body, which has a
value for each cell; and the CRC-32 of both.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from farm.files import write_whole
from farm.layout import Block

REMEDY = "delete it to have its cells run again"


@dataclass(frozen=True)
class Head:
    """Say which cells a block holds, and which of them failed.

    Parameters
    ----------
    block : Block
        Which block.
    store : str
        Identity of the store that it belongs to.
    resamples : list of int
        Resample numbers of its cells, in axis order.
    failed : list of int
        Those of its resamples whose cell failed.
    """

    block: Block
    store: str
    resamples: list[int]
    failed: list[int]

    @property
    def kept(self) -> set[int]:
        """Resamples whose cell is done and did not fail."""
        return set(self.resamples).difference(self.failed)


@dataclass(frozen=True)
class Body:
    """Hold what a block's cells came to, one entry a cell.

    Parameters
    ----------
    jobs : list of int
        Jobs of each cell; 0 where it failed.
    errors : list of (dict or None)
        For each failed cell its `type`, `message` and `traceback`.
    metrics : dict of str to list of float
        Summary metrics, NaN where the cell failed.
    crc : dict of str to list of int
        CRC-32 of each cell's stored values, padding left out, by array.
    seconds : float
        CPU time of the simulations, s.
    versions : dict of str to str
        Versions of what computed it, and the host that it ran on.
    """

    jobs: list[int]
    errors: list[dict[str, str] | None]
    metrics: dict[str, list[float]]
    crc: dict[str, list[int]]
    seconds: float
    versions: dict[str, str]


@dataclass(frozen=True)
class Record:
    """Say what one block holds. What has a record is done; nothing else is."""

    head: Head
    body: Body

    def to_bytes(self) -> bytes:
        """Return the record's file; NaN becomes null."""
        # Not asdict: it copies every number of a thousand cells, which took half of a commit.
        body = dict(vars(self.body))
        body["metrics"] = {
            key: [None if math.isnan(v) else v for v in values]
            for key, values in self.body.metrics.items()
        }
        lines = [_line(asdict(self.head)), _line(body)]
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
            plain["metrics"] = {
                key: [math.nan if v is None else v for v in values]
                for key, values in plain["metrics"].items()
            }
            return cls(_head(head), Body(**plain))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a completion record ({error!r})") from None


def record_path(folder: Path, block: Block) -> Path:
    """Return where a block's record stands below the folder of records."""
    name = f"{block.number:05d}.json"
    if block.kind:
        name = f"{block.number:05d}.{block.kind}.{block.piece:05d}.json"
    return folder / block.trace / block.load / block.policy / name


def block_of(folder: Path, path: Path) -> Block:
    """Return the block whose record stands at a path below a folder of records."""
    trace, load, policy, name = path.relative_to(folder).parts
    number, *kind = name.removesuffix(".json").split(".")
    if not kind:
        return Block(trace, load, policy, int(number))
    return Block(trace, load, policy, int(number), kind[0], int(kind[1]))


def write_record(folder: Path, record: Record) -> None:
    """Acknowledge a block: from here on it counts as done."""
    write_whole(record_path(folder, record.head.block), record.to_bytes())


def read_record(folder: Path, block: Block) -> Record | None:
    """Return a block's record, or None where it has none."""
    try:
        return Record.from_bytes(record_path(folder, block).read_bytes())
    except FileNotFoundError:
        return None


def read_heads(folder: Path, store: str) -> dict[Block, Head]:
    """Return the head of every record below a folder, by block.

    Parameters
    ----------
    folder : Path
        The folder of records.
    store : str
        Identity that each must carry.

    Raises
    ------
    InputError
        If a file is not a record, or is another store's.
    """
    found = {}
    for path in sorted(folder.rglob("*.json")):
        with path.open("rb") as stream:
            first = stream.readline()
        try:
            head = _head(first)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"record {path} is not one ({error!r}); {REMEDY}") from None
        if head.store != store or record_path(folder, head.block) != path:
            raise InputError(f"record {path} belongs to another campaign or block; {REMEDY}")
        found[head.block] = head
    return found


def iterate_records(folder: Path, store: str) -> Iterator[Record]:
    """Yield every record below a folder, one at a time: a million cells would not fit memory.

    Parameters
    ----------
    folder, store
        As for `read_heads`.

    Raises
    ------
    InputError
        As `read_heads`, and if a byte of a record has changed.
    """
    for block in read_heads(folder, store):
        path = record_path(folder, block)
        try:
            yield Record.from_bytes(path.read_bytes())
        except ValueError as error:
            raise InputError(f"record {path}: {error}; {REMEDY}") from None


def _line(plain: dict[str, Any]) -> bytes:
    return json.dumps(plain, allow_nan=False, sort_keys=True).encode() + b"\n"


def _head(line: bytes) -> Head:
    plain = json.loads(line)
    plain["block"] = Block(**plain["block"])
    return Head(**plain)

"""Completion records: one small file per finished block, written last, listed on resume."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from farm.files import write_whole
from farm.layout import Block


@dataclass(frozen=True)
class Record:
    """Say what one block holds. What has a record is done; nothing else is.

    Parameters
    ----------
    block : Block
        Which block.
    store : str
        Identity of the store that it belongs to.
    resamples : list of int
        Resample numbers of its cells, in axis order.
    jobs : list of int
        Jobs of each cell; 0 where it failed.
    errors : list of (dict or None)
        For each failed cell its `type`, `message` and `traceback`.
    metrics : dict of str to list of float
        Summary metrics, one value a cell, NaN where it failed.
    crc : dict of str to list of int
        CRC-32 of each cell's stored values, padding left out, by array.
    seconds : float
        CPU time of the simulations, s.
    versions : dict of str to str
        Versions of what computed it.
    """

    block: Block
    store: str
    resamples: list[int]
    jobs: list[int]
    errors: list[dict[str, str] | None]
    metrics: dict[str, list[float]]
    crc: dict[str, list[int]]
    seconds: float
    versions: dict[str, str]

    @property
    def failed(self) -> int:
        """How many of its cells failed."""
        return sum(error is not None for error in self.errors)

    def to_json(self) -> bytes:
        """Return the record as JSON; NaN becomes null."""
        plain = asdict(self)
        plain["metrics"] = {
            key: [None if math.isnan(v) else v for v in values]
            for key, values in self.metrics.items()
        }
        return json.dumps(plain, allow_nan=False, sort_keys=True).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Record:
        """Read a record.

        Raises
        ------
        ValueError
            If it is not one.
        """
        plain: dict[str, Any] = json.loads(data)
        try:
            plain["block"] = Block(**plain["block"])
            plain["metrics"] = {
                key: [math.nan if v is None else v for v in values]
                for key, values in plain["metrics"].items()
            }
            return cls(**plain)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a completion record: {error}") from None


def record_path(folder: Path, block: Block) -> Path:
    """Return where a block's record stands below the folder of records."""
    return folder / block.trace / block.load / block.policy / f"{block.number:05d}.json"


def write_record(folder: Path, record: Record) -> None:
    """Acknowledge a block: from here on it counts as done."""
    write_whole(record_path(folder, record.block), record.to_json())


def read_record(folder: Path, block: Block) -> Record | None:
    """Return a block's record, or None where it has none."""
    try:
        return Record.from_json(record_path(folder, block).read_bytes())
    except FileNotFoundError:
        return None


def read_records(folder: Path, store: str) -> dict[Block, Record]:
    """Return every record below a folder, by block.

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
        try:
            record = Record.from_json(path.read_bytes())
        except ValueError as error:
            raise InputError(
                f"record {path}: {error}; delete it to have its cells run again"
            ) from None
        if record.store != store or record_path(folder, record.block) != path:
            raise InputError(
                f"record {path} belongs to another campaign or another block; delete it to have "
                "its cells run again"
            )
        found[record.block] = record
    return found

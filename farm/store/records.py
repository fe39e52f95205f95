"""The completion records of a store: list them, and read their headers or all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block
from schedfarm.core.format.names import RECORD_SUFFIX, RECORDS, record_name
from schedfarm.core.format.record import Header, Record

if TYPE_CHECKING:
    from schedfarm.farm.store.place import Place

REMEDY = "delete it to have its cells run again"


def read_record(place: Place, block: Block) -> Record | None:
    """Return a block's record, or None where it has none."""
    data, _ = place.look(record_name(block))
    return None if data is None else Record.from_bytes(data)


def record_names(place: Place) -> list[str]:
    """Return the names of a store's records; a trace may be called such as one of them."""
    return [name for name in place.names(RECORDS) if name.endswith(RECORD_SUFFIX)]


def read_headers(place: Place, store: str) -> dict[Block, Header]:
    """Return the header of every record by its block; refuse records of another store's identity.

    Raises
    ------
    InputError
        If a file is not a record, or is another store's.
    """
    found, names = {}, record_names(place)
    for name, first in zip(names, place.first_lines(names), strict=True):
        header = _own_header(place, name, first, store)
        found[header.block] = header
    return found


def iterate_records(
    place: Place, store: str, blocks: Iterable[Block] | None = None
) -> Iterator[Record]:
    """Yield all records, or those of some blocks, one by one: not all fit into memory.

    Raises
    ------
    InputError
        As `read_headers`, and if a byte of a record has changed.
    """
    names = record_names(place) if blocks is None else [record_name(block) for block in blocks]
    for name, data in zip(names, place.read_each(names), strict=True):
        if data is None:
            continue  # deleted since it was listed, to have its block run again
        _own_header(place, name, data.partition(b"\n")[0], store)
        try:
            yield Record.from_bytes(data)
        except ValueError as error:
            raise InputError(f"record {place.at(name)}: {error}; {REMEDY}") from None


def _own_header(place: Place, name: str, line: bytes, store: str) -> Header:
    """Read the header of a record, which has to be one of this store and of its name."""
    try:
        header = Header.from_bytes(line)
    except ValueError as error:
        raise InputError(f"record {place.at(name)} is not one ({error}); {REMEDY}") from None
    if header.store != store or record_name(header.block) != name:
        raise InputError(f"record {place.at(name)} belongs to another campaign or block; {REMEDY}")
    return header

"""Completion records of a store: their names, headers and content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block
from schedfarm.core.format.names import RECORD_SUFFIX, RECORDS, record_name
from schedfarm.core.format.record import Header, Record

if TYPE_CHECKING:
    from schedfarm.farm.store.place import Place
    from schedfarm.farm.store.store import Store

REMEDY = "delete it to run its cells again"


def read_record(place: Place, block: Block) -> Record | None:
    """Return a block's record; None without one."""
    data, _ = place.read_with_etag(record_name(block))
    return None if data is None else Record.from_bytes(data)


def record_names(place: Place) -> list[str]:
    """Return the names of a store's records; names of traces may look like names of records."""
    return [name for name in place.names(RECORDS) if name.endswith(RECORD_SUFFIX)]


def read_headers(store: Store) -> dict[Block, Header]:
    """Return the header of every record by its block; `InputError` for a file of another kind."""
    found, names = {}, record_names(store.place)
    for name, first in zip(names, store.place.first_lines(names), strict=True):
        header = _own_header(store, name, first)
        found[header.block] = header
    return found


def headers_of(store: Store, blocks: Iterable[Block]) -> dict[Block, Header]:
    """Return the headers of those given blocks that have records; errors as in `read_headers`."""
    known, found = {block: record_name(block) for block in blocks}, {}
    for (block, name), data in zip(
        known.items(), store.place.read_each(known.values()), strict=True
    ):
        if data is not None:
            found[block] = _own_header(store, name, data.partition(b"\n")[0])
    return found


def iterate_records(store: Store, blocks: Iterable[Block] | None = None) -> Iterator[Record]:
    """Yield all records, or the records of some blocks, one by one to save memory.

    Errors are those of `read_headers`, and `InputError` if a byte of a record has changed.
    """
    place = store.place
    names = record_names(place) if blocks is None else [record_name(block) for block in blocks]
    for name, data in zip(names, place.read_each(names), strict=True):
        if data is None:
            continue  # deleted since the listing, so that its block runs again
        _own_header(store, name, data.partition(b"\n")[0])
        try:
            yield Record.from_bytes(data)
        except ValueError as error:
            raise InputError(f"record {place.at(name)}: {error}; {REMEDY}") from None


def check_definitions(store: Store, headers: Iterable[Header]) -> None:
    """Refuse the first record whose orders or rules had other definitions than now."""
    for header in headers:
        if header.own != store.definition_digest(header.span.policies):
            raise InputError(
                f"store {store.place}: an order or a rule of {', '.join(header.span.policies)} "
                f"has changed since {header.block} was simulated; run 'farm verify {store.place} "
                "--repair' and then the campaign again, or give another --store"
            )


def _own_header(store: Store, name: str, line: bytes) -> Header:
    """Read the header of a record; `InputError` unless identity, name and axes are the store's."""
    where = f"record {store.place.at(name)}"
    try:
        header = Header.from_bytes(line)
    except ValueError as error:
        raise InputError(f"{where} is invalid ({error}); {REMEDY}") from None
    if header.store != store.identity or record_name(header.block) != name:
        raise InputError(f"{where} belongs to another campaign or block; {REMEDY}")
    if not store.has_cells(header.block, header.span):
        raise InputError(f"{where} names cells that the store's axes do not have; {REMEDY}")
    return header

"""Detection of missing chunks of acknowledged values, which plain Zarr would read as fill."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import CELL, Block
from schedfarm.core.format.names import ARRAYS, CHUNKS, LOCK, PARTS, is_free, summary_object
from schedfarm.farm.store.arrays import open_results
from schedfarm.farm.store.product import Variable
from schedfarm.farm.store.records import read_headers, read_record
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import folded


def check_chunks(store: Store) -> None:
    """Refuse a store in which a chunk of an acknowledged block is missing; name the first one.

    File names are compared with the names that follow from the records. Values are read only if a
    file is missing, since all values of a missing file may be fill.
    """
    there: dict[str, set[str]] = {}
    for block in read_headers(store):
        if block.trace not in there:
            there[block.trace] = set(store.place.names(f"{ARRAYS}/{block.trace}"))
        for variable in store.arrays_of(block.trace, block.kind):
            if not there[block.trace].issuperset(_files(store, block, variable)):
                _check_fill(store, block, variable)


def readable(store: Store) -> Any:
    """Return a Zarr store that refuses a missing summary instead of reading it as fill."""
    from schedfarm.farm.store.zarr_stores import Refusing

    return Refusing(open_results(store.place).store, partial(_check_summary, store))


def _check_summary(store: Store, key: str) -> None:
    """Refuse a missing object of the summary if the records have values for it.

    A run or parts that are in progress or were killed may not have folded the summary yet.
    """
    name, place = f"{ARRAYS}/{key}", store.place
    figures = [v for v in store.figures if summary_object(v.name, v.dims) == name]
    # The order matters: a run may have ended after the object was found missing.
    is_idle = figures and is_free(place.read_with_etag(LOCK)[0]) and not place.entries(PARTS)
    if not is_idle or place.has(name):
        return
    for figure, values in folded(store, {figures[0].name}):
        nothing = np.isnan(values) if values.dtype.kind == "f" else values == 0
        if not nothing.all():
            raise InputError(
                f"store {place}: {name}, which has all values of {figure} in the summary, is "
                f"missing; 'farm verify {place} --repair' or the next 'farm run' makes it again "
                "from the records"
            )


def _files(store: Store, block: Block, variable: Variable) -> Iterator[str]:
    """Yield the names of a block's files of one array."""
    layout = store.layouts[block.trace]
    sizes, lengths = store.sizes(block.trace), layout.lengths(block.product)
    runs = []
    for axis in variable.dims:
        if axis in CELL:
            runs.append([getattr(block, axis)])
        elif axis == "job" and layout.cuts(block.product):
            runs.append([block.piece])
        else:
            runs.append(list(range(-(-sizes[axis] // lengths[axis]))))
    folder = f"{ARRAYS}/{block.trace}/{variable.name}/{CHUNKS}"
    return ("/".join([folder, *map(str, one)]) for one in product(*runs))


def _check_fill(store: Store, block: Block, variable: Variable) -> None:
    """Refuse values without a file, unless all of them are fill according to their record."""
    record = read_record(store.place, block)
    if record is None or variable.name not in record.payload.crc:
        return
    payload, span = record.payload, record.header.span
    group: Any = open_results(store.place)[block.trace]
    along = (store.job_range(block),) if "job" in variable.dims else ()
    place = *store.region_of(block, span), *along
    values = np.asarray(group[variable.name][place]).reshape(len(span), -1)
    for at, (cell, row) in enumerate(zip(span.cells, values, strict=True)):
        length = store.lengths_of(block, cell, int(payload.jobs[at]))[variable.name]
        if (
            at not in payload.errors
            and zlib.crc32(row[:length].data) != payload.crc[variable.name][at]
        ):
            raise InputError(
                f"store {store.place}: files of {variable.name} of {block} are missing; 'farm "
                f"verify {store.place} --repair' marks it to run again"
            )

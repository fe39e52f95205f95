"""Find acknowledged values whose files are gone, which plain Zarr reads as fill."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.farm.store.arrays import ARRAYS, open_results
from schedfarm.farm.store.geometry import Block
from schedfarm.farm.store.records import read_record
from schedfarm.farm.store.schema import CELL, Variable
from schedfarm.farm.store.shards import CHUNKS
from schedfarm.farm.store.store import Store


def check_present(store: Store) -> None:
    """Refuse a store in which a file of an acknowledged block is gone.

    Names of files are compared with the records' names; of values only those are read of which
    there is no file, since they may all be fill.

    Parameters
    ----------
    store : Store
        Which one.

    Raises
    ------
    InputError
        Naming the first array and block.
    """
    there: dict[str, set[str]] = {}
    for block in store.heads():
        if block.trace not in there:
            there[block.trace] = set(store.place.names(f"{ARRAYS}/{block.trace}"))
        for variable in store.arrays_of(block.trace, block.kind):
            if not there[block.trace].issuperset(_files(store, block, variable)):
                _check_fill(store, block, variable)


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
    """Refuse values without a file that are not all fill by their record."""
    record = read_record(store.place, block)
    if record is None or variable.name not in record.body.crc:
        return
    body, span = record.body, record.head.span
    group: Any = open_results(store.place)[block.trace]
    along = (store.job_range(block),) if "job" in variable.dims else ()
    place = *store.place_of(block, span), *along
    values = np.asarray(group[variable.name][place]).reshape(len(span), -1)
    for at, (cell, row) in enumerate(zip(span.cells, values, strict=True)):
        length = store.lengths_of(block, cell, int(body.jobs[at]))[variable.name]
        if at not in body.errors and zlib.crc32(row[:length].data) != body.crc[variable.name][at]:
            raise InputError(
                f"store {store.place}: files of {variable.name} of {block} are gone; 'farm verify "
                f"{store.place} --repair' has it run again"
            )

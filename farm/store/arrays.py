"""The Zarr side of a store: create its arrays, open them, write one block of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.format.geometry import CELL, Axes
from schedfarm.core.format.names import ARRAYS, CHUNKS
from schedfarm.core.labels import load_number
from schedfarm.core.metrics.widths import WIDTHS
from schedfarm.farm.store.place import Place
from schedfarm.farm.store.product import PRODUCTS
from schedfarm.farm.store.schema import COORDINATES, TARGET_LOAD, WEEKS, Variable
from schedfarm.farm.store.shards import Shard

if TYPE_CHECKING:
    import zarr

    from schedfarm.farm.store.store import Store

CHUNK_VALUES = 262_144
"""A chunk inside a shard holds about this many values, so that short cells share one: a chunk
costs zarr 0.5 ms whatever its size, and 2 MiB are read back in 3 ms."""


def open_results(place: Place) -> zarr.Group:
    """Open a store's results as they are, not as consolidated metadata remembers them."""
    import zarr

    return zarr.open_group(place.arrays(ARRAYS), mode="r", zarr_format=3, use_consolidated=False)


def open_aside(place: Place) -> zarr.Group:
    """Open a store's results for `write_values`."""
    import zarr

    return zarr.open_group(place.aside(ARRAYS), mode="r+", zarr_format=3, use_consolidated=False)


@lru_cache(maxsize=16)
def open_arrays(place: Place, trace: str, run: str) -> Mapping[str, Any]:
    """Open all arrays of a trace for writing, once a run: while it lasts, no shape changes.

    Opening one costs 0.7 ms, a third of what it costs to write a small one.
    """
    group: Any = open_aside(place)[trace]
    return dict(group.arrays())


def write_coordinates(group: zarr.Group, labels: Axes) -> None:
    """Write the labels of a group's dimensions, and the loads as numbers."""
    # Fixed width: zarr reads its strings of any width as StringDType, which xarray does not plot
    # by and `astype` refuses. It warns, when it writes them, that version 3 has no text for them.
    with _without_warnings():
        for name, values in labels.items():
            text = any(isinstance(v, str) for v in values)
            _write_coordinate(group, name, name, np.array(values, np.str_ if text else np.int64))
        if "load" in labels:
            numbers = np.array([load_number(load) for load in labels["load"]], np.float64)
            _write_coordinate(group, TARGET_LOAD, "load", numbers)
            # By this xarray tells a coordinate from a variable.
            group.attrs["coordinates"] = TARGET_LOAD


def _write_coordinate(
    group: zarr.Group, name: str, dimension: str, values: npt.NDArray[Any]
) -> None:
    array = group.create_array(
        name,
        shape=values.shape,
        chunks=(max(1, values.size),),
        dtype=values.dtype,
        fill_value=math.nan if values.dtype.kind == "f" else None,
        # A character takes 4 bytes.
        compressors=_codecs(4 if values.dtype.kind == "U" else 8),
        dimension_names=[dimension],
        attributes={"long_name": COORDINATES[name]},
    )
    array[:] = values


def create_values(
    group: zarr.Group,
    variable: Variable,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    shards: tuple[int, ...] | None,
) -> None:
    """Create one array with the codecs that every array of a store has."""
    group.create_array(
        variable.name,
        shape=shape,
        chunks=chunks,
        shards=shards,
        dtype=variable.dtype,
        fill_value=variable.fill,
        compressors=_codecs(np.dtype(variable.dtype).itemsize),
        dimension_names=variable.dims,
        attributes=variable.attributes,
    )


def _codecs(size: int) -> list[Any]:
    """Return what every chunk goes through: a flipped bit is then an error, not another value."""
    from zarr.codecs import BloscCodec, Crc32cCodec

    # 4 to 7 ns a value, where zstd at level 1 takes 20 to 30 for 15 % fewer bytes: EASY simulates
    # a job in 125.
    return [BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=size), Crc32cCodec()]


def write_values(array: Any, place: tuple[slice, ...], values: npt.NDArray[Any]) -> list[Shard]:
    """Write whole shards aside, and return what is to become of them.

    Parameters
    ----------
    array : zarr.Array
        Where to, of a group that `open_aside` opened.
    place : tuple of slice
        Runs along the array's leading dimensions, a shard along each.
    values : ndarray
        Values over these runs and the dimensions that are left, padded.

    Returns
    -------
    list of Shard
        One, or several where a dimension that is left has grown.
    """
    store: Any = array.store_path.store
    if store.keeps_fill:
        array = array.with_config({"write_empty_chunks": True})
    array[place] = values
    shard = array.shards or array.chunks
    corner = [run.start // length for run, length in zip(place, shard, strict=False)]
    left = zip(array.shape[len(corner) :], shard[len(corner) :], strict=True)
    found = []
    for at in product(*(range(-(-n // d)) for n, d in left)):
        key = "/".join([array.path, CHUNKS, *map(str, (*corner, *at))])
        found.append(store.take(key))
    return [one for one in found if one is not None]


def create_results(folder: Path) -> zarr.Group:
    """Create a hierarchy in a folder that is not there yet."""
    import zarr

    return zarr.open_group(folder, mode="w", zarr_format=3)


def consolidate(path: Path) -> None:
    """Gather all metadata into the root, so that readers open the store with one request."""
    import zarr

    # Zarr v3 has no text for consolidated metadata yet; xarray and zarr both read it.
    with _without_warnings():
        zarr.consolidate_metadata(path, zarr_format=3)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Silence what zarr says of forms that version 3 has no text for."""
    from zarr.errors import UnstableSpecificationWarning, ZarrUserWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZarrUserWarning)
        warnings.simplefilter("ignore", UnstableSpecificationWarning)
        yield


def create_trace(root: zarr.Group, store: Store, trace: str) -> None:
    """Create a trace's group, with its coordinates and its weeks.

    Parameters
    ----------
    root : zarr.Group
        Where.
    store : Store
        Says axes, sizes, and what it holds.
    trace : str
        Name of the group.
    """
    group = root.create_group(trace)
    sizes, weeks = store.sizes(trace), store.weeks_of(trace)
    labels: dict[str, Sequence[Any]] = {axis: store.axes[axis] for axis in CELL}
    labels |= {"week": range(1, sizes["week"] + 1), "width": list(WIDTHS)}
    if store.users[trace]:
        labels["user"] = store.users[trace]
    write_coordinates(group, {**labels, **store.parts(trace)})
    create_values(group, WEEKS, weeks.shape, weeks.shape, None)
    group[WEEKS.name][...] = weeks  # type: ignore[index]
    for kind in store.holds:
        lengths = store.layouts[trace].lengths(PRODUCTS[kind])
        for variable in store.arrays_of(trace, kind):
            _create_array(group, variable, lengths, sizes)


def _create_array(
    group: zarr.Group, variable: Variable, lengths: Mapping[str, int], sizes: Mapping[str, int]
) -> None:
    shape = tuple(sizes[d] for d in variable.dims)
    shard = tuple(lengths[d] for d in variable.dims)
    cells = [lengths[d] for d in variable.dims if d in CELL]
    inner = shard[len(cells) :]
    if len(inner) > 1:
        # Of many jobs on many nodes one cell's would be more than a codec takes at once.
        inner = (divisor(inner[0], max(1, CHUNK_VALUES // math.prod(inner[1:]))), *inner[1:])
    chunk = (*chunk_shape(cells, math.prod(inner)), *inner)
    create_values(group, variable, shape, chunk, None if chunk == shard else shard)


def chunk_shape(shard: Sequence[int], inner: int) -> tuple[int, ...]:
    """Return the lengths of a chunk along a shard's leading axes, filled in their order.

    Parameters
    ----------
    shard : sequence of int
        Lengths of the shard along resample, load and, where there is one, policy.
    inner : int
        Values of one cell in the shard.

    Examples
    --------
    >>> chunk_shape((40, 2, 10), 3328), chunk_shape((40, 2, 10), 64), chunk_shape((40, 2), 7)
    ((40, 1, 1), (40, 2, 10), (40, 2))
    """
    room = max(1, CHUNK_VALUES // inner)
    lengths = []
    for length in shard:
        lengths.append(divisor(length, room))
        room //= lengths[-1]
    return tuple(lengths)


def divisor(length: int, most: int) -> int:
    """Return the largest part of so much at most into which a length can be cut evenly."""
    return next(d for d in range(max(1, min(length, most)), 0, -1) if length % d == 0)

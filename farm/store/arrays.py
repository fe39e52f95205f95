"""The Zarr side of a store: create and grow its arrays, write and read one block of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from farm.planning.block_shape import chunk_shape
from farm.store.geometry import CELLS, TraceLayout
from farm.store.schema import CELL, COORDINATES, DECISIONS, FAIRNESS, WEEKS, WORKLOAD, Variable

if TYPE_CHECKING:
    import zarr

Axes = Mapping[str, Sequence[Any]]
"""Labels along each dimension of a group that has labels."""


def open_results(path: Path, mode: str = "r") -> zarr.Group:
    """Open a store's results as they are, not as consolidated metadata remembers them."""
    import zarr

    return zarr.open_group(path, mode=mode, zarr_format=3, use_consolidated=False)  # type: ignore[arg-type]


@lru_cache(maxsize=16)
def open_arrays(path: Path, trace: str, run: str) -> Mapping[str, Any]:
    """Open all arrays of a trace for writing, once a run: while it lasts, no shape changes.

    Opening one costs 0.7 ms, a third of what it costs to write a small one.
    """
    group: Any = open_results(path, "r+")[trace]
    return dict(group.arrays())


def fit_group(
    root: zarr.Group,
    trace: str,
    layout: TraceLayout,
    axes: Axes,
    jobs: int,
    weeks: npt.NDArray[np.int64],
    fairness: Sequence[str],
) -> None:
    """Create a trace's group, or resize it to longer axes; what is written stays.

    Parameters
    ----------
    root : zarr.Group
        The store's results, writable.
    trace : str
        Name of the group.
    layout : TraceLayout
        Sizes of shards.
    axes : mapping of str to sequence
        Labels of `resample`, `load` and `policy`.
    jobs : int
        Length of `job`.
    weeks : int64[resamples, loads]
        Weeks that hold each cell's submissions.
    fairness : sequence of str
        Kinds of fairness that have an array.
    """
    group = root.require_group(trace)
    labels = {**axes, "week": range(1, int(weeks.max()) + 2)}
    write_coordinates(group, labels)
    create_values(group, WEEKS, weeks.shape, weeks.shape, None)
    group[WEEKS.name][...] = weeks  # type: ignore[index]
    sizes = {name: len(values) for name, values in labels.items()} | {"job": jobs}
    kinds = [(variable, CELLS) for variable in (*WORKLOAD, *DECISIONS)]
    for variable, kind in [*kinds, *((FAIRNESS[kind], kind) for kind in fairness)]:
        lengths = dict(zip(CELL, layout.shape(kind), strict=True))
        lengths |= {"job": layout.jobs(kind), "week": layout.weeks}
        _fit_array(group, variable, lengths, sizes)


def write_coordinates(group: zarr.Group, labels: Axes) -> None:
    """Write the labels of a group's dimensions, anew and whole."""
    for name, values in labels.items():
        text = any(isinstance(v, str) for v in values)
        array = group.create_array(
            name,
            shape=(len(values),),
            dtype="str" if text else "int64",
            dimension_names=[name],
            attributes={"long_name": COORDINATES[name]},
            overwrite=True,
        )
        array[:] = np.asarray(list(values), dtype=object if text else np.int64)


def create_values(
    group: zarr.Group,
    variable: Variable,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    shards: tuple[int, ...] | None,
) -> None:
    """Create one array with the codecs that every array of a store has."""
    from zarr.codecs import BloscCodec, Crc32cCodec

    size = np.dtype(variable.dtype).itemsize
    group.create_array(
        variable.name,
        shape=shape,
        chunks=chunks,
        shards=shards,
        dtype=variable.dtype,
        fill_value=variable.fill,
        compressors=[
            # 4 to 7 ns a value, where zstd at level 1 takes 20 to 30 for 15 % fewer bytes: EASY
            # simulates a job in 125.
            BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=size),
            Crc32cCodec(),
        ],
        dimension_names=variable.dims,
        attributes={"units": variable.units, "long_name": variable.long_name},
        overwrite=True,
    )


def write_block(array: Any, place: tuple[slice, ...], values: npt.NDArray[Any]) -> list[Path]:
    """Write whole shards and return their files, which `sync` has yet to put on the disk.

    Parameters
    ----------
    array : zarr.Array
        Where to.
    place : tuple of slice
        Runs along the array's leading dimensions, a shard along each.
    values : ndarray
        Values over these runs and the dimension that is left, padded.

    Returns
    -------
    list of Path
        One, or several where the dimension that is left has grown; there is no file where every
        value is the array's fill value.
    """
    array[place] = values
    shard = array.shards or array.chunks
    corner = [run.start // length for run, length in zip(place, shard, strict=False)]
    left = zip(array.shape[len(corner) :], shard[len(corner) :], strict=True)
    store: Any = array.store_path.store
    folder = Path(store.root, array.path, "c", *map(str, corner))
    return [folder.joinpath(*map(str, at)) for at in product(*(range(-(-n // d)) for n, d in left))]


def consolidate(path: Path) -> None:
    """Gather all metadata into the root, so that readers open the store with one request."""
    import zarr
    from zarr.errors import ZarrUserWarning

    with warnings.catch_warnings():
        # Zarr v3 has no text for consolidated metadata yet; xarray and zarr both read it.
        warnings.simplefilter("ignore", ZarrUserWarning)
        zarr.consolidate_metadata(path, zarr_format=3)


def _fit_array(
    group: zarr.Group, variable: Variable, lengths: Mapping[str, int], sizes: Mapping[str, int]
) -> None:
    shape = tuple(sizes[d] for d in variable.dims)
    shard = tuple(lengths[d] for d in variable.dims)
    cells = [lengths[d] for d in variable.dims if d in CELL]
    inner = shard[len(cells) :]
    chunk = (*chunk_shape(cells, math.prod(inner)), *inner)
    shards = None if chunk == shard else shard
    array: Any = group.get(variable.name)
    # Other chunks are those of a build that was killed: a block would not be a shard of them.
    if array is None or (array.chunks, array.shards) != (chunk, shards):
        create_values(group, variable, shape, chunk, shards)
    elif array.shape != shape:
        array.resize(shape)

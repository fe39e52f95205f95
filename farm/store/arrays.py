"""Open the Zarr arrays of a store, and write shards of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from schedfarm.core.format.names import ARRAYS, CHUNKS
from schedfarm.farm.store.files import Shard
from schedfarm.farm.store.place import Place

if TYPE_CHECKING:
    import zarr


def open_results(place: Place) -> zarr.Group:
    """Open a store's results for reading, without the consolidated metadata."""
    import zarr

    return zarr.open_group(place.readable(ARRAYS), mode="r", zarr_format=3, use_consolidated=False)


def open_staged(place: Place) -> zarr.Group:
    """Open a store's results for `write_values`."""
    import zarr

    return zarr.open_group(place.staged(ARRAYS), mode="r+", zarr_format=3, use_consolidated=False)


@lru_cache(maxsize=16)
def open_arrays(place: Place, trace: str, run: str) -> Mapping[str, Any]:
    """Open all arrays of a trace for writing, once per run: shapes do not change during a run.

    Opening an array takes 0.7 ms, a third of the time to write a small one.
    """
    group: Any = open_staged(place)[trace]
    return dict(group.arrays())


def write_values(array: Any, region: tuple[slice, ...], values: npt.NDArray[Any]) -> list[Shard]:
    """Stage whole shards of an array that `open_staged` opened, and return them.

    The region has a slice of one shard along each leading dimension; the values cover it and the
    remaining dimensions, padded. There are several shards where a remaining dimension has grown.
    """
    store: Any = array.store_path.store
    if store.keeps_fill:
        array = array.with_config({"write_empty_chunks": True})
    array[region] = values
    shard = array.shards or array.chunks
    corner = [run.start // length for run, length in zip(region, shard, strict=False)]
    rest = zip(array.shape[len(corner) :], shard[len(corner) :], strict=True)
    found = []
    for at in product(*(range(-(-n // d)) for n, d in rest)):
        key = "/".join([array.path, CHUNKS, *map(str, (*corner, *at))])
        found.append(store.take(key))
    return [one for one in found if one is not None]

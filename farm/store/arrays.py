"""Open the Zarr arrays of a store, and write shards of these arrays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from schedfarm.core.format.names import ARRAYS, CHUNKS
from schedfarm.farm.store.files import Shard
from schedfarm.farm.store.place import Place

if TYPE_CHECKING:
    import zarr

    from schedfarm.farm.store.shards import Encoder


def open_results(place: Place) -> zarr.Group:
    """Open a store's results for reading, without consolidated metadata."""
    import zarr

    return zarr.open_group(place.readable(ARRAYS), mode="r", zarr_format=3, use_consolidated=False)


class StoredArray:
    """Read an array of a store, and stage shards of it.

    Parameters
    ----------
    place : Place
        The place of the store.
    array : zarr.Array
        The array, open for reading.
    """

    def __init__(self, place: Place, array: Any) -> None:
        self.array, self._place = array, place

    @cached_property
    def _encoder(self) -> Encoder:
        from schedfarm.farm.store.shards import Encoder

        return Encoder(self.array, self._place.keeps_fill)

    def stage(self, region: tuple[slice, ...], values: npt.NDArray[Any]) -> list[Shard]:
        """Stage whole shards, and return them.

        The region has a slice of one shard along each leading dimension. The values cover this
        slice and the remaining dimensions, with padding. There are several shards if a remaining
        dimension has grown.
        """
        lengths, folder = self._encoder.shape, f"{ARRAYS}/{self.array.path}/{CHUNKS}"
        corner = [run.start // length for run, length in zip(region, lengths, strict=False)]
        first = [0 for _ in corner]
        rest = zip(values.shape[len(corner) :], lengths[len(corner) :], strict=True)
        found = []
        for at in product(*(range(-(-n // d)) for n, d in rest)):
            inside = zip((*first, *at), lengths, strict=True)
            part = values[tuple(slice(i * n, (i + 1) * n) for i, n in inside)]
            name = "/".join([folder, *map(str, (*corner, *at))])
            found.append(self._place.stage(name, self._encoder.encode(part)))
        return found


@lru_cache(maxsize=16)
def open_arrays(place: Place, trace: str, run: str) -> Mapping[str, StoredArray]:
    """Open all arrays of a trace once per run, since shapes do not change during a run.

    Opening an array takes 0.7 ms, a third of the time to write a small array.
    """
    group: Any = open_results(place)[trace]
    return {name: StoredArray(place, array) for name, array in group.arrays()}

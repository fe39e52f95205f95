"""Shards have the bytes that zarr writes, and codecs that the encoder lacks are refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.codecs import ZstdCodec
from zarr.storage import MemoryStore

from schedfarm.core.errors import InputError
from schedfarm.farm.store.arrays import StoredArray
from schedfarm.farm.store.files import Shard
from schedfarm.farm.store.template import _codecs

CASES = [
    # chunk, chunks in a shard, array, indices of leading shards
    ((3,), (1,), (3,), ()),
    ((3,), (2,), (8,), ()),
    ((2, 5), (1, 1), (3, 5), (1,)),
    ((2, 1, 1, 3), (3, 5, 3, 4), (5, 3, 6, 13), (0,)),
    ((1, 2, 1, 4), (4, 1, 3, 2), (6, 2, 3, 17), (1, 0, 0)),
    ((2, 2, 2, 4), (1, 1, 2, 1), (2, 2, 4, 9), (0, 0, 0)),
]
"""Shards of several chunks in Morton order, cut at the end of the array, or all fill in part."""


class Memory:
    """Keep staged shards."""

    def __init__(self, keeps_fill: bool) -> None:
        self.keeps_fill = keeps_fill
        self.shards: dict[str, bytes | None] = {}

    def stage(self, name: str, data: bytes | None) -> Shard:
        self.shards[name.removeprefix("results.zarr/")] = data
        return Shard(name, data)


def made(
    files: dict[str, Any], chunk: Any, counts: Any, shape: Any, dtype: str, **codecs: Any
) -> Any:
    shard = tuple(n * k for n, k in zip(chunk, counts, strict=True))
    fill = np.nan if dtype == "float64" else -1
    group = zarr.open_group(MemoryStore(files), mode="w", zarr_format=3)
    return group.create_array(
        "one",
        shape=shape,
        chunks=chunk,
        shards=None if chunk == shard else shard,
        dtype=dtype,
        fill_value=fill,
        **(codecs or {"compressors": _codecs(np.dtype(dtype).itemsize)}),
    )


@pytest.mark.parametrize("dtype", ["int64", "float64", "int8", "int32"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_bytes_are_those_of_zarr(case: Any, dtype: str) -> None:
    """Whole shards, shards cut at the end, chunks of fill, and shards that are all fill."""
    chunk, counts, shape, leading = case
    rng = np.random.default_rng(1)
    for values, keeps_fill in product(("few", "many", "none"), (False, True)):
        files: dict[str, Any] = {}
        array = made(files, chunk, counts, shape, dtype)
        lengths = array.shards or array.chunks
        corner = zip(leading, lengths, shape, strict=False)
        region = tuple(slice(at * n, min((at + 1) * n, most)) for at, n, most in corner)
        size = [*(run.stop - run.start for run in region), *shape[len(region) :]]
        given = rng.integers(0, 300, size).astype(dtype)
        if values != "many":
            given[rng.random(size) < (0.8 if values == "few" else 1)] = array.fill_value
        place: Any = Memory(keeps_fill)
        shards = StoredArray(place, array).stage(region, given)
        array.with_config({"write_empty_chunks": keeps_fill})[region] = given
        expected = {k: v.to_bytes() for k, v in files.items() if k.startswith("one/c")}
        assert {k: v for k, v in place.shards.items() if v is not None} == expected
        assert [one.staged for one in shards] == list(place.shards.values())


def test_other_codecs_are_refused() -> None:
    """A worker writes no values that a reader of the metadata would misread."""
    array = made({}, (3,), (1,), (3,), "int64", compressors=[ZstdCodec()])
    place: Any = Memory(False)
    with pytest.raises(InputError, match="array one: codecs bytes, zstd; must be bytes, blosc"):
        StoredArray(place, array).stage((), np.zeros(3, np.int64))

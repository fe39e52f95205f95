"""Encode shards of arrays, byte for byte as zarr does.

For each chunk and file, zarr runs tasks in an event loop of another thread, which takes 1 to 2 ms
for a shard of any size. A block has two dozen shards, so these tasks take half of a commit's CPU
time. zarr 3.3 has a pipeline without the loop (`FusedCodecPipeline`), but does not support Python
3.11. This pipeline can replace the module when Python 3.11 is no longer supported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import google_crc32c
import numpy as np
import numpy.typing as npt
from numcodecs.blosc import Blosc

from schedfarm.core.errors import InputError

SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
"""Numbers of Blosc's filters, by their names in Zarr's metadata."""

EMPTY = 2**64 - 1
"""Offset and length of a chunk that is missing in a shard, since all its values are fill."""


class Encoder:
    """Encode the shards of one array according to the array's metadata.

    Parameters
    ----------
    array : zarr.Array
        Array of a store, with the codecs that `farm.store.template` gives every array.
    keeps_fill : bool
        Whether chunks of fill are written, too.

    Attributes
    ----------
    shape : tuple of int
        Lengths of a shard.
    """

    def __init__(self, array: Any, keeps_fill: bool) -> None:
        self.shape: tuple[int, ...] = array.shards or array.chunks
        self._chunk: tuple[int, ...] = array.chunks
        self._fill, self._dtype, self._keeps = array.fill_value, array.dtype, keeps_fill
        codecs = [one.to_dict() for one in array.metadata.codecs]
        if array.shards:
            codecs = codecs[0]["configuration"]["codecs"]
        if [one["name"] for one in codecs] != ["bytes", "blosc", "crc32c"]:
            found = ", ".join(one["name"] for one in codecs)
            raise InputError(f"array {array.path}: codecs {found}; must be bytes, blosc, crc32c")
        self._blosc = _blosc(codecs[1]["configuration"])

    def encode(self, values: npt.NDArray[Any]) -> bytes | None:
        """Return the bytes of a shard that begins with these values; None if no file is written.

        Fill follows the values. Chunks that contain only fill are left out.
        """
        if self._chunk == self.shape:
            return self._encoded(values)
        counts = tuple(n // d for n, d in zip(self.shape, self._chunk, strict=True))
        index = np.full((*counts, 2), EMPTY, "<u8")
        parts, size = [], 0
        for at in _morton(counts):
            inside = values[_place(at, self._chunk)]
            part = self._encoded(inside) if inside.size else None
            if part is not None:
                index[at] = size, len(part)
                parts.append(part)
                size += len(part)
        return b"".join([*parts, _sealed(index.tobytes())]) if parts else None

    def _encoded(self, values: npt.NDArray[Any]) -> bytes | None:
        if values.shape == self._chunk:
            whole = np.ascontiguousarray(values, self._dtype)
        else:
            whole = np.full(self._chunk, self._fill, self._dtype)
            whole[tuple(map(slice, values.shape))] = values
        if not self._keeps and _is_all(whole.reshape(-1), self._fill):
            return None
        return _sealed(self._blosc.encode(whole))


def _blosc(said: Mapping[str, Any]) -> Blosc:
    return Blosc(
        cname=said["cname"],
        clevel=said["clevel"],
        shuffle=SHUFFLES[said["shuffle"]],
        blocksize=said["blocksize"],
        typesize=said["typesize"],
    )


def _place(at: Sequence[int], lengths: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(i * n, (i + 1) * n) for i, n in zip(at, lengths, strict=True))


def _sealed(data: bytes) -> bytes:
    """Return data followed by their CRC-32C."""
    return data + int(google_crc32c.value(data)).to_bytes(4, "little")


def _is_all(values: npt.NDArray[Any], fill: Any) -> bool:
    """Return whether all values are fill; the first value alone usually shows that they are not."""
    if math.isnan(fill):
        return bool(np.isnan(values[:1]).all() and np.isnan(values).all())
    return bool((values[:1] == fill).all() and (values == fill).all())


@lru_cache(maxsize=64)
def _morton(counts: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the positions of a grid in Morton order, zarr's order of chunks in a shard."""
    bits = [(n - 1).bit_length() for n in counts]
    taken = [(bit, axis) for bit in range(max(bits)) for axis, n in enumerate(bits) if bit < n]

    def code(at: tuple[int, ...]) -> int:
        return sum((at[axis] >> bit & 1) << i for i, (bit, axis) in enumerate(taken))

    return sorted(product(*map(range, counts)), key=code)

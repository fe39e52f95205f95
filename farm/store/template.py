"""Template of a store's arrays: metadata, coordinates, weeks, and an empty summary."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.errors import InputError
from schedfarm.core.files import PARTIAL
from schedfarm.core.format.geometry import CELL, Axes
from schedfarm.core.format.names import ARRAYS, CHUNKS, GROWING, METADATA
from schedfarm.core.labels import load_number
from schedfarm.core.metrics.widths import WIDTHS
from schedfarm.farm.store.product import COORDINATES, PRODUCTS, TARGET_LOAD, WEEKS, Variable
from schedfarm.farm.store.shape import CHUNK_VALUES, chunk_shape, divisor
from schedfarm.farm.store.store import Store

if TYPE_CHECKING:
    import zarr
    from zarr.storage import MemoryStore

Template = dict[str, bytes]
"""Content of files, by name below the folder of the arrays."""


def template_of(store: Store) -> Template:
    """Return the files of a store's arrays, except values that blocks write."""
    from zarr.storage import MemoryStore

    # In memory, since zarr would use a further thread for each file in a folder and twice the time.
    files: dict[str, Any] = {}
    write_template(store, MemoryStore(files))
    return {name: files[name].to_bytes() for name in sorted(files)}


def write_template(store: Store, results: Path | MemoryStore) -> None:
    """Create a store's arrays in an empty place, except values that blocks write."""
    root = _create_results(results)
    for name in store.axes["trace"]:
        _create_trace(root, store, name)
        # The attribute is JSON, since netCDF has no attributes that are mappings.
        root[name].attrs["keep"] = store.keep
        root[name].attrs["dropped"] = json.dumps(dict(store.sources[name].get("dropped", {})))
        if "place" in store.platform(name).keeps:
            root[name].attrs["places"] = json.dumps(store.platform(name).places)
        if name in store.acknowledgements:
            root[name].attrs["acknowledge"] = store.acknowledgements[name]
        if name in store.cautions:
            root[name].attrs["cautions"] = json.dumps(dict(store.cautions[name]))
    _write_coordinates(root, store.axes)
    for variable in store.figures:
        shape = tuple(len(store.axes[d]) for d in variable.dims)
        # The array is one chunk, so that a mean over a million cells reads one file.
        _create_values(root, variable, shape, shape, None)
    root.attrs.update({"campaign": store.campaign, **store.settings, "keep": store.keep})
    if store.precision:
        root.attrs["precision"] = json.dumps(dict(store.precision))
    if store.labels:
        root.attrs["labels"] = json.dumps(dict(store.labels))
    _consolidate(results)


def install(store: Store, old: Store | None) -> None:
    """Resize a store's arrays to its shape, durably; keep the values of its old blocks."""
    if old is None:
        # These files are from a build that was killed before any block was written.
        store.place.remove_below(ARRAYS)
    kept = _arrays(old) if old else set()
    fresh = template_of(store)
    _remove_others(store, fresh, kept)
    store.place.write_each(ARRAYS, fresh)


def unknown_entries(store: Store, fresh: Template) -> list[str]:
    """Return the names among a store's arrays that are not in its template."""
    known = {"/".join(name.split("/")[:depth]) for name in fresh for depth in (1, 2)}
    found = [
        f"{folder}{entry}"
        for folder in ("", *(f"{trace}/" for trace in store.axes["trace"]))
        for entry in sorted(store.place.entries(f"{ARRAYS}/{folder}".rstrip("/")))
    ]
    return [f"{ARRAYS}/{one}" for one in found if one not in known and not one.endswith(PARTIAL)]


def check_metadata(store: Store, *, repair: bool = False) -> list[str]:
    """Refuse a store with missing metadata, although records acknowledge its cells.

    With `repair`, arrays and groups that follow from the campaign, such as coordinates, are not
    refused: their paths are returned. A growing store passes, since its template is installed later
    anyway.
    """
    if store.place.has(GROWING):
        return []
    inside = (".", *CELL, TARGET_LOAD, WEEKS.name, "week", "width")
    names = [".", *store.axes, TARGET_LOAD, *(v.name for v in store.figures)]
    names += [f"{trace}/{name}" for trace in store.axes["trace"] for name in inside]
    names += [f"{trace}/{name}" for trace in store.axes["trace"] for name in store.parts(trace)]
    derived, written = _unsound(store, names), _unsound(store, sorted(_arrays(store)))
    for name in (*written, *([] if repair else derived)):
        raise InputError(
            f"store {store.place}: {_metadata(name)} is missing or damaged, though records "
            f"depend on it; 'farm verify {store.place} --repair' repairs it"
        )
    return derived


def _arrays(store: Store) -> set[str]:
    """Return the paths of the arrays that blocks write."""
    return {
        f"{trace}/{variable.name}"
        for trace in store.axes["trace"]
        for kind in store.holds
        for variable in store.arrays_of(trace, kind)
    }


def _unsound(store: Store, names: list[str]) -> list[str]:
    """Return the arrays and groups whose metadata is missing or unreadable."""
    found = store.place.read_each(map(_metadata, names))
    return [name for name, data in zip(names, found, strict=True) if not _is_sound(data)]


def _metadata(name: str) -> str:
    return "/".join(part for part in (ARRAYS, *name.split("/"), METADATA) if part != ".")


def _is_sound(data: bytes | None) -> bool:
    try:
        return data is not None and isinstance(json.loads(data), dict)
    except ValueError:
        return False


def _remove_others(store: Store, fresh: Template, kept: Collection[str]) -> None:
    """Remove groups that do not belong to the store, and the values of arrays outside of `kept`.

    Such arrays belong to the summary, or were left by a growth that was killed.
    """
    place, known = store.place, {name.partition("/")[0] for name in fresh}
    there = place.entries(ARRAYS)
    for entry in sorted(there - known):
        place.remove_below(f"{ARRAYS}/{entry}")
    for name in fresh:
        array = name.removesuffix(f"/{METADATA}")
        # A missing group has no values to remove.
        if array != name and array not in kept and array.partition("/")[0] in there:
            place.remove_below(f"{ARRAYS}/{array}/{CHUNKS}")


def _create_results(results: Path | MemoryStore) -> zarr.Group:
    """Create a hierarchy in an empty place."""
    import zarr

    return zarr.open_group(results, mode="w", zarr_format=3)


def _consolidate(results: Path | MemoryStore) -> None:
    """Gather all metadata in the root, so that readers open the store with one request."""
    import zarr

    # Consolidated metadata is not yet in the specification of Zarr v3, but xarray and zarr read it.
    with _without_warnings():
        zarr.consolidate_metadata(results, zarr_format=3)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Silence warnings about features that are not in the specification of Zarr v3."""
    from zarr.errors import UnstableSpecificationWarning, ZarrUserWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZarrUserWarning)
        warnings.simplefilter("ignore", UnstableSpecificationWarning)
        yield


def _create_trace(root: zarr.Group, store: Store, trace: str) -> None:
    """Create a trace's group with its coordinates and its weeks."""
    group = root.create_group(trace)
    sizes, weeks = store.sizes(trace), store.weeks_of(trace)
    labels: dict[str, Sequence[Any]] = {axis: store.axes[axis] for axis in CELL}
    labels |= {"week": range(1, sizes["week"] + 1), "width": list(WIDTHS)}
    if store.users[trace]:
        labels["user"] = store.users[trace]
    _write_coordinates(group, {**labels, **store.parts(trace)})
    _create_values(group, WEEKS, weeks.shape, weeks.shape, None)
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
        # A cell with many jobs on many nodes would exceed the buffer of a codec.
        inner = (divisor(inner[0], max(1, CHUNK_VALUES // math.prod(inner[1:]))), *inner[1:])
    chunk = (*chunk_shape(cells, math.prod(inner)), *inner)
    _create_values(group, variable, shape, chunk, None if chunk == shard else shard)


def _write_coordinates(group: zarr.Group, labels: Axes) -> None:
    """Write the labels of a group's dimensions, and the loads as numbers."""
    # Strings have a fixed width: zarr reads variable-width strings as StringDType, which xarray
    # cannot plot and `astype` refuses. Writing variable-width strings causes a warning, since they
    # are not in the specification of Zarr v3.
    with _without_warnings():
        for name, values in labels.items():
            text = any(isinstance(v, str) for v in values)
            _write_coordinate(group, name, name, np.array(values, np.str_ if text else np.int64))
        if "load" in labels:
            numbers = np.array([load_number(load) for load in labels["load"]], np.float64)
            _write_coordinate(group, TARGET_LOAD, "load", numbers)
            # This is xarray's attribute for coordinates that are not dimensions.
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


def _create_values(
    group: zarr.Group,
    variable: Variable,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    shards: tuple[int, ...] | None,
) -> None:
    """Create one array with the codecs of a store's arrays."""
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
    """Return the codecs of every chunk; the last one turns a flipped bit into an error."""
    from zarr.codecs import BloscCodec, Crc32cCodec

    # These codecs take 4 to 7 ns per value; zstd at level 1 takes 20 to 30 ns for 15 % fewer bytes.
    # EASY simulates a job in 125 ns.
    return [BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=size), Crc32cCodec()]

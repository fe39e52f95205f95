"""A store's arrays without what blocks write: metadata, coordinates, weeks, an empty summary."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.core.files import PARTIAL
from schedfarm.core.format.geometry import CELL
from schedfarm.core.format.names import ARRAYS, CHUNKS, GROWING, METADATA
from schedfarm.farm.store.arrays import (
    consolidate,
    create_results,
    create_trace,
    create_values,
    write_coordinates,
)
from schedfarm.farm.store.schema import TARGET_LOAD, WEEKS
from schedfarm.farm.store.store import Store

Skeleton = dict[str, bytes]
"""Files of metadata, coordinates, weeks and an empty summary, by their names below the arrays."""


def skeleton_of(store: Store) -> Skeleton:
    """Return what a store's arrays are without the values that blocks write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, ARRAYS)
        write_skeleton(store, folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def write_skeleton(store: Store, results: Path) -> None:
    """Create a store's arrays where nothing is yet, without the values that blocks write."""
    root = create_results(results)
    for name in store.axes["trace"]:
        create_trace(root, store, name)
        # As JSON: netCDF has no attribute with names in it.
        root[name].attrs["keep"] = store.keep
        root[name].attrs["dropped"] = json.dumps(dict(store.sources[name].get("dropped", {})))
        if "place" in store.platform(name).keeps:
            root[name].attrs["places"] = json.dumps(store.platform(name).places)
        if name in store.acknowledgements:
            root[name].attrs["acknowledge"] = store.acknowledgements[name]
        if name in store.cautions:
            root[name].attrs["cautions"] = json.dumps(dict(store.cautions[name]))
    write_coordinates(root, store.axes)
    for variable in store.figures:
        shape = tuple(len(store.axes[d]) for d in variable.dims)
        # One chunk: a mean over a million cells then reads one file.
        create_values(root, variable, shape, shape, None)
    root.attrs.update({"campaign": store.campaign, **store.settings, "keep": store.keep})
    if store.precision:
        root.attrs["precision"] = json.dumps(dict(store.precision))
    consolidate(results)


def install(store: Store, old: Store | None) -> None:
    """Make a store's arrays what it says, each file whole and on the disk; values stay.

    Parameters
    ----------
    store : Store
        As it is to be.
    old : Store, optional
        As it was: what its blocks wrote is kept.
    """
    if old is None:
        # A build that was killed, and in which nothing was done.
        store.place.remove_below(ARRAYS)
    kept = _arrays(old) if old else set()
    fresh = skeleton_of(store)
    _remove_others(store, fresh, kept)
    store.place.write_each(ARRAYS, fresh)


def strangers(store: Store, fresh: Skeleton) -> list[str]:
    """Return the names of what stands among a store's arrays and is in no skeleton of it."""
    known = {"/".join(name.split("/")[:depth]) for name in fresh for depth in (1, 2)}
    found = [
        f"{folder}{entry}"
        for folder in ("", *(f"{trace}/" for trace in store.axes["trace"]))
        for entry in sorted(store.place.entries(f"{ARRAYS}/{folder}".rstrip("/")))
    ]
    return [f"{ARRAYS}/{one}" for one in found if one not in known and not one.endswith(PARTIAL)]


def check_metadata(store: Store, *, mend: bool = False) -> list[str]:
    """Refuse a store of which metadata is gone: its records alone would call their cells done.

    Parameters
    ----------
    store : Store
        Which; while it is being grown, all is made anyway, and nothing is refused.
    mend : bool
        Whether to return what the campaign alone determines, such as coordinates, to be made
        again, instead of refusing it, too.

    Returns
    -------
    list of str
        Paths of these arrays and groups.

    Raises
    ------
    InputError
        If the metadata of one is missing or unreadable.
    """
    if store.place.has(GROWING):
        return []
    inside = (".", *CELL, TARGET_LOAD, WEEKS.name, "week", "width")
    names = [".", *store.axes, TARGET_LOAD, *(v.name for v in store.figures)]
    names += [f"{trace}/{name}" for trace in store.axes["trace"] for name in inside]
    names += [f"{trace}/{name}" for trace in store.axes["trace"] for name in store.parts(trace)]
    can, cannot = _unsound(store, names), _unsound(store, sorted(_arrays(store)))
    for name in (*cannot, *([] if mend else can)):
        raise InputError(
            f"store {store.place}: {_metadata(name)} is missing or damaged, though records count "
            f"on it; 'farm verify {store.place} --repair' mends it"
        )
    return can


def _arrays(store: Store) -> set[str]:
    """Return the paths of the arrays that blocks write."""
    return {
        f"{trace}/{variable.name}"
        for trace in store.axes["trace"]
        for kind in store.holds
        for variable in store.arrays_of(trace, kind)
    }


def _unsound(store: Store, names: list[str]) -> list[str]:
    """Return of which arrays and groups the metadata is missing or unreadable."""
    found = store.place.read_each(map(_metadata, names))
    return [name for name, data in zip(names, found, strict=True) if not _is_sound(data)]


def _metadata(name: str) -> str:
    return "/".join(part for part in (ARRAYS, *name.split("/"), METADATA) if part != ".")


def _is_sound(data: bytes | None) -> bool:
    try:
        return data is not None and isinstance(json.loads(data), dict)
    except ValueError:
        return False


def _remove_others(store: Store, fresh: Skeleton, kept: Collection[str]) -> None:
    """Remove values that have another shape now, and groups that are none of the store's.

    The first are the summary's, and those of arrays that a killed growth has left.
    """
    place, known = store.place, {name.partition("/")[0] for name in fresh}
    there = place.entries(ARRAYS)
    for entry in sorted(there - known):
        place.remove_below(f"{ARRAYS}/{entry}")
    for name in fresh:
        array = name.removesuffix(f"/{METADATA}")
        # What is not there yet has no values either.
        if array != name and array not in kept and array.partition("/")[0] in there:
            place.remove_below(f"{ARRAYS}/{array}/{CHUNKS}")

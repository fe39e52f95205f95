"""A store's arrays without what blocks write: metadata, coordinates, weeks, an empty summary."""

from __future__ import annotations

import json
import shutil
import tempfile
import uuid
from collections.abc import Collection
from pathlib import Path

from core.errors import InputError
from core.files import PARTIAL, make_folder, sync
from farm.store.arrays import (
    consolidate,
    create_trace,
    create_values,
    open_results,
    write_coordinates,
)
from farm.store.manifest import GROWING
from farm.store.schema import CELL, TARGET_LOAD, WEEKS
from farm.store.shards import CHUNKS, Shard, drop, put, settle
from farm.store.store import Store

METADATA = "zarr.json"


def write_skeleton(store: Store, results: Path) -> None:
    """Create a store's arrays where nothing is yet, without the values that blocks write."""
    root = open_results(results, "w")
    for name in store.axes["trace"]:
        create_trace(root, store, name)
        # As JSON: netCDF has no attribute with names in it.
        root[name].attrs["dropped"] = json.dumps(dict(store.sources[name].get("dropped", {})))
        if name in store.acknowledgements:
            root[name].attrs["acknowledge"] = store.acknowledgements[name]
        if name in store.cautions:
            root[name].attrs["cautions"] = json.dumps(dict(store.cautions[name]))
    write_coordinates(root, store.axes)
    for variable in store.figures:
        shape = tuple(len(store.axes[d]) for d in variable.dims)
        # One chunk: a mean over a million cells then reads one file.
        create_values(root, variable, shape, shape, None)
    root.attrs.update({"campaign": store.campaign, **store.settings})
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
    if old is None and store.results.exists():
        # A build that was killed, and in which nothing was done.
        shutil.rmtree(store.results)
    make_folder(store.results)
    kept = _arrays(old) if old else set()
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder, store.results.name)
        write_skeleton(store, fresh)
        _remove_others(store.results, fresh, kept)
        copy_skeleton(fresh, store.results)


def copy_skeleton(fresh: Path, results: Path) -> None:
    """Put the files of a skeleton among a store's arrays, each whole and on the disk."""
    files, shards = skeleton_files(fresh), []
    for file in files:
        path = results / file
        shards.append(Shard(path, path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")))
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        for file, shard in zip(files, shards, strict=True):
            assert shard.aside is not None
            shard.aside.write_bytes((fresh / file).read_bytes())
        settle(shards)
        put(shards, results)
    finally:
        drop(shards)


def skeleton_files(results: Path) -> list[Path]:
    """Return the files of a skeleton, by their paths below it."""
    return sorted(p.relative_to(results) for p in results.rglob("*") if p.is_file())


def strangers(store: Store, fresh: Path) -> list[Path]:
    """Return what stands among a store's arrays and is in no skeleton of it."""
    folders = (store.results, *(store.results / trace for trace in store.axes["trace"]))
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    known = [fresh / path.relative_to(store.results) for path in found]
    return [
        path
        for path, there in zip(found, known, strict=True)
        if not there.exists() and not path.name.endswith(PARTIAL)
    ]


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
    if (store.path / GROWING).exists():
        return []
    inside = (".", *CELL, TARGET_LOAD, WEEKS.name, "week", "width")
    names = [".", *store.axes, TARGET_LOAD, *(v.name for v in store.figures)]
    names += [f"{trace}/{name}" for trace in store.axes["trace"] for name in inside]
    can = [name for name in names if not _is_sound(store.results / name)]
    cannot = [name for name in sorted(_arrays(store)) if not _is_sound(store.results / name)]
    for name in (*cannot, *([] if mend else can)):
        file = Path(store.results.name, name, METADATA)
        raise InputError(
            f"store {store.path}: {file} is missing or damaged, though records count on it; "
            f"'farm verify {store.path} --repair' mends it"
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


def _is_sound(array: Path) -> bool:
    try:
        return isinstance(json.loads((array / METADATA).read_bytes()), dict)
    except (OSError, ValueError):
        return False


def _remove_others(results: Path, fresh: Path, kept: Collection[str]) -> None:
    """Remove values that have another shape now, and groups that are none of the store's.

    The first are the summary's, and those of arrays that a killed growth has left.
    """
    for folder in _folders(results):
        there = fresh / folder.relative_to(results)
        if folder.parent == results and not there.exists():
            shutil.rmtree(folder)
            sync(results)
    for array in (one for folder in (results, *_folders(results)) for one in _folders(folder)):
        name = array.relative_to(results)
        if (array / CHUNKS).is_dir() and str(name) not in kept and (fresh / name).exists():
            shutil.rmtree(array / CHUNKS)
            sync(array)


def _folders(path: Path) -> list[Path]:
    return [one for one in path.iterdir() if one.is_dir()]

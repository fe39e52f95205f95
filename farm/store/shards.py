"""Files of a store's arrays: written beside their places, put on the disk, moved into them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from core.files import sync

CHUNKS = "c"
"""Folder of an array in which Zarr keeps the files of its values."""


class Shard(NamedTuple):
    """Name a file of values, or of metadata.

    path : Path
        Its place.
    aside : Path or None
        Where it waits; None where there is to be no file, since every value is fill.
    """

    path: Path
    aside: Path | None


def settle(shards: Iterable[Shard]) -> None:
    """Put waiting files on the disk."""
    # After all are written: the first one to be synced takes most of the others' way.
    for shard in shards:
        if shard.aside is not None:
            sync(shard.aside)


def put(shards: Iterable[Shard], results: Path) -> None:
    """Move files that are on the disk into their places, and put that on the disk, too.

    Parameters
    ----------
    shards : iterable of Shard
        What to move.
    results : Path
        The folder of the arrays; folders below it may be new.
    """
    folders = set()
    for shard in shards:
        if shard.aside is None:
            shard.path.unlink(missing_ok=True)
        else:
            shard.aside.replace(shard.path)
        folders |= {one for one in shard.path.parents if one.is_relative_to(results)}
    for folder in folders:
        if folder.is_dir():
            sync(folder)


def drop(shards: Iterable[Shard]) -> None:
    """Delete files that wait."""
    for shard in shards:
        if shard.aside is not None:
            shard.aside.unlink(missing_ok=True)

"""Write files so that a reader sees the whole of one or nothing, whatever is killed when."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

PARTIAL = ".partial"
"""Ends the name of every file that is still being written; zarr uses the same ending."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file as a temporary one, sync it, and rename it into place.

    Parameters
    ----------
    path : Path
        Target; its folder is made if it is missing.
    data : bytes
        The whole content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def sync(path: Path) -> None:
    """Have the operating system put a file or a folder's entries on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Atomic writes: readers find a complete file or no file, even after a crash."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterable
from pathlib import Path

from schedfarm.core.caches import exposed, make_private

PARTIAL = ".partial"
"""Suffix of unfinished files; zarr uses the same suffix."""


def write_whole(
    path: Path, data: bytes | Iterable[bytes | memoryview], *, private: bool = False
) -> None:
    """Write a temporary file next to the target, sync it, and rename it into place.

    Parameters
    ----------
    path : Path
        Target; its folder is created if missing.
    data : bytes or iterable of bytes-like
        The whole content, or consecutive parts of it.
    private : bool
        Whether only the owner may read the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "new" / "file", b"all or nothing")
    ...     (Path(folder) / "new" / "file").read_bytes()
    b'all or nothing'
    """
    make_folder(path.parent)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        with temporary.open("wb") as stream:
            if private:
                os.fchmod(stream.fileno(), 0o600)
            stream.writelines([data] if isinstance(data, bytes) else data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents, and sync their entries to the disk."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def sync(path: Path | str) -> None:
    """Sync a file or a folder's entries to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_partial(folder: Path) -> int:
    """Delete unfinished files below a folder, and return their number."""
    left = list(folder.rglob(f"*{PARTIAL}"))
    for path in left:
        path.unlink(missing_ok=True)
    return len(left)


def write_cached(file: Path, data: bytes | Iterable[bytes | memoryview]) -> None:
    """Write a file of a cache for this user only; skip the write if it fails or is not private.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     write_cached(Path(place, "a", "b"), b"1")
    ...     Path(place, "a", "b").read_bytes()
    b'1'
    """
    with contextlib.suppress(OSError):
        make_private(file.parent)
        if exposed(file.parent) is None:
            write_whole(file, data, private=True)

"""Parsed logs on disk, found by their content, so that a log is parsed once on each host.

An entry is named by the SHA-256 of the file's bytes and the version of this format, so it never
goes stale; it may be deleted at any time. A folder that cannot be used means no cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.swf_text import Log
from core.workload import Int64

VERSION = 1
"""Version of an entry's format; another version has other names."""

ENVIRONMENT = "SCHEDFARM_CACHE"
"""Variable that names the cache folder; empty means none, unset the user's XDG cache folder."""

_HEAD = "head"


def folder() -> Path | None:
    """Return where parsed logs are kept, or None where nowhere.

    Examples
    --------
    >>> import os
    >>> os.environ["SCHEDFARM_CACHE"] = "/var/tmp/farm"
    >>> str(folder())
    '/var/tmp/farm/swf'
    >>> del os.environ["SCHEDFARM_CACHE"]
    """
    named = os.environ.get(ENVIRONMENT)
    if named is not None:
        return Path(named) / "swf" if named else None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "schedfarm" / "swf"
    except RuntimeError:
        return None


def key(content: bytes) -> str:
    """Return the name of the entry for a file of this content."""
    return f"{hashlib.sha256(content).hexdigest()}-v{VERSION}.npz"


def load(name: str, fields: Sequence[str]) -> Log | None:
    """Return these fields of an entry; None where it is missing, damaged or cannot be read."""
    place = folder()
    if place is None:
        return None
    try:
        with zipfile.ZipFile(place / name) as entry:
            head = _member(entry, _HEAD)
            columns = {field: _member(entry, field) for field in fields}
    # A damaged entry can break the readers of zip and npy in any way.
    except Exception:
        return None
    if head.shape != (2,) or len({column.shape for column in columns.values()}) != 1:
        return None
    return Log(columns, int(head[0]), int(head[1]))


def _member(entry: zipfile.ZipFile, name: str) -> Int64:
    # Read whole, since the CRC-32 is checked at a member's end only.
    content = io.BytesIO(entry.read(f"{name}.npy"))
    column: Int64 = np.load(content, allow_pickle=False).astype(np.int64)
    return column


def store(name: str, log: Log) -> None:
    """Write an entry, if the folder allows: a temporary file first, then a rename."""
    place = folder()
    if place is None:
        return
    small = np.iinfo(np.int32)
    arrays = {_HEAD: np.array([log.processors, log.max_estimate])}
    for field, column in log.columns.items():
        fits = small.min <= column.min() and column.max() <= small.max
        arrays[field] = column.astype(np.int32 if fits else np.int64)
    temporary = ""
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(suffix=".tmp", dir=place)
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        os.replace(temporary, place / name)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)

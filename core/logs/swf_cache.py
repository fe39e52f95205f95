"""Cache of parsed logs on disk, by content: each host parses a log once.

The name of an entry has the SHA-256 of the log's bytes and the version of this format, so an entry
is never outdated. An entry may be deleted at any time. If the folder is unusable, or if other users
can write to it, there is no cache.

An entry is one .npy array: 23 words of int64, then the 18 columns in order. The words are rows,
processors, max_estimate, epoch, the CRC-32 of each column, and the CRC-32 of the preceding words.
"""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Sequence
from io import BufferedReader
from typing import BinaryIO

import numpy as np

from schedfarm.core.caches import exposed, folder_of
from schedfarm.core.files import write_cached
from schedfarm.core.logs.swf_text import FIELDS, Log

VERSION = 4
"""Version of an entry's format, part of its name."""

KIND = "swf"
"""Name of the folder among the caches."""

_HEAD = len(FIELDS) + 5


def key(file: BufferedReader) -> str:
    """Return the name of the entry for a file with this content."""
    file.seek(0)
    return f"{hashlib.file_digest(file, 'sha256').hexdigest()}-v{VERSION}.npy"


def load(name: str, fields: Sequence[str]) -> Log | None:
    """Return some fields of an entry; None if the entry is missing, damaged or unreadable.

    Columns are int32 if all columns of the log fit, which halves the time of a first read.
    """
    place = folder_of(KIND)
    if place is None:
        return None
    try:
        if exposed(place) is not None:
            return None
        with open(place / name, "rb") as file:
            return _read(file, fields)
    # A damaged entry can cause any error of the reader.
    except Exception:
        return None


def _read(file: BinaryIO, fields: Sequence[str]) -> Log | None:
    # The file is read instead of mapped: over NFS, the replacement of a mapped file by another host
    # kills the reading process.
    np.lib.format.read_magic(file)
    _, _, kind = np.lib.format.read_array_header_1_0(file)
    head = np.fromfile(file, np.int64, _HEAD)
    if head[-1] != zlib.crc32(head[:-1].tobytes()):
        return None
    begin, columns = file.tell(), {}
    rows, processors, max_estimate, epoch, *sums = head[:-1].tolist()
    for field in fields:
        k = FIELDS.index(field)
        file.seek(begin + k * rows * kind.itemsize)
        column = np.fromfile(file, kind, rows)
        if column.size != rows or zlib.crc32(column.data) != sums[k]:
            return None
        columns[field] = column
    return Log(columns, processors, max_estimate, epoch)


def store(name: str, log: Log) -> None:
    """Write an entry if the folder is writable and private."""
    place = folder_of(KIND)
    if place is None:
        return
    columns = [log.columns[field] for field in FIELDS]
    small = np.iinfo(np.int32)
    fits = all(small.min <= c.min() and c.max() <= small.max for c in columns)
    kind = np.int32 if fits else np.int64
    # The columns are not joined to one array, which would take 720 MB more for 10^7 rows.
    parts = [np.ascontiguousarray(column, kind) for column in columns]
    head = [columns[0].size, log.processors, log.max_estimate, log.epoch]
    words = np.array([*head, *(zlib.crc32(part.data) for part in parts), 0])
    words[-1] = zlib.crc32(words[:-1].tobytes())
    first = words.view(kind)
    shape = (first.size + len(columns) * columns[0].size,)
    stream = io.BytesIO()
    about = {"descr": np.dtype(kind).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, about)
    write_cached(place / name, [stream.getvalue(), first.data, *(one.data for one in parts)])

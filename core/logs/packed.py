"""Reading and writing of a log's bytes, plain or gzip."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from schedfarm.core.errors import InputError
from schedfarm.core.files import write_whole

PART = 2**20
"""Number of bytes that are decompressed at a time."""

MOST_PACKED, LEAST_LIMIT = 100, 2**26
"""Largest allowed ratio of the decompressed to the compressed size, and a decompressed size, bytes,
that is always allowed. Logs of the archive have ratios of 4 to 10, a file of zeros has 1,000."""

_GZIP = b"\x1f\x8b"


_NO_FILES = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
"""Kinds of files that may never end, and that may have no data until another process writes."""


def check_is_file(path: str | os.PathLike[str]) -> None:
    """Refuse a pipe, a device or a socket, which may never end; ignore a missing file."""
    try:
        kind = _NO_FILES.get(stat.S_IFMT(os.stat(path).st_mode))
    except (OSError, ValueError):
        return
    if kind:
        raise InputError(
            f"{os.fspath(path)}: {kind}, which may have no end and cannot be read twice; give the "
            "log as a file"
        )


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return a file's bytes up to its size at the opening."""
    check_is_file(path)
    try:
        with open(path, "rb") as file:
            return file.read(os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot read the log ({error.strerror})") from None


def unpacked(content: bytes, source: str) -> bytes:
    """Return a file's text, decompressed if the file begins like gzip."""
    if not content.startswith(_GZIP):
        return content
    return b"".join(unpacked_parts(io.BytesIO(content), source))


def unpacked_parts(file: BinaryIO, source: str) -> Iterator[bytes]:
    """Yield a file's text in parts, decompressed if the file begins like gzip.

    Damaged data, and data far larger than any log, are refused.
    """
    length = file.seek(0, os.SEEK_END)
    file.seek(0)
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    # gzip.decompress is not used: it takes minutes for a file with many small members.
    stream = gzip.GzipFile(fileobj=file) if packed else file
    most, size = max(LEAST_LIMIT, MOST_PACKED * length), 0
    try:
        # A plain file that is still being written may never end.
        while part := stream.read(PART if packed else min(PART, length - size)):
            size += len(part)
            if packed and size > most:
                raise InputError(
                    f"{source}: {length:,} bytes of gzip data hold more than {most:,} bytes; "
                    "no log compresses so well, so fetch it again, or decompress it first"
                )
            yield part
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(
            f"{source}: the gzip data is truncated or damaged ({error}); fetch the log again"
        ) from None


def packed_for(path: str | os.PathLike[str], content: bytes) -> bytes:
    """Return the bytes to write, gzip if a path ends in ``.gz``; equal texts give equal bytes."""
    if not os.fspath(path).lower().endswith(".gz"):
        return content
    return gzip.compress(content, compresslevel=6, mtime=0)


def write_log(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a log, as gzip if its name ends in ``.gz``."""
    target = Path(path)
    try:
        # A missing folder is usually a misspelling, and is therefore not created.
        target.parent.stat()
        write_whole(target, packed_for(path, content))
    except OSError as error:
        raise InputError(f"{target}: cannot write the log ({error.strerror})") from None

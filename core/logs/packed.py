"""The bytes of a log off the disk, plain or packed by gzip."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from schedfarm.core.errors import InputError

PART = 2**20
"""Bytes that are unpacked at a time."""

MOST_PACKED, LEAST_LIMIT = 100, 2**26
"""A packed log may hold so many times its bytes, and 64 MiB in any case: those of the archive hold
4 to 10 times, and a file of zeros 1,000 times."""

_GZIP = b"\x1f\x8b"


_NO_FILES = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
"""Kinds of entries of a folder that may be without an end, or wait for somebody who writes."""


def check_is_file(path: str | os.PathLike[str]) -> None:
    """Refuse what may never come to an end.

    Raises
    ------
    InputError
        If it is a pipe, a device or a socket. What is not there is left to who opens it.
    """
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
    """Return a file's bytes, as many as it had when it was opened; refuse as `check_is_file`."""
    check_is_file(path)
    try:
        with open(path, "rb") as file:
            return file.read(os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot read the log ({error.strerror})") from None


def unpacked(content: bytes, source: str) -> bytes:
    """Return a file's text, decompressed if its first bytes say gzip.

    Raises
    ------
    InputError
        As `unpacked_parts`.
    """
    if not content.startswith(_GZIP):
        return content
    return b"".join(unpacked_parts(io.BytesIO(content), source))


def unpacked_parts(file: BinaryIO, source: str) -> Iterator[bytes]:
    """Yield a file's text in parts, decompressed if its first bytes say gzip.

    Raises
    ------
    InputError
        If the compressed data are damaged, or far larger than a log's would be.
    """
    length = file.seek(0, os.SEEK_END)
    file.seek(0)
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    # Not gzip.decompress: it takes minutes for a file of many small members.
    stream = gzip.GzipFile(fileobj=file) if packed else file
    most, size = max(LEAST_LIMIT, MOST_PACKED * length), 0
    try:
        # A plain file that is still being written may never end.
        while part := stream.read(PART if packed else min(PART, length - size)):
            size += len(part)
            if packed and size > most:
                raise InputError(
                    f"{source}: {length:,} bytes of gzip data hold more than {most:,} bytes; "
                    "no log packs so well, so fetch it again, or unpack it first"
                )
            yield part
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(
            f"{source}: the gzip data is truncated or damaged ({error}); fetch the log again"
        ) from None


def text_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a text file, plain or gzip.

    Raises
    ------
    InputError
        If it cannot be read, is damaged, or holds binary data.
    """
    source = os.fspath(path)
    text = unpacked(read_bytes(path), source)
    if b"\0" in text:
        raise InputError(f"{source} is neither text nor gzip; it holds binary data")
    # Names of users and jobs may be in any encoding; only ASCII fields are understood.
    return text.decode("utf-8-sig", errors="replace").splitlines()

"""The log of a store's events: lines are appended, and read from a position on."""

from __future__ import annotations

import math
import os
import threading
import time
import uuid
from io import FileIO
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from schedfarm.farm.store.files import ETag

FOLDER = "events"
"""Folder of a bucket's log."""

PUT_SECONDS = 5.0
"""Time between two puts of a log, s; each put is a request."""

OBJECT_BYTES = 262_144
"""Length of an object at which the next object is begun, since each put writes a whole object."""

Position: TypeAlias = tuple[str, int]
"""Name of a file, and number of its bytes that have been read."""

START: Position = ("", 0)


class Journal(Protocol):
    """Append lines to a log."""

    def add(self, line: bytes) -> None:
        """Append a line without its end; OSError if it cannot be written."""

    def close(self) -> None:
        """Flush the log, which accepts no further lines."""


class Objects(Protocol):
    """Operations on the objects of a bucket that a journal needs."""

    def rewrite(self, name: str, data: Any, etag: ETag) -> ETag:
        """Put an object, whether it has this etag or has changed; return the new etag."""

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder, ascending."""

    def read_from(self, name: str, start: int) -> bytes:
        """Return an object from a byte on."""


class FileJournal:
    """Append each line to a file at once; a missing file is created."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("a+b", buffering=0)
        if _cut_off(self._stream):
            self._stream.write(b"\n")

    def add(self, line: bytes) -> None:
        """Append a line."""
        self._stream.write(line + b"\n")

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def read_file(path: Path, since: Position) -> tuple[bytes, Position]:
    """Return the whole lines of a file from a position on, and the next position.

    An incomplete line at the end is left for the next call.
    """
    if not path.exists():
        return b"", since
    with path.open("rb") as stream:
        stream.seek(since[1])
        data = stream.read()
    whole, newline, _ = data.rpartition(b"\n")
    return whole + newline, (path.name, since[1] + len(whole) + len(newline))


def _cut_off(stream: FileIO) -> bool:
    end = stream.seek(0, os.SEEK_END)
    return end > 0 and os.pread(stream.fileno(), 1, end - 1) != b"\n"


class ObjectJournal:
    """Buffer lines, and put them periodically as an object of up to `OBJECT_BYTES`."""

    def __init__(self, bucket: Objects) -> None:
        self._bucket = bucket
        self._stem = f"{FOLDER}/{time.time_ns():019d}-{uuid.uuid4().hex[:8]}"
        self._number, self._lines, self._unput = 0, b"", 0
        self._etag: ETag = None
        self._lock, self._put_at = threading.RLock(), -math.inf
        self._timer: threading.Timer | None = None
        self._error: OSError | None = None

    def add(self, line: bytes) -> None:
        """Append a line, which is put within `PUT_SECONDS`."""
        with self._lock:
            if self._error is not None:
                raise self._error
            self._lines += line + b"\n"
            self._unput += 1
            rest = self._put_at + PUT_SECONDS - time.monotonic()
            if rest <= 0:
                self._put()
            elif self._timer is None:
                self._timer = threading.Timer(rest, self._late)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Put the remaining lines."""
        with self._lock:
            self._put()

    def _late(self) -> None:
        with self._lock:
            try:
                self._put()
            except OSError as error:  # raised when the next line is added
                self._error = error

    def _put(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._unput:
            return
        name = f"{self._stem}-{self._number:06d}.jsonl"
        self._etag = self._bucket.rewrite(name, self._lines, self._etag)
        self._put_at, self._unput = time.monotonic(), 0
        if len(self._lines) > OBJECT_BYTES:
            self._number, self._lines, self._etag = self._number + 1, b"", None


def read_objects(bucket: Objects, since: Position) -> tuple[bytes, Position]:
    """Return the lines of a log of objects from a position on, and the next position."""
    name, offset = since
    parts = []
    later = [one for one in bucket.names(FOLDER) if one >= name]
    for one in later:
        data = bucket.read_from(one, offset if one == name else 0)
        offset = len(data) + (offset if one == name else 0)
        name = one
        parts.append(data)
    return b"".join(parts), (name, offset)

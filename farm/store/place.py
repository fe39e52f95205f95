"""Location of a store: a folder of a file system, or a prefix in a bucket of an object store.

A place keeps files by their names, such as ``records/KTH/cells/00000-00000-00000.00000.json``, and
does not interpret their content. Each of its four tasks has a protocol; `Place` joins the four.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from schedfarm.core.addresses import scheme_of
from schedfarm.core.errors import InputError
from schedfarm.farm.store.bucket import Bucket
from schedfarm.farm.store.files import ETag, Shard
from schedfarm.farm.store.folder import Folder
from schedfarm.farm.store.journal import START, Journal, Position


class Files(Protocol):
    """Read and write whole files by name; writes are conditional if several processes write a file.

    A failure is an `OSError` whose `strerror` gives the reason.
    """

    @property
    def keeps_checkpoints(self) -> bool:
        """Whether workers may write and delete checkpoints of long simulations."""

    def at(self, name: str) -> str:
        """Return the path or address of a file, for messages."""

    def read(self, name: str) -> bytes:
        """Return a whole file; FileNotFoundError if it is missing."""

    def read_each(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """Yield whole files in order; None stands for a missing file."""

    def first_lines(self, names: Iterable[str]) -> Iterator[bytes]:
        """Yield the first line of each file, in order."""

    def read_with_etag(self, name: str) -> tuple[bytes | None, ETag]:
        """Return a whole file and its etag; both are None if the file is missing.

        The etag is at least as old as the content, so that a change after the read changes the
        etag.
        """

    def etag(self, name: str) -> ETag:
        """Return the etag of a file."""

    def has(self, name: str) -> bool:
        """Return whether a file exists."""

    def names(self, folder: str) -> list[str]:
        """Return the names of all files below a folder, ascending."""

    def entries(self, folder: str = "") -> set[str]:
        """Return the last parts of the names below a folder; empty if the folder is missing.

        `NotADirectoryError` if a file has the folder's name.
        """

    def write(self, name: str, data: bytes, *, private: bool = False) -> None:
        """Write a whole file durably; only the owner can read a private file."""

    def write_each(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Write whole files below a folder; on return all are durable."""

    def write_if_match(self, name: str, data: bytes, etag: ETag) -> bool:
        """Write a whole file if it still has this etag; return whether it was written."""

    def remove(self, name: str) -> None:
        """Delete a file, if it exists."""

    def remove_below(self, folder: str) -> None:
        """Delete all files below a folder, if it exists."""

    def links_out(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the target of each link that leads out of the store."""

    def tidy(self) -> None:
        """Delete unfinished files of killed writers."""


class Staging(Protocol):
    """Open a Zarr hierarchy, and publish its shards once they are durable."""

    @property
    def keeps_fill(self) -> bool:
        """Whether chunks of fill are written, too, since a bucket has no conditional deletion."""

    def readable(self, folder: str) -> Any:
        """Return the store that Zarr opens to read the hierarchy in a folder."""

    def stage(self, name: str, data: bytes | None) -> Shard:
        """Keep a shard until `publish`; None removes the file, unless the place keeps fill."""

    def sync(self, shards: Iterable[Shard]) -> None:
        """Make staged shards durable under their temporary names."""

    def publish(self, shards: Iterable[Shard], run: str = "") -> None:
        """Give staged shards their final names, durably; `StaleRun` if the run has ended."""

    def discard(self, shards: Iterable[Shard]) -> None:
        """Drop staged shards that were not published."""


class Exclusion(Protocol):
    """Admit one run at a time, or several parts; tokens fence all their writes."""

    def locked(self, *, brief: bool = False) -> AbstractContextManager[str]:
        """Hold the store for a run and yield its token; `InUse` names another holder.

        A brief holder builds the store or completes its summary for parts. Other brief holders, and
        parts, wait for a brief holder.
        """

    def shared(self, part: str) -> AbstractContextManager[str]:
        """Hold one part, such as 7-of-200, next to other parts, and yield its token; or `InUse`."""

    def fenced(self, run: str) -> AbstractContextManager[None]:
        """Keep the next run from beginning while this run writes; `StaleRun` after its end."""

    def check_fence(self, run: str) -> None:
        """Raise StaleRun unless a run holds the store or its part; an empty token passes."""


class Events(Protocol):
    """Append to the log of events, and read the log from a position on."""

    @property
    def poll_seconds(self) -> float:
        """Time between two polls of the log of events, s."""

    def journal(self) -> Journal:
        """Open the log of events for appending."""

    def read_journal(self, since: Position = START) -> tuple[bytes, Position]:
        """Return the whole lines of the log of events from a position on, and the next position."""


class Place(Files, Staging, Exclusion, Events, Protocol):
    """Keep the files of one store; ``str`` of a place is the folder or address in users' terms."""

    def __hash__(self) -> int:
        """Return equal values for equal places, so that opened arrays can be looked up."""

    @property
    def local_folder(self) -> Path:
        """Folder on this machine for figures and reports of the store."""

    def resolved(self) -> Place:
        """Return the same place under a name that does not depend on the current folder."""


Where: TypeAlias = str | os.PathLike[str] | Place
"""A place, or its folder or address."""


def place_of(store: Where) -> Place:
    """Return the place of a store, given its folder or an address such as ``s3://BUCKET/NAME``.

    Examples
    --------
    >>> str(place_of("kth.farm"))
    'kth.farm'
    >>> place_of("ftp://host/kth.farm")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: store ftp://host/kth.farm: give a folder, or a prefix in a
    bucket such \
as s3://BUCKET/kth.farm; ftp is none of s3, s3a, gs, az, azure, adl, abfs, abfss
    """
    if not isinstance(store, str | os.PathLike):
        return store
    text = os.fspath(store)
    if not text or "\0" in text:
        raise InputError(f"store {text!r}: give the name of a folder")
    return Bucket(text) if scheme_of(text) else Folder(Path(text))

"""Where a store stands: a folder of a file system, or a prefix in a bucket of an object store.

A place keeps files by their names, such as ``records/KTH/cells/00000-00000-00000.00000.json``, and
knows nothing of what is in them.
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
from schedfarm.farm.store.folder import Folder
from schedfarm.farm.store.journal import START, Journal, Position
from schedfarm.farm.store.shards import Shard

Mark: TypeAlias = tuple[Any, ...] | None
"""What changes whenever a file is replaced; None of one that is not there."""


class Place(Protocol):
    """Keep the files of one store; ``str`` of it is what a user calls it.

    Whatever cannot be read or written raises an OSError whose `strerror` says why.
    """

    def __hash__(self) -> int:
        """Return the same for equal places, so that what was opened is found again."""

    @property
    def poll_seconds(self) -> float:
        """Time between two looks of who follows the log of events, s."""

    @property
    def beside(self) -> Path:
        """Folder of this machine for what is drawn from the store."""

    def resolved(self) -> Place:
        """Return the same place by a name that is good in any working folder."""

    def at(self, name: str) -> str:
        """Return what a user calls a file of it."""

    def read(self, name: str) -> bytes:
        """Return a whole file; FileNotFoundError where there is none."""

    def read_each(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """Yield whole files in order, None where there is none."""

    def first_lines(self, names: Iterable[str]) -> Iterator[bytes]:
        """Yield the first line of each file, in order."""

    def look(self, name: str) -> tuple[bytes | None, Mark]:
        """Return a whole file, None where there is none, and its mark."""

    def mark(self, name: str) -> Mark:
        """Return the mark of a file."""

    def has(self, name: str) -> bool:
        """Tell whether there is a file of this name."""

    def names(self, folder: str) -> list[str]:
        """Return the names of all files below a folder, ascending."""

    def entries(self, folder: str = "") -> set[str]:
        """Return what stands in a folder, by the last part of its name; nothing where it is not.

        NotADirectoryError where a file stands there.
        """

    def write(self, name: str, data: bytes, *, private: bool = False) -> None:
        """Write a whole file, which stays from then on; a private one is its owner's alone."""

    def write_each(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Write whole files below a folder; all are there to stay at the end."""

    def replace(self, name: str, data: bytes, mark: Mark) -> bool:
        """Write a whole file if it is as it was when it had this mark; tell whether it was."""

    def remove(self, name: str) -> None:
        """Delete a file, if it is there."""

    def remove_below(self, folder: str) -> None:
        """Delete all files below a folder, if it is there."""

    def links_out(self) -> Iterator[tuple[str, str]]:
        """Yield the names of links that lead out of the store, and where they lead."""

    def tidy(self) -> None:
        """Delete what killed writers have left."""

    def arrays(self, folder: str) -> Any:
        """Return what Zarr opens to read the hierarchy in a folder."""

    def aside(self, folder: str) -> Any:
        """Return what Zarr opens to write to it: its `take` says what waits for `put`."""

    def settle(self, shards: Iterable[Shard]) -> None:
        """Make sure that what waits is there to stay, where it waits."""

    def put(self, shards: Iterable[Shard], run: str = "") -> None:
        """Bring what waits to where it belongs, there to stay; Superseded if it is not the turn."""

    def drop(self, shards: Iterable[Shard]) -> None:
        """Forget what still waits."""

    def locked(self) -> AbstractContextManager[str]:
        """Hold the store, or refuse, naming the holder; yields the name of this run."""

    def turn(self, run: str) -> AbstractContextManager[None]:
        """Let what a run asked for be written while this lasts; Superseded if it has ended."""

    def check_turn(self, run: str) -> None:
        """Refuse to go on with what a run asked for that does not hold the store: Superseded."""

    def journal(self) -> Journal:
        """Open the log of events, to be added to."""

    def read_journal(self, since: Position = START) -> tuple[bytes, Position]:
        """Return the whole lines of the log of events from a position on, and the next one."""


Where: TypeAlias = str | os.PathLike[str] | Place
"""Names a place, or is one."""


def place_of(store: Where) -> Place:
    """Return the place that a store is named by.

    Parameters
    ----------
    store : str, path or Place
        A folder, or the address of a prefix in a bucket, ``s3://BUCKET/NAME``.

    Raises
    ------
    InputError
        If it is empty, or an address of which nothing is known, or one that no store can have.

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

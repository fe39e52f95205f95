"""A store in a folder of a file system: files are written beside their places, synced, moved."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from schedfarm.core.files import PARTIAL, make_folder, remove_partial, sync, write_whole
from schedfarm.farm.store.journal import START, FileJournal, Position, read_file
from schedfarm.farm.store.lock import check_turn, locked, turn
from schedfarm.farm.store.shards import Shard

EVENTS = "events.jsonl"


@dataclass(frozen=True)
class Folder:
    """Keep a store's files; see `farm.store.place.Place`.

    Parameters
    ----------
    path : Path
        The folder, which need not be there yet.
    """

    path: Path
    poll_seconds = 0.5

    def __str__(self) -> str:
        return str(self.path)

    @property
    def beside(self) -> Path:
        """The folder itself."""
        return self.path

    def resolved(self) -> Folder:
        """Return the folder by its whole path, links followed."""
        return Folder(self.path.resolve())

    def at(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.path / name)

    def read(self, name: str) -> bytes:
        """Return a whole file."""
        return (self.path / name).read_bytes()

    def read_each(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """Yield whole files."""
        for name in names:
            yield self.look(name)[0]

    def first_lines(self, names: Iterable[str]) -> Iterator[bytes]:
        """Yield first lines."""
        for name in names:
            with (self.path / name).open("rb") as stream:
                yield stream.readline()

    def look(self, name: str) -> tuple[bytes | None, tuple[Any, ...] | None]:
        """Return a whole file and its mark, which is of before."""
        mark = self.mark(name)
        try:
            return self.read(name), mark
        except (FileNotFoundError, NotADirectoryError):
            return None, None

    def mark(self, name: str) -> tuple[Any, ...] | None:
        """Return what changes whenever a file is replaced."""
        try:
            found = (self.path / name).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found.st_ino, found.st_mtime_ns

    def has(self, name: str) -> bool:
        """Tell whether there is a file of this name."""
        return (self.path / name).exists()

    def names(self, folder: str) -> list[str]:
        """Return the names of all files below a folder; a folder may be called such as a file."""
        found = (self.path / folder).rglob("*")
        return sorted(path.relative_to(self.path).as_posix() for path in found if path.is_file())

    def entries(self, folder: str = "") -> set[str]:
        """Return what stands in a folder."""
        path = self.path / folder
        if not path.is_dir() and not path.exists():
            return set()
        return {one.name for one in path.iterdir()}

    def write(self, name: str, data: bytes, *, private: bool = False) -> None:
        """Write a whole file, and put it on the disk."""
        path = self.path / name
        if private:
            path.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(path, data, private=private)

    def write_each(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Write whole files beside their places, put them on the disk, then move them."""
        make_folder(self.path / folder)
        shards = []
        for name in files:
            path = self.path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            waits = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
            shards.append(Shard(f"{folder}/{name}", waits))
        try:
            for data, shard in zip(files.values(), shards, strict=True):
                shard.waits.write_bytes(data)
            self.settle(shards)
            self.put(shards)
        finally:
            self.drop(shards)

    def replace(self, name: str, data: bytes, mark: tuple[Any, ...] | None) -> bool:
        """Write a whole file if it is as it was.

        Looking and writing are two steps here: who may write a file at the same time, which the
        turn of a run says, writes the same.
        """
        if self.mark(name) != mark:
            return False
        self.write(name, data)
        return True

    def remove(self, name: str) -> None:
        """Delete a file, if it is there."""
        (self.path / name).unlink(missing_ok=True)

    def remove_below(self, folder: str) -> None:
        """Delete a folder, if it is there, and put that on the disk."""
        path = self.path / folder
        if path.is_dir():
            shutil.rmtree(path)
            sync(path.parent)

    def links_out(self) -> Iterator[tuple[str, str]]:
        """Yield links to what is not below this folder."""
        own = self.path.resolve()
        for folder, folders, files in os.walk(self.path):
            for name in (*folders, *files):
                path = Path(folder, name)
                if path.is_symlink() and not path.resolve().is_relative_to(own):
                    yield path.relative_to(self.path).as_posix(), str(path.resolve())

    def tidy(self) -> None:
        """Delete files that killed writers have left unfinished."""
        remove_partial(self.path)

    def arrays(self, folder: str) -> Path:
        """Return the folder itself."""
        return self.path / folder

    def aside(self, folder: str) -> Any:
        """Return what writes chunks beside their places."""
        from schedfarm.farm.store.aside import Aside

        return Aside(self.path / folder)

    def settle(self, shards: Iterable[Shard]) -> None:
        """Put waiting files on the disk."""
        # After all are written: the first one to be synced takes most of the others' way.
        for shard in shards:
            if shard.waits is not None:
                sync(shard.waits)

    def put(self, shards: Iterable[Shard], run: str = "") -> None:
        """Move files that are on the disk into their places, and put that on the disk, too."""
        folders = set()
        for shard in shards:
            path = self.path / shard.name
            if shard.waits is None:
                path.unlink(missing_ok=True)
            else:
                shard.waits.replace(path)
            # Folders below that of the store may be new.
            folders |= {self.path / one for one in PurePosixPath(shard.name).parents if one.name}
        for folder in folders:
            if folder.is_dir():
                sync(folder)

    def drop(self, shards: Iterable[Shard]) -> None:
        """Delete files that wait."""
        for shard in shards:
            if shard.waits is not None:
                shard.waits.unlink(missing_ok=True)

    def locked(self) -> AbstractContextManager[str]:
        """Hold the lock."""
        return locked(self.path)

    def turn(self, run: str) -> AbstractContextManager[None]:
        """Hold off the next run."""
        return turn(self.path, run)

    def check_turn(self, run: str) -> None:
        """Refuse to go on for another run than the one that holds the store."""
        if run:
            check_turn(self.path, run)

    def journal(self) -> FileJournal:
        """Open the log of events."""
        return FileJournal(self.path / EVENTS)

    def read_journal(self, since: Position = START) -> tuple[bytes, Position]:
        """Return the whole lines of the log of events from a position on."""
        return read_file(self.path / EVENTS, since)

"""A store in a folder: files are written next to their final names, synced, and then renamed."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

from schedfarm.core.files import PARTIAL, make_folder, remove_partial, sync, write_whole
from schedfarm.farm.store.files import ETag, Shard
from schedfarm.farm.store.journal import START, FileJournal, Position, read_file
from schedfarm.farm.store.lock import check_fence, fenced, locked, shared

EVENTS = "events.jsonl"

REMOVALS = 20
"""Number of attempts to remove a folder: a late worker of an earlier run may stage a file in the
folder at the same time, since the fence prevents only the publication."""


@dataclass(frozen=True)
class Folder:
    """Keep a store's files; see `farm.store.place.Place`.

    Parameters
    ----------
    path : Path
        The folder, which need not exist.
    """

    path: Path
    keeps_checkpoints = True
    keeps_fill = False
    poll_seconds = 0.5

    def __str__(self) -> str:
        return str(self.path)

    @property
    def local_folder(self) -> Path:
        """The folder itself."""
        return self.path

    def resolved(self) -> Folder:
        """Return the folder by its absolute path, with links resolved."""
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
            yield self.read_with_etag(name)[0]

    def first_lines(self, names: Iterable[str]) -> Iterator[bytes]:
        """Yield first lines."""
        for name in names:
            with (self.path / name).open("rb") as stream:
                yield stream.readline()

    def read_with_etag(self, name: str) -> tuple[bytes | None, ETag]:
        """Return a whole file and its etag, taken before the content."""
        etag = self.etag(name)
        try:
            return self.read(name), etag
        except (FileNotFoundError, NotADirectoryError):
            return None, None

    def etag(self, name: str) -> ETag:
        """Return inode number and modification time, which change with each replacement."""
        try:
            found = (self.path / name).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found.st_ino, found.st_mtime_ns

    def has(self, name: str) -> bool:
        """Return whether a file exists."""
        return (self.path / name).exists()

    def names(self, folder: str) -> list[str]:
        """Return the names of all files below a folder; a folder's name may look like a file's."""
        root = self.path / folder
        # Path.rglob skips unreadable folders as if they were empty.
        found = [
            Path(base, name)
            for base, _, files in os.walk(root, onerror=_refuse_unreadable)
            for name in files
        ]
        return sorted(path.relative_to(self.path).as_posix() for path in found if path.is_file())

    def entries(self, folder: str = "") -> set[str]:
        """Return the last parts of the names below a folder."""
        path = self.path / folder
        if not path.is_dir() and not path.exists():
            return set()
        return {one.name for one in path.iterdir()}

    def write(self, name: str, data: bytes, *, private: bool = False) -> None:
        """Write a whole file and sync it."""
        path = self.path / name
        if private:
            path.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(path, data, private=private)

    def write_each(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Write whole files next to their names, sync all files, then rename them."""
        make_folder(self.path / folder)
        shards: list[Shard] = []
        try:
            for name, data in files.items():
                shards.append(self.stage(f"{folder}/{name}", data))
            self.sync(shards)
            self.publish(shards)
        finally:
            self.discard(shards)

    def write_if_match(self, name: str, data: bytes, etag: ETag) -> bool:
        """Write a whole file if it still has this etag.

        The comparison and the write are two steps. This suffices, since the fence admits one run,
        whose workers write equal content under one name.
        """
        if self.etag(name) != etag:
            return False
        self.write(name, data)
        return True

    def remove(self, name: str) -> None:
        """Delete a file, if it exists."""
        (self.path / name).unlink(missing_ok=True)

    def remove_below(self, folder: str) -> None:
        """Delete a folder, if it exists, and sync its parent."""
        path = self.path / folder
        if not path.is_dir():
            return
        for left in reversed(range(REMOVALS)):
            try:
                shutil.rmtree(path)
                break
            except OSError as error:
                if error.errno != errno.ENOTEMPTY or not left:
                    raise
        sync(path.parent)

    def links_out(self) -> Iterator[tuple[str, str]]:
        """Yield links to targets outside of this folder."""
        own = self.path.resolve()
        for folder, folders, files in os.walk(self.path):
            for name in (*folders, *files):
                path = Path(folder, name)
                if path.is_symlink() and not path.resolve().is_relative_to(own):
                    yield path.relative_to(self.path).as_posix(), str(path.resolve())

    def tidy(self) -> None:
        """Delete unfinished files of killed writers."""
        remove_partial(self.path)

    def readable(self, folder: str) -> Path:
        """Return the folder itself."""
        return self.path / folder

    def stage(self, name: str, data: bytes | None) -> Shard:
        """Write a file next to its name."""
        if data is None:
            return Shard(name, None)
        staged = f"{self.path}/{name}.{uuid.uuid4().hex}{PARTIAL}"
        os.makedirs(os.path.dirname(staged), exist_ok=True)
        try:
            with open(staged, "wb") as stream:
                stream.write(data)
        except BaseException:
            Path(staged).unlink(missing_ok=True)
            raise
        return Shard(name, staged)

    def sync(self, shards: Iterable[Shard]) -> None:
        """Sync staged files."""
        # All files are written first, because the first sync writes most of their data.
        for shard in shards:
            if shard.staged is not None:
                sync(shard.staged)

    def publish(self, shards: Iterable[Shard], run: str = "") -> None:
        """Rename synced files to their names, then sync the folders."""
        folders = set()
        for shard in shards:
            if shard.staged is None:
                self.remove(shard.name)
            else:
                os.replace(shard.staged, f"{self.path}/{shard.name}")
            # Folders below the store's folder may be new.
            folder = shard.name.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        for folder in folders:
            # The folder is missing if all its shards were fill.
            with suppress(FileNotFoundError):
                sync(f"{self.path}/{folder}")

    def discard(self, shards: Iterable[Shard]) -> None:
        """Delete staged files that were not published."""
        for shard in shards:
            if shard.staged is not None:
                Path(shard.staged).unlink(missing_ok=True)

    def locked(self, *, brief: bool = False) -> AbstractContextManager[str]:
        """Hold the lock."""
        return locked(self.path, brief=brief)

    def shared(self, part: str) -> AbstractContextManager[str]:
        """Share the lock of the store, and hold the lock of the part."""
        return shared(self.path, part)

    def fenced(self, run: str) -> AbstractContextManager[None]:
        """Keep the next run from beginning."""
        return fenced(self.path, run)

    def check_fence(self, run: str) -> None:
        """Raise StaleRun unless the run holds the lock; an empty token passes."""
        if run:
            check_fence(self.path, run)

    def journal(self) -> FileJournal:
        """Open the log of events for appending."""
        return FileJournal(self.path / EVENTS)

    def read_journal(self, since: Position = START) -> tuple[bytes, Position]:
        """Return the whole lines of the log of events from a position on, and the next position."""
        return read_file(self.path / EVENTS, since)


def _refuse_unreadable(error: OSError) -> None:
    """Raise an error of a listing, unless the folder is missing or is a file."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error

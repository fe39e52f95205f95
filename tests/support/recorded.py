"""Record the file operations of runs, and make the folder that a power failure would leave."""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from schedfarm import farm
from schedfarm.farm.campaign.campaign import Campaign

WRITING = os.O_WRONLY | os.O_RDWR


class Step(NamedTuple):
    """An operation on the file system, by paths relative to the store's parent."""

    what: str
    path: str
    more: Any = None


class Recorder:
    """Note every file that is opened to be written, renamed, removed or synced below a folder.

    What a file holds is read when the next thing happens: Python's files write when they are
    flushed or closed, and neither is told.
    """

    def __init__(self, folder: Path) -> None:
        self.steps: list[Step] = []
        self._folder, self._on = str(folder.resolve()) + "/", True
        self._lock = threading.RLock()
        self._busy = False
        self._open: dict[str, bytes] = {}
        self._sync: Callable[[int], None] = os.fsync

    def start(self) -> None:
        os.fsync = self._fsync  # type: ignore[assignment]
        sys.addaudithook(self._heard)

    def stop(self) -> None:
        with self._lock:
            self.look()
            self._on = False

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._on or event not in HEARD:
            return
        with self._lock:
            if self._busy:
                return
            self._busy = True
            try:
                HEARD[event](self, *arguments)
            finally:
                self._busy = False

    def _fsync(self, handle: int) -> None:
        path = self._inside(os.readlink(f"/proc/self/fd/{handle}"))
        self._sync(handle)
        if path is not None and self._on:
            with self._lock:
                self._busy = True
                self.look()
                self.steps.append(Step("sync", path))
                self._busy = False

    def _inside(self, path: Any) -> str | None:
        if isinstance(path, int):
            return None
        text = os.path.abspath(os.fsdecode(path))
        if text + "/" == self._folder:
            return ""
        return text.removeprefix(self._folder) if text.startswith(self._folder) else None

    def look(self) -> None:
        """Note what has been written since the last look to files that were opened."""
        for path, known in list(self._open.items()):
            try:
                now = Path(self._folder, path).read_bytes()
            except FileNotFoundError:
                continue
            if now != known:
                self._open[path] = now
                self.steps.append(Step("write", path, now))

    def opened(self, path: Any, mode: str | None, flags: int) -> None:
        name = self._inside(path)
        if name is None or not flags & WRITING:
            return
        self.look()
        if name not in self._open or not Path(self._folder, name).exists():
            self.steps.append(Step("create", name))
            self._open[name] = b""
        if flags & os.O_TRUNC:
            self.steps.append(Step("write", name, b""))
            self._open[name] = b""

    def renamed(self, old: Any, new: Any, *_: int) -> None:
        self.look()
        names = self._inside(old), self._inside(new)
        if names[0] is not None:
            self.steps.append(Step("rename", names[0], names[1]))
            # Files are not written after their rename.
            self._open.pop(str(names[1]), None)
            self._open.pop(names[0], None)

    def made(self, path: Any, *_: Any) -> None:
        name = self._inside(path)
        if name is None:
            return
        there = Path(self._folder, name)
        # Python tries the lowest of several folders first.
        if there.parent.exists() and not there.exists():
            self.look()
            self.steps.append(Step("mkdir", name))

    def removed(self, path: Any, folder: int = -1) -> None:
        # A tree is removed by names relative to open folders.
        if folder != -1:
            path = Path(os.readlink(f"/proc/self/fd/{folder}"), os.fsdecode(path))
        name = self._inside(path)
        if name is not None and Path(self._folder, name).exists():
            self.look()
            self.steps.append(Step("remove", name))
            self._open.pop(name, None)


HEARD: dict[str, Callable[..., None]] = {
    "open": Recorder.opened,
    "os.rename": Recorder.renamed,
    "os.mkdir": Recorder.made,
    "os.remove": Recorder.removed,
    "os.rmdir": Recorder.removed,
}
"""Events of Python's audit that change a folder; they come before what they tell of."""


@dataclass(eq=False)
class File:
    """Hold the content of a file, and the part on the disk."""

    now: bytes = b""
    synced: bytes | None = None

    def sync(self) -> None:
        self.synced = self.now

    def left(self, draw: random.Random) -> bytes:
        """Return what a power failure leaves: anything between what was synced and what is."""
        if self.synced == self.now:
            return self.now
        part = self.now[: draw.randrange(len(self.now) + 1)]
        return draw.choice([self.synced or b"", b"", part, self.now])


@dataclass(eq=False)
class Folder:
    """Hold a folder's entries, those on the disk, and what happened to them since, in order."""

    now: dict[str, File | Folder] = field(default_factory=dict)
    synced: dict[str, File | Folder] = field(default_factory=dict)
    since: list[dict[str, File | Folder | None]] = field(default_factory=list)

    def change(self, changes: dict[str, File | Folder | None]) -> None:
        self.since.append(changes)
        _apply(self.now, changes)

    def sync(self) -> None:
        self.synced, self.since = dict(self.now), []

    def leave(self, path: Path, draw: random.Random) -> None:
        """Make the folder that a power failure leaves: of the last changes, the first few."""
        path.mkdir()
        entries = dict(self.synced)
        for changes in self.since[: draw.randrange(len(self.since) + 1)]:
            _apply(entries, changes)
        for name, entry in entries.items():
            if isinstance(entry, Folder):
                entry.leave(path / name, draw)
            else:
                (path / name).write_bytes(entry.left(draw))


def _apply(entries: dict[str, File | Folder], changes: dict[str, File | Folder | None]) -> None:
    for name, entry in changes.items():
        if entry is None:
            entries.pop(name, None)
        else:
            entries[name] = entry


def cut(steps: list[Step], at: int, into: Path, draw: random.Random) -> None:
    """Make the folder that a power failure leaves which comes after so many steps.

    What was synced is kept. Of what was not, files are lost, empty or cut, or not, and the last
    changes of a folder's entries are undone, each by itself.

    Parameters
    ----------
    steps : list of Step
        What a `Recorder` noted.
    at : int
        How many of them were carried out.
    into : Path
        The folder; made.
    draw : Random
        Decides what is left.
    """
    root = Folder()
    for step in steps[:at]:
        if not step.path:
            root.sync()
            continue
        parent, name = _found(root, step.path)
        entry = parent.now.get(name)
        if step.what in ("create", "mkdir"):
            # Two threads may have found it missing.
            if entry is None:
                parent.change({name: File() if step.what == "create" else Folder()})
        elif step.what == "remove":
            parent.change({name: None})
        elif step.what == "rename":
            assert entry is not None, step
            other, target = _found(root, step.more)
            assert other is parent, f"{step} is of two folders, of which either may be lost"
            parent.change({name: None, target: entry})
        elif step.what == "write":
            assert isinstance(entry, File), step
            entry.now = step.more
        else:
            assert entry is not None, step
            entry.sync()
    root.leave(into, draw)


def _found(root: Folder, path: str) -> tuple[Folder, str]:
    *above, name = path.split("/")
    for part in above:
        entry = root.now[part]
        assert isinstance(entry, Folder)
        root = entry
    return root, name


def recorded(campaigns: Sequence[Campaign], store: Path) -> tuple[list[Step], list[int]]:
    """Carry campaigns out on one store, in a process of its own.

    Returns
    -------
    list of Step
        What was asked of the file system.
    list of int
        Number of steps at the end of each campaign.
    """
    # An audit hook cannot be removed.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as process:
        return process.submit(_record, campaigns, store).result()


def _record(campaigns: Sequence[Campaign], store: Path) -> tuple[list[Step], list[int]]:
    recorder = Recorder(store.parent)
    recorder.start()
    ends = []
    for campaign in campaigns:
        farm.run(campaign, store)
        recorder.look()
        ends.append(len(recorder.steps))
    recorder.stop()
    return recorder.steps, ends

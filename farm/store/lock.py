"""A lock on a folder that admits one run at a time, or several parts, and names its holders."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.files import make_folder
from schedfarm.core.format.names import LOCK, PARTS, lock_of, part_lock
from schedfarm.farm.store.files import InUse, StaleRun, writing
from schedfarm.farm.store.guarantees import check_guarantees

FENCE = "turn.lock"
"""File of the fence. Writers of blocks hold a shared lock on this file while they rename files; a
starting run acquires an exclusive lock. Once the run has this lock, no writer of an earlier run is
renaming files. Such a writer will not rename files later either, since it first checks the token
and finds that of another run."""

PATIENCE = 20.0
"""Time for which a run waits for writers of blocks, s. They hold the lock for milliseconds, unless
they are stopped."""

LOCKS = Path("/proc/locks")

POLL = 0.02
"""Time between two attempts to get the exclusive lock, s."""

BRIEF_SECONDS = 600.0
"""Longest wait for a process that builds the store or completes its summary, s."""

BRIEF_POLL = 0.1
"""Time between two attempts to get the lock of a brief holder, s: hundreds of parts may wait."""

SIGHTINGS = 4
"""Number of attempts that must find the same holder before it is reported. A process that has just
acquired the lock may not have written its name yet, and a process that reads the name holds the
lock for microseconds."""


@contextmanager
def locked(store: Path, *, brief: bool = False) -> Iterator[str]:
    """Hold the lock of a folder, which is created if missing, and yield the run's fencing token.

    `InUse` names the holder if another process has the lock; a brief holder waits for another brief
    holder. The operating system releases the lock of a process that dies. The text of the file only
    describes the holder.
    """
    path = store / LOCK
    with writing(store):
        make_folder(store)
        check_guarantees(store)
        handle = _acquire(path, patient=brief)
    try:
        with writing(store):
            # A writer that has not begun renaming finds no token.
            os.ftruncate(handle, 0)
            with _alone(store):
                run = _sign(handle, brief=brief)
        yield run
    finally:
        if _is_at(path, handle):
            path.unlink(missing_ok=True)
        os.close(handle)


@contextmanager
def shared(store: Path, part: str) -> Iterator[str]:
    """Hold the lock of a part of an existing store, and yield a fencing token; `InUse` as above.

    All parts share the lock of the store, so that a run of the whole store is refused. Parts do not
    delete the file of this lock, since another part may have locked it.
    """
    path = store / part_lock(part)
    with ExitStack() as stack:
        with writing(store):
            check_guarantees(store)
            make_folder(path.parent)
            whole = _acquire(store / LOCK, fcntl.LOCK_SH, patient=True)
            stack.callback(os.close, whole)
            # The file may name a killed run. The holder of an exclusive lock writes its own name.
            os.ftruncate(whole, 0)
            own = _acquire(path, patient=True)
            stack.callback(os.close, own)
            stack.callback(os.ftruncate, own, 0)
            os.ftruncate(own, 0)
            run = _sign(own, f"{part}.")
        yield run


@contextmanager
def fenced(store: Path, run: str) -> Iterator[None]:
    """Keep the next run from beginning during the context; `StaleRun` if this run has ended.

    A worker of a cluster that outlives its coordinator may still hold a shard of an abandoned run.
    This shard has the shape of the array before the store grew. A check alone would not suffice:
    the worker may be stopped after the check and continue days later. An empty token means a store
    that no other process can write.
    """
    if not run:
        yield
        return
    handle = os.open(store / FENCE, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        check_fence(store, run)
        yield
    finally:
        os.close(handle)


def check_fence(store: Path, run: str) -> None:
    """Raise StaleRun unless this run holds the store or its part."""
    try:
        holder = json.loads((store / lock_of(run)).read_bytes()).get("run")
    except (FileNotFoundError, ValueError):
        holder = None
    if holder != run:
        raise StaleRun(errno.ECANCELED, "the run of this block has ended")


def _sign(handle: int, prefix: str = "", *, brief: bool = False) -> str:
    run = prefix + uuid.uuid4().hex
    who = {"host": platform.node(), "pid": os.getpid(), "since": time.strftime("%FT%T%z")}
    who |= {"brief": True} if brief else {}
    os.pwrite(handle, json.dumps({**who, "run": run}).encode(), 0)
    # The handle remains open, and a network file system may show only synced data to other hosts.
    os.fsync(handle)
    return run


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Wait until no writer of an earlier run is renaming files, and keep new writers out."""
    handle = os.open(store / FENCE, os.O_RDWR | os.O_CREAT, 0o644)
    until = time.monotonic() + PATIENCE
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise InputError(
                        f"store {store}: a worker of a run that has ended is still "
                        f"writing a block, or suspended ({_holders(handle)}); let it continue, or "
                        "end it"
                    ) from None
                time.sleep(POLL)
        yield
    finally:
        os.close(handle)


def _holders(handle: int) -> str:
    """Name the processes of this host that have locked an open file."""
    inode = str(os.fstat(handle).st_ino)
    try:
        lines = [line.split() for line in LOCKS.read_text().splitlines()]
    except OSError:
        lines = []
    # Format: `1: FLOCK ADVISORY WRITE 781 fe:00:1234 0 EOF`; lines with -> are waiting processes.
    held = {int(line[4]) for line in lines if "FLOCK" in line[1] and line[5].endswith(f":{inode}")}
    pids = ", ".join(map(str, sorted(pid for pid in held if pid > 0)))
    return f"process {pids} on {platform.node()}" if pids else "a process of another host"


def _acquire(path: Path, how: int = fcntl.LOCK_EX, *, patient: bool = False) -> int:
    """Open and lock a file; `InUse` names the holder; a patient caller waits for a brief holder."""
    until, last, sightings = time.monotonic() + BRIEF_SECONDS, b"", 0
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, how | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.pread(handle, 4096, 0)
            os.close(handle)
            who = _plain(text)
            sightings, last = (sightings + 1 if text == last else 0), text
            waits = patient and (who.get("brief") or sightings < SIGHTINGS)
            if not waits or time.monotonic() > until:
                raise InUse(_refusal(path, who)) from None
            time.sleep(BRIEF_POLL)
            continue
        if _is_at(path, handle):
            return handle
        # The last holder deleted the file after we opened it and before we locked it.
        os.close(handle)


def _refusal(path: Path, who: dict[str, Any]) -> str:
    if path.name != LOCK:
        store, part = path.parent.parent, path.stem.replace("-of-", "/")
        return f"store {store}: part {part} is in use by {_named(who)}; wait for it"
    if not who and (parts := list(_held_parts(path.parent))):
        first, holder = parts[0]
        more = f" and {len(parts) - 1} other parts" if len(parts) > 1 else ""
        return (
            f"store {path.parent} is in use by part {first} ({_named(holder)}){more}; wait for the "
            "parts, or end them"
        )
    return f"store {path.parent} is in use by {_named(who)}; wait for it"


def _held_parts(store: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each part in use, such as 7/200, and its holder."""
    for path in sorted((store / PARTS).glob("*.json")):
        with suppress(FileNotFoundError), path.open("rb") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                yield path.stem.replace("-of-", "/"), _plain(stream.read())


def _is_at(path: Path, handle: int) -> bool:
    """Return whether an open file is still at its path, not replaced by a later file."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _plain(text: bytes) -> dict[str, Any]:
    try:
        who = json.loads(text)
    except ValueError:
        return {}
    return who if isinstance(who, dict) else {}


def _named(who: dict[str, Any]) -> str:
    try:
        return f"process {who['pid']} on {who['host']} since {who['since']}"
    except KeyError:
        return "another process"

"""A lock that admits one coordinator at a time to a folder, and names its holder."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.core.files import make_folder
from schedfarm.core.format.names import LOCK
from schedfarm.farm.store.files import StaleRun, writing
from schedfarm.farm.store.guarantees import check_guarantees

FENCE = "turn.lock"
"""File of the fence. Writers of blocks hold a shared lock on it while they rename files; a run that
begins holds the exclusive lock. Then no writer of an earlier run is renaming, and none will be,
since each finds the token of another run first."""

PATIENCE = 20.0
"""Time that a run waits for such writers, s: they hold the lock for milliseconds, unless they are
stopped."""

LOCKS = Path("/proc/locks")

POLL = 0.02
"""Time between two attempts to get the exclusive lock, s."""


@contextmanager
def locked(store: Path) -> Iterator[str]:
    """Hold the lock of a folder, which is made if missing, and yield the run's fencing token.

    InputError names the holder if another process has the lock. The operating system releases
    the lock of a process that dies; the text of the file only describes the holder.
    """
    path = store / LOCK
    with writing(store):
        make_folder(store)
        check_guarantees(store)
        handle = _acquire(path)
    try:
        with writing(store):
            # A writer that has not begun to rename finds no token.
            os.ftruncate(handle, 0)
            with _alone(store):
                run = _sign(handle)
        yield run
    finally:
        if _is_at(path, handle):
            path.unlink(missing_ok=True)
        os.close(handle)


@contextmanager
def fenced(store: Path, run: str) -> Iterator[None]:
    """Keep the next run from beginning while this lasts; StaleRun if this run has ended.

    A worker of a cluster that outlives its coordinator may still hold a shard of an abandoned
    run, in the shape that arrays had before the store grew. A check alone would not suffice: the
    worker may be stopped after it and continue days later. An empty token stands for a store
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
    """Raise StaleRun unless this run holds the store."""
    try:
        holder = json.loads((store / LOCK).read_bytes()).get("run")
    except (FileNotFoundError, ValueError):
        holder = None
    if holder != run:
        raise StaleRun(errno.ECANCELED, "the run that asked for this block has ended")


def _sign(handle: int) -> str:
    run = uuid.uuid4().hex
    who = {"host": platform.node(), "pid": os.getpid(), "since": time.strftime("%FT%T%z")}
    os.pwrite(handle, json.dumps({**who, "run": run}).encode(), 0)
    # The handle stays open, and a network file system may show others only what is synced.
    os.fsync(handle)
    return run


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Wait until no writer of an earlier run is renaming files, and keep others from beginning."""
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
                        f"store {store}: a worker of a run that has ended is still in the midst of "
                        f"writing a block, perhaps stopped ({_holders(handle)}); let it go on, or "
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
    # `1: FLOCK ADVISORY WRITE 781 fe:00:1234 0 EOF`; a line that begins with -> waits.
    held = {int(line[4]) for line in lines if "FLOCK" in line[1] and line[5].endswith(f":{inode}")}
    pids = ", ".join(map(str, sorted(pid for pid in held if pid > 0)))
    return f"process {pids} on {platform.node()}" if pids else "a process of another host"


def _acquire(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(handle)
            os.close(handle)
            raise InputError(f"store {path.parent} is in use by {holder}; wait for it") from None
        if _is_at(path, handle):
            return handle
        # The last holder deleted the file between our opening and locking it.
        os.close(handle)


def _is_at(path: Path, handle: int) -> bool:
    """Tell whether an open file is still the one at a path, not a later one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _holder(handle: int) -> str:
    try:
        who = json.loads(os.pread(handle, 4096, 0))
        return f"process {who['pid']} on {who['host']} since {who['since']}"
    except (ValueError, KeyError, TypeError):
        return "another process"

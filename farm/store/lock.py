"""Let one coordinator at a time work on a store, and say who it is."""

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
from schedfarm.farm.store.files import writing
from schedfarm.farm.store.guarantees import check_guarantees

TURN = "turn.lock"
"""File that writers of blocks lock together while they move files into their places, and a run
that begins locks alone: no writer of a run before it is then in the midst of that, and none will
be, since it finds another run's name."""

PATIENCE = 20.0
"""Time that a run waits for such writers, s: they hold the file for some milliseconds, or have
been stopped."""


LOCKS = Path("/proc/locks")

POLL = 0.02
"""Time between two looks whether they have ended, s."""


class Superseded(OSError):
    """Say that the run which asked for a block has ended, or another has begun."""


@contextmanager
def locked(store: Path) -> Iterator[str]:
    """Hold a store's lock, or refuse, naming the holder.

    The operating system drops the lock when its holder dies, so one left behind by a killed run
    is free; the file's text only says who holds it.

    Parameters
    ----------
    store : Path
        The store's folder; made where it is missing.

    Yields
    ------
    str
        Name of this run, new each time, for `check_turn`.

    Raises
    ------
    InputError
        If another process holds the lock, a writer of an earlier run does not end, or the folder
        cannot be written.
    """
    path = store / LOCK
    with writing(store):
        make_folder(store)
        check_guarantees(store)
        handle = _acquire(path)
    try:
        with writing(store):
            # Who has not begun to move files finds no run to do it for.
            os.ftruncate(handle, 0)
            with _alone(store):
                run = _sign(handle)
        yield run
    finally:
        if _is_at(path, handle):
            path.unlink(missing_ok=True)
        os.close(handle)


@contextmanager
def turn(store: Path, run: str) -> Iterator[None]:
    """Hold off the next run as long as this lasts; refuse if it has begun already.

    Workers of a cluster that outlives its coordinator may still be at blocks of an abandoned run
    when the store has grown: a shard of theirs would have the old shape. A check alone would not
    do, since a worker may be stopped after it and go on days later.

    Parameters
    ----------
    store : Path
        The store's folder.
    run : str
        The run that asked for what is to be written, as `locked` named it; empty where nobody
        else can be at the store.

    Raises
    ------
    Superseded
        If another run holds the store, or none does.
    """
    if not run:
        yield
        return
    handle = os.open(store / TURN, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        check_turn(store, run)
        yield
    finally:
        os.close(handle)


def check_turn(store: Path, run: str) -> None:
    """Refuse to go on if the run that a task belongs to is not the one which holds the store.

    Raises
    ------
    Superseded
        If another run holds the store, or none does.
    """
    try:
        holder = json.loads((store / LOCK).read_bytes()).get("run")
    except (FileNotFoundError, ValueError):
        holder = None
    if holder != run:
        raise Superseded(errno.ECANCELED, "the run that asked for this block has ended")


def _sign(handle: int) -> str:
    run = uuid.uuid4().hex
    who = {"host": platform.node(), "pid": os.getpid(), "since": time.strftime("%FT%T%z")}
    os.pwrite(handle, json.dumps({**who, "run": run}).encode(), 0)
    # The handle stays open, and a network file system may show others only what is synced.
    os.fsync(handle)
    return run


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Wait until no writer of an earlier run is moving files, and keep others from beginning."""
    handle = os.open(store / TURN, os.O_RDWR | os.O_CREAT, 0o644)
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
    """Name the processes that have locked an open file, as far as this host knows."""
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
        # The last holder took the file away between our opening and locking it.
        os.close(handle)


def _is_at(path: Path, handle: int) -> bool:
    """Tell whether an open file is the one that stands at a path, and no later one of its name."""
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

"""Let one coordinator at a time work on a store, and say who it is."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import InputError

NAME = "lock.json"


@contextmanager
def locked(store: Path) -> Iterator[None]:
    """Hold a store's lock, or refuse, naming the holder.

    The operating system drops the lock when its holder dies, so one left behind by a killed run
    is free; the file's text only says who holds it.

    Parameters
    ----------
    store : Path
        The store's folder; made where it is missing.

    Raises
    ------
    InputError
        If another process holds the lock, or the folder cannot be written.
    """
    path = store / NAME
    try:
        store.mkdir(parents=True, exist_ok=True)
        handle = _acquire(path)
    except OSError as error:
        raise InputError(f"store {store} cannot be written: {error.strerror}") from None
    try:
        text = json.dumps(
            {"host": platform.node(), "pid": os.getpid(), "since": time.strftime("%FT%T%z")}
        )
        os.ftruncate(handle, 0)
        os.pwrite(handle, text.encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _acquire(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(handle)
            os.close(handle)
            raise InputError(f"store {path.parent} is in use by {holder}; wait for it") from None
        if path.exists() and os.fstat(handle).st_ino == path.stat().st_ino:
            return handle
        # The last holder took the file away between our opening and locking it.
        os.close(handle)


def _holder(handle: int) -> str:
    try:
        who = json.loads(os.pread(handle, 4096, 0))
        return f"process {who['pid']} on {who['host']} since {who['since']}"
    except (ValueError, KeyError, TypeError):
        return "another process"

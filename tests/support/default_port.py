"""The default port of `dask scheduler`, which one test at a time may use."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil


@contextmanager
def default_port() -> Iterator[None]:
    """Wait for other processes of this user that use it, and lock it against them."""
    name = f"schedfarm-tests-{psutil.Process().username()}-8786.lock"
    with Path(tempfile.gettempdir(), name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

"""The process that local workers are forked from, so that their imports are made once.

Two workers and the coordinator of a small run took 6.3 s of CPU when each worker imported
everything for itself, and 4.6 s since. A worker that replaces a dead one is ready at once.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver
from typing import Any

from schedfarm.cluster.settings import SAFE_PATH

METHOD: Mapping[str, Any] = {"distributed.worker.multiprocessing-method": "forkserver"}
"""Setting of Dask under which workers are forked from the server."""

SEARCHED = "PYTHONPATH"


def start(imports: Sequence[str]) -> None:
    """Start the server of this process with these modules and Dask's, unless it runs already."""
    import dask
    from distributed import utils

    # Else Dask imports pandas in this process, and sets modules of its own.
    utils._forkserver_preload_set = True
    multiprocessing.get_context("forkserver").set_forkserver_preload(["distributed", *imports])
    given = dask.config.get("distributed.nanny.pre-spawn-environ").items()
    variables = {name: str(value) for name, value in given if value is not None}
    with _environment(variables), same_modules():
        forkserver.ensure_running()


@contextmanager
def same_modules() -> Iterator[None]:
    """Let interpreters that start within the context take modules from where this one does.

    Python would search the current folder first, in which another user may have put some.
    """
    with _environment({SEARCHED: os.pathsep.join(filter(None, sys.path)), SAFE_PATH: "1"}):
        yield


def worker_environment() -> dict[str, str]:
    """Return the variables of this process, for a worker: the server keeps those of its start."""
    return {SEARCHED: "", SAFE_PATH: "", **os.environ}


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables within the context."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

"""Give a Dask client for a spec, and take down afterwards what was put up for it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.spec import ClusterError, ClusterSpec

if TYPE_CHECKING:
    from distributed import Client

CONNECT_TIMEOUT = 15.0
"""A scheduler that does not answer within this time, s, is taken for absent, and so is its file."""

WRITE_TIMEOUT = 1.0
"""Time in which a file that is there has to be whole, s."""

LOOK_SECONDS = 0.1

CHATTY = ("distributed.client", "distributed.batched", "tornado.application", "asyncio")
"""Loggers that tell with a traceback of each future that a lost scheduler leaves behind."""


@contextmanager
def connect(spec: ClusterSpec | str = "local", *, watched: bool = False) -> Iterator[Client]:
    """Open a client on the cluster that a spec names, and close it at the end.

    Parameters
    ----------
    spec : ClusterSpec or str
        Where to work.
    watched : bool
        Whether a local cluster is to sample what Dask's dashboard and report show, profiles above
        all; other clusters do what they were started to do.

    Yields
    ------
    distributed.Client
        Connected. A local cluster ends with the context; one that was found running stays.

    Raises
    ------
    ClusterError
        If no scheduler answers.

    Examples
    --------
    >>> from cluster import connect
    >>> with connect("local") as client:  # doctest: +SKIP
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    if isinstance(spec, str):
        spec = ClusterSpec.parse(spec)
    if spec.kind == "local":
        from cluster.local import local_cluster

        with local_cluster(spec.workers, watched=watched) as client:
            yield client
        return
    client = _existing(spec)
    with _closing(client):
        yield client


@contextmanager
def _closing(client: Client) -> Iterator[None]:
    """Close a client at the end, and leave out what libraries log of a connection that breaks.

    The run says in one sentence that its scheduler was lost; its futures are collected, and told
    of with tracebacks, as late as the interpreter's end.
    """
    loggers = [logging.getLogger(name) for name in CHATTY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        lost = client.status != "running"
        client.close()
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(logging.CRITICAL if lost else level)


def _existing(spec: ClusterSpec) -> Client:
    from distributed import Client

    try:
        if spec.kind == "address":
            return Client(spec.target, timeout=CONNECT_TIMEOUT)
        _await_scheduler_file(Path(spec.target))
        return Client(scheduler_file=spec.target, timeout=CONNECT_TIMEOUT)
    except ClusterError:
        raise
    except (OSError, ValueError, TypeError) as error:
        # TypeError is what distributed raises for a tls:// address without certificates.
        raise ClusterError(f"no scheduler answers at {spec.target}: {error}") from None


def _await_scheduler_file(path: Path) -> None:
    """Wait for a scheduler that was started just before: it writes its file once it listens."""
    remedy = f"'dask scheduler --scheduler-file {path}' writes one"
    if not _within(CONNECT_TIMEOUT, path.exists):
        raise ClusterError(f"scheduler file {path} does not exist; {remedy}")
    if not _within(WRITE_TIMEOUT, lambda: _names_scheduler(path)):
        raise ClusterError(f"scheduler file {path} names no scheduler's address; {remedy}")


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _names_scheduler(path: Path) -> bool:
    try:
        return isinstance(json.loads(path.read_bytes())["address"], str)
    except (OSError, ValueError, KeyError, TypeError):
        return False

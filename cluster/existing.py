"""An existing scheduler with its own workers."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedfarm.cluster.certificates import default_folder, found
from schedfarm.cluster.encryption import ENCRYPTED, check_encrypted
from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.opening import Opening
from schedfarm.cluster.spec import ClusterSpec

if TYPE_CHECKING:
    from distributed import Client

CONNECT_TIMEOUT = 15.0
"""Time within which a scheduler must answer, or write its file, s."""

WRITE_TIMEOUT = 1.0
"""Time within which an existing scheduler file must be complete, s."""

LOOK_SECONDS = 0.1

CHATTY = ("distributed.client", "distributed.batched", "tornado.application", "asyncio")
"""Loggers that print a traceback for each future after the loss of the scheduler."""


@contextmanager
def by_address(spec: ClusterSpec, opening: Opening) -> Iterator[Client]:
    """Connect to the scheduler at an address."""
    with _closing(_client(spec, spec.target)) as client:
        yield client


@contextmanager
def by_file(spec: ClusterSpec, opening: Opening) -> Iterator[Client]:
    """Connect to the scheduler that writes a scheduler file."""
    with _closing(_client(spec, _awaited(Path(spec.target)))) as client:
        yield client


def _client(spec: ClusterSpec, address: str) -> Client:
    from distributed import Client

    check_encrypted(address, insecure=spec.insecure)
    encrypted = address.startswith(ENCRYPTED)
    security = found(spec.folder) if encrypted else None
    if encrypted and security is None:
        raise ClusterError(
            f"{address} requires certificates, and there are none in Dask's configuration or "
            f"{default_folder()}; give their folder with --certificates, or make them with 'farm "
            "certificates'"
        )

    class Connecting(Client):  # type: ignore[misc]
        def start(self, **options: Any) -> None:
            """Connect; if that fails, close the client and end its loop.

            The garbage collector would close an unclosed client later, in any thread. If that
            thread ran the loop of another client, it would wait for a lock that this client's
            thread holds.
            """
            try:
                super().start(**options)
            except BaseException:
                self.close()
                # Closing does not end the loop of a client that was never connected.
                self._loop_runner.stop()
                raise

    try:
        return Connecting(address, security=security, timeout=CONNECT_TIMEOUT)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(f"no scheduler answers at {spec.target}: {error}") from None


@contextmanager
def _closing(client: Client) -> Iterator[Client]:
    """Close a client at the end, and silence the library's messages about a broken connection.

    The run reports a lost scheduler in one sentence. Futures are garbage-collected, and logged with
    tracebacks, as late as the interpreter's exit.
    """
    loggers = [logging.getLogger(name) for name in CHATTY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield client
    finally:
        lost = client.status != "running"
        client.close()
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(logging.CRITICAL if lost else level)


def _awaited(path: Path) -> str:
    """Return the address in a scheduler file; wait for a scheduler that is starting.

    A scheduler writes its file once it listens.
    """
    remedy = f"'dask scheduler --scheduler-file {path}' writes one"
    if not _within(CONNECT_TIMEOUT, path.exists):
        raise ClusterError(f"scheduler file {path} does not exist; {remedy}")
    if not _within(WRITE_TIMEOUT, lambda: _address(path)):
        raise ClusterError(f"scheduler file {path} names no scheduler's address; {remedy}")
    return _address(path)


def _within(seconds: float, condition: Callable[[], object]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _address(path: Path) -> str:
    """Return the address in a scheduler file; empty if the file has none yet."""
    try:
        address = json.loads(path.read_bytes())["address"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return address if isinstance(address, str) else ""

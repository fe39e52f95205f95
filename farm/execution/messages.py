"""Messages between coordinator and workers: serialised tasks, and events with results or faults.

A scheduler deserialises and serialises everything that it forwards, except bytes. The part common
to the tasks of a trace, mostly the store's axes, is therefore pickled and unpickled only once.

Fetching a result needs a separate connection: an encrypted connection costs both ends 3 ms, and
among thousands of workers most connections are closed before the next result. Results are therefore
published over each worker's existing connection to the scheduler. They also remain the results of
their Dask tasks, in case an event is lost. The blocks themselves are always in the store.

A fault of a worker sends its task to another worker, unlike the failure of a cell. Examples of
faults are too little memory, a missing package, or a store that is not mounted.
"""

from __future__ import annotations

import errno
import os
import pickle
import platform
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from schedfarm.core.errors import InputError
from schedfarm.core.own import NotLoaded
from schedfarm.farm.planning.tasks import Spot, Task
from schedfarm.farm.store.fingerprint import Fingerprint
from schedfarm.farm.store.provenance import Foreign
from schedfarm.farm.watching.events import BlockDone

if TYPE_CHECKING:
    from distributed import Client

SHARED = ("store", "trace", "run", "program")
"""Attributes that are equal for all tasks of a run and a trace."""

TOPIC = "schedfarm"
"""Topic of all runs: a scheduler keeps the last thousand messages of each topic."""

COMMON_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.ECANCELED)
"""Errors common to all workers: the disk is full, or the run has lost the lock of its store."""


class TaskMessage(NamedTuple):
    """Hold a serialised task: the part common to several tasks, and its own part."""

    shared: bytes
    own: bytes


class TaskEncoder:
    """Serialise the tasks of one run.

    Examples
    --------
    >>> from schedfarm.farm.planning.tasks import Task
    >>> task = Task(None, None, (), 1.5)
    >>> decoded(TaskEncoder().encode(task)) == task
    True
    """

    def __init__(self) -> None:
        self._shared: dict[int, tuple[Any, bytes]] = {}

    def encode(self, task: Task) -> TaskMessage:
        """Return a task as bytes."""
        own = dict(vars(task))
        shared = {key: own.pop(key) for key in SHARED}
        # The key is the `id` of the trace. The trace is kept, so that no other object gets the same
        # `id`.
        known = id(task.trace)
        if known not in self._shared:
            self._shared[known] = task.trace, pickle.dumps(shared)
        return TaskMessage(self._shared[known][1], pickle.dumps(own))


def decoded(message: TaskMessage) -> Task:
    """Return the task of a message."""
    return Task(**_shared(message.shared), **pickle.loads(message.own))


@lru_cache(maxsize=16)
def _shared(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = pickle.loads(data)
    return found


def worker_name() -> str:
    """Return the host and process id of this process, which identify a worker in messages."""
    return f"{platform.node()}:{os.getpid()}"


@dataclass(frozen=True)
class Checked:
    """Hold the fingerprint of a cell that `worker` (host and process) simulated a second time."""

    worker: str
    spot: Spot
    fingerprint: Fingerprint


Done = list[BlockDone] | list[Checked]
"""Result of a task without a fault of its worker."""


class MissingRequirement(RuntimeError):
    """Report that a worker lacks memory, a package, or a file that a module reads.

    It is not an `OSError`, since an `OSError` concerns the store.
    """


class Killed(RuntimeError):
    """Report that the process of a simulation was killed, and the cause."""


FAULTS = (MemoryError, ImportError, OSError, Foreign, MissingRequirement, Killed)
"""Errors that are the worker's fault."""


@dataclass(frozen=True)
class WorkerFault:
    """Report, as the result of a task, that its worker could not do it.

    host: host and process of the worker. address: the worker's address at the scheduler, empty
    outside of Dask.
    """

    error: Exception
    host: str
    address: str

    @property
    def is_lasting(self) -> bool:
        """Whether the worker would fail at every task: its disk or its program is unusable."""
        if isinstance(self.error, Foreign):
            return True
        return isinstance(self.error, OSError) and self.error.errno not in COMMON_ERRORS

    def __str__(self) -> str:
        error = self.error
        if isinstance(error, Foreign):
            return str(error)
        path = getattr(error, "filename", None) or "the store"
        return f"worker {self.host} cannot use {path} ({getattr(error, 'strerror', None) or error})"


def fault_behind(error: InputError) -> MissingRequirement | None:
    """Return the worker's fault behind an error of a plug-in or a kernel; None for other errors.

    A lack of memory or of a package is always the worker's fault. Another error of the operating
    system is the worker's fault only while a module loads. Other errors of a user's function belong
    to the cell.
    """
    loading = False
    cause: BaseException | None = error
    while isinstance(cause, InputError):
        loading |= isinstance(cause, NotLoaded)
        cause = cause.__cause__
    kinds = (MemoryError, ImportError, *((OSError,) if loading else ()))
    return MissingRequirement(str(error)) if isinstance(cause, kinds) else None


def publish(result: object) -> None:
    """Send the result of the Dask task in this thread to the coordinator.

    Outside of a Dask task nothing is sent.
    """
    from distributed import get_worker

    with suppress(ValueError):
        worker = get_worker()
        message = {"key": worker.get_current_task(), "result": pickle.dumps(result)}
        # The event precedes the report of the task's end on the same stream, and so arrives first.
        worker.log_event(TOPIC, message)


class ResultEvents:
    """Collect the published results of one run, since other runs may use the same scheduler."""

    def __init__(self, client: Client, is_ours: Callable[[str], bool]) -> None:
        self._client, self._is_ours = client, is_ours
        self._results: dict[str, bytes] = {}
        client.subscribe_topic(TOPIC, self._receive)

    def take(self, key: str) -> Any:
        """Return and remove the published result of a task; None if no event has arrived."""
        data = self._results.pop(key, None)
        return None if data is None else pickle.loads(data)

    def close(self) -> None:
        """Unsubscribe."""
        if self._client.status == "running":
            with suppress(OSError, ValueError):
                self._client.unsubscribe_topic(TOPIC)

    def _receive(self, event: tuple[float, dict[str, Any]]) -> None:
        # A task whose worker died after publishing may publish again; the last result counts.
        _, message = event
        if self._is_ours(message["key"]):
            self._results[message["key"]] = message["result"]

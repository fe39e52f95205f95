"""What a task has done, told over the connection that its worker has with the scheduler anyway.

A result would be fetched over a connection of its own: an encrypted one costs both ends 3 ms, and
of thousands most are closed again before the next result. It stays the task's result as well, for
when word of it was lost; and what is done is in the store in any case.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client

TOPIC = "schedfarm"
"""All runs have the same: of each topic a scheduler keeps a thousand messages for good."""


def tell(result: object) -> None:
    """Send the result of the Dask task that this thread runs to whoever listens.

    Outside of a task nobody is told.
    """
    from distributed import get_worker

    with suppress(ValueError):
        worker = get_worker()
        said = {"key": worker.get_current_task(), "result": pickle.dumps(result)}
        # Before the worker says that the task is over, and by the same way: it arrives first.
        worker.log_event(TOPIC, said)


class Told:
    """Hear what the tasks of one run have done.

    Parameters
    ----------
    client : distributed.Client
        Of their cluster.
    is_ours : callable
        Whether a key is of a task that the run waits for; others may use the scheduler, too.
    """

    def __init__(self, client: Client, is_ours: Callable[[str], bool]) -> None:
        self._client, self._is_ours = client, is_ours
        self._said: dict[str, bytes] = {}
        client.subscribe_topic(TOPIC, self._hear)

    def take(self, key: str) -> Any:
        """Return what a task has told, once; None if nothing was heard of it."""
        said = self._said.pop(key, None)
        return None if said is None else pickle.loads(said)

    def end(self) -> None:
        """Listen no more."""
        if self._client.status == "running":
            with suppress(OSError, ValueError):
                self._client.unsubscribe_topic(TOPIC)

    def _hear(self, event: tuple[float, dict[str, Any]]) -> None:
        # A task whose worker died after it was told may be told again: what counts is the last.
        _, said = event
        if self._is_ours(said["key"]):
            self._said[said["key"]] = said["result"]

"""A task on its way to a worker: bytes, of which what many tasks share is made and read once.

A scheduler reads whatever it hands on and writes it anew, but for bytes; and the axes of a store
are most of a task.
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Any, NamedTuple

from schedfarm.farm.execution.sick import Sick, attempt
from schedfarm.farm.execution.task import Done
from schedfarm.farm.execution.telling import tell
from schedfarm.farm.planning.tasks import Task

SHARED = ("store", "trace", "run", "program")
"""What all tasks of a run have in common that are of the same trace."""


class Parcel(NamedTuple):
    """Hold one task: what it shares with others, and what it has of its own."""

    shared: bytes
    own: bytes


class Packer:
    """Pack the tasks of one run.

    Examples
    --------
    >>> from schedfarm.farm.planning.tasks import Task
    >>> task = Task(None, None, (), 1.5)
    >>> unpacked(Packer().pack(task)) == task
    True
    """

    def __init__(self) -> None:
        self._shared: dict[int, tuple[Any, bytes]] = {}

    def pack(self, task: Task) -> Parcel:
        """Return a task as bytes."""
        plain = dict(vars(task))
        shared = {key: plain.pop(key) for key in SHARED}
        # By the trace itself, which is kept so that no other one gets its number.
        known = id(task.trace)
        if known not in self._shared:
            self._shared[known] = task.trace, pickle.dumps(shared)
        return Parcel(self._shared[known][1], pickle.dumps(plain))


def unpacked(parcel: Parcel) -> Task:
    """Return the task that was packed."""
    return Task(**_read(parcel.shared), **pickle.loads(parcel.own))


def attempt_packed(parcel: Parcel) -> Done | Sick:
    """Run a packed task, as `farm.execution.sick.attempt` does, and tell what came of it."""
    result = attempt(unpacked(parcel))
    tell(result)
    return result


@lru_cache(maxsize=16)
def _read(shared: bytes) -> dict[str, Any]:
    found: dict[str, Any] = pickle.loads(shared)
    return found

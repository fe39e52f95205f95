"""Stragglers: tasks that take far longer than expected, of which a second worker gets a backup."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedfarm.farm.execution.awake import awake
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.tasks import Task

if TYPE_CHECKING:
    from distributed import Client

MULTIPLE = 10.0
"""A task is late after this multiple of its expected time and that of the longest task in flight: a
worker thread has one task at hand and another one queued."""

LEAST_SECONDS = 120.0
"""No task is late before: kernels may have to be compiled, and other users' jobs slow machines."""

LOOK_SECONDS = 10.0
"""Time between two questions to the scheduler for the worker that holds each task."""


@dataclass
class Attempt:
    """Hold one attempt at a task.

    Parameters
    ----------
    task : Task
        The task.
    future : distributed.Future
        Its result.
    where : list of str or None
        Addresses of the workers that may get it; None for all.
    holder : str
        Address of the worker that has it; empty while none has.
    since : float
        When that worker got it, s on the clock of `awake`.
    late : str
        Address of the worker that was found late with it; empty if none was.
    """

    task: Task
    future: Any
    where: list[str] | None
    holder: str = ""
    since: float = math.inf
    late: str = ""

    @property
    def seconds(self) -> float:
        """Time that its worker has had it, s; 0 while none has."""
        return max(0.0, awake() - self.since)


class Stragglers:
    """Find late tasks among those in flight.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    backlog : Backlog
        Gives the expected time of a task.
    """

    def __init__(self, client: Client, backlog: Backlog) -> None:
        self._client, self._backlog = client, backlog
        self._looked = awake()

    def find(self, running: Mapping[str, Attempt]) -> dict[str, float]:
        """Return the keys of late tasks, with the expected CPU time of each, s.

        Empty, without a question to the scheduler, within `LOOK_SECONDS` of the last call.
        """
        now = awake()
        if now - self._looked < LOOK_SECONDS:
            return {}
        self._looked = now
        try:
            held = self._client.processing()
        except (OSError, RuntimeError):
            # A lost scheduler is reported where its workers are counted.
            return {}
        holders = {key: address for address, keys in held.items() for key in keys}
        for key, attempt in running.items():
            holder = holders.get(key, "")
            if holder != attempt.holder:
                attempt.holder, attempt.since = holder, now if holder else math.inf
        expected = {key: self._backlog.expected(one.task.blocks) for key, one in running.items()}
        longest = max(expected.values(), default=0.0)
        return {
            key: seconds
            for key, seconds in expected.items()
            if is_late(running[key].seconds, seconds + longest)
        }


def is_late(seconds: float, expected: float) -> bool:
    """Tell whether a task is late that has taken some time, s, by what was expected, s.

    Examples
    --------
    >>> is_late(119.0, 1.0), is_late(121.0, 1.0), is_late(121.0, 30.0), is_late(301.0, 30.0)
    (False, True, False, True)
    """
    return seconds > max(LEAST_SECONDS, MULTIPLE * expected)

"""The tasks that a scheduler knows of at a time: a few for each worker thread."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from farm.execution.awake import SLEPT_SECONDS, clock
from farm.execution.parcel import Packer, attempt_packed
from farm.execution.sick import Sick
from farm.execution.stop import Stop
from farm.execution.workers import LOOK_SECONDS, Workers
from farm.planning.backlog import Backlog
from farm.planning.tasks import Task
from farm.store.geometry import Block
from farm.watching.events import BlockDone

if TYPE_CHECKING:
    from distributed import Client

TASKS_AHEAD = 2
"""Tasks submitted per worker thread: one runs, one waits, so that none idles while the
coordinator refills; the scheduler's memory stays flat however many tasks there are."""

GONE = "cancelled"
"""State of a future whose scheduler is no more."""

LOST = "lost"
"""State of a future whose worker left the cluster before it had handed its result over."""

Result = list[BlockDone] | BaseException


class _Sent(NamedTuple):
    """A task that a worker has, or is to have; to which workers it may go, None for all."""

    task: Task
    future: Any
    where: list[str] | None


class Window:
    """The tasks that the scheduler knows of: a few for each worker thread."""

    def __init__(self, client: Client, backlog: Backlog, stop: Stop, workers: Workers) -> None:
        from distributed import as_completed

        self.running: dict[str, _Sent] = {}
        self._client, self._backlog, self._stop = client, backlog, stop
        self._workers = workers
        self._tried: dict[tuple[Block, ...], set[str]] = {}
        self._number, self._packer = count(), Packer()
        # Keys are new for each run: a scheduler that outlives one must not answer from memory.
        self._prefix = f"cells-{uuid.uuid4().hex[:12]}"
        self._completed: Any = as_completed(with_results=True, raise_errors=False, loop=client.loop)

    def refill(self) -> None:
        """Submit as many tasks as the cluster should have, and anew those that nobody may take."""
        for key, sent in list(self.running.items()):
            if sent.where and self._workers.are_gone(sent.where):
                del self.running[key]
                cancel(self._client, [sent.future])
                self._backlog.give_back(sent.task)
        while self._backlog and not self._stop.wished:
            threads = max(1, self._workers.count())
            if len(self.running) >= TASKS_AHEAD * threads:
                break
            self._submit(self._backlog.take(threads))

    def ended(self) -> Iterator[tuple[Task, Result]]:
        """Yield what has ended, but for what another worker is to try."""
        for future, result in _ended(self._completed, self._workers.note_sleep):
            sent = self.running.pop(future.key, None)
            if sent is None:
                continue
            if future.status == GONE:
                raise self._workers.lost()
            if future.status == LOST:
                # What it has done is in the store; whoever gets it again finds that.
                cancel(self._client, [future])
                self._backlog.give_back(sent.task)
                continue
            outcome = _outcome(future, result)
            if not isinstance(outcome, Sick):
                yield sent.task, outcome
            elif not self._goes_elsewhere(sent.task, outcome):
                yield sent.task, outcome.error

    def _submit(self, task: Task) -> None:
        where = self._workers.but(self._tried.get(task.blocks, set()))
        key = f"{self._prefix}-{next(self._number)}"
        parcel = self._packer.pack(task)
        future = self._client.submit(attempt_packed, parcel, key=key, pure=False, workers=where)
        self.running[future.key] = _Sent(task, future, where)
        self._completed.add(future)

    def _goes_elsewhere(self, task: Task, sick: Sick) -> bool:
        tried = self._tried.setdefault(task.blocks, set())
        tried.add(sick.address)
        if not self._workers.others(sick, tried):
            return False
        self._backlog.give_back(task)
        return True


def cancel(client: Client, futures: list[Any]) -> None:
    """Take back what the scheduler has not given away, if it is still there."""
    if client.status != "running":
        return
    with suppress(OSError):
        client.cancel(futures, force=True)


def _ended(completed: Any, slept: Callable[[float], None]) -> list[tuple[Any, Any]]:
    """Return what has ended, at the latest when it is time for another look at the workers.

    A wait that took far longer is told of: the machine, or this process, stood still.
    """
    begun = clock()
    with completed.thread_condition:
        completed.thread_condition.wait_for(completed.has_ready, LOOK_SECONDS)
    if (seconds := clock() - begun) > SLEPT_SECONDS:
        slept(seconds)
    ended: list[tuple[Any, Any]] = completed.next_batch(block=False)
    return ended


def _outcome(future: Any, result: Any) -> Result | Sick:
    if future.status == "finished":
        done: Result | Sick = result
        return done
    if isinstance(result, tuple):
        error: BaseException = result[1]
        return error
    return result if isinstance(result, BaseException) else RuntimeError(f"task {future.status}")

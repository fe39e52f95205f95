"""Carry tasks out: one after the other in this process, or over a Dask cluster."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from farm.execution.task import run_task
from farm.planning.tasks import Backlog, Task
from farm.watching.events import BlockDone

if TYPE_CHECKING:
    from distributed import Client

TASKS_AHEAD = 2
"""Tasks submitted per worker thread: one runs, one waits, so that none idles while the
coordinator refills; the scheduler's memory stays flat however many tasks there are."""


@dataclass
class Stop:
    """Carry the wish to submit nothing more; what runs is waited for."""

    wished: bool = False


class SchedulerLost(InputError):
    """Say that a run ended because its scheduler did."""


Result = list[BlockDone] | BaseException

GONE = ("cancelled", "lost")
"""States of a future whose scheduler, or whose place with it, is no more."""

LOOK_SECONDS = 1.0
"""Time between two looks at whether to stop, and at a cluster that has no worker."""

COUNT_SECONDS = 5.0
"""Time between two questions for the number of worker threads: each is a round trip to the
scheduler, 2 ms of CPU, and workers come and go in seconds."""


def attempt(task: Task) -> Result:
    """Run a task; that the store cannot be written is an answer, not an accident of the worker."""
    try:
        return run_task(task)
    except OSError as error:
        return error


def serial(backlog: Backlog, stop: Stop) -> Iterator[tuple[Task, Result]]:
    """Run tasks in order, in this process: the specification of every other executor.

    Parameters
    ----------
    backlog : Backlog
        What to do.
    stop : Stop
        Looked at between tasks.

    Yields
    ------
    tuple of Task and its result
        A list of `BlockDone`, or the exception that the task raised.
    """
    while backlog and not stop.wished:
        task = backlog.take()
        try:
            yield task, attempt(task)
        except Exception as error:
            yield task, error


def on_dask(
    client: Client, backlog: Backlog, stop: Stop, say: Callable[[str], None]
) -> Iterator[tuple[Task, Result]]:
    """Run tasks on a Dask cluster through a bounded window, as `serial` does in this process.

    Parameters
    ----------
    client : distributed.Client
        Of any cluster whose workers have schedfarm and see the store.
    backlog : Backlog
        What to do, in the order of submission.
    stop : Stop
        Looked at whenever tasks end, and every second. What runs is then waited for, unless
        there is no worker left that could run it.
    say : callable
        Told in one sentence that the cluster has lost its last worker, or has one again.

    Yields
    ------
    tuple of Task and its result
        As `serial`, in order of completion.

    Raises
    ------
    SchedulerLost
        If the scheduler is lost.
    """
    from distributed import as_completed

    workers = _Workers(client, stop, say)
    running: dict[str, tuple[Task, Any]] = {}
    number = count()
    # Keys are new for each run: a scheduler that outlives one must not answer from memory.
    prefix = f"cells-{uuid.uuid4().hex[:12]}"
    completed: Any = as_completed(with_results=True, raise_errors=False, loop=client.loop)

    def refill() -> None:
        while backlog and not stop.wished and len(running) < TASKS_AHEAD * max(1, workers.count()):
            task = backlog.take()
            future = client.submit(attempt, task, key=f"{prefix}-{next(number)}", pure=False)
            running[future.key] = task, future
            completed.add(future)

    try:
        refill()
        while running and (workers.count() or not stop.wished):
            for future, result in _ended(completed):
                if future.status in GONE:
                    raise _lost(workers.address)
                yield running.pop(future.key)[0], _outcome(future, result)
            refill()
    finally:
        _cancel(client, [future for _, future in running.values()])


def _ended(completed: Any) -> list[tuple[Any, Any]]:
    """Return what has ended, at the latest when it is time for another look at the workers."""
    with completed.thread_condition:
        completed.thread_condition.wait_for(completed.has_ready, LOOK_SECONDS)
    ended: list[tuple[Any, Any]] = completed.next_batch(block=False)
    return ended


class _Workers:
    """Know how many worker threads a cluster has, as of a moment ago, and say when none is left."""

    def __init__(self, client: Client, stop: Stop, say: Callable[[str], None]) -> None:
        self.address = client.scheduler.address if client.scheduler else "its address"
        self._client, self._stop, self._say = client, stop, say
        self._asked = -math.inf
        self._count = 0
        self._before: int | None = None

    def count(self) -> int:
        now = time.monotonic()
        if now - self._asked > (COUNT_SECONDS if self._count else LOOK_SECONDS):
            self._count, self._asked = self._ask(), now
            self._tell(self._before, self._count)
            self._before = self._count
        return self._count

    def _ask(self) -> int:
        try:
            return sum(self._client.nthreads().values())
        except OSError:  # what a client raises whose connection is closed
            raise _lost(self.address) from None

    def _tell(self, before: int | None, now: int) -> None:
        if self._stop.wished:
            return
        if before == 0 and now:
            self._say(f"a worker of {self.address} is there; the run goes on")
        elif before != 0 and not now:
            lack = "all workers of {} are gone" if before else "{} has no worker"
            self._say(f"{lack.format(self.address)}; waiting for one (Ctrl-C stops)")


def _lost(address: str) -> SchedulerLost:
    return SchedulerLost(
        f"the scheduler at {address} was lost; the same command goes on from here, once one runs"
    )


def _cancel(client: Client, futures: list[Any]) -> None:
    if client.status != "running":
        return
    with suppress(OSError):
        client.cancel(futures, force=True)


def _outcome(future: Any, result: Any) -> Result:
    if future.status == "finished":
        done: Result = result
        return done
    if isinstance(result, tuple):
        error: BaseException = result[1]
        return error
    return result if isinstance(result, BaseException) else RuntimeError(f"task {future.status}")

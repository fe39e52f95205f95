"""Carry tasks out: one after the other in this process, or over a Dask cluster."""

from __future__ import annotations

import math
import time
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from farm.work import Done, Task, run_task

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


Result = list[Done] | BaseException

GONE = ("cancelled", "lost")
"""States of a future whose scheduler, or whose place with it, is no more."""

THREADS_SECONDS = 1.0
"""Age at which the number of worker threads is asked for again: asking costs a round trip to the
scheduler, 1 ms, and workers come and go in seconds."""


def attempt(task: Task) -> Result:
    """Run a task; that the store cannot be written is an answer, not an accident of the worker."""
    try:
        return run_task(task)
    except OSError as error:
        return error


def serial(tasks: Sequence[Task], stop: Stop) -> Iterator[tuple[Task, Result]]:
    """Run tasks in order, in this process: the specification of every other executor.

    Parameters
    ----------
    tasks : sequence of Task
        What to do.
    stop : Stop
        Looked at between tasks.

    Yields
    ------
    tuple of Task and its result
        A list of `Done`, or the exception that the task raised.
    """
    for task in tasks:
        if stop.wished:
            return
        try:
            yield task, attempt(task)
        except Exception as error:
            yield task, error


def on_dask(client: Client, tasks: Sequence[Task], stop: Stop) -> Iterator[tuple[Task, Result]]:
    """Run tasks on a Dask cluster through a bounded window, as `serial` does in this process.

    Parameters
    ----------
    client : distributed.Client
        Of any cluster whose workers have schedfarm and see the store.
    tasks : sequence of Task
        What to do, in the order of submission.
    stop : Stop
        Looked at whenever tasks end.

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

    address = client.scheduler.address if client.scheduler else "its address"
    threads = _Threads(client)
    waiting = deque(tasks)
    running: dict[str, Task] = {}
    # Keys are new for each run: a scheduler that outlives one must not answer from memory.
    prefix = f"cells-{uuid.uuid4().hex[:12]}"
    completed: Any = as_completed(with_results=True, raise_errors=False, loop=client.loop)

    def refill() -> None:
        most = TASKS_AHEAD * threads.count()
        while waiting and not stop.wished and len(running) < most:
            task = waiting.popleft()
            future = client.submit(attempt, task, key=f"{prefix}-{len(waiting)}", pure=False)
            running[future.key] = task
            futures[future.key] = future
            completed.add(future)

    futures: dict[str, Any] = {}
    try:
        refill()
        for batch in completed.batches():
            for future, result in batch:
                if future.status in GONE:
                    raise _lost(address)
                del futures[future.key]
                yield running.pop(future.key), _outcome(future, result)
            refill()
    except OSError:  # what a client raises whose connection is closed; tasks' own are results
        raise _lost(address) from None
    finally:
        _cancel(client, list(futures.values()))


class _Threads:
    """Know how many worker threads a cluster has, as of a moment ago."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._asked, self._count = -math.inf, 1

    def count(self) -> int:
        now = time.monotonic()
        if now - self._asked > THREADS_SECONDS:
            self._count = max(1, sum(self._client.nthreads().values()))
            self._asked = now
        return self._count


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

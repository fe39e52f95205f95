"""Carry tasks out: one after the other in this process, or over a Dask cluster."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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


Result = list[Done] | BaseException


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
            yield task, run_task(task)
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
    """
    from distributed import as_completed

    waiting = deque(tasks)
    running: dict[str, Task] = {}
    # Keys are new for each run: a scheduler that outlives one must not answer from memory.
    prefix = f"cells-{uuid.uuid4().hex[:12]}"
    completed: Any = as_completed(with_results=True, raise_errors=False, loop=client.loop)

    def refill() -> None:
        threads = max(1, sum(client.nthreads().values()))
        while waiting and not stop.wished and len(running) < TASKS_AHEAD * threads:
            task = waiting.popleft()
            future = client.submit(run_task, task, key=f"{prefix}-{len(waiting)}", pure=False)
            running[future.key] = task
            futures[future.key] = future
            completed.add(future)

    futures: dict[str, Any] = {}
    try:
        refill()
        for batch in completed.batches():
            for future, result in batch:
                del futures[future.key]
                yield running.pop(future.key), _outcome(future, result)
            refill()
    finally:
        client.cancel(list(futures.values()), force=True)


def _outcome(future: Any, result: Any) -> Result:
    if future.status == "finished":
        done: list[Done] = result
        return done
    if isinstance(result, tuple):
        error: BaseException = result[1]
        return error
    return result if isinstance(result, BaseException) else RuntimeError(f"task {future.status}")

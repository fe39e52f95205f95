"""Carry tasks out: one after the other in this process, or over a Dask cluster."""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from farm.execution.aside import aside
from farm.execution.task import run_task
from farm.execution.underway import Report, abandon, reports, stop
from farm.planning.tasks import Backlog, Task
from farm.watching.events import BlockDone

if TYPE_CHECKING:
    from distributed import Client

TASKS_AHEAD = 2
"""Tasks submitted per worker thread: one runs, one waits, so that none idles while the
coordinator refills; the scheduler's memory stays flat however many tasks there are."""

FINISH_SECONDS = 10.0
"""What would end within this time of the wish to stop is finished, what takes longer is left."""

NEWS_SECONDS = 5.0
"""Least time between two questions to all workers for what they are at."""

NEWS_SHARE = 0.01
"""Those questions may take this share of the time: two workers answer in 5 ms."""


@dataclass
class Stop:
    """Carry the wish to submit nothing more, and when it came, s on the monotonic clock."""

    since: float = field(default=math.inf)

    @property
    def wished(self) -> bool:
        """Whether the run is to stop."""
        return self.since < math.inf

    def wish(self) -> None:
        """Stop the run."""
        self.since = min(self.since, time.monotonic())

    @property
    def grace(self) -> float:
        """Time that is left to what runs, s."""
        return max(0.0, self.since + FINISH_SECONDS - time.monotonic())


class SchedulerLost(InputError):
    """Say that a run ended because its scheduler did."""


Result = list[BlockDone] | BaseException

Hear = Callable[[Sequence[Report], int], None]
"""Is told what runs, of tasks that have taken some seconds, and on how many worker threads."""

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


def ask(run: str, grace: float | None) -> list[Report]:
    """Return what this process does for a run; with a grace, s, have it end within that."""
    return reports(run) if grace is None else stop(run, grace)


def serial(backlog: Backlog, stop: Stop, run: str, hear: Hear) -> Iterator[tuple[Task, Result]]:
    """Run tasks in order, in this process: the specification of every other executor.

    Parameters
    ----------
    backlog : Backlog
        What to do.
    stop : Stop
        Looked at between tasks, and every second within one.
    run : str
        Name of the run that the tasks belong to.
    hear : callable
        Told every few seconds what runs, and more often once the run stops.

    Yields
    ------
    tuple of Task and its result
        A list of `BlockDone`, or the exception that the task raised.
    """
    heard = time.monotonic()

    def look() -> None:
        nonlocal heard
        now = time.monotonic()
        found = ask(run, stop.grace if stop.wished else None)
        if now - heard >= NEWS_SECONDS or heard < stop.since < math.inf:
            heard = now
            hear(found, 1)

    try:
        while backlog and not stop.wished:
            task = backlog.take()
            try:
                result: Result = aside(partial(attempt, task), look, LOOK_SECONDS)
            except Exception as error:
                result = error
            yield task, result
    except BaseException:
        # Interrupted again: the thread beside is not to go on for minutes.
        abandon(run)
        raise


def on_dask(
    client: Client, backlog: Backlog, stop: Stop, run: str, hear: Hear, say: Callable[[str], None]
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
    run, hear
        As for `serial`.
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
    news = _News(client, stop, run)

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
            if (found := news.latest()) is not None:
                hear(found, workers.count())
    except BaseException:
        # The workers of a cluster that outlives the run are not to go on for minutes.
        with suppress(Exception):
            client.run(abandon, run, wait=False, on_error="ignore")
        raise
    finally:
        news.end()
        _cancel(client, [future for _, future in running.values()])


class _News:
    """Ask all workers now and then what they are at, in a thread: one that hangs answers late."""

    def __init__(self, client: Client, stop: Stop, run: str) -> None:
        self._client, self._stop, self._run = client, stop, run
        self._found: list[Report] | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def latest(self) -> list[Report] | None:
        """Return what was found since the last call, if anything was asked since."""
        found, self._found = self._found, None
        return found

    def end(self) -> None:
        """Ask no more."""
        self._ended.set()

    def _work(self) -> None:
        asked, wait = time.monotonic(), NEWS_SECONDS
        while not self._ended.wait(LOOK_SECONDS):
            stopping = self._stop.wished
            if time.monotonic() - asked < (LOOK_SECONDS if stopping else wait):
                continue
            asked, grace = time.monotonic(), self._stop.grace if stopping else None
            # A worker that dies while it is asked is the business of the run, not of its news.
            with suppress(Exception):
                answers = self._client.run(ask, self._run, grace, on_error="ignore")
                self._found = [one for found in answers.values() for one in found]
            wait = max(NEWS_SECONDS, (time.monotonic() - asked) / NEWS_SHARE)


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

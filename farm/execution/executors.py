"""Carry tasks out: one after the other in this process, or over a Dask cluster."""

from __future__ import annotations

import errno
import math
import os
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from core.errors import InputError
from core.numerals import lasting
from farm.execution.aside import aside
from farm.execution.task import SICK, run_task
from farm.execution.underway import Report, abandon, reports, stop
from farm.planning.tasks import Backlog, Task
from farm.store.geometry import Block
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


@dataclass(frozen=True)
class Sick:
    """Say that a worker could not do a task which another one may.

    Parameters
    ----------
    error : Exception
        Why.
    host : str
        Host and process.
    address : str
        How the scheduler calls it; empty in the run's own process.
    """

    error: Exception
    host: str
    address: str

    @property
    def sets_aside(self) -> bool:
        """Whether the worker cannot use the store: it would fail at whatever it is given."""
        return isinstance(self.error, OSError) and self.error.errno not in THE_STORES

    def __str__(self) -> str:
        error = self.error
        path = getattr(error, "filename", None) or "the store"
        return f"worker {self.host} cannot use {path} ({getattr(error, 'strerror', None) or error})"


THE_STORES = (errno.ENOSPC, errno.EDQUOT, errno.ECANCELED)
"""Errors that every worker would have: no space is left, or the run's turn is over."""

Result = list[BlockDone] | BaseException

Hear = Callable[[Sequence[Report], int], None]
"""Is told what runs, of tasks that have taken some seconds, and on how many worker threads."""

GONE = ("cancelled", "lost")
"""States of a future whose scheduler, or whose place with it, is no more."""

TRIES = 2
"""So many workers try what one has too little memory for, or lacks a package for."""

LOOK_SECONDS = 1.0
"""Time between two looks at whether to stop, and at a cluster that has no worker."""

SLEPT_SECONDS = 30.0
"""A look that takes longer was no look: the machine was suspended, or the process stopped."""

COUNT_SECONDS = 5.0
"""Time between two questions for the number of worker threads: each is a round trip to the
scheduler, 2 ms of CPU, and workers come and go in seconds."""


def attempt(task: Task) -> list[BlockDone] | Sick:
    """Run a task; that this worker cannot do it is an answer, of which the others learn."""
    try:
        return run_task(task)
    except SICK as error:
        return Sick(error, f"{platform.node()}:{os.getpid()}", _address())


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return ""


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
                found = aside(partial(attempt, task), look, LOOK_SECONDS)
                result: Result = found.error if isinstance(found, Sick) else found
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
    workers, news = _Workers(client, stop, say), _News(client, stop, run)
    window = _Window(client, backlog, stop, workers)
    try:
        window.refill()
        while window.running and (workers.count() or not stop.wished):
            yield from window.ended()
            window.refill()
            if (found := news.latest()) is not None:
                hear(found, workers.count())
    except BaseException:
        # The workers of a cluster that outlives the run are not to go on for minutes.
        with suppress(Exception):
            client.run(abandon, run, wait=False, on_error="ignore")
        raise
    finally:
        news.end()
        _cancel(client, [sent.future for sent in window.running.values()])


class _Sent(NamedTuple):
    """A task that a worker has, or is to have; to which workers it may go, None for all."""

    task: Task
    future: Any
    where: list[str] | None


class _Window:
    """The tasks that the scheduler knows of: a few for each worker thread."""

    def __init__(self, client: Client, backlog: Backlog, stop: Stop, workers: _Workers) -> None:
        from distributed import as_completed

        self.running: dict[str, _Sent] = {}
        self._client, self._backlog, self._stop = client, backlog, stop
        self._workers = workers
        self._tried: dict[tuple[Block, ...], set[str]] = {}
        self._number = count()
        # Keys are new for each run: a scheduler that outlives one must not answer from memory.
        self._prefix = f"cells-{uuid.uuid4().hex[:12]}"
        self._completed: Any = as_completed(with_results=True, raise_errors=False, loop=client.loop)

    def refill(self) -> None:
        """Submit as many tasks as the cluster should have, and anew those that nobody may take."""
        for key, sent in list(self.running.items()):
            if sent.where and self._workers.are_gone(sent.where):
                del self.running[key]
                _cancel(self._client, [sent.future])
                self._backlog.give_back(sent.task)
        while self._backlog and not self._stop.wished:
            if len(self.running) >= TASKS_AHEAD * max(1, self._workers.count()):
                break
            self._submit(self._backlog.take())

    def ended(self) -> Iterator[tuple[Task, Result]]:
        """Yield what has ended, but for what another worker is to try."""
        for future, result in _ended(self._completed, self._workers.note_sleep):
            sent = self.running.pop(future.key, None)
            if sent is None:
                continue
            if future.status in GONE:
                raise self._workers.lost()
            outcome = _outcome(future, result)
            if not isinstance(outcome, Sick):
                yield sent.task, outcome
            elif not self._goes_elsewhere(sent.task, outcome):
                yield sent.task, outcome.error

    def _submit(self, task: Task) -> None:
        where = self._workers.but(self._tried.get(task.blocks, set()))
        key = f"{self._prefix}-{next(self._number)}"
        future = self._client.submit(attempt, task, key=key, pure=False, workers=where)
        self.running[future.key] = _Sent(task, future, where)
        self._completed.add(future)

    def _goes_elsewhere(self, task: Task, sick: Sick) -> bool:
        tried = self._tried.setdefault(task.blocks, set())
        tried.add(sick.address)
        if not self._workers.others(sick, tried):
            return False
        self._backlog.give_back(task)
        return True


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


def _ended(completed: Any, slept: Callable[[float], None]) -> list[tuple[Any, Any]]:
    """Return what has ended, at the latest when it is time for another look at the workers.

    A wait that took far longer is told of: the machine, or this process, stood still.
    """
    begun = _clock()
    with completed.thread_condition:
        completed.thread_condition.wait_for(completed.has_ready, LOOK_SECONDS)
    if (seconds := _clock() - begun) > SLEPT_SECONDS:
        slept(seconds)
    ended: list[tuple[Any, Any]] = completed.next_batch(block=False)
    return ended


def _clock() -> float:
    """Return a time, s, that is never set back and goes on while the machine is suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class _Workers:
    """Know how many worker threads a cluster has, as of a moment ago, and say when none is left."""

    def __init__(self, client: Client, stop: Stop, say: Callable[[str], None]) -> None:
        self.address = client.scheduler.address if client.scheduler else "its address"
        self._client, self._stop, self._say = client, stop, say
        self._asked = -math.inf
        self._count = 0
        self._threads: dict[str, int] = {}
        self._aside: set[str] = set()
        self._slept = ""
        self._before: int | None = None

    def count(self) -> int:
        now = time.monotonic()
        if now - self._asked > (COUNT_SECONDS if self._count else LOOK_SECONDS):
            self._count, self._asked = self._ask(), now
            self._tell(self._before, self._count)
            self._before = self._count
        return self._count

    def note_sleep(self, seconds: float) -> None:
        """Take note that nothing was heard for so long since this machine stood still, and say so.

        Connections and workers that others gave up meanwhile are lost only after it.
        """
        self._slept = f"this machine stood still for {lasting(seconds)}"
        self._asked = -math.inf
        self._say(f"{self._slept}; the run goes on if the cluster does")

    def lost(self) -> SchedulerLost:
        """Return the sentence for a scheduler that is no more."""
        why = f" after {self._slept}" * bool(self._slept)
        return SchedulerLost(
            f"the scheduler at {self.address} was lost{why}; the same command goes on from here, "
            "once one runs"
        )

    def but(self, tried: set[str]) -> list[str] | None:
        """Return the workers that a task may go to; None for all."""
        barred = (self._aside | tried) & self._threads.keys()
        return [one for one in self._threads if one not in barred] if barred else None

    def are_gone(self, where: list[str]) -> bool:
        """Tell whether none of some workers is there any more, as of the last look."""
        return not self._threads.keys() & set(where)

    def others(self, sick: Sick, tried: set[str]) -> bool:
        """Set a worker aside that cannot use the store; return whether another is to try its task.

        What the store itself lacks, and what a second worker could not do either, stays undone.
        """
        if sick.sets_aside and sick.address not in self._aside:
            self._aside.add(sick.address)
            self._asked = -math.inf
            left = [one for one in self._threads if one not in self._aside]
            if left:
                self._say(f"{sick}; it is set aside, the others go on")
        known = isinstance(sick.error, OSError)
        again = sick.sets_aside if known else len(tried) < TRIES
        return again and self.but(tried) != []

    def _ask(self) -> int:
        try:
            self._threads = dict(self._client.nthreads())
        except OSError:  # what a client raises whose connection is closed
            raise self.lost() from None
        return sum(n for one, n in self._threads.items() if one not in self._aside)

    def _tell(self, before: int | None, now: int) -> None:
        if self._stop.wished:
            return
        if before == 0 and now:
            self._say(f"a worker of {self.address} is there; the run goes on")
        elif before != 0 and not now:
            lack = "all workers of {} are gone" if before else "{} has no worker"
            self._say(f"{lack.format(self.address)}; waiting for one (Ctrl-C stops)")


def _cancel(client: Client, futures: list[Any]) -> None:
    if client.status != "running":
        return
    with suppress(OSError):
        client.cancel(futures, force=True)


def _outcome(future: Any, result: Any) -> Result | Sick:
    if future.status == "finished":
        done: Result | Sick = result
        return done
    if isinstance(result, tuple):
        error: BaseException = result[1]
        return error
    return result if isinstance(result, BaseException) else RuntimeError(f"task {future.status}")

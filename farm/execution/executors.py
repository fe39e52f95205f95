"""Carry tasks out: one after the other in this process, or over a Dask cluster."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from schedfarm.farm.execution.aside import aside
from schedfarm.farm.execution.courses import Report, abandon, reports, stop
from schedfarm.farm.execution.rollcall import Errand
from schedfarm.farm.execution.sick import Sick, attempt
from schedfarm.farm.execution.stop import FINISH_SECONDS, LATE_SECONDS, Stop
from schedfarm.farm.execution.window import Result, Window
from schedfarm.farm.execution.workers import LOOK_SECONDS, Workers
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.tasks import Task

if TYPE_CHECKING:
    from distributed import Client

NEWS_SECONDS = 5.0
"""Least time between two questions to all workers for what they are at."""

NEWS_SHARE = 0.01
"""Those questions may take this share of the time: two workers answer in 5 ms."""

ABANDON_SECONDS = 2.0
"""Longest wait for the workers' answers to that; one that hangs never answers."""

ABANDONED = (
    "abandoned what has not ended in {:.0f} s; the next run simulates what it had not stored"
)

Hear = Callable[[Sequence[Report], int], None]
"""Is told what runs, of tasks that have taken some seconds, and on how many worker threads."""


def ask(run: str, grace: float | None) -> list[Report]:
    """Return what this process does for a run; with a grace, s, have it end within that."""
    return reports(run) if grace is None else stop(run, grace)


class _Overdue(Exception):
    """Report a task that has not ended in the time of a stopping run."""


def serial(
    backlog: Backlog, stop: Stop, run: str, hear: Hear, say: Callable[[str], None]
) -> Generator[tuple[Task, Result], None, None]:
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
    say : callable
        Told in one sentence that a task hangs when the run is to stop.

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
        if stop.is_overdue:
            raise _Overdue
        if now - heard >= NEWS_SECONDS or heard < stop.since < math.inf:
            heard = now
            hear(found, 1)

    try:
        while backlog and not stop.wished:
            task = backlog.take()
            try:
                found = aside(partial(attempt, task), look, LOOK_SECONDS)
                result: Result = found.error if isinstance(found, Sick) else found
            except _Overdue:
                abandon(run)
                say(_abandoned())
                return
            except Exception as error:
                result = error
            yield task, result
    except BaseException:
        # Interrupted again: the thread beside is not to go on for minutes.
        abandon(run)
        raise


def on_dask(
    client: Client,
    backlog: Backlog,
    stop: Stop,
    errand: Errand,
    hear: Hear,
    say: Callable[[str], None],
    quarantined: Collection[str] = (),
) -> Generator[tuple[Task, Result], None, None]:
    """Run tasks on a Dask cluster through a bounded window, as `serial` does in this process.

    Parameters
    ----------
    client : distributed.Client
        Of any cluster whose workers have schedfarm and see the store.
    backlog : Backlog
        What to do, in the order of submission.
    stop : Stop
        Looked at whenever tasks end, and every second. What runs is then waited for, as long as
        there is a worker left that could run it and it ends in time.
    errand : Errand
        What a worker must have before it is given a task.
    hear
        As for `serial`.
    say : callable
        Told in one sentence that the cluster has lost its last worker, or has one again.
    quarantined : collection of str
        Host and process of workers that get no task; may grow.

    Yields
    ------
    tuple of Task and its result
        As `serial`, in order of completion.

    Raises
    ------
    SchedulerLost
        If the scheduler is lost.
    InputError
        If no worker has the run's program and its store.
    """
    workers, news = Workers(client, stop, say, errand, quarantined), _News(client, stop, errand.run)
    window = Window(client, backlog, stop, workers)
    try:
        window.refill()
        while window.running and (workers.count() or not stop.wished):
            if stop.is_overdue:
                _abandon(client, errand.run)
                say(_abandoned())
                break
            yield from window.ended()
            window.back_up_stragglers()
            window.refill()
            if (found := news.latest()) is not None:
                hear(found, workers.count())
    except BaseException:
        # The workers of a cluster that outlives the run are not to go on for minutes.
        _abandon(client, errand.run)
        raise
    finally:
        news.end()
        window.end()


def _abandon(client: Client, run: str) -> None:
    """Have all workers leave the tasks of a run, without waiting for one that hangs."""

    def ask() -> None:
        with suppress(Exception):
            client.run(abandon, run, on_error="ignore")

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(ABANDON_SECONDS)


def _abandoned() -> str:
    return ABANDONED.format(FINISH_SECONDS + LATE_SECONDS)


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

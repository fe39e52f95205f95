"""Serial executor: runs the tasks one after the other in this process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial

from schedfarm.farm.execution.cancellation import (
    COORDINATOR_POLL_SECONDS,
    CancellationToken,
    abandoned_text,
    in_thread,
)
from schedfarm.farm.execution.faults import WorkerFault
from schedfarm.farm.execution.monitor import REPORT_SECONDS
from schedfarm.farm.execution.task_progress import TaskReport, abandon, polled
from schedfarm.farm.execution.worker import Result, attempt
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.tasks import Task

Update = Callable[[Sequence[TaskReport], int], None]
"""Receives reports of tasks that have run for some seconds, and the number of worker threads."""


class _Overdue(Exception):
    """Report a task that has not ended in time after the run was asked to stop."""


def serial(
    backlog: Backlog, token: CancellationToken, run: str, update: Update, say: Callable[[str], None]
) -> Generator[tuple[Task, Result], None, None]:
    """Yield the tasks of a run with their results, in order: the specification of executors.

    A task runs in a separate thread. This thread handles signals, updates the monitor every few
    seconds, and abandons a task that hangs when the run stops.
    """
    updated = time.monotonic()

    def poll() -> None:
        nonlocal updated
        now = time.monotonic()
        found = polled(run, token.grace if token.requested else None)
        if token.is_overdue:
            raise _Overdue
        if now - updated >= REPORT_SECONDS or updated < token.since < math.inf:
            updated = now
            update(found, 1)

    try:
        while backlog and not token.requested:
            task = backlog.take()
            try:
                found = in_thread(partial(attempt, task), poll, COORDINATOR_POLL_SECONDS)
                result: Result = found.error if isinstance(found, WorkerFault) else found
            except _Overdue:
                abandon(run)
                say(abandoned_text())
                return
            except Exception as error:
                result = error
            yield task, result
    except BaseException:
        # After a second interrupt, the simulation's thread must not continue for minutes.
        abandon(run)
        raise

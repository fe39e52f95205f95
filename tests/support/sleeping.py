"""A worker that stops itself during a task."""

from __future__ import annotations

import io
import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.planning.tasks import Task
from schedfarm.farm.store import folder
from schedfarm.farm.store.files import StaleRun

SHARD = "/wait/c/0/0/1/"
"""Part of the path of the shard before which, or within which, it stops."""


class Halting(io.FileIO):
    """A file of which half is there while the worker is stopped."""

    def __init__(self, path: str, mode: str, sleep: Callable[[str], None]) -> None:
        self._sleep: Callable[[str], None] = sleep if SHARD in path else lambda _: None
        self._sleep("writing")
        super().__init__(path, mode)

    def write(self, data: Any) -> int:
        middle = len(data) // 2
        super().write(data[:middle])
        self._sleep("half")
        super().write(data[middle:])
        return len(data)


def sleep_within(task: Task, where: str, answer: Connection) -> None:
    """Execute a task, but stop once, until SIGCONT; then send the obstacle.

    Parameters
    ----------
    task : Task
        Of a run that holds its store.
    where : {"writing", "half", "moving", "acknowledging"}
        Before it writes a shard, when half of one is there, before it moves one, or before it
        acknowledges a block.
    answer : Connection
        Is sent the sentence of the error, empty where there was none.
    """
    slept: list[str] = []

    def sleep(place: str) -> None:
        if place == where and not slept:
            slept.append(place)
            # This thread, which a signal to the process might let go on for a moment.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)

    replace = os.replace

    def stopped_replace(source: Any, target: Any) -> None:
        sleep(_name_of_move(str(target)))
        replace(source, target)

    vars(folder)["open"] = partial(Halting, sleep=sleep)
    os.replace = stopped_replace
    try:
        run_task(task)
    except StaleRun as error:
        answer.send(str(error))
    else:
        answer.send("")


def _name_of_move(target: str) -> str:
    """Name the step of a task that renames a file to this."""
    if "/records/" in target:
        return "acknowledging"
    return "moving" if "/wait/c/" in target else ""

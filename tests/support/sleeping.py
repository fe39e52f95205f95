"""A worker that stops itself during a task."""

from __future__ import annotations

import signal
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from zarr.storage import _local

from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.planning.tasks import Task
from schedfarm.farm.store.files import StaleRun

SHARD = "/wait/c/0/0/1/"
"""Part of the path of the shard before which, or within which, it stops."""


def sleep_within(task: Task, where: str, answer: Connection) -> None:
    """Execute a task, but stop once, until SIGCONT; then send the obstacle.

    Parameters
    ----------
    task : Task
        Of a run that holds its store.
    where : {"writing", "renaming", "moving", "acknowledging"}
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

    put, replace = _local._put, Path.replace

    def stopped_put(path: Path, *arguments: Any, **keys: Any) -> Any:
        if SHARD in str(path):
            sleep("writing")
        return put(path, *arguments, **keys)

    def stopped_replace(self: Path, target: Path) -> Path:
        sleep(_name_of_move(str(target)))
        return replace(self, target)

    _local._put = stopped_put
    Path.replace = stopped_replace  # type: ignore[method-assign, assignment]
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
    if target.endswith(".partial"):
        return "renaming" if SHARD in target else ""
    return "moving" if "/wait/c/" in target else ""

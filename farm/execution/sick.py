"""What a worker cannot do though another may: of too little memory, far from the store's disk."""

from __future__ import annotations

import errno
import os
import platform
from dataclasses import dataclass

from schedfarm.farm.execution.faults import OF_WORKER
from schedfarm.farm.execution.task import Done, run_task
from schedfarm.farm.planning.tasks import Task
from schedfarm.farm.store.provenance import Foreign

THE_STORES = (errno.ENOSPC, errno.EDQUOT, errno.ECANCELED)
"""Errors that every worker would have: no space is left, or the run's turn is over."""


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
        """Whether it would fail at whatever it is given: its disk or its program is amiss."""
        if isinstance(self.error, Foreign):
            return True
        return isinstance(self.error, OSError) and self.error.errno not in THE_STORES

    def __str__(self) -> str:
        error = self.error
        if isinstance(error, Foreign):
            return str(error)
        path = getattr(error, "filename", None) or "the store"
        return f"worker {self.host} cannot use {path} ({getattr(error, 'strerror', None) or error})"


def attempt(task: Task) -> Done | Sick:
    """Run a task; that this worker cannot do it is an answer, of which the others learn."""
    try:
        return run_task(task)
    except OF_WORKER as error:
        return Sick(error, f"{platform.node()}:{os.getpid()}", _address())


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return ""

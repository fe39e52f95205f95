"""Faults of a worker: the task then goes to another worker, unlike after a failure of a cell.

Examples of faults are too little memory, a missing package, or a store that is not mounted.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from schedfarm.core.errors import InputError
from schedfarm.core.own import NotLoaded
from schedfarm.farm.store.provenance import Foreign

COMMON_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.ECANCELED)
"""Errors common to all workers: the disk is full, or the run has lost the lock of its store."""


class MissingRequirement(RuntimeError):
    """Report that a worker lacks memory, a package, or a file that a module reads.

    It is not an `OSError`, since an `OSError` concerns the store.
    """


class Killed(RuntimeError):
    """Report that the process of a simulation was killed, and the cause."""


FAULTS = (MemoryError, ImportError, OSError, Foreign, MissingRequirement, Killed)
"""Errors that are the worker's fault."""


@dataclass(frozen=True)
class WorkerFault:
    """Report, as the result of a task, that its worker could not do it.

    host: host and process of the worker. address: the worker's address at the scheduler, empty in
    the run's own process.
    """

    error: Exception
    host: str
    address: str

    @property
    def is_lasting(self) -> bool:
        """Whether the worker would fail at every task: its disk or its program is unusable."""
        if isinstance(self.error, Foreign):
            return True
        return isinstance(self.error, OSError) and self.error.errno not in COMMON_ERRORS

    def __str__(self) -> str:
        error = self.error
        if isinstance(error, Foreign):
            return str(error)
        path = getattr(error, "filename", None) or "the store"
        return f"worker {self.host} cannot use {path} ({getattr(error, 'strerror', None) or error})"


def fault_behind(error: InputError) -> MissingRequirement | None:
    """Return the worker's fault behind an error of a plug-in or a kernel; None for other errors.

    A lack of memory or of a package is always the worker's fault. Another error of the operating
    system is the worker's fault only while a module loads. Other errors of a user's function belong
    to the cell.
    """
    loading = False
    cause: BaseException | None = error
    while isinstance(cause, InputError):
        loading |= isinstance(cause, NotLoaded)
        cause = cause.__cause__
    kinds = (MemoryError, ImportError, *((OSError,) if loading else ()))
    return MissingRequirement(str(error)) if isinstance(cause, kinds) else None

"""Errors of workers, after which another worker is asked, as opposed to those of cells."""

from __future__ import annotations

from schedfarm.core.errors import InputError
from schedfarm.core.own import NotLoaded
from schedfarm.farm.execution.isolate import Killed
from schedfarm.farm.store.provenance import Foreign


class Lacking(RuntimeError):
    """Report what a worker lacks for a cell: memory, a package, or a file that a module reads.

    No `OSError`, since those are about the store.
    """


OF_WORKER = (MemoryError, ImportError, OSError, Foreign, Lacking, Killed)
"""All of them."""


def of_worker(error: InputError) -> Lacking | None:
    """Return the worker's fault behind an error of a user's module or of a kernel, None if none.

    A lack of memory or of a package is the worker's at any time; another refusal of the operating
    system only while a module loads. All else that a user's function raises is the cell's.
    """
    loading = False
    cause: BaseException | None = error
    while isinstance(cause, InputError):
        loading |= isinstance(cause, NotLoaded)
        cause = cause.__cause__
    theirs = (MemoryError, ImportError, *((OSError,) if loading else ()))
    return Lacking(str(error)) if isinstance(cause, theirs) else None

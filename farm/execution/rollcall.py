"""Find out before the first block which workers could not do any, and why."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farm.store.lock import Superseded
from farm.store.place import Place
from farm.store.provenance import Foreign, Program, check_program

if TYPE_CHECKING:
    from distributed import Client

ANSWER_SECONDS = 30.0
"""So long all workers are waited for. Who answers later is found out by the first task he gets."""

WITHOUT = (ModuleNotFoundError, AttributeError)
"""Errors by which a worker proves that it has no schedfarm, or one without this roll call. What a
lost connection raises, or a lack of memory, proves nothing: the run goes on without the worker, or
its first task finds out."""


@dataclass(frozen=True)
class Errand:
    """Say what a worker of a run needs: its store, its name, and its program."""

    store: Place
    run: str
    program: Program | None


def unfit(client: Client, workers: Iterable[str], errand: Errand) -> dict[str, str]:
    """Return why workers could not work for a run, by their addresses; nothing of those that can.

    Parameters
    ----------
    client : distributed.Client
        Of their cluster.
    workers : iterable of str
        Their addresses.
    errand : Errand
        What they would have to do.
    """
    answers: dict[str, Any] = {}

    def ask() -> None:
        # A worker that dies while it is asked is the business of the run.
        with suppress(Exception):
            found = client.run(lacking, errand, workers=list(workers), on_error="return")
            answers.update(found)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(ANSWER_SECONDS)
    return {
        address: _sentence(address, answer)
        for address, answer in answers.items()
        if _proves(answer) or (isinstance(answer, str) and answer)
    }


def lacking(errand: Errand) -> str:
    """Say in a sentence what this process lacks for a run; nothing if it lacks nothing."""
    who = f"worker {platform.node()}:{os.getpid()}"
    try:
        check_program(errand.program)
        with errand.store.turn(errand.run):
            return ""
    except Foreign as error:
        return str(error)
    except Superseded:
        return (
            f"{who} has another folder at {errand.store} than this run: the run's lock is not in it"
        )
    except OSError as error:
        return f"{who} cannot use {error.filename or errand.store} ({error.strerror or error})"


def _proves(answer: object) -> bool:
    """Tell whether an answer proves that schedfarm is missing, or is an older one."""
    # What Dask cannot send as it is, it sends as an Exception of its text.
    texts = tuple(f"{error.__name__}(" for error in WITHOUT)
    as_text = type(answer) is Exception and str(answer).startswith(texts)
    return isinstance(answer, WITHOUT) or as_text


def _sentence(address: str, answer: str | BaseException) -> str:
    """Make a sentence of an answer; what cannot even be asked has no schedfarm, or an older one."""
    if isinstance(answer, str):
        return answer
    return f"worker {address} cannot run this schedfarm ({answer}); install it there"

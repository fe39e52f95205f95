"""Find out before the first block which workers could not do any, and why."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from schedfarm.farm.store.lock import Superseded
from schedfarm.farm.store.place import Place
from schedfarm.farm.store.provenance import Foreign, Program, check_program

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


class Answer(NamedTuple):
    """Hold a worker's host and process, and what it lacks, empty if nothing."""

    who: str
    lacks: str


def call_roll(client: Client, workers: Iterable[str], errand: Errand) -> dict[str, Answer]:
    """Return what workers answer, by their addresses; nothing of those that prove nothing.

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
            found = client.run(answer, errand, workers=list(workers), on_error="return")
            answers.update(found)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(ANSWER_SECONDS)
    found: dict[str, Answer] = {}
    for address, one in list(answers.items()):
        if isinstance(one, Answer):
            found[address] = one
        elif _proves(one):
            why = f"worker {address} cannot run this schedfarm ({one}); install it there"
            found[address] = Answer(address, why)
    return found


def answer(errand: Errand) -> Answer:
    """Return the host and process of this worker, and in a sentence what it lacks for a run."""
    who = f"{platform.node()}:{os.getpid()}"
    return Answer(who, _lack(errand, f"worker {who}"))


def _lack(errand: Errand, who: str) -> str:
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

"""Checkpoints of long simulations: files of a store that exist until their cells are stored."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress

from schedfarm.core.engine.checkpoint import Checkpoints
from schedfarm.core.format.geometry import Cell
from schedfarm.core.format.names import CHECKPOINTS
from schedfarm.farm.store.place import Place
from schedfarm.farm.store.provenance import program
from schedfarm.farm.store.store import Store


class Kept:
    """Find and write the checkpoints of one trace; their names are listed only once.

    A bucket has no checkpoints: each would take requests, and deletions cannot be conditional.

    Parameters
    ----------
    store : Store
        The store.
    trace : str
        Label of the trace.
    run : str
        Name of the run, without which nothing is written; empty if the store has no other user.
    """

    def __init__(self, store: Store, trace: str, run: str) -> None:
        self.run = run
        self._store, self._folder = store, f"{CHECKPOINTS}/{trace}"
        there = store.place.entries(self._folder) if store.place.keeps_checkpoints else ()
        self._there = {f"{self._folder}/{one}" for one in there}
        self._used: set[str] = set()

    def of(self, cell: Cell, kind: str) -> AbstractContextManager[object]:
        """Return a context in which one kind of simulation of a cell makes checkpoints."""
        if not self._store.place.keeps_checkpoints:
            return nullcontext()
        (resample, load, policy), axes = cell, self._store.axes
        at = f"{resample:05d}-{axes['load'].index(load):05d}-{axes['policy'].index(policy):05d}"
        name, found = f"{self._folder}/{at}.{kind}.npz", None
        if name in self._there:
            self._used.add(name)
            # Another worker may have stored the cell in the meantime. Unreadable files only cost
            # time.
            with suppress(OSError):
                found = self._store.place.read(name)

        def write(data: bytes) -> None:
            self._store.place.check_fence(self.run)
            self._used.add(name)
            self._store.place.write(name, data)

        def digest() -> str:
            return f"{program()} {self._store.definition_digest((policy,))}"

        return Checkpoints(digest, write, found)

    def drop(self) -> None:
        """Delete the checkpoints that were found or written."""
        while self._used:
            self._store.place.remove(self._used.pop())


def remove_checkpoints(place: Place) -> None:
    """Delete checkpoints of isolated processes and late workers, once no cell is missing."""
    if place.keeps_checkpoints:
        place.remove_below(CHECKPOINTS)

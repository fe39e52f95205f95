"""Journal of a search: all batches of results, so that an interrupted search continues.

The search is a deterministic function of the results of its batches. A resumed search requests the
same batches again. It takes the results of the first batches from the journal, and computes the
others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from schedfarm.core.errors import InputError
from schedfarm.core.files import write_whole
from schedfarm.farm.search.spec import Spec
from schedfarm.farm.store.provenance import program

VERSION = 1


class Batch(Struct):
    """Hold a batch of a file: the request and the results; None means infinity."""

    asked: dict[str, Any]
    results: list[list[float | list[float] | None]]


class State(Struct):
    """Hold the content of a file with the state of a search."""

    version: int
    search: dict[str, Any]
    batches: list[Batch]


class Journal:
    """Hold the batches of a search in a JSON file, which each new batch replaces as a whole."""

    def __init__(self, path: Path, spec: Spec, logs: Mapping[str, str]) -> None:
        own = {f"log {name}": digest for name, digest in logs.items()}
        search = spec.to_dict() | own | {"program": msgspec.to_builtins(program())}
        self._path, self._search = path, _read_back(search)
        self._batches: list[Batch] = _read(path, self._search) if path.exists() else []
        self._taken = 0

    @property
    def replays(self) -> bool:
        """Whether the next batch is in the journal."""
        return self._taken < len(self._batches)

    def recall(self, asked: dict[str, Any]) -> list[Any] | None:
        """Return the results of the next batch; None if they must be computed."""
        if not self.replays:
            return None
        batch = self._batches[self._taken]
        if batch.asked != _read_back(asked):
            raise InputError(
                f"{self._path}: batch {self._taken} differs from that of this search; another "
                "version of schedfarm, numpy or cmaes wrote it, so give another --out"
            )
        self._taken += 1
        return batch.results

    def add(self, asked: dict[str, Any], results: list[Any]) -> None:
        """Store the results of the next batch."""
        self._batches.append(Batch(asked, results))
        self._taken += 1
        state = msgspec.to_builtins(State(VERSION, self._search, self._batches))
        write_whole(self._path, json.dumps(state, indent=None, allow_nan=False).encode())


def _read_back(value: dict[str, Any]) -> dict[str, Any]:
    """Return plain values as read from a file."""
    return msgspec.json.decode(json.dumps(value), type=dict[str, Any])


def _read(path: Path, search: dict[str, Any]) -> list[Batch]:
    try:
        state = msgspec.json.decode(path.read_bytes(), type=State)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: is not the state of a search ({error}); give another --out, or remove it"
        ) from None
    if state.version != VERSION:
        raise InputError(f"{path}: has version {state.version}, not {VERSION}; give another --out")
    for key in sorted({*state.search, *search}):
        if state.search.get(key) != search.get(key):
            raise InputError(
                f"{path}: is the state of a search with another {key!r}; give another --out, or "
                "remove the folder to start over"
            )
    return state.batches

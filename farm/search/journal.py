"""Journal of a search: every batch of results, so that the same search continues where it ended.

The search is a deterministic function of the results of its batches. A resumed search asks for the
same batches again, takes the answers from the journal as long as there are some, and goes on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.files import write_whole
from schedfarm.farm.search.spec import Spec

VERSION = 1


class Journal:
    """Hold the batches of a search in a JSON file that is replaced as a whole after each."""

    def __init__(self, path: Path, spec: Spec) -> None:
        self._path, self._search = path, json.loads(json.dumps(spec.to_dict()))
        self._batches: list[dict[str, Any]] = _read(path, self._search) if path.exists() else []
        self._taken = 0

    @property
    def replays(self) -> bool:
        """Whether the next batch is in the journal."""
        return self._taken < len(self._batches)

    def recall(self, asked: dict[str, Any]) -> list[Any] | None:
        """Return the results of the next batch, None if it has to be computed."""
        if not self.replays:
            return None
        batch = self._batches[self._taken]
        if batch["asked"] != json.loads(json.dumps(asked)):
            raise InputError(
                f"{self._path}: batch {self._taken} is not that of this search; another version of "
                "schedfarm, numpy or cmaes wrote it, so give another --out"
            )
        self._taken += 1
        results: list[Any] = batch["results"]
        return results

    def add(self, asked: dict[str, Any], results: list[Any]) -> None:
        """Store the results of the next batch."""
        self._batches.append({"asked": asked, "results": results})
        self._taken += 1
        state = {"version": VERSION, "search": self._search, "batches": self._batches}
        write_whole(self._path, json.dumps(state, indent=None, allow_nan=False).encode())


def _read(path: Path, search: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        state = json.loads(path.read_bytes())
        version, had, batches = state["version"], state["search"], state["batches"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is not the state of a search ({error}); remove it") from None
    if version != VERSION:
        raise InputError(f"{path}: has version {version}, not {VERSION}; give another --out")
    for key in sorted({*had, *search}):
        if had.get(key) != search.get(key):
            raise InputError(
                f"{path}: is the state of a search with another {key!r}; give another --out, or "
                "remove the folder to start over"
            )
    found: list[dict[str, Any]] = batches
    return found

"""A run's log of events, one JSON object a line, beside the results."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farm.store.files import writing
from farm.store.provenance import origin

if TYPE_CHECKING:
    from farm.execution.task import Done

NAME = "events.jsonl"


class EventLog:
    """Watch a run by appending each event to its store's log, at once.

    Parameters
    ----------
    store : Path
        The store's folder.
    """

    def __init__(self, store: Path) -> None:
        self._store = store
        with writing(store):
            self._stream = (store / NAME).open("a+b", buffering=0)
            if _cut_off(self._stream):
                self._stream.write(b"\n")

    def begin(self, cells: int, before: int) -> None:
        """Log the start of a run."""
        self._write("begin", cells=cells, before=before, pid=os.getpid(), **origin())

    def finish(self, done: Done) -> None:
        """Log a block that is on the disk."""
        self._write("block", **asdict(done))

    def lose(self, cells: int, why: str) -> None:
        """Log cells whose task was lost."""
        self._write("lost", cells=cells, why=why)

    def say(self, text: str) -> None:
        """Log a sentence."""
        self._write("say", text=text)

    def end(self) -> None:
        """Log the end of the run."""
        self._write("end")
        self._stream.close()

    def _write(self, event: str, **facts: Any) -> None:
        line = {"time": round(time.time(), 3), "event": event, **facts}
        with writing(self._store):
            self._stream.write(json.dumps(line).encode() + b"\n")


def read_events(store: Path, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """Return the events from a byte offset on, and the offset behind them.

    A line that is still being written, or was cut off by a kill, is left for the next call.
    """
    path = store / NAME
    if not path.exists():
        return [], offset
    with path.open("rb") as stream:
        stream.seek(offset)
        data = stream.read()
    whole, newline, _ = data.rpartition(b"\n")
    return list(_parsed(whole)), offset + len(whole) + len(newline)


def _cut_off(stream: FileIO) -> bool:
    end = stream.seek(0, os.SEEK_END)
    return end > 0 and os.pread(stream.fileno(), 1, end - 1) != b"\n"


def _parsed(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        try:
            yield json.loads(line)
        except ValueError:  # cut off by a kill, and another run's events follow
            continue

"""What happens in a run, and its log beside the results: one JSON object a line."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from farm.store.files import writing
from farm.store.geometry import Block

NAME = "events.jsonl"


def now() -> float:
    """Return the Unix time, s, to the millisecond."""
    return round(time.time(), 3)


class Happening(Struct, frozen=True, kw_only=True, tag_field="event"):
    """Say when something happened.

    Parameters
    ----------
    time : float
        Unix time, s; by default now.
    """

    time: float = msgspec.field(default_factory=now)


class Begin(Happening, frozen=True, kw_only=True, tag="begin"):
    """Say that a run begins.

    Parameters
    ----------
    cells : int
        Cells of the campaign.
    before : int
        Cells that earlier runs have done.
    pid : int
        Process that runs it.
    origin : mapping of str to str
        Its host, versions and commit, as of `farm.store.provenance.origin`.
    """

    cells: int
    before: int
    pid: int = 0
    origin: Mapping[str, str] = {}


class BlockDone(Happening, frozen=True, kw_only=True, tag="block"):
    """Say that a block is on the disk and has its record.

    Parameters
    ----------
    block : Block
        Which.
    cells : int
        Cells of a policy that the run has simulated for it; none in the workload's own block.
    failed : int
        How many of them failed.
    seconds : float
        CPU time of their simulations, s.
    worker : str
        Host and process that did it.
    why : str
        Why it was left as it was, without what the store has come to hold; empty otherwise.
    """

    block: Block
    cells: int
    failed: int
    seconds: float
    worker: str
    why: str = ""


class Lost(Happening, frozen=True, kw_only=True, tag="lost"):
    """Say that a task was lost.

    Parameters
    ----------
    cells : int
        Cells that it was to simulate.
    why : str
        What took it.
    """

    cells: int
    why: str


class Said(Happening, frozen=True, kw_only=True, tag="say"):
    """Say something else to whoever watches.

    Parameters
    ----------
    text : str
        One sentence.
    """

    text: str


class End(Happening, frozen=True, kw_only=True, tag="end"):
    """Say that the run is over."""


Event = Begin | BlockDone | Lost | Said | End
"""Whatever happens in a run."""


class Watcher(Protocol):
    """Be told what happens in a run; watching is not doing."""

    def see(self, event: Event) -> None:
        """Hear of an event."""


class All:
    """Pass every event on to several watchers; to none of them: watch without a word.

    Parameters
    ----------
    *watchers : Watcher
        Who hears of it.
    """

    def __init__(self, *watchers: Watcher) -> None:
        self.watchers = watchers

    def see(self, event: Event) -> None:
        """Hear of an event."""
        for watcher in self.watchers:
            watcher.see(event)


class EventLog:
    """Append each event to the log of a run's store, at once.

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

    def see(self, event: Event) -> None:
        """Log an event."""
        with writing(self._store):
            self._stream.write(msgspec.json.encode(event) + b"\n")
        if isinstance(event, End):
            self._stream.close()


def read_events(store: Path, offset: int = 0) -> tuple[list[Event], int]:
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


def _parsed(data: bytes) -> Iterator[Event]:
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)
    for line in data.splitlines():
        try:
            yield decoder.decode(line)
        # Cut off by a kill, and another run's events follow; or an event that only others know.
        except msgspec.DecodeError:
            continue

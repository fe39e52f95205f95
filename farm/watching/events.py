"""Events of a run, and their log next to the results, with one JSON object per line."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from schedfarm.core.format.geometry import Block
from schedfarm.core.numerals import lasting
from schedfarm.farm.store.files import writing
from schedfarm.farm.store.journal import START, Position
from schedfarm.farm.store.place import Where, place_of

UNKNOWN = -1.0
"""Value of a remaining time that cannot be estimated yet, s."""


def now() -> float:
    """Return the Unix time, s, to the millisecond."""
    return round(time.time(), 3)


class Happening(Struct, frozen=True, kw_only=True, tag_field="event"):
    """Base of events; time: Unix time, s, by default now."""

    time: float = msgspec.field(default_factory=now)


class Begin(Happening, frozen=True, kw_only=True, tag="begin"):
    """Report that a run begins.

    cells: number of cells of the campaign. before: number of cells done by earlier runs. pid:
    process of the coordinator. origin: host, versions and commit of the coordinator, as in
    `farm.store.provenance.origin`.
    """

    cells: int
    before: int
    pid: int = 0
    origin: Mapping[str, str] = {}


class BlockDone(Happening, frozen=True, kw_only=True, tag="block"):
    """Report that a block is on the disk with its record.

    cells: number of simulated cells of policies in the block; 0 for a workload's block. failed:
    number of failed cells among them. seconds: CPU time of their simulations, s. worker: host and
    process. why: reason why a new metric could not be added to the block, otherwise empty. left:
    estimated remaining time of the run, s, or `UNKNOWN`.
    """

    block: Block
    cells: int
    failed: int
    seconds: float
    worker: str
    why: str = ""
    left: float = UNKNOWN


class Retracted(Happening, frozen=True, kw_only=True, tag="retracted"):
    """Report that the record of a block was removed, since its worker computed wrong results.

    cells: number of cells of policies to simulate again. failed: number of failed cells among them.
    worker: host and process; empty if the worker could not be determined.
    """

    block: Block
    cells: int
    failed: int
    worker: str


class Doing(Struct, frozen=True, kw_only=True):
    """Describe the current cell of a worker.

    what: trace, resample, load and policy. worker: host and process. seconds: time since the worker
    began the cell's batch of blocks, s. cell, cells: number of the cell in the batch, from 1, and
    number of cells in the batch. share: share of the cell's jobs that have started. done: finished
    share of the batch by planned cost.
    """

    what: str
    worker: str
    seconds: float
    cell: int
    cells: int
    share: float
    done: float

    def __str__(self) -> str:
        part = f"cell {self.cell} of {self.cells}, " if self.cells > 1 else ""
        return (
            f"{self.what} on {self.worker}, {lasting(self.seconds)} so far, {part}"
            f"{100 * self.share:.0f} % of its jobs"
        )


class Running(Happening, frozen=True, kw_only=True, tag="running"):
    """Report tasks that have been running for at least some seconds.

    tasks: the longest tasks, longest first. count: number of all such tasks. left: as for
    `BlockDone`.
    """

    tasks: tuple[Doing, ...] = ()
    count: int = 0
    left: float = UNKNOWN


class Lost(Happening, frozen=True, kw_only=True, tag="lost"):
    """Report a lost task, the number of its cells, and the error that ended the task."""

    cells: int
    why: str


class Said(Happening, frozen=True, kw_only=True, tag="say"):
    """Report anything else in one sentence; `progress` if it is irrelevant after the run."""

    text: str
    progress: bool = False


class End(Happening, frozen=True, kw_only=True, tag="end"):
    """Report that the run is over."""


Event = Begin | BlockDone | Retracted | Running | Lost | Said | End
"""Any event of a run."""


class Watcher(Protocol):
    """Receive the events of a run, without influence on the run."""

    def see(self, event: Event) -> None:
        """Receive an event."""


class All:
    """Pass every event on to any number of watchers."""

    def __init__(self, *watchers: Watcher) -> None:
        self.watchers = watchers

    def see(self, event: Event) -> None:
        """Receive an event."""
        self.see_all([event])

    def see_all(self, events: Sequence[Event]) -> None:
        """Receive events that occurred together, if any."""
        for watcher in self.watchers:
            if isinstance(watcher, EventLog):
                watcher.see_all(events)
            else:
                for event in events:
                    watcher.see(event)


class EventLog:
    """Append events to the log of a store."""

    def __init__(self, store: Where) -> None:
        self._place = place_of(store)
        with writing(self._place):
            self._journal = self._place.journal()

    def see(self, event: Event) -> None:
        """Log an event."""
        self.see_all([event])

    def see_all(self, events: Sequence[Event]) -> None:
        """Log simultaneous events in one system call, which takes as long as storing a block."""
        if not events:
            return
        with writing(self._place):
            self._journal.add(b"\n".join(map(msgspec.json.encode, events)))
            if isinstance(events[-1], End):
                self._journal.close()


def read_events(store: Where, since: Position = START) -> tuple[list[Event], Position]:
    """Return the events of a store's log from a position on, and the next position.

    An incomplete line at the end is left for the next call.
    """
    data, then = place_of(store).read_journal(since)
    return list(_parsed(data)), then


def _parsed(data: bytes) -> Iterator[Event]:
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)
    for line in data.splitlines():
        try:
            yield decoder.decode(line)
        # This line was cut off by a kill and continued by another run, or is of another version.
        except msgspec.DecodeError:
            continue

"""What happens in a run, and its log beside the results: one JSON object a line."""

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
"""Stands for a time left that nothing measured supports yet, s."""


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
    left : float
        Time that the run still needs, s, by what it has measured; -1 while that is not known.
    """

    block: Block
    cells: int
    failed: int
    seconds: float
    worker: str
    why: str = ""
    left: float = UNKNOWN


class Retracted(Happening, frozen=True, kw_only=True, tag="retracted"):
    """Report that a block lost its record, since the worker that did it was wrong.

    Parameters
    ----------
    block : Block
        Which.
    cells : int
        Cells of a policy that are to be simulated again.
    failed : int
        How many of them had failed.
    worker : str
        Host and process of that worker; empty where it could not be found.
    """

    block: Block
    cells: int
    failed: int
    worker: str


class Doing(Struct, frozen=True, kw_only=True):
    """Say what a worker is at.

    Parameters
    ----------
    what : str
        The cell: trace, resample, load and policy.
    worker : str
        Host and process.
    seconds : float
        Time since it began with the blocks of that cell, s.
    cell, cells : int
        Which cell of these blocks it is, from 1, and how many they have.
    share : float
        Share of the cell's jobs that have started in the simulation under way.
    done : float
        Share of the work at these blocks that is done, by its planned cost.
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
    """Say which tasks have been running for some seconds or longer.

    Parameters
    ----------
    tasks : tuple of Doing
        The longest ones, longest first.
    count : int
        How many there are.
    left : float
        As of a block that is done.
    """

    tasks: tuple[Doing, ...] = ()
    count: int = 0
    left: float = UNKNOWN


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


Event = Begin | BlockDone | Retracted | Running | Lost | Said | End
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
        self.see_all([event])

    def see_all(self, events: Sequence[Event]) -> None:
        """Hear of events that came together, if there are any."""
        for watcher in self.watchers:
            if isinstance(watcher, EventLog):
                watcher.see_all(events)
            else:
                for event in events:
                    watcher.see(event)


class EventLog:
    """Add each event to the log of a run's store.

    Parameters
    ----------
    store : str, path or Place
        Where the store is.
    """

    def __init__(self, store: Where) -> None:
        self._place = place_of(store)
        with writing(self._place):
            self._journal = self._place.journal()

    def see(self, event: Event) -> None:
        """Log an event."""
        self.see_all([event])

    def see_all(self, events: Sequence[Event]) -> None:
        """Log events that came together, at once: a call of the system takes as long as a block."""
        if not events:
            return
        with writing(self._place):
            self._journal.add(b"\n".join(map(msgspec.json.encode, events)))
            if isinstance(events[-1], End):
                self._journal.close()


def read_events(store: Where, since: Position = START) -> tuple[list[Event], Position]:
    """Return the events of a store's log from a position on, and the position behind them.

    A line that is still being written, or was cut off by a kill, is left for the next call.
    """
    data, then = place_of(store).read_journal(since)
    return list(_parsed(data)), then


def _parsed(data: bytes) -> Iterator[Event]:
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)
    for line in data.splitlines():
        try:
            yield decoder.decode(line)
        # Cut off by a kill, and another run's events follow; or an event that only others know.
        except msgspec.DecodeError:
            continue

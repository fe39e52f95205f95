"""Progress of a run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from schedfarm.core.numerals import counted, lasting, significant
from schedfarm.farm.watching.events import (
    UNKNOWN,
    Begin,
    BlockDone,
    Doing,
    End,
    Event,
    Lost,
    Retracted,
    Running,
    Said,
)

LINE_SECONDS = 5.0
"""Least time between two plain lines, s."""

MINUTE = 60

RATE_SECONDS = 5.0
"""Duration of a run before its cells per minute are shown, s, since the first blocks come late."""


class Meter:
    """Track finished and failed cells, cells per minute, remaining time and running tasks."""

    def __init__(self) -> None:
        self.cells = self.before = self.done = self.failed = 0
        self.begun = 0.0
        self.left = UNKNOWN
        self.running: Running | None = None

    def see(self, event: Event) -> None:
        """Count an event."""
        match event:
            case Begin(cells=cells, before=before):
                if before > self.before:
                    # Each round of a run begins with its own count.
                    self.done = self.failed = 0
                self.cells, self.before, self.begun = cells, before, event.time
            case BlockDone():
                self.done += event.cells
                self.failed += event.failed
                self.left = event.left
            case Retracted():
                self.done -= event.cells
                self.failed -= event.failed
            case Running():
                self.running, self.left = event, event.left
            case Lost():
                self.failed += event.cells
            case End():
                self.left = UNKNOWN

    def text(self, now: float) -> str:
        """Return failed cells as text, with rate and remaining time once these are meaningful."""
        parts, seconds = [f"{self.failed} failed"], now - self.begun
        if self.done and seconds >= RATE_SECONDS:
            # All rates have the same unit, so that lines can be compared.
            parts.append(f"{significant(MINUTE * self.done / seconds)} cells/min")
        if self.left >= 0 and self.before + self.done < self.cells:
            parts.append(f"about {lasting(self.left)} left")
        return ", ".join(parts)


class Lines:
    """Write plain lines: finished and failed cells, rate, remaining time, running tasks."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.meter = Meter()
        self.last = 0.0

    def see(self, event: Event) -> None:
        """Count an event; write a line if the interval since the last line is over."""
        meter = self.meter
        meter.see(event)
        match event:
            case Begin():
                self.last = event.time
                self._write(f"{counted(meter.cells, 'cell')}, {meter.before} done before")
            case BlockDone():
                if not 0 <= event.time - self.last < LINE_SECONDS:
                    self._count(event.time)
            case Running(tasks=[longest, *_]):
                self._count(event.time)
                self._write(f"running: {_longest(event, longest)}")
            case Lost():
                self._write(f"{counted(event.cells, 'cell')} lost: {event.why}")
            case Said():
                self._write(event.text)
            case End():
                self._count(event.time)

    def leave(self, now: float) -> None:
        """Show the state of a run that continues after the end of watching, at a Unix time, s."""
        self._count(now)

    def _count(self, now: float) -> None:
        meter, self.last = self.meter, now
        self._write(f"{meter.before + meter.done}/{meter.cells} cells, {meter.text(now)}")

    def _write(self, text: str) -> None:
        self.stream.write(text + "\n")
        self.stream.flush()


class Bar:
    """Draw a bar on a terminal: finished and failed cells, rate, remaining time, running tasks."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.meter = Meter()
        self._bar: Any = None

    def see(self, event: Event) -> None:
        """Move the bar, or write a message above the bar."""
        self.meter.see(event)
        match event:
            case Begin():
                if self._bar is not None:
                    self._end(event.time)
                self._bar = self._drawn(event)
            case BlockDone():
                # The times are those of the events, since `farm watch` may read old events.
                self._bar.set_postfix_str(self.meter.text(event.time), refresh=False)
                self._bar.update(event.cells)
            case Retracted():
                self._bar.update(-event.cells)
            case Running(tasks=[longest, *_]):
                self._bar.set_postfix_str(self.meter.text(event.time), refresh=False)
                self._write(f"running: {_longest(event, longest)}")
            case Lost():
                self._write(f"{counted(event.cells, 'cell')} lost: {event.why}")
            case Said():
                self._write(event.text)
            case End():
                self._end(event.time)

    def leave(self, now: float) -> None:
        """Show the state of a run that continues after the end of watching, at a Unix time, s."""
        self._end(now)

    def _end(self, now: float) -> None:
        self._bar.set_postfix_str(self.meter.text(now))
        self._bar.close()

    def _write(self, text: str) -> None:
        self._bar.write(text, file=self.stream)

    def _drawn(self, begin: Begin) -> Any:
        from tqdm import tqdm

        return tqdm(
            total=begin.cells,
            initial=begin.before,
            bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} cells{postfix}",
            file=self.stream,
            dynamic_ncols=True,
        )


def _longest(event: Running, longest: Doing) -> str:
    return f"{longest}" + f", and {event.count - 1} more" * (event.count > 1)


class Quiet:
    """Write only lost cells, and messages of the run other than progress."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def see(self, event: Event) -> None:
        """Write a line for an event of these kinds."""
        match event:
            case Lost():
                self.stream.write(f"{counted(event.cells, 'cell')} lost: {event.why}\n")
            case Said(progress=False):
                self.stream.write(f"{event.text}\n")
        self.stream.flush()


def watcher(stream: TextIO | None = None) -> Bar | Lines:
    """Return the suitable watcher for a stream, by default standard error."""
    stream = stream or sys.stderr
    return Bar(stream) if stream.isatty() else Lines(stream)

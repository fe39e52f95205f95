"""Tell a person how far a run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from farm.watching.events import Begin, BlockDone, End, Event, Lost, Said, Watcher

LINE_SECONDS = 5.0
"""Least time between two plain lines."""


class Lines:
    """Write a plain line now and then: done, failed, cells per second, time left.

    Parameters
    ----------
    stream : text stream
        Where to write.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.cells = self.before = self.done = self.failed = 0
        self.begun = self.last = 0.0

    def see(self, event: Event) -> None:
        """Count what is done, and write what is due."""
        match event:
            case Begin(cells=cells, before=before):
                self.cells, self.before, self.begun = cells, before, event.time
                self.last = event.time
                self._write(f"{cells} cells, {before} done before")
            case BlockDone():
                self.done += event.cells
                self.failed += event.failed
                if event.time - self.last >= LINE_SECONDS:
                    self._count(event.time)
            case Lost():
                self.failed += event.cells
                self._write(f"{event.cells} cells lost: {event.why}")
            case Said():
                self._write(event.text)
            case End():
                self._count(event.time)

    def _count(self, now: float) -> None:
        self.last = now
        rate = self.done / max(now - self.begun, 1e-3)
        left = self.cells - self.before - self.done
        time_left = f"{left / rate:.0f} s left" if rate else "time left unknown"
        self._write(
            f"{self.before + self.done}/{self.cells} cells, {self.failed} failed, "
            f"{rate:.1f} cells/s, {time_left}"
        )

    def _write(self, text: str) -> None:
        self.stream.write(text + "\n")
        self.stream.flush()


class Bar:
    """Draw a bar on a terminal: done, failed, cells per second, time left.

    Parameters
    ----------
    stream : text stream
        The terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.failed = 0
        self._bar: Any = None

    def see(self, event: Event) -> None:
        """Move the bar, or write above it."""
        match event:
            case Begin():
                self._bar = self._drawn(event)
            case BlockDone():
                self.failed += event.failed
                self._bar.set_postfix_str(f"{self.failed} failed", refresh=False)
                self._bar.update(event.cells)
            case Lost():
                self.failed += event.cells
                self._bar.write(f"{event.cells} cells lost: {event.why}", file=self.stream)
            case Said():
                self._bar.write(event.text, file=self.stream)
            case End():
                self._bar.close()

    def _drawn(self, begin: Begin) -> Any:
        from tqdm import tqdm

        return tqdm(
            total=begin.cells,
            initial=begin.before,
            unit=" cells",
            file=self.stream,
            dynamic_ncols=True,
        )


class Quiet:
    """Write only what is not as usual: what is lost, and what the run has to say.

    Parameters
    ----------
    stream : text stream
        Where to write.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def see(self, event: Event) -> None:
        """Write a line, if it is due."""
        match event:
            case Lost():
                self.stream.write(f"{event.cells} cells lost: {event.why}\n")
            case Said():
                self.stream.write(f"{event.text}\n")
        self.stream.flush()


def watcher(stream: TextIO | None = None) -> Watcher:
    """Return the watcher that suits a stream; by default standard error."""
    stream = stream or sys.stderr
    return Bar(stream) if stream.isatty() else Lines(stream)

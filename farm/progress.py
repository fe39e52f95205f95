"""Tell a person how far a run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol, TextIO

LINE_SECONDS = 5.0
"""Least time between two plain lines."""


class Watcher(Protocol):
    """Be told of a run's progress; watching is not doing."""

    def begin(self, cells: int, done: int) -> None:
        """Hear how many cells there are, and how many were done before."""

    def advance(self, cells: int, failed: int) -> None:
        """Hear of cells that have just ended."""

    def say(self, text: str) -> None:
        """Hear one sentence."""

    def end(self) -> None:
        """Hear that the run is over."""


class Silent:
    """Watch without a word."""

    def begin(self, cells: int, done: int) -> None:
        """Do nothing."""

    def advance(self, cells: int, failed: int) -> None:
        """Do nothing."""

    def say(self, text: str) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


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
        self.begun = self.last = time.monotonic()

    def begin(self, cells: int, done: int) -> None:
        """Hear how many cells there are, and how many were done before."""
        self.cells, self.before, self.begun = cells, done, time.monotonic()
        self.say(f"{cells} cells, {done} done before")

    def advance(self, cells: int, failed: int) -> None:
        """Hear of cells that have just ended."""
        self.done += cells
        self.failed += failed
        if time.monotonic() - self.last >= LINE_SECONDS:
            self._line()

    def say(self, text: str) -> None:
        """Hear one sentence."""
        self.stream.write(text + "\n")
        self.stream.flush()

    def end(self) -> None:
        """Hear that the run is over."""
        self._line()

    def _line(self) -> None:
        self.last = time.monotonic()
        rate = self.done / max(self.last - self.begun, 1e-9)
        left = self.cells - self.before - self.done
        time_left = f"{left / rate:.0f} s left" if rate else "time left unknown"
        self.say(
            f"{self.before + self.done}/{self.cells} cells, {self.failed} failed, "
            f"{rate:.1f} cells/s, {time_left}"
        )


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

    def begin(self, cells: int, done: int) -> None:
        """Hear how many cells there are, and how many were done before."""
        from tqdm import tqdm

        self._bar = tqdm(
            total=cells, initial=done, unit=" cells", file=self.stream, dynamic_ncols=True
        )

    def advance(self, cells: int, failed: int) -> None:
        """Hear of cells that have just ended."""
        self.failed += failed
        self._bar.set_postfix_str(f"{self.failed} failed", refresh=False)
        self._bar.update(cells)

    def say(self, text: str) -> None:
        """Hear one sentence."""
        if self._bar is None:
            self.stream.write(text + "\n")
        else:
            self._bar.write(text, file=self.stream)

    def end(self) -> None:
        """Hear that the run is over."""
        self._bar.close()


def watcher(stream: TextIO = sys.stderr) -> Watcher:
    """Return the watcher that suits a stream."""
    return Bar(stream) if stream.isatty() else Lines(stream)

"""Tell a person how far a run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from farm.execution.task import Done

LINE_SECONDS = 5.0
"""Least time between two plain lines."""


class Watcher(Protocol):
    """Be told of a run's progress; watching is not doing."""

    def begin(self, cells: int, before: int) -> None:
        """Hear how many cells there are, and how many earlier runs have done."""

    def finish(self, done: Done) -> None:
        """Hear of a block that is on the disk."""

    def lose(self, cells: int, why: str) -> None:
        """Hear of cells whose task was lost, and why."""

    def say(self, text: str) -> None:
        """Hear one sentence."""

    def end(self) -> None:
        """Hear that the run is over."""


class All:
    """Pass everything on to several watchers; to none of them: watch without a word.

    Parameters
    ----------
    *watchers : Watcher
        Who hears of it.
    """

    def __init__(self, *watchers: Watcher) -> None:
        self.watchers = watchers

    def begin(self, cells: int, before: int) -> None:
        """Hear how many cells there are, and how many earlier runs have done."""
        for w in self.watchers:
            w.begin(cells, before)

    def finish(self, done: Done) -> None:
        """Hear of a block that is on the disk."""
        for w in self.watchers:
            w.finish(done)

    def lose(self, cells: int, why: str) -> None:
        """Hear of cells whose task was lost, and why."""
        for w in self.watchers:
            w.lose(cells, why)

    def say(self, text: str) -> None:
        """Hear one sentence."""
        for w in self.watchers:
            w.say(text)

    def end(self) -> None:
        """Hear that the run is over."""
        for w in self.watchers:
            w.end()


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

    def begin(self, cells: int, before: int) -> None:
        """Hear how many cells there are, and how many earlier runs have done."""
        self.cells, self.before, self.begun = cells, before, time.monotonic()
        self.say(f"{cells} cells, {before} done before")

    def finish(self, done: Done) -> None:
        """Hear of a block that is on the disk."""
        self.done += done.cells
        self.failed += done.failed
        if time.monotonic() - self.last >= LINE_SECONDS:
            self._line()

    def lose(self, cells: int, why: str) -> None:
        """Hear of cells whose task was lost, and why."""
        self.failed += cells
        self.say(f"{cells} cells lost: {why}")

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

    def begin(self, cells: int, before: int) -> None:
        """Hear how many cells there are, and how many earlier runs have done."""
        from tqdm import tqdm

        self._bar = tqdm(
            total=cells, initial=before, unit=" cells", file=self.stream, dynamic_ncols=True
        )

    def finish(self, done: Done) -> None:
        """Hear of a block that is on the disk."""
        self.failed += done.failed
        self._bar.set_postfix_str(f"{self.failed} failed", refresh=False)
        self._bar.update(done.cells)

    def lose(self, cells: int, why: str) -> None:
        """Hear of cells whose task was lost, and why."""
        self.failed += cells
        self.say(f"{cells} cells lost: {why}")

    def say(self, text: str) -> None:
        """Hear one sentence."""
        if self._bar is None:
            self.stream.write(text + "\n")
        else:
            self._bar.write(text, file=self.stream)

    def end(self) -> None:
        """Hear that the run is over."""
        self._bar.close()


def watcher(stream: TextIO | None = None) -> Watcher:
    """Return the watcher that suits a stream; by default standard error."""
    stream = stream or sys.stderr
    return Bar(stream) if stream.isatty() else Lines(stream)

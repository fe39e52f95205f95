"""Ends of a run requested by a user or a batch system."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SOME_FAILED, INTERRUPTED = 1, 130
"""Exit status of a run with failed cells, and exit status of a stopped run."""

NONE_BEGUN = "no cell was begun; the same command starts over"


@contextmanager
def said_if_none_began() -> Iterator[threading.Event]:
    """If an interrupt comes before the event is set, report that no cell was begun."""
    begun = threading.Event()
    try:
        yield begun
    except KeyboardInterrupt:
        if begun.is_set():
            raise
        raise KeyboardInterrupt(NONE_BEGUN) from None


@contextmanager
def ended_after(text: str | None) -> Iterator[None]:
    """Send SIGTERM to this process after the given time."""
    if text is None:
        yield
        return
    from schedfarm.core.durations import seconds_of
    from schedfarm.core.errors import InputError

    seconds = seconds_of(text)
    if not seconds:
        raise InputError(f"--stop-after {text}: give a time above 0, such as 90m")
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGTERM))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()

"""A clock that stands still while this process does: stopped, or its machine suspended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache

SLEPT_SECONDS = 30.0
"""Nobody looked at a clock for so long, though somebody does every second: nothing ran."""

TICK_SECONDS = 1.0


def clock() -> float:
    """Return a time, s, that is never set back and goes on while the machine is suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Awake:
    """Count the time during which this process ran, by looks that are to come every second.

    Parameters
    ----------
    clock : callable
        Returns a time, s, that goes on while the process sleeps.

    Examples
    --------
    >>> times = iter([100.0, 101.0, 741.0, 742.5])
    >>> here = Awake(lambda: next(times))
    >>> here.seconds(), here.seconds(), here.seconds()
    (1.0, 1.0, 2.5)
    """

    def __init__(self, clock: Callable[[], float] = clock) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._seen, self._slept = clock(), 0.0
        self._begun = self._seen

    def seconds(self) -> float:
        """Return how long the process has run since this was made, s."""
        with self._lock:
            now = self._clock()
            if now - self._seen > SLEPT_SECONDS:
                self._slept += now - self._seen
            self._seen = now
            return now - self._begun - self._slept

    def tick(self) -> None:
        """Look every second, for as long as the process lives."""
        while True:
            time.sleep(TICK_SECONDS)
            self.seconds()


_HERE = Awake()


@cache
def _tick() -> None:
    threading.Thread(target=_HERE.tick, daemon=True).start()


def awake() -> float:
    """Return a time, s, that is never set back, and stands still while this process does.

    What is counted by it is work, not sleep.

    Examples
    --------
    >>> begun = awake()
    >>> awake() >= begun
    True
    """
    _tick()
    return _HERE.seconds()

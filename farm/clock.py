"""Clocks for waiting and measuring: uptime, and the active time of this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache

SUSPENDED_SECONDS = 30.0
"""Least gap between two readings that counts as a suspension, s; a reading is due every second."""

TICK_SECONDS = 1.0


def uptime() -> float:
    """Return a time, s, that never goes back and continues while the machine is suspended.

    On a system without such a clock the time stops during a suspension.
    """
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class ActiveClock:
    """Measure the time during which this process ran, from readings at least once a second.

    Examples
    --------
    >>> times = iter([100.0, 101.0, 741.0, 742.5])
    >>> clock = ActiveClock(lambda: next(times))
    >>> clock.seconds(), clock.seconds(), clock.seconds()
    (1.0, 1.0, 2.5)
    """

    def __init__(self, clock: Callable[[], float] = uptime) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._last, self._suspended = clock(), 0.0
        self._started = self._last

    def seconds(self) -> float:
        """Return the active time since the clock was made, s."""
        with self._lock:
            now = self._clock()
            if now - self._last > SUSPENDED_SECONDS:
                self._suspended += now - self._last
            self._last = now
            return now - self._started - self._suspended

    def tick(self) -> None:
        """Read the clock every second for the life of the process."""
        while True:
            time.sleep(TICK_SECONDS)
            self.seconds()


_PROCESS = ActiveClock()


@cache
def _start_ticking() -> None:
    threading.Thread(target=_PROCESS.tick, daemon=True).start()


def active_seconds() -> float:
    """Return a time, s, that never goes back and stops while this process or machine is suspended.

    Progress and deadlines of tasks are measured by this clock.

    Examples
    --------
    >>> started = active_seconds()
    >>> active_seconds() >= started
    True
    """
    _start_ticking()
    return _PROCESS.seconds()

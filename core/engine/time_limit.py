"""A limit on the CPU time of one call of plug-in code.

The work runs in a separate thread. If a call takes too long, an exception is raised in that thread.
Compiled code cannot be interrupted, and runs until the process ends.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from contextvars import copy_context

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.custom_pass import CALLS, INSIDE

LOOK_SECONDS = 0.05
"""Least interval between two checks of the time of a call, s."""

PATIENCE = 20
"""Number of exceptions raised in a thread before the thread is abandoned."""


class Overrun(SystemExit):
    """Interrupt a rule that has taken too long; a rule should not catch this exception.

    As a SystemExit, it ends the thread without a message, even in the last steps of the thread.
    """


class Pace:
    """Identify the current call in a thread; a ``with`` block marks a call from Python."""

    def __init__(self, desk: Int64, seconds: float) -> None:
        self.desk, self.seconds = desk, seconds

    def __enter__(self) -> None:
        self.desk[INSIDE] = 1

    def __exit__(self, *error: object) -> None:
        self.desk[INSIDE] = 0


def within_limit(work: Callable[[], None], pace: Pace) -> bool:
    """Run a function in a thread; return False if a call exceeds its limit of CPU time.

    Errors of the function are raised again.
    """
    clocks: list[int] = []
    raised: list[BaseException] = []
    done: list[bool] = []

    # An Overrun can occur at every step, so no step may be essential for the detection of the end.
    def run() -> None:
        try:
            clocks.append(_own_clock())
            work()
            done.append(True)
        except BaseException as error:  # The caller raises the error.
            raised.append(error)

    context = copy_context()
    thread = threading.Thread(target=lambda: context.run(run), daemon=True)
    thread.start()
    if not _ends_in_time(thread, clocks, pace):
        return False
    if raised and not isinstance(raised[0], Overrun):
        raise raised[0]
    return bool(done)


def _ends_in_time(thread: threading.Thread, clocks: list[int], pace: Pace) -> bool:
    """Wait for a thread; return False if the thread does not end after interruptions."""
    calls, since, interrupted = -1, 0.0, 0
    look = min(LOOK_SECONDS + pace.seconds / 20, 0.5)
    while True:
        thread.join(LOOK_SECONDS if interrupted else look)
        if not thread.is_alive():
            return True
        if not clocks:
            continue
        try:
            used = time.clock_gettime(clocks[0])
        except OSError:  # The thread has ended meanwhile.
            continue
        if pace.desk[INSIDE] == 0 or pace.desk[CALLS] != calls:
            calls, since = int(pace.desk[CALLS]), used
        elif used - since > pace.seconds:
            if interrupted == PATIENCE:
                return False
            interrupted += 1
            _interrupt(thread)


def _own_clock() -> int:
    """Return the id of this thread's CPU clock; of the monotonic clock if there is none."""
    if hasattr(time, "pthread_getcpuclockid"):
        return time.pthread_getcpuclockid(threading.get_ident())
    return time.CLOCK_MONOTONIC


def _interrupt(thread: threading.Thread) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Overrun)
    )

"""Cancellation of a run: the token, the signals that set it, and interruptible calls."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Generic, TypeVar

from schedfarm.farm.watching.events import Said, Watcher

T = TypeVar("T")

FINISH_SECONDS = 10.0
"""Time after the request to stop within which tasks may end, s; longer tasks are cancelled."""

LATE_SECONDS = 10.0
"""Further time after which tasks that still run are abandoned, s: batch systems and containers kill
a process 30 s after the request to end."""

COORDINATOR_POLL_SECONDS = 1.0
"""Interval at which the coordinator checks for cancellation, and for missing workers."""

WORKER_POLL_SECONDS = 0.5
"""Interval at which a simulating process checks whether to cancel a simulation, s."""


@dataclass
class CancellationToken:
    """Hold the time of the request to stop a run, s on the monotonic clock."""

    since: float = field(default=math.inf)

    @property
    def requested(self) -> bool:
        """Whether the run is to stop."""
        return self.since < math.inf

    def request(self) -> None:
        """Ask the run to submit nothing more."""
        self.since = min(self.since, time.monotonic())

    @property
    def grace(self) -> float:
        """Time left to running tasks, s."""
        return max(0.0, self.since + FINISH_SECONDS - time.monotonic())

    @property
    def is_overdue(self) -> bool:
        """Whether all running tasks should have ended by now."""
        return time.monotonic() > self.since + FINISH_SECONDS + LATE_SECONDS


@contextmanager
def cancelled_by_signals(watch: Watcher) -> Iterator[CancellationToken]:
    """Let the first SIGINT or SIGTERM request cancellation, the second raise KeyboardInterrupt."""
    token = CancellationToken()

    def handle(number: int, frame: FrameType | None) -> None:
        if token.requested:
            raise KeyboardInterrupt
        token.request()
        text = (
            f"stopping: finishing the blocks that end within {FINISH_SECONDS:.0f} s, leaving the "
            "others; interrupt again to abandon all"
        )
        watch.see(Said(text=text))

    if threading.current_thread() is not threading.main_thread():
        yield token
        return
    old = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield token
    except KeyboardInterrupt:
        token.request()
        watch.see(Said(text="abandoned what was running; the next run simulates it again"))
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def abandoned_text() -> str:
    """Return the sentence that reports abandoned tasks."""
    return (
        f"abandoned what has not ended in {FINISH_SECONDS + LATE_SECONDS:.0f} s; the next run "
        "simulates what it had not stored"
    )


class _Call(Generic[T]):
    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self.answer: list[T] = []
        self.error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.answer.append(self._function())
        except BaseException as error:  # raised again in the thread that waits for the answer
            self.error = error


def in_thread(function: Callable[[], T], poll: Callable[[], Any], seconds: float) -> T:
    """Call a function in a thread of its own, and `poll` in this thread at a fixed interval.

    `seconds` is the interval, s. Python handles a signal between two instructions of its main
    thread; if a long simulation ran in this thread, the handling could be late by minutes. The
    function runs in the context of this thread, its exceptions are raised here, and it continues if
    this thread is interrupted.

    Examples
    --------
    >>> in_thread(lambda: 6 * 7, lambda: None, 1.0)
    42
    """
    call, context = _Call(function), copy_context()
    thread = threading.Thread(target=context.run, args=(call,), daemon=True)
    thread.start()
    while True:
        thread.join(seconds)
        if not thread.is_alive():
            break
        poll()
    if call.error is not None:
        raise call.error
    return call.answer[0]

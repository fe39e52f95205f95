"""Limits of the default tiers: their tests start no process and use little of the processor."""

from __future__ import annotations

import multiprocessing.forkserver
import multiprocessing.util
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

STEPS = 300_000
"""Length of the calibration loop, which takes about 12 ms on a machine of 2026."""

MOST_LOOPS = 400
"""CPU time that a test may use, in calibration loops; compilation of kernels is not counted.

The first test of a session that needs xarray, matplotlib and a few kernels from the disk uses 250.
"""

TOOLS = {"fc-list", "gcc", "git", "ldconfig", "lscpu", "uname"}
"""Programs that libraries run for data on the system, and the farm for its commit."""

SPAWNED = ("spawn_main", "multiprocessing.forkserver")
"""Parts of the commands that multiprocessing starts children with."""


class Processes:
    """A ban on new processes while a test of a default tier runs.

    An audit hook cannot be removed, so that one hook stays for the session.
    """

    def __init__(self) -> None:
        self.test: str | None = None
        self.started: list[str] = []

    def install(self) -> None:
        """Begin to watch for new processes."""
        sys.addaudithook(self._on_event)
        spawn: Callable[..., int] = multiprocessing.util.spawnv_passfds  # type: ignore[attr-defined]

        def watched(path: bytes, words: list[str], *others: Any) -> int:
            if any(part in str(word) for word in words for part in SPAWNED):
                self.refuse("a child of multiprocessing")
            return spawn(path, words, *others)

        multiprocessing.util.spawnv_passfds = watched  # type: ignore[attr-defined]
        connect: Callable[..., tuple[int, int]] = multiprocessing.forkserver.connect_to_new_process

        # A server that runs already starts a child without an event in this process.
        def asked(descriptors: Any) -> tuple[int, int]:
            self.refuse("a child of multiprocessing")
            return connect(descriptors)

        multiprocessing.forkserver.connect_to_new_process = asked

    def _on_event(self, event: str, given: tuple[Any, ...]) -> None:
        if self.test is None:
            return
        if event == "subprocess.Popen":
            program, words = given[0], given[1]
            name = Path(str(program or words[0])).name
            if name not in TOOLS:
                self.refuse(name)
        elif event in ("os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"):
            self.refuse(event)

    def refuse(self, program: str) -> None:
        """Fail the test that runs, if one does, for a program that it has started."""
        if self.test is None:
            return
        self.started.append(program)
        pytest.fail(
            f"{self.test} starts a process ({program}): move it to tests/real, or to tests/crash "
            "if it kills one; a command of farm runs in this process with the fixture `farm`"
        )


PROCESSES = Processes()


@contextmanager
def processes_allowed() -> Iterator[None]:
    """Allow processes within the context, such as the server of a fixture."""
    test, PROCESSES.test = PROCESSES.test, None
    try:
        yield
    finally:
        PROCESSES.test = test


@contextmanager
def no_process(test: str) -> Iterator[None]:
    """Fail a test that starts a process, also where a thread does or the failure is caught."""
    outer = PROCESSES.test, PROCESSES.started
    PROCESSES.test, PROCESSES.started = test, []
    try:
        yield
        if PROCESSES.started:
            PROCESSES.refuse(PROCESSES.started[0])
    finally:
        PROCESSES.test, PROCESSES.started = outer


def loop_seconds() -> float:
    """Return the CPU time of the calibration loop, the shortest of five runs."""

    def once() -> float:
        began, total = time.process_time(), 0
        for number in range(STEPS):
            total += number * number % 7
        return time.process_time() - began

    return min(once() for _ in range(5))


@cache
def calibrated() -> float:
    """Return the CPU time of the calibration loop when the session began."""
    return loop_seconds()


class Compilation:
    """CPU time of this process that went into the compilation of kernels."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth, self._began = 0, 0.0
        self._listens = False

    def listen(self) -> bool:
        """Begin to count once numba is imported; return whether all of it has been counted."""
        if not self._listens and (event := sys.modules.get("numba.core.event")):
            event.Listener.register(Compilation)
            event.register("numba:compile", self)
            self._listens = True
        return self._listens

    def notify(self, event: Any) -> None:
        """Count from the start of the outermost function to its end; steps lie within."""
        if event.is_start:
            if self._depth == 0:
                self._began = time.process_time()
            self._depth += 1
        elif event.is_end:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.process_time() - self._began


COMPILATION = Compilation()


@contextmanager
def little_time(test: str) -> Iterator[None]:
    """Fail a test that uses more CPU time than `MOST_LOOPS` calibration loops.

    Without the JIT it may: kernels that Python runs take a hundred times as long.
    """
    if "NUMBA_DISABLE_JIT" in os.environ:
        yield
        return
    listened, compiled = COMPILATION.listen(), COMPILATION.seconds
    began = time.process_time()
    yield
    used = time.process_time() - began - (COMPILATION.seconds - compiled)
    if used <= MOST_LOOPS * calibrated() or COMPILATION.listen() != listened:
        return
    # The machine may have become slower since the session began.
    if used > MOST_LOOPS * max(calibrated(), loop_seconds()):
        pytest.fail(
            f"{test} uses the CPU time of {used / calibrated():.0f} calibration loops, "
            f"{MOST_LOOPS} are allowed: make it smaller, or move it to tests/papers (real logs) "
            "or to a folder `exhaustive` of its tier"
        )


def check_handler(name: str, before: Any) -> None:
    """Restore the handler of SIGINT, and fail the test that replaced it.

    Later tests of interrupts would meet it: dask-jobqueue installs one when it is imported.
    """
    if signal.getsignal(signal.SIGINT) is not before:
        signal.signal(signal.SIGINT, before)
        pytest.fail(f"{name} leaves another handler of SIGINT; restore it")

"""Progress of one simulation on the terminal, if it takes more than a few seconds."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from schedfarm.core.engine.cancel import Underway
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.numerals import grouped, lasting
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.execution.cancellation import WORKER_POLL_SECONDS, in_thread

FIRST_SECONDS = 3.0
"""Time before progress is shown, s."""

LINE_SECONDS = 10.0
"""Interval between two plain lines, s."""

WIPE = "\r\x1b[K"
"""Text that moves to the beginning of a terminal's line and clears the line."""


class ProgressLine:
    """Show the number of started jobs: in one line on a terminal, else in plain lines."""

    def __init__(self, under: Underway, jobs: int, stream: TextIO) -> None:
        self._under, self._jobs, self._stream = under, jobs, stream
        self._begun = self._shown = time.monotonic()
        self._drawn = False

    def update(self) -> None:
        """Show the progress, if the interval since the last time is over."""
        now, line = time.monotonic(), self._stream.isatty()
        wait = LINE_SECONDS if self._shown > self._begun else FIRST_SECONDS
        if now - (self._begun if line else self._shown) < (FIRST_SECONDS if line else wait):
            return
        self._shown = now
        share = self._under.share
        jobs = f"{grouped(share * self._jobs)} of {grouped(self._jobs)} jobs"
        so_far = f"{lasting(now - self._begun)} so far"
        text = f"{jobs} have started ({100 * share:.0f} %), {so_far}"
        self._stream.write(f"{WIPE}{text}" if line else f"{text}\n")
        self._stream.flush()
        self._drawn |= line

    def close(self) -> None:
        """Clear the line of a terminal."""
        if self._drawn:
            self._stream.write(WIPE)
            self._stream.flush()


def simulate_with_progress(
    jobs: Workload, policy: Policy | str, stream: TextIO | None = None
) -> Schedule:
    """Simulate as `core.simulate` does, with progress on a stream, by default standard error.

    An interrupt is raised at once, not at the end of the simulation.

    Examples
    --------
    >>> from schedfarm.core import Workload
    >>> w = Workload.from_columns(submit=[0, 1], run=[4, 2], estimate=[9, 2], procs=[2, 2],
    ...                           processors=2)
    >>> simulate_with_progress(w, "fcfs+easy").start.tolist()
    [0, 4]
    """
    under = Underway()
    line = ProgressLine(under, len(jobs), sys.stderr if stream is None else stream)

    def run() -> Schedule:
        with under:
            return simulate(jobs, policy)

    try:
        return in_thread(run, line.update, WORKER_POLL_SECONDS)
    finally:
        under.leave()
        line.close()

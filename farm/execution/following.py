"""Simulate one workload and tell how far it is, where that takes more than a few seconds."""

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
from schedfarm.farm.execution.aside import aside

FIRST_SECONDS = 3.0
"""A simulation that is shorter passes without a word."""

LINE_SECONDS = 10.0
"""Time between two plain lines."""

LOOK_SECONDS = 0.5

WIPE = "\r\x1b[K"
"""Goes to the beginning of a terminal's line and empties it."""


class Course:
    """Tell how many jobs have started: in one line on a terminal, in plain lines elsewhere.

    Parameters
    ----------
    under : Underway
        The simulation.
    jobs : int
        How many jobs it has.
    stream : text stream
        Where to write.
    """

    def __init__(self, under: Underway, jobs: int, stream: TextIO) -> None:
        self._under, self._jobs, self._stream = under, jobs, stream
        self._begun = self._told = time.monotonic()
        self._drawn = False

    def look(self) -> None:
        """Say how far it is, if that is due."""
        now, line = time.monotonic(), self._stream.isatty()
        wait = LINE_SECONDS if self._told > self._begun else FIRST_SECONDS
        if now - (self._begun if line else self._told) < (FIRST_SECONDS if line else wait):
            return
        self._told = now
        share = self._under.share
        jobs = f"{grouped(share * self._jobs)} of {grouped(self._jobs)} jobs"
        so_far = f"{lasting(now - self._begun)} so far"
        text = f"{jobs} have started ({100 * share:.0f} %), {so_far}"
        self._stream.write(f"{WIPE}{text}" if line else f"{text}\n")
        self._stream.flush()
        self._drawn |= line

    def end(self) -> None:
        """Leave no line behind on a terminal."""
        if self._drawn:
            self._stream.write(WIPE)
            self._stream.flush()


def followed(jobs: Workload, policy: Policy | str, stream: TextIO | None = None) -> Schedule:
    """Return what `core.simulate` does, and say meanwhile how far it is.

    Parameters
    ----------
    jobs, policy
        As for `core.simulate`.
    stream : text stream, optional
        Who is told; by default standard error.

    Raises
    ------
    InputError
        As `core.simulate`.
    KeyboardInterrupt
        At once, not when the simulation is over.

    Examples
    --------
    >>> from schedfarm.core import Workload
    >>> w = Workload.from_columns(submit=[0, 1], run=[4, 2], estimate=[9, 2], procs=[2, 2],
    ...                           processors=2)
    >>> followed(w, "fcfs+easy").start.tolist()
    [0, 4]
    """
    under = Underway()
    course = Course(under, len(jobs), sys.stderr if stream is None else stream)

    def run() -> Schedule:
        with under:
            return simulate(jobs, policy)

    try:
        return aside(run, course.look, LOOK_SECONDS)
    finally:
        under.leave()
        course.end()

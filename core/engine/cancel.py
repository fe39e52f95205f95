"""Progress and cancellation of a running simulation."""

from __future__ import annotations

from contextvars import ContextVar, Token

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import Left


class Underway:
    """Follow the simulations of a ``with`` block from other threads, and cancel them.

    Kernels release the GIL and check for cancellation once per instant; a plug-in rule in Python is
    cancelled only at its end. This object has no effect on results.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[4, 2], estimate=[9, 2], procs=[2, 2],
    ...                           processors=2)
    >>> with Underway() as under:
    ...     start = simulate(w, "fcfs+easy").start
    >>> under.share
    1.0
    >>> under.leave()
    >>> with under:
    ...     simulate(w, "fcfs+easy")
    Traceback (most recent call last):
    schedfarm.core.errors.Left: a simulation was cancelled before its end
    """

    def __init__(self) -> None:
        self._wish = np.zeros(1, np.int64)
        self._start = np.empty(0, np.int64)
        self._jobs = 0
        self._tokens: list[Token[Underway | None]] = []

    def __enter__(self) -> Underway:
        """Make the thread's simulations report to this object."""
        self._tokens.append(_here.set(self))
        return self

    def __exit__(self, *error: object) -> None:
        """Restore the object to which the thread's simulations reported before."""
        _here.reset(self._tokens.pop())

    @property
    def share(self) -> float:
        """Share of started jobs in the latest simulation, 0 to 1."""
        started = int(np.count_nonzero(self._start[: self._jobs] >= 0))
        return started / self._jobs if self._jobs else 0.0

    @property
    def started(self) -> Int64:
        """Starts of the latest simulation, s, int64[n]; -1 before a job's start."""
        return self._start.copy()

    @property
    def left(self) -> bool:
        """Whether the simulations have been cancelled."""
        return bool(self._wish[0])

    def leave(self) -> None:
        """Cancel the present simulation and all later ones."""
        self._wish[0] = 1

    def forget(self) -> None:
        """Forget the starts of the latest simulation."""
        self._start, self._jobs = self._start[:0], 0

    def follow(self, start: Int64, jobs: int | None = None) -> Int64:
        """Follow an array of starts, initially -1, before a kernel fills the array in.

        Parameters
        ----------
        start : int64[n]
            Starts, s.
        jobs : int, optional
            Number of jobs to follow, from the first on; by default all.

        Returns
        -------
        int64[1]
            The flag that the kernel polls; nonzero requests cancellation.
        """
        self._start, self._jobs = start, start.size if jobs is None else jobs
        return self._wish

    def check(self) -> None:
        """Raise `Left` if the simulations have been cancelled."""
        if self.left:
            raise Left("a simulation was cancelled before its end")


_here: ContextVar[Underway | None] = ContextVar("underway", default=None)


def underway() -> Underway:
    """Return, or make, the object to which this thread's simulations report."""
    return _here.get() or Underway()

"""A schedule: when each job of a workload started, and what the scheduler had said of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from core.arrays import Int64
from core.workload.workload import Workload


@dataclass(frozen=True, eq=False)
class Schedule:
    """Hold the outcome of one simulation, job by job, in the workload's order.

    Parameters
    ----------
    workload : Workload
        The jobs.
    policy : str
        Canonical name of the policy.
    start : int64[n]
        Start instant, s.
    backfilled : bool[n]
        Whether the job started while a job before it in the queue stayed waiting.
    promises : int64[n], optional
        What `promised` returns; by default it is found when it is first asked for.

    Examples
    --------
    >>> from core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[9, 5], estimate=[9, 5], procs=[2, 2],
    ...                           processors=2)
    >>> s = simulate(w, "fcfs+easy")
    >>> s.start.tolist(), s.wait.tolist(), s.end.tolist()
    ([0, 9], [0, 9], [9, 14])
    """

    workload: Workload
    policy: str
    start: Int64
    backfilled: npt.NDArray[np.bool_]
    promises: Int64 | None = None

    @property
    def end(self) -> Int64:
        """Completion instant, int64[n], s."""
        return self.start + self.workload.run

    @property
    def wait(self) -> Int64:
        """Time from submission to start, int64[n], s."""
        return self.start - self.workload.submit

    @property
    def killed(self) -> npt.NDArray[np.bool_]:
        """Whether the job was killed at its estimate, bool[n]."""
        return self.workload.killed

    @cached_property
    def promised(self) -> Int64:
        """Start that the rule reserved at the job's arrival, int64[n], s; `NO_PROMISE` for none.

        A conservative simulation needs no reservation behind the last job that fits now, and
        leaving those out nearly halves its time; so this simulates again, with all of them.
        """
        if self.promises is not None:
            return self.promises
        from core.simulation.simulate import promised_starts

        return promised_starts(self.workload, self.policy)

    def digest(self) -> str:
        """Return the SHA-256 of the starts as little-endian int64, 64 hexadecimal digits."""
        return hashlib.sha256(self.start.astype("<i8").tobytes()).hexdigest()

"""Waits and work of users' completed jobs, updated during a simulation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.workload.workload import Workload


class History:
    """Sum waits and processor-seconds over the completed jobs of each user.

    Parameters
    ----------
    workload : Workload
        The jobs; all jobs of the unknown user, -1, count as jobs of one user.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 1], run=[4, 2, 5], estimate=[4, 2, 5],
    ...                           procs=[2, 3, 1], user=[7, 8, 7], processors=3)
    >>> history, start = History(w), np.array([-1, -1, -1])
    >>> history.note(start, waiting=np.array([0]), running=np.array([], int))
    array([], dtype=int64)
    >>> start[0] = 0
    >>> history.note(start, waiting=np.array([1, 2]), running=np.array([0]))
    array([], dtype=int64)
    >>> history.note(start, waiting=np.array([1, 2]), running=np.array([], int))
    array([0])
    >>> {name: sums.tolist() for name, sums in history.of(np.array([1, 2])).items()}
    {'waited': [0, 0], 'worked': [0, 8]}
    """

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        users, person = np.unique(workload.user, return_inverse=True)
        self._person = person
        self._waited, self._worked = (np.zeros(users.size, np.int64) for _ in range(2))
        self._waiting = self._running = np.empty(0, np.int64)

    def note(self, start: Int64, waiting: Int64, running: Int64) -> Int64:
        """Add the jobs that completed since the last call, and return them, int64[d].

        Call this method before each pass, after the preceding completions.

        Parameters
        ----------
        start : int64[n]
            Start of each job, s; -1 for jobs that have not started.
        waiting, running : int64[k], int64[m]
            The waiting jobs, and the running jobs.
        """
        # A job with run 0 starts and completes between two calls, which never list it as running.
        begun = self._waiting[start[self._waiting] >= 0]
        active = np.concatenate((self._running, begun))
        done = active[~np.isin(active, running)]
        work, person = self._workload, self._person[done]
        np.add.at(self._waited, person, start[done] - work.submit[done])
        np.add.at(self._worked, person, work.run[done] * work.procs[done])
        self._waiting, self._running = waiting.copy(), running.copy()
        return done

    def of(self, jobs: Int64) -> Mapping[str, Int64]:
        """Return the sums of some jobs' users: waits, s, and processor-seconds, int64[k] each."""
        person = self._person[jobs]
        return {"waited": self._waited[person], "worked": self._worked[person]}

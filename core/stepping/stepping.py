"""Simulations in which the caller makes the decisions."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.schedule import Schedule
from schedfarm.core.stepping.fields import (
    ARRIVED,
    BEGIN,
    DECISIONS,
    FREE,
    FREELY,
    JOB,
    JOBS,
    NOW,
    PROCS,
    QUEUE,
    RUNNING,
    START,
    STARTED,
    WAIT,
    WAITING,
    empty_rows,
    list_of,
    write_columns,
    write_start,
)
from schedfarm.core.workload.workload import Workload


class Stepping:
    """Simulate a workload step by step; the caller decides the starts of jobs.

    The simulation is always at a decision: an instant at which a waiting job fits the free
    processors. `start` starts a waiting job at this instant. `wait` goes to the next instant at
    which a job ends or arrives and a waiting job fits. After a start, the decision is at the same
    instant if another waiting job still fits. The clock is that of `simulate`: completions come
    before arrivals, and arrivals before decisions. Therefore the same starts in the same order give
    the schedule of `simulate`, start for start.

    Jobs are identified by their index in the workload, from 0.

    Parameters
    ----------
    workload : Workload
        The jobs, on one pool of processors.

    Attributes
    ----------
    workload : Workload
        The jobs.

    Raises
    ------
    InputError
        If the workload's platform is not a pool.

    Examples
    --------
    First come, first served, without backfilling:

    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 5], estimate=[9, 9, 5],
    ...                           procs=[2, 4, 2], processors=4)
    >>> s = Stepping(w)
    >>> while not s.done:
    ...     s.start(s.waiting[0]) if s.fits[0] else s.wait()
    >>> s.schedule().start.tolist() == simulate(w, "fcfs+none").start.tolist()
    True
    """

    def __init__(self, workload: Workload) -> None:
        if workload.platform.name != "pool":
            raise InputError(
                f"workload {workload.name!r} is on platform {workload.platform.name!r}; stepping "
                "is for platform 'pool'"
            )
        # The import is here because the module loads numba, which readers of stores do not need.
        from schedfarm.core.stepping import decisions

        self.workload, self._kernels = workload, decisions
        n = len(workload)
        self._columns, self._states = empty_rows(1, n)
        write_columns(workload, self._columns[0])
        self._visible, self._action = np.arange(n)[None], np.zeros(1, np.int64)
        self.restart()

    def restart(self) -> None:
        """Go back to the first decision.

        Examples
        --------
        >>> from schedfarm.core import Workload
        >>> w = Workload.from_columns(submit=[7], run=[9], estimate=[9], procs=[2], processors=4)
        >>> s = Stepping(w)
        >>> s.start(0)
        >>> s.restart()
        >>> s.now, s.done
        (7, False)
        """
        write_start(self.workload, self._states[0])
        self._play(BEGIN)

    @property
    def now(self) -> int:
        """The instant, s."""
        return int(self._states[0, NOW])

    @property
    def done(self) -> bool:
        """Whether all jobs have started."""
        return bool(self._states[0, STARTED] == self._states[0, JOBS])

    @property
    def free(self) -> int:
        """Free processors."""
        return int(self._states[0, FREE])

    @property
    def decisions(self) -> int:
        """Number of decisions so far."""
        return int(self._states[0, DECISIONS])

    @property
    def waiting(self) -> Int64:
        """The waiting jobs, int64[k], by (submit, position)."""
        return self._queue.copy()

    @property
    def fits(self) -> Bool:
        """Whether each waiting job fits the free processors, bool[k]."""
        found: Bool = self._columns[0, PROCS][self._queue] <= self._states[0, FREE]
        return found

    @property
    def running(self) -> Int64:
        """The running jobs, int64[r], in descending order of their ends by run time."""
        return list_of(self._states[0], JOB)[: self._states[0, RUNNING]].copy()

    @property
    def started(self) -> Int64:
        """Start of each job, int64[n], s; -1 before the start."""
        return list_of(self._states[0], START)[: len(self.workload)].copy()

    @property
    def can_wait(self) -> bool:
        """Whether an event follows; otherwise the machine is idle, and a job must start."""
        row = self._states[0]
        return bool(row[RUNNING] or row[ARRIVED] < row[JOBS])

    def reservation(self, job: int) -> tuple[int, int]:
        """Return the earliest start, by the estimates, of a waiting job that does not fit.

        Parameters
        ----------
        job : int
            A waiting job.

        Returns
        -------
        shadow : int
            Earliest instant at which enough processors are free, s, if no other job starts and
            running jobs end at their estimates.
        extra : int
            Free processors at this instant, in addition to the job's processors.

        Raises
        ------
        InputError
            If the job does not wait, or fits now.

        Examples
        --------
        >>> from schedfarm.core import Workload
        >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 5], estimate=[9, 9, 5],
        ...                           procs=[2, 4, 1], processors=5)
        >>> s = Stepping(w)
        >>> s.start(0)
        >>> s.now, s.waiting.tolist(), s.reservation(1)
        (2, [1, 2], (9, 1))
        """
        place = self._place(job)
        if self.fits[place]:
            raise InputError(f"job={job} fits the {self.free} free processors at {self.now} s")
        found = np.zeros(2, np.int64)
        self._kernels.reserve(self._columns[0], self._states[0], job, found)
        return int(found[0]), int(found[1])

    def start(self, job: int) -> None:
        """Start a waiting job now, and go to the next decision.

        Parameters
        ----------
        job : int
            A waiting job that fits.

        Raises
        ------
        InputError
            If the job does not wait, or does not fit.

        Examples
        --------
        >>> from schedfarm.core import Workload
        >>> w = Workload.from_columns(submit=[0, 0], run=[9, 5], estimate=[9, 5], procs=[4, 4],
        ...                           processors=4)
        >>> s = Stepping(w)
        >>> s.start(1)
        >>> s.now, s.started.tolist()
        (5, [-1, 0])
        """
        place = self._place(job)
        need, free = int(self.workload.procs[job]), self.free
        if need > free:
            raise InputError(f"job={job} needs {need} processors; {free} are free at {self.now} s")
        self._play(place)

    def wait(self) -> None:
        """Start no further job at this instant, and go to the next decision.

        Raises
        ------
        InputError
            If no event follows.

        Examples
        --------
        >>> from schedfarm.core import Workload
        >>> w = Workload.from_columns(submit=[0, 3], run=[9, 5], estimate=[9, 5], procs=[4, 4],
        ...                           processors=4)
        >>> s = Stepping(w)
        >>> s.wait()
        >>> s.now, s.can_wait
        (3, False)
        """
        if not self.can_wait:
            raise InputError(
                f"nothing runs and no job is to arrive after {self.now} s; start a waiting job"
            )
        self._play(WAIT)

    def clone(self) -> Stepping:
        """Return a copy that continues independently.

        Examples
        --------
        >>> from schedfarm.core import Workload
        >>> w = Workload.from_columns(submit=[0, 0], run=[9, 5], estimate=[9, 5], procs=[4, 4],
        ...                           processors=4)
        >>> s = Stepping(w)
        >>> other = s.clone()
        >>> other.start(1)
        >>> s.now, other.now
        (0, 5)
        """
        other = object.__new__(Stepping)
        other.__dict__.update(self.__dict__)
        other._states, other._action = self._states.copy(), self._action.copy()
        return other

    def rewind(self, earlier: Stepping) -> None:
        """Return to the state of a clone, with its starts; the clone is unchanged.

        Parameters
        ----------
        earlier : Stepping
            A clone, or a clone of a clone, made at any decision.

        Raises
        ------
        InputError
            If the clone simulates another workload.

        Examples
        --------
        >>> from schedfarm.core import Workload
        >>> w = Workload.from_columns(submit=[0, 0], run=[9, 5], estimate=[9, 5], procs=[4, 4],
        ...                           processors=4)
        >>> s = Stepping(w)
        >>> before = s.clone()
        >>> s.start(1)
        >>> s.rewind(before)
        >>> s.now, s.waiting.tolist()
        (0, [0, 1])
        """
        if earlier._columns is not self._columns:
            raise InputError("rewind() takes a clone of this simulation; it got another workload's")
        self._states[:] = earlier._states

    def schedule(self, name: str = "stepping") -> Schedule:
        """Return the schedule of the decisions.

        Parameters
        ----------
        name : str
            Name of the policy in the schedule.

        Returns
        -------
        Schedule
            Start of each job. No job counts as backfilled, because there is no queue order.

        Raises
        ------
        InputError
            If a job has not started yet.

        Examples
        --------
        >>> from schedfarm.core import Workload
        >>> w = Workload.from_columns(submit=[0], run=[9], estimate=[9], procs=[4], processors=4)
        >>> s = Stepping(w)
        >>> s.start(0)
        >>> s.schedule("mine").end.tolist()
        [9]
        """
        if not self.done:
            left = int(self._states[0, JOBS] - self._states[0, STARTED])
            raise InputError(f"{left} of {len(self.workload)} jobs have not started yet")
        return Schedule(self.workload, name, self.started, np.zeros(len(self.workload), np.bool_))

    def _place(self, job: int) -> int:
        """Return the index of a waiting job in the list."""
        waiting, number = self._queue, whole("job", job, least=0)
        place = int(np.searchsorted(waiting, number))
        if place == waiting.size or waiting[place] != number:
            raise InputError(f"job={number} does not wait at {self.now} s; see `waiting`")
        return place

    @property
    def _queue(self) -> Int64:
        return list_of(self._states[0], QUEUE)[: self._states[0, WAITING]]

    def _play(self, action: int) -> None:
        self._action[0] = action
        self._kernels.play(self._columns, self._states, self._visible, self._action, FREELY)

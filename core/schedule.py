"""Schedules: start, place and end of each job of a workload."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import HORIZON, Bool, Int8, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.numerals import counted, lasting
from schedfarm.core.workload.workload import Workload


class State(IntEnum):
    """Represent the final state of a job, by the codes of `Schedule.state`."""

    DONE = 0
    KILLED = 1
    """The job was killed at its estimate."""
    REFUSED = 2
    """The job never started, because no part of the machine could hold it."""
    LOST = 3
    """The job started, and was cut off before its end."""
    WITHDRAWN = 4
    """The job left the queue before its start."""


@dataclass(frozen=True, eq=False, repr=False)
class Segments:
    """Hold the parts of jobs that ran on several places at once.

    Parameters
    ----------
    job : int64[k]
        Index of the job, ascending.
    place : int64[k]
        Index into the platform's places.
    procs : int64[k]
        Processors of the job on this place.
    """

    job: Int64
    place: Int64
    procs: Int64

    def __repr__(self) -> str:
        jobs = counted(np.unique(self.job).size, "job")
        return f"<Segments: {counted(self.job.size, 'part')} of {jobs}>"


def segments_of(on: npt.NDArray[np.integer]) -> Segments:
    """Return the parts of jobs, by job and then by place, from processors on [job, place].

    Examples
    --------
    >>> segments_of(np.array([[2, 0], [1, 3]])).procs.tolist()
    [2, 1, 3]
    """
    job, place = np.nonzero(on)
    return Segments(job, place, on[job, place].astype(np.int64))


def starts_of(submit: Int64, wait: Int64) -> Int64:
    """Return the starts of jobs from their submissions and waits.

    Parameters
    ----------
    submit : int64[..., n]
        Submissions, s.
    wait : int64[..., n]
        Waits, s; -1 for a job that never starts.

    Returns
    -------
    int64[..., n]
        Start instants, s; -1 for a job that never starts.

    Examples
    --------
    >>> starts_of(np.array([5, 7]), np.array([[0, 3], [2, -1]])).tolist()
    [[5, 10], [7, -1]]
    """
    return np.where(wait >= 0, submit + wait, -1)


NO_COUNTS: Mapping[str, int] = MappingProxyType({})
"""Empty counters."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Schedule:
    """Hold the outcome of one simulation, job by job, in the workload's order.

    On most platforms a simulation gives no `end`, `state`, `place` and `segments`. These columns
    are then derived from the starts at their first use.

    Parameters
    ----------
    workload : Workload
        The jobs.
    policy : str
        Canonical name of the policy.
    start : int64[n]
        Start instant, s; -1 for a job that was refused or withdrawn.
    backfilled : bool[n]
        Whether the job started while an earlier job of the queue continued to wait.
    end : int64[n], optional
        Completion instant, s; by default start + run.
    state : int8[n], optional
        Final state of the job, a `State`; by default killed or done as in the workload, or
        withdrawn if the job may leave the queue and has no start.
    place : int64[n], optional
        Place of the job, as an index into the platform's places; by default the first place.
    segments : Segments, optional
        Parts of jobs that ran on several places at once; by default there are no such jobs.
    counts : mapping of str to int, optional
        Counters of the simulation, such as abandoned searches; by default there are none.
    given : dict, optional
        Given values of the preceding five parameters, by name; `dataclasses.replace` passes this
        mapping.

    Raises
    ------
    InputError
        If a job without a start is neither refused nor withdrawn, or if a refused or withdrawn job
        has a start.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[9, 5], estimate=[9, 5], procs=[2, 2],
    ...                           processors=2)
    >>> s = simulate(w, "fcfs+easy")
    >>> s.start.tolist(), s.wait.tolist(), s.end.tolist(), State(s.state[0]).name
    ([0, 9], [0, 9], [9, 14], 'DONE')
    >>> s
    <Schedule 'fcfs+easy': 2 jobs of 'workload' on 2 processors, 14 s from the first submission to \
the last end>
    """

    workload: Workload
    policy: str
    start: Int64
    backfilled: Bool
    given: dict[str, Any]
    """Values of end, state, place, segments and counts that the simulation gave, by name."""

    def __init__(
        self,
        workload: Workload,
        policy: str,
        start: Int64,
        backfilled: Bool,
        *,
        end: Int64 | None = None,
        state: Int8 | None = None,
        place: Int64 | None = None,
        segments: Segments | None = None,
        counts: Mapping[str, int] | None = None,
        given: dict[str, Any] | None = None,
    ) -> None:
        # `dataclasses.replace` passes `given` on. If `end` were a separate field, a schedule with
        # other starts would keep the ends that were derived from the old starts.
        named = {"end": end, "state": state, "place": place, "segments": segments, "counts": counts}
        known = {key: value for key, value in named.items() if value is not None}
        values = {
            "workload": workload,
            "policy": policy,
            "start": start,
            "backfilled": backfilled,
            "given": {**(given or {}), **known},
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self._check()

    def __repr__(self) -> str:
        jobs, ran = self.workload, ~self.unstarted
        first = int(jobs.submit.min(initial=HORIZON, where=ran))
        last = int(self.end.max(initial=0, where=ran))
        span = f", {lasting(last - first)} from the first submission to the last end"
        return (
            f"<Schedule {self.policy!r}: {counted(len(jobs), 'job')} of {jobs.name!r} "
            f"on {jobs.machine}{span if ran.any() else ''}>"
        )

    @cached_property
    def end(self) -> Int64:
        """Completion instant, int64[n], s; -1 for a job that never started."""
        end: Int64 | None = self.given.get("end")
        if end is not None:
            return end
        ends = self.start + self.workload.run
        return np.where(self.unstarted, self.start, ends) if self._may_not_start else ends

    @cached_property
    def state(self) -> Int8:
        """Final state of each job, int8[n], as a code of `State`."""
        state: Int8 | None = self.given.get("state")
        if state is not None:
            return state
        killed, done = np.int8(State.KILLED), np.int8(State.DONE)
        ended = np.where(self.workload.killed, killed, done)
        if self.workload.has_leaving:
            ended[(self.start < 0) & (self.workload.leave >= 0)] = State.WITHDRAWN
        return ended

    @cached_property
    def place(self) -> Int64:
        """Place of each job, int64[n], index into the platform's places."""
        place: Int64 | None = self.given.get("place")
        return np.zeros(len(self.workload), np.int64) if place is None else place

    @property
    def segments(self) -> Segments | None:
        """Parts of jobs that ran on several places at once; None without such jobs."""
        segments: Segments | None = self.given.get("segments")
        return segments

    @property
    def counts(self) -> Mapping[str, int]:
        """Counters of the simulation, by name."""
        counts: Mapping[str, int] = self.given.get("counts", NO_COUNTS)
        return counts

    @property
    def is_as_asked(self) -> bool:
        """Whether every job occupied the requested processors for its run time."""
        return not self.given.keys() & {"end", "state", "segments"}

    @property
    def wait(self) -> Int64:
        """Time from submission to start, int64[n], s; 0 for a job that never started."""
        waits = self.start - self.workload.submit
        return np.where(self.unstarted, 0, waits) if self._may_not_start else waits

    @property
    def held(self) -> Int64:
        """Time for which each job held its processors, int64[n], s; 0 if it never started."""
        varies = "end" in self.given or self._may_not_start
        return self.end - self.start if varies else self.workload.run

    @cached_property
    def taken(self) -> Int64:
        """Processors that each job held, int64[n]; 0 for a job that never ran."""
        parts, jobs = self.segments, self.workload
        if parts is not None:
            taken = np.zeros(len(jobs), np.int64)
            np.add.at(taken, parts.job, parts.procs)
            return taken
        return np.where(self.unstarted, 0, jobs.procs) if self._may_not_start else jobs.procs

    @property
    def killed(self) -> Bool:
        """Whether each job was killed at its estimate, bool[n]."""
        return self._is(State.KILLED)

    @property
    def refused(self) -> Bool:
        """Whether each job was refused, and so never started, bool[n]."""
        return self._is(State.REFUSED)

    @property
    def withdrawn(self) -> Bool:
        """Whether each job left the queue before its start, bool[n]."""
        return self._is(State.WITHDRAWN)

    @property
    def unstarted(self) -> Bool:
        """Whether each job never started, because it was refused or withdrawn, bool[n]."""
        if not self._may_not_start:
            return np.zeros(len(self.workload), np.bool_)
        return self.refused | self.withdrawn

    @property
    def lost(self) -> Bool:
        """Whether each job was cut off before its end, bool[n]."""
        return self._is(State.LOST)

    def digest(self) -> str:
        """Return the SHA-256 of the starts as little-endian int64, as 64 hexadecimal digits."""
        return hashlib.sha256(self.start.astype("<i8").tobytes()).hexdigest()

    def _is(self, state: State) -> Bool:
        if not self._may_not_start:
            killed = self.workload.killed
            return killed if state == State.KILLED else np.zeros(len(killed), np.bool_)
        # With a member of an enumeration, numpy would first convert all states to int64: 0.4 ns per
        # job.
        found: Bool = self.state == int(state)
        return found

    @property
    def _may_not_start(self) -> bool:
        """Whether states other than done and killed are possible."""
        return "state" in self.given or self.workload.has_leaving

    def _check(self) -> None:
        if self.start.min(initial=0) >= 0 and "state" not in self.given:
            return
        wrong = np.flatnonzero((self.start < 0) != self.unstarted)
        if wrong.size:
            j = wrong[0]
            right = (
                f"a {State(self.state[j]).name.lower()} job has the start -1"
                if self.unstarted[j]
                else ("a schedule starts every job at 0 or later")
            )
            raise InputError(
                f"policy {self.policy!r}: job {self.workload.job[j]} of workload "
                f"{self.workload.name!r} has the start {self.start[j]}; {right}"
            )

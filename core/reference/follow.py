"""Replay of a schedule: the first decision that differs from the reference's is the fault.

The reference has the same jobs as the schedule, and makes its own decisions at each pass. Its rules
are deterministic. So up to the first difference, the waiting jobs, the running jobs and the free
processors are those of the schedule. Therefore one simulation gives the state at each pass of the
schedule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.loop import Simulation
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

Where = tuple[Any, ...]
"""Place of a job, in the form of its machine."""


@dataclass(frozen=True)
class Difference:
    """Hold a decision of a schedule that the rule would not have made.

    Parameters
    ----------
    instant : int
        Instant of the decision, s.
    job : int
        Index of the job.
    why : str
        A clause that states the decisions of the schedule and of the rule, with numbers.
    of_end : bool
        Whether the job's end differs; otherwise its start, refusal or place differs.
    """

    instant: int
    job: int
    why: str
    of_end: bool = False


class Given:
    """Hold the decisions of a schedule, job by job."""

    def __init__(self, schedule: Schedule) -> None:
        self.start: list[int] = schedule.start.tolist()
        self.end: list[int] = schedule.end.tolist()
        self.refused: list[bool] = schedule.refused.tolist()
        self.parts = _parts(schedule)

    def nodes(self, job: Job) -> Where:
        """Return the indices of the nodes of a job, ascending."""
        return tuple(place for place, _ in self.parts[job.position])


class Replayable(Simulation):
    """Extend a simulation for a comparison with a schedule, decision by decision."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        # Jobs that the schedule starts at this instant, in a replay. Passes must decide only on
        # these jobs and on jobs that fit, and may omit reservations without effect.
        self.sought: frozenset[Job] | None = None
        self.reason: dict[Job, str] = {}

    def says(self, job: Job) -> str:
        """Name a job in a sentence."""
        raise NotImplementedError

    def where(self, job: Job) -> Where:
        """Return the place of a job of this simulation."""
        raise NotImplementedError

    def where_given(self, given: Given, job: Job) -> Where:
        """Return the place of a job of a schedule, in the same form."""
        raise NotImplementedError

    def names(self, where: Where) -> str:
        """Name the places of a job in a sentence."""
        raise NotImplementedError

    def refusal(self, job: Job, where: Where) -> str:
        """Return the reason why the last pass did not start a job at a place."""
        raise NotImplementedError

    def starts_itself(self, job: Job) -> bool:
        """Return whether a job starts in the rule's passes, and not by an advance reservation."""
        return True

    def differs_outside_passes(self, given: Given) -> tuple[Job, str] | None:
        """Return the first job with a different decision, outside of passes, at this instant."""
        return None

    def ends_of_interest(self) -> Iterable[Job]:
        """Return the started jobs with ends that do not follow from starts and places alone."""
        return ()


def follow(schedule: Schedule, policy: Policy, until: int) -> Difference | None:
    """Return the first difference of a schedule from the rule, at or before an instant, s.

    The caller has checked that, up to this instant, every start is at or after its submission.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from schedfarm.core.machines.nodes.platform import Nodes
    >>> from schedfarm.core.reference.loop import simulate_reference
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 5], estimate=[9, 5], procs=[2, 2],
    ...                           platform=Nodes([1, 1, 1], ["a", "b", "c"]))
    >>> policy = Policy.parse("fcfs+conservative")
    >>> good = simulate_reference(w, policy)
    >>> follow(good, policy, 99) is None
    True
    >>> late = replace(good, start=good.start + [0, 1], end=good.end + [0, 1])
    >>> follow(late, policy, 99).why
    'at 9 s job 2 (2 x 1 processors) was left waiting, but its start in the plan of the pass is \
this instant on a, b'
    """
    return _Follower(schedule, policy).first_difference(until)


class _Follower:
    def __init__(self, schedule: Schedule, policy: Policy) -> None:
        kind = policy.row.find("refer", schedule.workload.platform.name)
        self.simulation: Replayable = kind(schedule.workload, policy)
        self.given = Given(schedule)
        # Jobs that start in passes, by their starts.
        self.starting: dict[int, list[Job]] = {}
        for job in self.simulation.jobs:
            if self.given.start[job.position] >= 0 and self.simulation.starts_itself(job):
                self.starting.setdefault(self.given.start[job.position], []).append(job)
        self.instants = sorted({*self.starting, *self.given.end}, reverse=True)

    def first_difference(self, until: int) -> Difference | None:
        """Advance the simulation and the schedule from instant to instant."""
        simulation, begun = self.simulation, False
        while True:
            while self.instants and begun and self.instants[-1] <= simulation.now:
                self.instants.pop()
            events = [*simulation.instants()] if simulation.goes_on() else []
            now = min(events + self.instants[-1:], default=None)
            if now is None or now > until:
                return None
            begun = True
            if now in events:
                self._decide(now)
            else:
                simulation.now = now
            found = self._compare(now in events)
            if found:
                return found

    def _decide(self, now: int) -> None:
        """Make all passes of an instant."""
        simulation = self.simulation
        simulation.sought = frozenset(self.starting.get(now, ()))
        simulation.reason = {}
        while simulation.goes_on() and min(simulation.instants(), default=None) == now:
            simulation.step(*simulation.next_event())

    def _compare(self, is_event: bool) -> Difference | None:
        """Return the job responsible for a difference at this instant.

        A job that started on another place has precedence, since it may have displaced other jobs.
        Next comes a job that must not start, then a job that should have started.
        """
        simulation, given, now = self.simulation, self.given, self.simulation.now
        starting = self.starting.get(now, [])
        if starting and not is_event:
            job = starting[0]
            why = "nothing arrived or ended at that instant, so there was no pass"
            return self._difference(job, f"{simulation.says(job)} started, but {why}")
        other = simulation.differs_outside_passes(given) if is_event else None
        if other:
            return self._difference(*other)
        started = [
            job for job in simulation.reason if job.start == now and simulation.starts_itself(job)
        ]
        for job in started:
            had, gets = simulation.where_given(given, job), simulation.where(job)
            if job in starting and had != gets:
                names = simulation.names(had) or "nothing"
                why = f"was given {names}, but the rule gives it {simulation.names(gets)}"
                return self._difference(
                    job, f"{simulation.says(job)} {why}: {simulation.reason[job]}"
                )
        for job in [*simulation.queue(), *simulation.outside]:
            if job in starting:
                why = simulation.refusal(job, simulation.where_given(given, job))
                return self._difference(job, f"{simulation.says(job)} started, but {why}")
        for job in started:
            if job not in starting:
                why = simulation.reason[job]
                return self._difference(job, f"{simulation.says(job)} was left waiting, but {why}")
        return self._compare_ends()

    def _compare_ends(self) -> Difference | None:
        now = self.simulation.now
        for job in self.simulation.ends_of_interest():
            told = self.given.end[job.position]
            if told != job.end and now in (told, job.end):
                why = (
                    f"{self.simulation.says(job)} ends at {told} s, but by its shares of the links"
                )
                return Difference(now, job.position, f"{why} its work is done at {job.end} s", True)
        return None

    def _difference(self, job: Job, what: str) -> Difference:
        now = self.simulation.now
        return Difference(now, job.position, f"at {now} s {what}")


def _parts(schedule: Schedule) -> Sequence[Sequence[tuple[int, int]]]:
    """Return the places of each job, by place, and its processors on each."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(schedule.workload))]
    parts = schedule.segments
    if parts is not None:
        order = np.lexsort((parts.procs, parts.place, parts.job))
        columns = (parts.job[order], parts.place[order], parts.procs[order])
        for job, place, procs in zip(*(column.tolist() for column in columns), strict=True):
            found[job].append((place, procs))
    return found

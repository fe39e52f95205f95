"""Clock and queue of every reference simulator, and functions that run a simulation.

The reference is the definition in code. It shares no helper or formula with the compiled simulator,
so that an agreement of the two on random workloads is evidence for both. `core.reference.rules`
adds pools and grids, and the folder `reference` of a machine adds others, with a class for each
backfilling rule.

`events=per-event` is the convention of the pyss family. At one instant, submissions come before
completions, and completions are in the order of starts. A full pass follows each single event. A
job with a predicted end up to now counts as completed. A plan is compressed at every completion.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.durations import seconds_of
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job, jobs_of
from schedfarm.core.reference.limits import Limits
from schedfarm.core.reference.orders import keys
from schedfarm.core.reference.predictions import Predictions
from schedfarm.core.reference.processors import Claim
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload


def simulate_reference(workload: Workload, policy: Policy | str) -> Schedule:
    """Simulate a workload under a policy, slowly, following the definition.

    The schedule is that of `core.simulate`; the time grows with the cube of the queue. A job that
    would wait for ever raises a RuntimeError, because this is a mistake of this program.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0, 1], run=[9, 5, 8], estimate=[9, 5, 8],
    ...                           procs=[2, 3, 1], processors=3)
    >>> simulate_reference(w, "fcfs+easy").start.tolist()
    [0, 9, 1]
    >>> from schedfarm.core.machines.grid.platform import Grid
    >>> w = Workload.from_columns(submit=[0, 0, 1], run=[9, 5, 8], estimate=[9, 5, 8],
    ...                           procs=[2, 3, 1], platform=Grid([2, 3], ["a", "b"]))
    >>> simulate_reference(w, "fcfs+easy").place.tolist()
    [0, 1, 1]
    """
    simulation = simulation_of(workload, policy)
    simulation.run()
    return Schedule(
        workload=workload,
        policy=simulation.policy.name,
        start=np.array([job.start for job in simulation.jobs], np.int64),
        backfilled=np.array([job.backfilled for job in simulation.jobs], np.bool_),
        **simulation.extra_columns(),
    )


def promises_reference(workload: Workload, policy: Policy | str) -> Int64:
    """Return the start that the rule reserves for each job at its arrival.

    The result, int64[n], s, is -1 under a rule without promises, and for a job that gets no
    reservation at its arrival because of its place in the queue.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0, 1], run=[6, 5, 8], estimate=[9, 5, 8],
    ...                           procs=[2, 3, 1], processors=3)
    >>> promises_reference(w, "fcfs+conservative").tolist()
    [0, 9, 1]
    >>> promises_reference(w, "fcfs+easy").tolist()
    [-1, -1, -1]
    """
    simulation = simulation_of(workload, policy)
    simulation.run()
    return np.array([job.promise for job in simulation.jobs], np.int64)


class Simulation:
    """Simulate clock, queue and machine; subclasses define the passes of a rule."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        self.policy, self.workload = policy, workload
        self.per_event = policy.events == "per-event"
        self.threshold = policy.threshold_seconds(workload.max_estimate)
        self.refresh = seconds_of(policy.refresh) if policy.refresh else None
        self.halflife = seconds_of(policy.halflife) if policy.halflife else None
        self.now = 0
        self.jobs = jobs_of(workload)
        self.predictions = Predictions(workload, policy) if policy.predict else None
        self.limits = Limits(workload, policy)
        # A job passes through these lists in this order.
        self.coming = list(self.jobs)
        self.outside: list[Job] = []
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self.completed: list[Job] = []

    # The clock.

    def run(self) -> None:
        """Go from event to event until every job has ended."""
        while self.goes_on():
            self.step(*self.next_event())

    def goes_on(self) -> bool:
        """Return whether any job still has to arrive, start or end."""
        return bool(self.coming or self.outside or self.waiting or self.running)

    def next_event(self) -> tuple[list[Job], list[Job]]:
        """Go to the next instant; return the jobs that end and that arrive before its pass."""
        instants = self.instants()
        if not instants:
            stuck = min(self.waiting + self.outside, key=lambda job: job.position)
            raise RuntimeError(
                f"job {stuck.number} ({stuck.procs} processors, submitted at {stuck.submit} s) "
                f"would wait for ever under {self.policy.name}: nothing happens after {self.now} s"
            )
        self.now = min(instants)
        # Future jobs are in order of submission.
        arriving = list(takewhile(lambda job: job.submit == self.now, self.coming))
        ending = [job for job in self.running if job.end == self.now]
        if not self.per_event:
            return ending, arriving
        # The running jobs are in the order of their starts.
        return ([], arriving[:1]) if arriving else (ending[:1], [])

    def instants(self) -> list[int]:
        """Yield the instants of pending events, including now if a job with run 0 started."""
        submitted = self.outside + self.waiting
        return [
            *(job.submit for job in self.coming[:1]),
            *(job.end for job in self.running),
            *(job.submit + job.leave for job in submitted if job.leave >= 0),
        ]

    def step(self, ending: list[Job], arriving: list[Job]) -> None:
        """Process completions, then arrivals, then withdrawals, then make one pass."""
        for job in ending:
            self.running.remove(job)
            self.completed.append(job)
        self.after_completions(ending)
        for job in arriving:
            if self.predictions:
                self.predictions.predict_at_submission(job, self.completed)
            self.coming.remove(job)
            self.outside.append(job)
        if self.predictions:
            self.predictions.correct_outlived(self.running, self.now)
        self.withdraw()
        self.scheduling_pass(self.let_in())

    def withdraw(self) -> None:
        """Remove the submitted jobs that leave now."""
        for job in self.outside + self.waiting:
            if job.leave >= 0 and job.submit + job.leave == self.now:
                self.forget(job)

    def let_in(self) -> list[Job]:
        """Add the submitted jobs that limits admit to the queue, and return these jobs."""
        entering: list[Job] = []
        for job in list(self.outside):
            if not self.limits.is_outside(job, self.waiting + self.running):
                self.outside.remove(job)
                self.waiting.append(job)
                entering.append(job)
        return entering

    def is_held(self, job: Job) -> bool:
        """Return whether a limit keeps a waiting job from starting at this moment of a pass."""
        return self.limits.held_by(job, self.running, self.now) is not None

    def forget(self, job: Job) -> None:
        """Remove a job that has not started, as if it had never been submitted."""
        for jobs in (self.coming, self.outside, self.waiting):
            if job in jobs:
                jobs.remove(job)

    # Steps of the rule.

    def check(self) -> None:
        """Refuse a workload that the rule cannot simulate."""

    def after_completions(self, ended: list[Job]) -> None:
        """Handle completions before the arrivals, for the rule."""

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Start the jobs that the rule starts now."""
        raise NotImplementedError

    # The queue.

    def queue(self, order: str | None = None) -> list[Job]:
        """Return the waiting jobs in queue order, or in another order; starving jobs come first."""
        key = keys(
            order or self.policy.order,
            self.jobs,
            self.waiting,
            self.completed,
            self.now,
            refresh=self.refresh,
            halflife=self.halflife,
            workload=self.workload,
        )
        starving = [job for job in self.waiting if self.starves(job)]
        others = [job for job in self.waiting if not self.starves(job)]
        starving.sort(key=lambda job: (job.submit, job.position))
        others.sort(key=lambda job: (key[job], job.submit, job.position))
        return starving + others

    def starves(self, job: Job) -> bool:
        """Return whether a waiting job has waited longer than the threshold."""
        return self.threshold is not None and self.now - job.submit > self.threshold

    # Steps of the machine.

    def has_changed(self) -> bool:
        """Return whether the machine itself changes at this instant."""
        return False

    def extra_columns(self) -> dict[str, Any]:
        """Return the columns of the schedule that do not follow from the starts, by name."""
        return {}

    def fits(self, job: Job, place: int = 0) -> bool:
        """Return whether enough processors of a place are free now."""
        raise NotImplementedError

    def reservation(self, job: Job, claims: list[Claim]) -> Claim:
        """Return the earliest start of a job, and its place, given running jobs and claims."""
        raise NotImplementedError

    def start(self, job: Job, *, backfilled: bool, place: int = 0) -> None:
        """Assign a waiting job its processors."""
        self.waiting.remove(job)
        self.running.append(job)
        job.start = self.now
        job.place = place
        job.backfilled = backfilled

    def running_claims(self) -> list[Claim]:
        """Return the claims of running jobs until their predicted ends."""
        return [Claim(job.start, job.predicted_end, job.procs, job.place) for job in self.running]


def simulation_of(workload: Workload, policy: Policy | str) -> Simulation:
    """Return a simulation at instant 0, before any job has arrived."""
    policy = Policy.parse(policy) if isinstance(policy, str) else policy
    if what := policy.without_leaving(workload.platform.name):
        workload.refuse_leaving(what)
    made: Simulation = policy.row.find("refer", workload.platform.name)(workload, policy)
    made.check()
    return made

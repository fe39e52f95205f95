"""The reference simulator of one pool of processors: slow, obvious, objects and lists.

It is the definition in code, one class for each backfilling rule. It shares nothing with the
compiled simulator, not even a helper or a formula, so that an agreement of the two on random
workloads says something about both.

With `events=per-event`, the convention of the pyss family, submissions come before completions at
one instant, those in the order of their starts, and a full pass follows each single event; who is
predicted to end by now counts as gone already; and a plan is compressed at every completion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import Int64
from core.policy.policy import Policy
from core.reference.job import Job, jobs_of
from core.reference.order import keys
from core.schedule import Schedule
from core.workload.workload import Workload


def simulate_reference(workload: Workload, policy: Policy | str) -> Schedule:
    """Simulate a workload under a policy, slowly, as its definition says.

    Parameters
    ----------
    workload : Workload
        The jobs and the machine.
    policy : Policy or str
        What the scheduler does, or its name.

    Returns
    -------
    Schedule
        The same as that of `core.simulate`, in time that grows with the cube of the queue.

    Raises
    ------
    InputError
        If the policy's name is not understood.
    RuntimeError
        If a job would wait for ever, which is a mistake of this program.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0, 1], run=[9, 5, 8], estimate=[9, 5, 8],
    ...                           procs=[2, 3, 1], processors=3)
    >>> simulate_reference(w, "fcfs+easy").start.tolist()
    [0, 9, 1]
    """
    simulation = simulation_of(workload, policy)
    simulation.run()
    return Schedule(
        workload=workload,
        policy=simulation.policy.name,
        start=np.array([job.start for job in simulation.jobs], np.int64),
        backfilled=np.array([job.backfilled for job in simulation.jobs], np.bool_),
    )


def promises_reference(workload: Workload, policy: Policy | str) -> Int64:
    """Return the start that the rule reserves for each job at its arrival.

    Parameters
    ----------
    workload : Workload
        The jobs and the machine.
    policy : Policy or str
        What the scheduler does, or its name.

    Returns
    -------
    int64[n]
        Start, s; -1 under a rule that promises nothing, and for a job that at its arrival is
        not among the first that hold reservations.

    Raises
    ------
    InputError
        If the policy's name is not understood.

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


@dataclass(frozen=True)
class Claim:
    """Processors that someone has, or is to have, in [begin, end)."""

    begin: int
    end: int
    procs: int


class Simulation:
    """The clock, the queue and the machine; what a pass does is left to the rule."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        self.policy = policy
        self.per_event = policy.events == "per-event"
        self.processors = workload.processors
        self.threshold = policy.threshold_seconds(workload.max_estimate)
        self.now = 0
        self.jobs = jobs_of(workload)
        # A job goes through these four lists in turn.
        self.coming = list(self.jobs)
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self.completed: list[Job] = []

    # The clock.

    def run(self) -> None:
        """Go from event to event until every job has ended."""
        while self.coming or self.waiting or self.running:
            self.step(*self.next_event())

    def next_event(self) -> tuple[list[Job], list[Job]]:
        """Go to the next instant; return who ends and who arrives before one pass is made."""
        instants = self.instants()
        if not instants:
            stuck = min(self.waiting, key=lambda job: job.position)
            raise RuntimeError(
                f"job {stuck.number} ({stuck.procs} processors, submitted at {stuck.submit} s) "
                f"would wait for ever under {self.policy.name}: nothing happens after {self.now} s"
            )
        self.now = min(instants)
        arriving = [job for job in self.coming if job.submit == self.now]
        ending = [job for job in self.running if job.end == self.now]
        if not self.per_event:
            return ending, arriving
        # The running jobs are listed as they started.
        return ([], arriving[:1]) if arriving else (ending[:1], [])

    def instants(self) -> list[int]:
        """Return when something is to happen; the present again if a job of run 0 started."""
        return [job.submit for job in self.coming] + [job.end for job in self.running]

    def step(self, ending: list[Job], arriving: list[Job]) -> None:
        """Take completions, then arrivals, then make one pass."""
        for job in ending:
            self.running.remove(job)
            self.completed.append(job)
        self.after_completions(ending)
        for job in arriving:
            self.coming.remove(job)
            self.waiting.append(job)
        self.scheduling_pass(arriving)

    def forget(self, job: Job) -> None:
        """Let a job that has not started never have been."""
        for jobs in (self.coming, self.waiting):
            if job in jobs:
                jobs.remove(job)

    # What the rule adds.

    def after_completions(self, ended: list[Job]) -> None:
        """Do what the rule does between completions and arrivals."""

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Start the jobs that the rule starts now."""
        raise NotImplementedError

    # The queue.

    def queue(self, order: str | None = None) -> list[Job]:
        """Return the waiting jobs in queue order, or in another: whoever starves goes first."""
        key = keys(order or self.policy.order, self.jobs, self.waiting, self.completed, self.now)
        starving = [job for job in self.waiting if self.starves(job)]
        others = [job for job in self.waiting if not self.starves(job)]
        starving.sort(key=lambda job: (job.submit, job.position))
        others.sort(key=lambda job: (key[job], job.submit, job.position))
        return starving + others

    def starves(self, job: Job) -> bool:
        """Whether a waiting job has waited longer than the threshold allows."""
        return self.threshold is not None and self.now - job.submit > self.threshold

    # The machine.

    def fits(self, job: Job) -> bool:
        """Whether the processors that are free now are enough: physically, but for per-event."""
        holders = [other for other in self.running if self.holds(other)]
        return sum(other.procs for other in holders) + job.procs <= self.processors

    def holds(self, job: Job) -> bool:
        """Whether a running job keeps others from its processors, its completion not yet met."""
        return not self.per_event or job.predicted_end > self.now

    def start(self, job: Job, *, backfilled: bool) -> None:
        """Give a waiting job its processors."""
        self.waiting.remove(job)
        self.running.append(job)
        job.start = self.now
        job.backfilled = backfilled

    def running_claims(self) -> list[Claim]:
        """Return what the running jobs hold as far as the scheduler knows."""
        return [Claim(job.start, job.predicted_end, job.procs) for job in self.running]

    def free_at(self, instant: int, claims: list[Claim]) -> int:
        """Return how many processors the claims leave free at an instant."""
        return self.processors - sum(c.procs for c in claims if c.begin <= instant < c.end)

    def are_free(self, procs: int, begin: int, end: int, claims: list[Claim]) -> bool:
        """Whether the claims leave so many processors free in all of [begin, end)."""
        # Only where a claim begins does the number of free processors fall.
        falls = [begin] + [c.begin for c in claims if begin < c.begin]
        return all(self.free_at(t, claims) >= procs for t in falls if t < end)

    def earliest(self, job: Job, claims: list[Claim]) -> int:
        """Return the first instant from now on at which a job could run beside the claims.

        A job with estimate 0 asks for its processors at that instant alone.
        """
        # Only where a claim ends does the number of free processors rise.
        rises = {self.now} | {c.end for c in claims if c.end > self.now}
        return next(
            t
            for t in sorted(rises)
            if self.are_free(job.procs, t, t + max(job.estimate, 1), claims)
        )


class Strict(Simulation):
    """`none`: start the head while it fits; stop at the first job that does not."""

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Start the jobs that the rule starts now."""
        behind = self.queue(self.policy.backfill)
        for head in self.queue():
            if not self.fits(head):
                self.blocked(head, [job for job in behind if job in self.waiting])
                return
            self.start(head, backfilled=False)

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Do what the rule does when a head does not fit; waiting holds it and all behind it."""


class Aggressive(Strict):
    """`aggressive`: start everything that fits now; nobody holds a reservation."""

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Start whatever fits."""
        for job in waiting:
            if self.fits(job):
                self.start(job, backfilled=True)


class Easy(Strict):
    """`easy`: the head that does not fit holds the one reservation."""

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Start whatever fits and does not delay the head."""
        claims = self.running_claims()
        ends = {self.now} | {claim.end for claim in claims if claim.end > self.now}
        shadow = min(t for t in ends if self.free_at(t, claims) >= head.procs)
        extra = self.free_at(shadow, claims) - head.procs
        for job in waiting:
            if job is head or not self.fits(job):
                continue
            if self.now + job.estimate <= shadow:
                self.start(job, backfilled=True)
            elif job.procs <= extra:
                extra -= job.procs
                self.start(job, backfilled=True)


class Reserving(Simulation):
    """`depth(K)` and `conservative`: the first jobs hold reservations, all made anew each pass."""

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Reserve for the first K that cannot start; then start whoever delays none of them."""
        queue, behind = self.queue(), self.queue(self.policy.backfill)
        held: dict[Job, int] = {}
        for job in queue:
            if len(held) == self.policy.depth:
                break
            claims = [Claim(t, t + other.estimate, other.procs) for other, t in held.items()]
            begin = self.earliest(job, self.running_claims() + claims)
            if job in arrived:
                job.promise = begin
            if begin == self.now and self.fits(job):
                self.start(job, backfilled=bool(held))
            else:
                held[job] = begin
        # A holder with estimate 0 occupies nothing, yet easy, which is depth(1), lets nobody
        # cross its start: beyond the depth it claims the second in which it starts.
        claims = [Claim(t, t + max(other.estimate, 1), other.procs) for other, t in held.items()]
        for job in behind:
            if job in self.waiting and job not in held and self.fits(job):
                end = self.now + job.estimate
                if self.are_free(job.procs, self.now, end, self.running_claims() + claims):
                    self.start(job, backfilled=True)


class Planned(Simulation):
    """`planned`: a reservation at arrival, kept; earlier whenever a job ends before its estimate.

    As the text has it the rule goes with every queue order, which decides in which order
    `walk=queue` compresses and in which the jobs that are due start.
    """

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.plan: dict[Job, int] = {}

    def instants(self) -> list[int]:
        """Add the reservations: one may begin where nothing ends and nobody arrives."""
        return super().instants() + [begin for begin in self.plan.values() if begin > self.now]

    def after_completions(self, ended: list[Job]) -> None:
        """Compress the plan if a job ended early: each reservation into its earliest gap."""
        if any(self.per_event or job.run < job.estimate for job in ended):
            for job in self.walk():
                self.reserve(job)

    def walk(self) -> list[Job]:
        """Return the waiting jobs in the order in which their reservations are lifted out."""
        arrivals = sorted(self.waiting, key=lambda job: (job.submit, job.position))
        if self.policy.walk == "arrival":
            return arrivals
        if self.policy.walk == "queue":
            return self.queue()
        return sorted(arrivals, key=lambda job: self.plan[job])

    def reserve(self, job: Job) -> None:
        """Give a job the earliest start beside all that run and all other reservations."""
        self.plan.pop(job, None)
        claims = [Claim(t, t + other.estimate, other.procs) for other, t in self.plan.items()]
        self.plan[job] = self.earliest(job, self.running_claims() + claims)

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Reserve for the new jobs; then start those whose reservation has come."""
        for job in arrived:
            self.reserve(job)
            job.promise = self.plan[job]
        passed = False
        for job in self.queue():
            if self.plan[job] <= self.now and self.fits(job):
                del self.plan[job]
                self.start(job, backfilled=passed)
            else:
                passed = True

    def forget(self, job: Job) -> None:
        """Let a job that has not started never have been."""
        super().forget(job)
        self.plan.pop(job, None)


def simulation_of(workload: Workload, policy: Policy | str) -> Simulation:
    """Return a simulation at instant 0, before anyone has arrived.

    Raises
    ------
    InputError
        If the policy's name is not understood.
    """
    policy = Policy.parse(policy) if isinstance(policy, str) else policy
    made: Simulation = policy.row.find("refer", workload.platform.name)(workload, policy)
    return made

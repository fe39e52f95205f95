"""The reference simulator of one pool of processors: slow, obvious, objects and lists."""

from __future__ import annotations

from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference import plan, tabu
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.processors import Claim, Processors
from schedfarm.core.reference.simulation import Simulation
from schedfarm.core.workload.workload import Workload


class PoolSimulation(Simulation):
    """The machine is one pool."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.processors = Processors(workload.processors)

    def fits(self, job: Job, place: int = 0) -> bool:
        """Whether the processors that are free now are enough: physically, but for per-event."""
        holders = [other for other in self.running if self.holds(other)]
        return sum(other.procs for other in holders) + job.procs <= self.processors.size

    def holds(self, job: Job) -> bool:
        """Whether a running job keeps others from its processors, its completion not yet met."""
        return not self.per_event or job.predicted_end > self.now

    def reservation(self, job: Job, claims: list[Claim]) -> Claim:
        """Return the earliest start of a job beside all that run and some claims."""
        begin = self.processors.earliest(job, self.now, self.running_claims() + claims)
        return Claim(begin, begin + job.estimate, job.procs)


class Strict(PoolSimulation):
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
        shadow, extra = self.processors.shadow(head.procs, self.now, self.running_claims())
        for job in waiting:
            if job is head or not self.fits(job):
                continue
            if self.now + job.estimate <= shadow:
                self.start(job, backfilled=True)
            elif job.procs <= extra:
                extra -= job.procs
                self.start(job, backfilled=True)


class Reserving(PoolSimulation):
    """`depth(K)` and `conservative`: the first jobs hold reservations, all made anew each pass."""

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Reserve for the first K that cannot start; then start whoever delays none of them."""
        queue, behind = self.queue(), self.queue(self.policy.backfill)
        held: dict[Job, Claim] = {}
        for job in queue:
            if len(held) == self.policy.depth:
                break
            claim = self.reservation(job, list(held.values()))
            if job in arrived:
                job.promise = claim.begin
            if claim.begin == self.now and self.fits(job):
                self.start(job, backfilled=bool(held))
            else:
                held[job] = claim
        # A holder with estimate 0 occupies nothing, yet easy, which is depth(1), lets nobody
        # cross its start: beyond the depth it claims the second in which it starts.
        claims = [Claim(c.begin, max(c.end, c.begin + 1), c.procs) for c in held.values()]
        for job in behind:
            if job in self.waiting and job not in held and self.fits(job):
                end = self.now + job.estimate
                everyone = self.running_claims() + claims
                if self.processors.are_free(job.procs, self.now, end, everyone):
                    self.start(job, backfilled=True)


class Planned(plan.Planned, PoolSimulation):
    """`planned` in a pool."""


class Tabu(tabu.Tabu, PoolSimulation):
    """`tabu` in a pool."""

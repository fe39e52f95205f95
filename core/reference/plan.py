"""Plans that are kept from pass to pass, on any machine."""

from __future__ import annotations

from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.loop import Simulation
from schedfarm.core.reference.processors import Claim
from schedfarm.core.workload.workload import Workload

Plan = dict[Job, Claim]
"""The reservation of each waiting job."""


def by_start(plan: Plan) -> list[Job]:
    """Return the jobs of a plan in order of start, ties by submit and position.

    Examples
    --------
    >>> from schedfarm.core.reference.job import jobs_of
    >>> w = Workload.from_columns(submit=[0, 1], run=[3, 3], estimate=[3, 3], procs=[1, 1],
    ...                           processors=1)
    >>> one, other = jobs_of(w)
    >>> [job.number for job in by_start({one: Claim(7, 10, 1), other: Claim(4, 7, 1)})]
    [2, 1]
    """
    return sorted(plan, key=lambda job: (plan[job].begin, job.submit, job.position))


class Planned(Simulation):
    """Run `planned`: jobs keep their reservations, or get earlier ones after early ends.

    The rule supports every queue order. Due jobs start in the queue order; with `walk=queue`, the
    plan is also compressed in this order.
    """

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.plan: Plan = {}

    def instants(self) -> list[int]:
        """Yield instants, including reserved starts, even if no job ends or arrives then."""
        begins = [claim.begin for claim in self.plan.values()]
        return super().instants() + [begin for begin in begins if begin > self.now]

    def after_completions(self, ended: list[Job]) -> None:
        """Compress the plan if a job ended early."""
        if any(self.per_event or job.run < job.estimate for job in ended):
            self.compress(self.plan, self.walk())

    def walk(self) -> list[Job]:
        """Return the waiting jobs in the order in which the plan is compressed."""
        if self.policy.walk == "arrival":
            return sorted(self.waiting, key=lambda job: (job.submit, job.position))
        if self.policy.walk == "queue":
            return self.queue()
        return by_start(self.plan)

    def compress(self, plan: Plan, walk: list[Job]) -> None:
        """Move the reservations, one after the other, to the earliest gaps that are earlier."""
        for job in walk:
            earliest = self.earliest_beside(job, plan)
            # A job with estimate 0 reserves no processors, and other jobs may have reserved the
            # same instant.
            if earliest.begin < plan[job].begin:
                plan[job] = earliest

    def earliest_beside(self, job: Job, plan: Plan) -> Claim:
        """Return the earliest reservation of a job, given running jobs and other reservations."""
        return self.reservation(job, [claim for other, claim in plan.items() if other is not job])

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Reserve for the new jobs; then start jobs with due reservations."""
        for job in arrived:
            self.plan[job] = self.earliest_beside(job, self.plan)
            job.promise = self.plan[job].begin
        self.improve()
        passed = False
        for job in self.queue():
            claim = self.plan[job]
            if claim.begin <= self.now and self.fits(job, claim.place):
                del self.plan[job]
                self.start(job, backfilled=passed, place=claim.place)
            else:
                passed = True

    def improve(self) -> None:
        """Improve a plan that includes the arrivals, before any job starts."""

    def forget(self, job: Job) -> None:
        """Remove a job that has not started, as if it had never been submitted."""
        super().forget(job)
        self.plan.pop(job, None)

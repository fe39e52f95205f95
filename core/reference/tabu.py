"""Plans with searches for better plans at intervals, on any machine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from schedfarm.core.durations import seconds_of
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.criteria import JOBS, Stay, is_better, unfairness
from schedfarm.core.reference.draws import MRG32k3a
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.plan import Plan, Planned, by_start
from schedfarm.core.workload.workload import Workload


class Tabu(Planned):
    """Run `tabu`: `planned` with searches at ticks (Klusacek and Rudova 2012, Algorithm 2)."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.first = min((job.submit for job in self.jobs), default=0)
        self.every = seconds_of(policy.every) or 0
        self.tenure = int(policy.tenure)
        self.weights = [Fraction(weight) for weight in policy.weights.split(":")]
        self.draws = MRG32k3a(12_345 + int(policy.seed))
        self.searched = -1

    # Ticks.

    def instants(self) -> list[int]:
        """Yield instants, including the next tick if a job waits."""
        instants = super().instants()
        if instants and self.waiting:
            instants.append(self.now + self.every - (self.now - self.first) % self.every)
        return instants

    def is_tick(self) -> bool:
        """Return whether now is a whole number of intervals after the first submission."""
        return self.now > self.first and (self.now - self.first) % self.every == 0

    def improve(self) -> None:
        """Search for a better plan once, at a tick with a waiting job."""
        if self.waiting and self.is_tick() and self.searched != self.now:
            self.searched = self.now
            self.plan = SEARCHES[self.policy.search](self, self.plan)

    def iterations(self) -> int:
        """Return the present number of iterations of a search."""
        number = self.policy.iterations
        return int(number.removesuffix("x")) * (len(self.plan) if number.endswith("x") else 1)

    # Moves.

    def moved(self, plan: Plan, job: Job) -> Plan:
        """Return the plan after removing a job, compressing the rest, and adding it again."""
        made = {other: claim for other, claim in plan.items() if other is not job}
        self.compress(made, by_start(made))
        made[job] = self.earliest_beside(job, made)
        return made

    def made_again(self, order: list[Job]) -> Plan:
        """Return the plan in which jobs, one after the other, get their earliest gaps."""
        made: Plan = {}
        for job in order:
            made[job] = self.earliest_beside(job, made)
        return made

    def better(self, best: Plan, other: Plan) -> Plan:
        """Return the better of two plans: the best plan so far, and another one."""
        return other if is_better(self.values(best), self.values(other), self.weights) else best

    def values(self, plan: Plan) -> list[Fraction]:
        """Return the criteria of a plan, in the order of the weights."""
        waiting = [
            Stay(claim.begin - job.submit, job.estimate, job.procs, job.user)
            for job, claim in plan.items()
        ]
        running = [Stay(job.wait, job.estimate, job.procs, job.user) for job in self.running]
        completed = [Stay(job.wait, job.run, job.procs, job.user) for job in self.completed]
        every_job = waiting + running + completed
        jobs = every_job if self.policy.jobs == "all" else waiting
        users = every_job if self.policy.users == "all" else waiting
        of_users = unfairness(users, raised=self.policy.fairness == "raised")
        return [*(criterion(jobs) for criterion in JOBS), of_users]


def _tabu(simulation: Tabu, plan: Plan) -> Plan:
    """Move a random job that is not in the tabu list."""
    best, moved_lately = plan, list[Job]()
    for _ in range(simulation.iterations()):
        if all(job in moved_lately for job in best):
            moved_lately.clear()
            continue
        job = _drawn(simulation, best)
        while job in moved_lately:
            job = _drawn(simulation, best)
        best = simulation.better(best, simulation.moved(best, job))
        if simulation.tenure:
            moved_lately = [*moved_lately, job][-simulation.tenure :]
    return best


def _drawn(simulation: Tabu, best: Plan) -> Job:
    """Draw a job of the best plan; all jobs are equally likely."""
    return by_start(best)[simulation.draws.place(len(best))]


def _random(simulation: Tabu, plan: Plan) -> Plan:
    """Put a random job at a random position in the order of starts."""
    best = plan
    for _ in range(simulation.iterations()):
        job = _drawn(simulation, best)
        order = [other for other in by_start(best) if other is not job]
        order.insert(simulation.draws.place(len(best)), job)
        best = simulation.better(best, simulation.made_again(order))
    return best


def _gap(simulation: Tabu, plan: Plan) -> Plan:
    """Move the jobs one after the other, from the last start to the first."""
    best, backwards = plan, by_start(plan)[::-1]
    for i in range(simulation.iterations()):
        job = backwards[i % len(backwards)]
        best = simulation.better(best, simulation.moved(best, job))
    return best


SEARCHES: dict[str, Callable[[Tabu, Plan], Plan]] = {"tabu": _tabu, "random": _random, "gap": _gap}
"""The searches, by the policy's option."""

"""Rules of the reference on a pool and a grid: slow and obvious, with objects and lists.

A pool counts as one cluster. A job runs inside one cluster, given by its index in declared order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference import plan, tabu
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.loop import Simulation
from schedfarm.core.reference.processors import Claim, Processors
from schedfarm.core.workload.workload import Workload


class Clusters(Simulation):
    """Simulate a machine of one or several clusters."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.keeps = workload.platform.keeps
        if policy.events != "instant" and self.keeps:
            raise InputError(
                f"policy {policy.name!r}: events={policy.events} is for pools only; "
                f"on a {workload.platform.name} leave it out"
            )
        if policy.predict and self.keeps:
            raise InputError(
                f"policy {policy.name!r}: predict={policy.predict} is for pools only; "
                f"on a {workload.platform.name} leave it out"
            )
        self.clusters = [Processors(size) for size in workload.platform.sizes]

    def extra_columns(self) -> dict[str, Any]:
        """Return the cluster of each job, if there are several."""
        place = np.array([job.place for job in self.jobs], np.int64)
        return {"place": place} if self.keeps else {}

    def fits(self, job: Job, place: int = 0) -> bool:
        """Return whether enough processors of a cluster are free now.

        Physically free processors count, except under `events=per-event`.
        """
        holders = [other for other in self.running if other.place == place and self.holds(other)]
        return sum(other.procs for other in holders) + job.procs <= self.clusters[place].size

    def holds(self, job: Job) -> bool:
        """Return whether a running job still keeps its processors before its completion."""
        return not self.per_event or job.predicted_end > self.now

    def fitting(self, job: Job) -> list[int]:
        """Return the clusters in which a job fits now, in declared order."""
        return [place for place in range(len(self.clusters)) if self.fits(job, place)]

    def wide_enough(self, job: Job) -> list[int]:
        """Return the clusters that could hold a job, in declared order."""
        return [place for place, one in enumerate(self.clusters) if one.size >= job.procs]

    def reservation(self, job: Job, claims: list[Claim]) -> Claim:
        """Return the earliest start of a job on any cluster; of equal starts, the first cluster."""
        found: list[Claim] = []
        for place in self.wide_enough(job):
            begin = self.clusters[place].earliest(job, self.now, self.claims_in(place, claims))
            found.append(Claim(begin, begin + job.expected, job.procs, place))
        return min(found, key=lambda claim: (claim.begin, claim.place))

    def claims_in(self, place: int, claims: list[Claim]) -> list[Claim]:
        """Return the claims of the running jobs and some others on one cluster."""
        return [claim for claim in self.running_claims() + claims if claim.place == place]


class Strict(Clusters):
    """Run `none`: start heads while they fit a cluster; stop at the first head that fits none."""

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Start the jobs that the rule starts now."""
        behind = self.queue(self.policy.backfill)
        for head in self.queue():
            if self.is_held(head):
                continue
            fitting = self.fitting(head)
            if not fitting:
                self.blocked(head, [job for job in behind if job in self.waiting])
                return
            self.start(head, backfilled=False, place=fitting[0])

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Handle a head that does not fit; `waiting` contains the head and all jobs behind it."""


class Aggressive(Strict):
    """Run `aggressive`: start every job that fits a cluster now, without reservations."""

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Start the jobs that fit, each on the first suitable cluster."""
        for job in waiting:
            fitting = self.fitting(job)
            if fitting and not self.is_held(job):
                self.start(job, backfilled=True, place=fitting[0])


class Easy(Strict):
    """Run `easy`: the first head that fits nowhere holds the only reservation, on one cluster."""

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Start the jobs that fit and do not delay the head."""
        shadows: list[tuple[int, int, int]] = []
        for place in self.wide_enough(head):
            claims = self.claims_in(place, [])
            shadow, extra = self.clusters[place].shadow(head.procs, self.now, claims)
            shadows.append((shadow, place, extra))
        shadow, reserved, extra = min(shadows)
        for job in waiting:
            if job is head or self.is_held(job):
                continue
            for place in self.fitting(job):
                short = self.now + job.expected <= shadow
                if place == reserved and not short:
                    if job.procs > extra:
                        continue
                    extra -= job.procs
                self.start(job, backfilled=True, place=place)
                break


class Reserving(Clusters):
    """Run `depth(K)` and `conservative`: each pass makes reservations for the first jobs again."""

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Reserve for the first K jobs that cannot start; start jobs that delay no reservation."""
        queue, behind = self.queue(), self.queue(self.policy.backfill)
        held: dict[Job, Claim] = {}
        for job in queue:
            if len(held) == self.policy.depth:
                break
            if self.is_held(job):
                continue
            claim = self.reservation(job, list(held.values()))
            if job in arrived:
                job.promise = claim.begin
            if claim.begin == self.now and self.fits(job, claim.place):
                self.start(job, backfilled=bool(held), place=claim.place)
            else:
                held[job] = claim
        for job in behind:
            if job in self.waiting and job not in held and not self.is_held(job):
                self.backfill(job, list(held.values()))

    def backfill(self, job: Job, held: list[Claim]) -> None:
        """Start a job on the first cluster on which it fits now and delays no reservation."""
        # A reservation with estimate 0 occupies no processors. But under easy, which is depth(1),
        # no job may run across its start. So jobs behind the K reserved jobs must leave the second
        # of this start free.
        claims = [Claim(c.begin, max(c.end, c.begin + 1), c.procs, c.place) for c in held]
        for place in self.fitting(job):
            cluster, there = self.clusters[place], self.claims_in(place, claims)
            if cluster.are_free(job.procs, self.now, self.now + job.expected, there):
                self.start(job, backfilled=True, place=place)
                return


class Planned(plan.Planned, Clusters):
    """Run `planned`."""


class Tabu(tabu.Tabu, Clusters):
    """Run `tabu`."""

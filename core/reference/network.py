"""The reference simulator of clusters on a network: slow, obvious, objects and lists.

A job has processors on one cluster or on several; whoever is spread over several is as fast as the
links let it be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.links import demands, shares, speed
from schedfarm.core.reference.processors import Claim, Processors
from schedfarm.core.reference.simulation import Simulation
from schedfarm.core.schedule import Segments
from schedfarm.core.workload.workload import Workload

Parts = tuple[int, ...]
"""Processors on each cluster."""


class NetworkSimulation(Simulation):
    """The machine is clusters, each with a link."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        assert isinstance(workload.platform, Network)
        self.clusters = [Processors(size) for size in workload.platform.sizes]
        self.links = workload.platform.links
        # The reservations that a pass has made.
        self.held: dict[Job, Claim] = {}

    def told(self) -> dict[str, Any]:
        """Return ends, and the processors of each job on each cluster."""
        parts = [
            (job.position, place, procs)
            for job in self.jobs
            for place, procs in enumerate(job.parts)
            if procs > 0
        ]
        columns = np.array(parts, np.int64).reshape(-1, 3).T
        return {
            "end": np.array([job.end for job in self.jobs], np.int64),
            "segments": Segments(*columns),
        }

    # The clock.

    def step(self, ending: list[Job], arriving: list[Job]) -> None:
        """Share links out after completions, and again after the pass."""
        super().step(ending, arriving)
        self.share_links()

    def after_completions(self, ended: list[Job]) -> None:
        """Share links out among those who are left."""
        self.share_links()

    def share_links(self) -> None:
        """Count what was done until now; from now on everybody is as fast as the links allow."""
        spread = self.spread()
        got = shares([job.demands for job in spread], self.links)
        for job, share in zip(spread, got, strict=True):
            job.done += job.speed * (self.now - job.counted)
            job.counted = self.now
            job.speed = speed(job.communication, share)

    def spread(self) -> list[Job]:
        """Return the co-allocated jobs that run, in the order in which they started."""
        return [job for job in self.running if job.is_spread]

    # The machine.

    def start_on(self, job: Job, parts: Parts) -> None:
        """Give a waiting job its processors on each cluster."""
        self.held.pop(job, None)
        self.start(job, backfilled=False)
        job.parts = parts
        job.demands = demands(parts, job.bandwidth, job.alltoall)
        job.counted = self.now

    def whole(self, job: Job, place: int) -> Parts:
        """Return the parts of a job that is on one cluster."""
        return tuple(job.procs * (place == i) for i in range(len(self.clusters)))

    def free(self, place: int) -> int:
        """Return how many processors of a cluster are free now, physically."""
        return self.clusters[place].size - sum(job.parts[place] for job in self.running)

    def running_on(self, place: int) -> list[Claim]:
        """Return what the running jobs hold of a cluster as far as the scheduler knows."""
        return [
            Claim(job.start, job.predicted_end, job.parts[place], place) for job in self.running
        ]

    def plan(self, place: int, but: Job | None = None) -> list[Claim]:
        """Return who runs on a cluster and the reservations there, but for one job's."""
        held = [
            # A holder with estimate 0 occupies nothing, yet nobody may cross its start.
            Claim(claim.begin, max(claim.end, claim.begin + 1), claim.procs, place)
            for job, claim in self.held.items()
            if claim.place == place and job is not but
        ]
        return self.running_on(place) + held

    # A pass.

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Make the parts of a pass; then see who overtook whom."""
        queue = self.queue()
        self.parts_of_pass(queue)
        for place, job in enumerate(queue):
            before = [other for other in queue[:place] if self.share_queue(job, other)]
            job.backfilled = job.start >= 0 and any(other.start < 0 for other in before)

    def share_queue(self, job: Job, other: Job) -> bool:
        """Whether two jobs wait in the same queue."""
        return job.origin == other.origin

    def parts_of_pass(self, queue: list[Job]) -> None:
        """Start whom the rule starts."""
        raise NotImplementedError

    def local(self, queue: list[Job]) -> None:
        """Schedule each cluster's own jobs on it, as on a pool."""
        self.held = {}
        for place, cluster in enumerate(self.clusters):
            own = [job for job in queue if job.origin == place and job.procs <= cluster.size]
            self.reserve(place, own)
            for job in own:
                if job in self.waiting and job not in self.held and self.delays_none(job, place):
                    self.start_on(job, self.whole(job, place))

    def reserve(self, place: int, own: list[Job]) -> None:
        """Start those who can start at once; the first K of the others hold reservations."""
        here: list[Claim] = []
        for job in own:
            if len(here) == self.policy.depth:
                return
            begin = self.clusters[place].earliest(job, self.now, self.running_on(place) + here)
            if begin == self.now and job.procs <= self.free(place):
                self.start_on(job, self.whole(job, place))
            else:
                self.held[job] = Claim(begin, begin + job.estimate, job.procs, place)
                here.append(self.held[job])

    def delays_none(self, job: Job, place: int) -> bool:
        """Whether a job fits a cluster now and delays no reservation there."""
        end = self.now + job.estimate
        cluster, plan = self.clusters[place], self.plan(place)
        is_free = job.procs <= self.free(place)
        return is_free and (not self.held or cluster.are_free(job.procs, self.now, end, plan))


class Isolated(NetworkSimulation):
    """`isolated(K)`: each cluster is a pool of its own."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        for job in self.jobs:
            size = self.clusters[job.origin].size
            if job.procs > size:
                raise InputError(
                    f"job {job.number} asks for {job.procs} processors; under {policy.rule!r} it "
                    f"runs on its own cluster, which has {size}"
                )

    def parts_of_pass(self, queue: list[Job]) -> None:
        """Start whom the rule starts."""
        self.local(queue)


class Sharing(NetworkSimulation):
    """`ics` and `icsb(K)`: own jobs, then migration, then parts on several clusters."""

    def parts_of_pass(self, queue: list[Job]) -> None:
        """Start whom the rule starts."""
        if self.policy.queue == "local":
            self.local(queue)
        self.share(queue)

    def share_queue(self, job: Job, other: Job) -> bool:
        """Whether two jobs wait in the same queue."""
        return self.policy.queue == "global" or super().share_queue(job, other)

    def share(self, queue: list[Job]) -> None:
        """Let those who still wait migrate; then spread those who still wait."""
        for job in queue:
            if job in self.waiting:
                self.migrate(job)
        for job in queue:
            if job in self.waiting and self.policy.links != "unused":
                self.spread_out(job)

    def rooms(self, job: Job) -> list[int]:
        """Return the room of each cluster for a job; with no reservations that is what is free."""
        return [self.room(job, place) for place in range(len(self.clusters))]

    def room(self, job: Job, place: int) -> int:
        """Return the room of a cluster for a job."""
        if self.policy.depth == 0:
            return self.free(place)
        plan, end = self.plan(place, but=job), self.now + job.estimate
        # Only where a claim begins does the number of free processors fall.
        falls = [self.now] + [claim.begin for claim in plan if self.now < claim.begin < end]
        least = min(self.clusters[place].free_at(instant, plan) for instant in falls)
        return min(least, self.free(place))

    def migrate(self, job: Job) -> None:
        """Start a job on a cluster that has room for all of it, if there is one."""
        rooms = self.rooms(job)
        enough = [place for place, room in enumerate(rooms) if room >= job.procs]
        if not enough:
            return
        chosen = {
            "most": max(enough, key=lambda place: (rooms[place], -place)),
            "least": min(enough, key=lambda place: (rooms[place], place)),
            "first": enough[0],
        }
        self.start_on(job, self.whole(job, chosen[self.policy.to]))

    def spread_out(self, job: Job) -> None:
        """Start a job on parts of several clusters, if the links have room for one such split."""
        ways = splits(job.procs, self.rooms(job))
        found = [parts for parts in ways if self.is_carried(job, parts)]
        if found:
            self.start_on(job, min(found, key=preference))

    def is_carried(self, job: Job, parts: Parts) -> bool:
        """Whether the links may carry a job that is split so."""
        if self.policy.links == "ignored":
            return True
        asked = [other.demands for other in self.spread()]
        asked.append(demands(parts, job.bandwidth, job.alltoall))
        return all(
            sum(one[link] for one in asked) <= capacity for link, capacity in enumerate(self.links)
        )


def splits(procs: int, rooms: list[int]) -> list[Parts]:
    """Return every way to split processors into parts none of which is larger than its room.

    Examples
    --------
    >>> splits(3, [1, 0, 2]), splits(1, [1, 0, 2])
    ([(1, 0, 2)], [(0, 0, 1), (1, 0, 0)])
    """
    if not rooms:
        return [()] if procs == 0 else []
    first, *others = rooms
    return [
        (part, *rest)
        for part in range(min(max(first, 0), procs) + 1)
        for rest in splits(procs - part, others)
    ]


def preference(parts: Parts) -> tuple[int, list[int]]:
    """Return what is least for the split that is taken: few clusters, then many on the first.

    Examples
    --------
    >>> min([(1, 1, 1), (0, 1, 2), (0, 2, 1)], key=preference)
    (0, 2, 1)
    """
    return sum(part > 0 for part in parts), [-part for part in parts]

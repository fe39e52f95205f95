"""Reference simulator of clusters on a network: slow and obvious, with objects and lists.

A job has processors on one or several clusters. On several clusters, the links determine its speed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.network.reference.links import demand, demands, shares, speed
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.follow import Given, Replayable, Where
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.processors import Claim, Processors
from schedfarm.core.schedule import Segments
from schedfarm.core.workload.workload import Workload

Parts = tuple[int, ...]
"""Processors on each cluster."""


class NetworkSimulation(Replayable):
    """Simulate a machine of clusters, each with a link."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        assert isinstance(workload.platform, Network)
        self.places = workload.platform.places
        self.clusters = [Processors(size) for size in workload.platform.sizes]
        self.links = workload.platform.links
        # The reservations that a pass has made.
        self.held: dict[Job, Claim] = {}
        # Co-allocated jobs that ended at this instant.
        self.gone: list[Job] = []

    def extra_columns(self) -> dict[str, Any]:
        """Return ends, and the processors of each job on each cluster."""
        parts = [(job.position, *part) for job in self.jobs for part in self.where(job)]
        columns = np.array(parts, np.int64).reshape(-1, 3).T
        return {
            "end": np.array([job.end for job in self.jobs], np.int64),
            "segments": Segments(*columns),
        }

    # The clock.

    def step(self, ending: list[Job], arriving: list[Job]) -> None:
        """Make a step of the clock; divide links after completions, and again after the pass."""
        super().step(ending, arriving)
        self.share_links()

    def after_completions(self, ended: list[Job]) -> None:
        """Divide links among the remaining jobs."""
        self.gone = [job for job in self.gone + ended if job.is_spread and job.end == self.now]
        self.share_links()

    def share_links(self) -> None:
        """Count the work done until now, and set each job's speed by its share of the links."""
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

    def start_on(self, job: Job, parts: Parts, reason: str) -> None:
        """Give a waiting job its processors on each cluster."""
        self.held.pop(job, None)
        self.start(job, backfilled=False)
        self.reason[job] = reason
        job.parts = parts
        job.demands = demands(parts, job.bandwidth, job.alltoall)
        job.counted = self.now

    def whole(self, job: Job, place: int) -> Parts:
        """Return the parts of a job on a single cluster."""
        return tuple(job.procs * (place == i) for i in range(len(self.clusters)))

    def free(self, place: int) -> int:
        """Return the number of physically free processors of a cluster."""
        return self.clusters[place].size - sum(job.parts[place] for job in self.running)

    def running_on(self, place: int) -> list[Claim]:
        """Return the holds of running jobs on a cluster, by their predicted ends."""
        return [
            Claim(job.start, job.predicted_end, job.parts[place], place)
            for job in self.running
            if job.parts[place]
        ]

    def plan(self, place: int, but: Job | None = None) -> list[Claim]:
        """Return the holds and reservations on a cluster, except the reservation of one job."""
        held = [
            # A reservation with estimate 0 occupies no processors, yet no job may run across its
            # start.
            Claim(claim.begin, max(claim.end, claim.begin + 1), claim.procs, place)
            for job, claim in self.held.items()
            if claim.place == place and job is not but
        ]
        return self.running_on(place) + held

    # A pass.

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Make the parts of a pass; then mark jobs that overtook others."""
        if self.sought is not None and not self.sought and not self.could_start():
            return
        queue = self.queue()
        self.parts_of_pass(queue)
        if self.sought is None:
            for place, job in enumerate(queue):
                before = [other for other in queue[:place] if self.share_queue(job, other)]
                job.backfilled = job.start >= 0 and any(other.start < 0 for other in before)

    def could_start(self) -> bool:
        """Return whether a waiting job requests at most the sum of all free processors."""
        free = sum(self.free(place) for place in range(len(self.clusters)))
        return any(job.procs <= free for job in self.waiting)

    def share_queue(self, job: Job, other: Job) -> bool:
        """Return whether two jobs wait in the same queue."""
        return job.origin == other.origin

    def parts_of_pass(self, queue: list[Job]) -> None:
        """Start the jobs that the rule starts."""
        raise NotImplementedError

    def local(self, queue: list[Job]) -> None:
        """Schedule the own jobs of each cluster, as on a pool."""
        self.held = {}
        for place, cluster in enumerate(self.clusters):
            own = [job for job in queue if job.origin == place and job.procs <= cluster.size]
            self.reserve(place, own)
            for job in own:
                if job in self.waiting and job not in self.held and self.delays_none(job, place):
                    reason = f"it fits {self.places[place]}, where {self.free(place)} are free"
                    reason += ", and delays no reservation" * (self.policy.depth > 0)
                    self.start_on(job, self.whole(job, place), reason)

    def reserve(self, place: int, own: list[Job]) -> None:
        """Start jobs that can start at once; the first K other jobs get reservations."""
        here: list[Claim] = []
        for job in own:
            if len(here) == self.policy.depth:
                return
            begin = self.clusters[place].earliest(job, self.now, self.running_on(place) + here)
            if begin == self.now and job.procs <= self.free(place):
                reason = f"its reservation on {self.places[place]} is this instant"
                self.start_on(job, self.whole(job, place), reason)
            else:
                self.held[job] = Claim(begin, begin + job.estimate, job.procs, place)
                here.append(self.held[job])

    def delays_none(self, job: Job, place: int) -> bool:
        """Return whether a job fits a cluster now and delays no reservation on it."""
        if job.procs > self.free(place):
            return False
        end, cluster = self.now + job.estimate, self.clusters[place]
        return not self.held or cluster.are_free(job.procs, self.now, end, self.plan(place))

    # A replay.

    def says(self, job: Job) -> str:
        """Name a job in a sentence."""
        return f"job {job.number} ({job.procs} processors, of {self.places[job.origin]})"

    def where(self, job: Job) -> Where:
        """Return the clusters of a job and its processors on each."""
        return tuple((place, procs) for place, procs in enumerate(job.parts) if procs)

    def where_given(self, given: Given, job: Job) -> Where:
        """Return the clusters of a job in a schedule, and its processors on each."""
        return tuple(given.parts[job.position])

    def names(self, where: Where) -> str:
        """Name the processors on each cluster."""
        return " and ".join(
            f"{procs} of {self.places[i] if 0 <= i < len(self.places) else f'place {i}'}"
            for i, procs in where
        )

    def refusal(self, job: Job, where: Where) -> str:
        """Describe the shortage in the pass: of processors, or of time before a reservation."""
        until = self.now + max(job.estimate, 1)
        for place, procs in where:
            if not 0 <= place < len(self.clusters):
                return f"there is no place {place}"
            name, free = self.places[place], self.free(place)
            if procs > free:
                return f"it takes {procs} processors of {name}, {free} are free"
            plan = self.plan(place, but=job) if self.policy.depth else []
            for instant in sorted({self.now, *(claim.begin for claim in plan)}):
                spare = self.clusters[place].free_at(instant, plan)
                if self.now <= instant < until and spare < procs:
                    return (
                        f"by its estimate it takes {procs} processors of {name} until "
                        f"{self.now + job.estimate}, of which {spare} are to spare at {instant}, "
                        f"when {self.reserved_at(place, instant, job)} reserved there"
                    )
        return "the rule gives it no processors in this pass"

    def reserved_at(self, place: int, instant: int, but: Job) -> str:
        """Name the job with the last reservation on a cluster before an instant, in a sentence."""
        holders = [
            job
            for job, claim in self.held.items()
            if job is not but and claim.place == place
            if claim.begin <= instant < max(claim.end, claim.begin + 1)
        ]
        last = max(holders, key=lambda job: self.held[job].begin, default=None)
        return f"{self.says(last)} is" if last else "others are"

    def ends_of_interest(self) -> Iterable[Job]:
        """Return the co-allocated jobs, which links may slow down."""
        return [*self.spread(), *self.gone]


class Isolated(NetworkSimulation):
    """Run `isolated(K)`: each cluster is a separate pool."""

    def check(self) -> None:
        """Refuse jobs wider than their own clusters."""
        for job in self.jobs:
            size = self.clusters[job.origin].size
            if job.procs > size:
                raise InputError(
                    f"job {job.number} requests {job.procs} processors; under "
                    f"{self.policy.rule!r} it runs on its own cluster, which has {size}"
                )

    def parts_of_pass(self, queue: list[Job]) -> None:
        """Start the jobs that the rule starts."""
        self.local(queue)

    def refusal(self, job: Job, where: Where) -> str:
        """Return a sentence on a job's cluster or reservation."""
        if any(place != job.origin for place, _ in where):
            return f"under {self.policy.rule} it runs on its own cluster, {self.places[job.origin]}"
        if job in self.held:
            begin, name = self.held[job].begin, self.places[job.origin]
            return f"its reservation on {name}, given those of the jobs before it, is {begin}"
        return super().refusal(job, where)


class Sharing(NetworkSimulation):
    """Run `ics` and `icsb(K)`: own jobs, then migration, then parts on several clusters."""

    def parts_of_pass(self, queue: list[Job]) -> None:
        """Start the jobs that the rule starts."""
        if self.policy.queue == "local":
            self.local(queue)
        self.share(queue)

    def share_queue(self, job: Job, other: Job) -> bool:
        """Return whether two jobs wait in the same queue."""
        return self.policy.queue == "global" or super().share_queue(job, other)

    def share(self, queue: list[Job]) -> None:
        """Migrate waiting jobs; then co-allocate the jobs that still wait."""
        for job in queue:
            if job in self.waiting:
                self.migrate(job)
        for job in queue:
            if job in self.waiting and self.policy.links != "unused":
                self.co_allocate(job)

    def free_on_each(self, job: Job) -> list[int]:
        """Return the free capacity of each cluster for a job."""
        return [self.free_for(job, place) for place in range(len(self.clusters))]

    def free_for(self, job: Job, place: int) -> int:
        """Return the free capacity of a cluster for a job."""
        free = self.free(place)
        if self.policy.depth == 0 or free == 0:
            return free
        plan, end = self.plan(place, but=job), self.now + job.estimate
        # The number of free processors falls only at the begin of a claim.
        falls = [self.now] + [claim.begin for claim in plan if self.now < claim.begin < end]
        return min(free, *(self.clusters[place].free_at(instant, plan) for instant in falls))

    def migrate(self, job: Job) -> None:
        """Start a job on a cluster with room for the whole job, if there is one."""
        free = self.free_on_each(job)
        enough = [place for place, procs in enumerate(free) if procs >= job.procs]
        if not enough:
            return
        chosen = {
            "most": max(enough, key=lambda place: (free[place], -place)),
            "least": min(enough, key=lambda place: (free[place], place)),
            "first": enough[0],
        }[self.policy.to]
        reason = f"{self.places[chosen]} has room for {free[chosen]} processors"
        self.start_on(job, self.whole(job, chosen), reason)

    def co_allocate(self, job: Job) -> None:
        """Start a job on parts of several clusters, if the links have room for a split."""
        free = self.free_on_each(job)
        if sum(max(procs, 0) for procs in free) < job.procs:
            return
        spare = tuple(self.spare()) if self.policy.links == "kept" else ()
        parts = best_split(job.procs, tuple(free), spare, job.bandwidth, job.alltoall)
        if parts:
            there = tuple((i, procs) for i, procs in enumerate(free) if procs > 0)
            reason = f"there is room for {self.names(there)}" + ", and on their links" * bool(spare)
            self.start_on(job, parts, reason)

    def spare(self) -> list[int]:
        """Return the bandwidth of each link that co-allocated jobs leave free, kbit/s."""
        asked = [job.demands for job in self.spread()]
        return [capacity - sum(one[i] for one in asked) for i, capacity in enumerate(self.links)]

    def refusal(self, job: Job, where: Where) -> str:
        """Return a sentence on the link that the job would overload, if this is the reason."""
        places = [place for place, _ in where]
        if self.policy.links == "unused" and len(places) > 1:
            return f"under links={self.policy.links} no job runs on several clusters"
        known = all(0 <= place < len(self.clusters) for place in places)
        fits = known and all(procs <= self.free_for(job, place) for place, procs in where)
        if fits and self.policy.links == "kept":
            parts = tuple(dict(where).get(place, 0) for place in range(len(self.clusters)))
            asked = demands(parts, job.bandwidth, job.alltoall)
            for name, wants, left in zip(self.places, asked, self.spare(), strict=False):
                if wants > left:
                    return f"its demand on the link of {name} is {wants} kbit/s, {left} are left"
        return super().refusal(job, where)


@lru_cache(4096)
def best_split(
    procs: int, free: Parts, spare: Parts, bandwidth: int, alltoall: int
) -> Parts | None:
    """Return the split on the fewest clusters; of several, that with the largest first part.

    Parameters
    ----------
    procs : int
        Total processors of the job.
    free : tuple of int
        Largest number of the job's processors on each cluster.
    spare : tuple of int
        Available bandwidth of each cluster's link, kbit/s; empty for no limit.
    bandwidth, alltoall : int
        Values of the job's columns with the same names.

    Examples
    --------
    >>> best_split(3, (1, 0, 2), (), 0, 0), best_split(4, (2, 2, 2), (1500, 1000, 1500), 1000, 1000)
    ((1, 0, 2), (2, 0, 2))
    >>> best_split(4, (2, 2, 2), (1500, 1000, 1000), 1000, 1000)
    (2, 1, 1)
    """
    wide = [sorted((max(one, 0) for one in free[i:]), reverse=True) for i in range(len(free))]
    # Largest number of processors on n clusters, from cluster i on.
    most = [list(accumulate(one, initial=0)) for one in [*wide, []]]

    @cache
    def rest(place: int, first: int, clusters: int) -> Parts | None:
        """Split the processors from `first` on over at most `clusters` clusters from `place` on."""
        if place == len(free):
            return () if first == procs else None
        left = procs - first
        for part in range(min(max(free[place], 0), left) if clusters else 0, -1, -1):
            others = clusters - (part > 0)
            if most[place + 1][min(others, len(free) - place - 1)] < left - part:
                # With a smaller part, the other clusters need more processors; without this
                # cluster, one more cluster may be needed.
                if part > 0:
                    continue
                break
            asked = demand(procs, first, first + part, bandwidth, alltoall) if part else 0
            if not spare or asked <= spare[place]:
                following = rest(place + 1, first + part, others)
                if following is not None:
                    return (part, *following)
        return None

    ways = (rest(0, 0, clusters) for clusters in range(1, len(free) + 1))
    return next((parts for parts in ways if parts is not None), None)

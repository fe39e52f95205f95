"""What rules on a network make of one pass: who has the right to start, where, and who has not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.audit import times_on_network
from schedfarm.core.audit.machine_of_network import PLENTY, Clusters, Parts
from schedfarm.core.audit.profile import Profile
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule

Rooms = npt.NDArray[np.int64]
"""Processors of each cluster for each of some jobs, int64[clusters, jobs]."""


class Plan:
    """Hold who runs on a cluster and who is reserved there, from now on.

    Parameters
    ----------
    profile : Profile
        The free processors by who runs.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.held: dict[int, tuple[int, int, int]] = {}

    def hold(self, job: int, begin: int, end: int, procs: int) -> None:
        """Reserve processors for a job in [begin, end)."""
        self.held[job] = begin, end, procs
        self.profile.take(begin, end, procs)

    def widen(self) -> None:
        """Let reservations of no length count as the second that they are in."""
        for job, (begin, end, procs) in self.held.items():
            if begin == end:
                self.hold(job, begin, begin + 1, procs)

    def release(self, job: int) -> None:
        """Take the reservation of a job away, if it has one."""
        if job in self.held:
            begin, end, procs = self.held.pop(job)
            self.profile.take(begin, end, -procs)

    def least(self, ends: Int64) -> Int64:
        """Return the least that is free from now until each of some instants, int64[k].

        Until now itself, which is no time at all, any number is.
        """
        lows = np.minimum.accumulate(np.array([PLENTY, *self.profile.free], np.int64))
        found: Int64 = lows[np.searchsorted(self.profile.times, ends)]
        return found

    def in_the_way(self, procs: int, end: int) -> tuple[int, int, int] | None:
        """Return who is reserved when fewer are free before an instant, when, s, and how many."""
        profile = self.profile
        for instant, free in zip(profile.times, profile.free, strict=True):
            if instant < end and free < procs:
                holders = [j for j, (b, e, _) in self.held.items() if b <= instant < e]
                latest = max(holders, key=lambda job: self.held[job][0], default=-1)
                return latest, instant, free
        return None


class Step:
    """Follow one pass: who waits, who starts, and why those who are to start do not."""

    def __init__(
        self, clusters: Clusters, queue: Int64, given: dict[int, Parts], starts: Int64
    ) -> None:
        self.clusters, self.given, self.starts = clusters, given, starts
        self.now = clusters.now
        self.waiting = queue
        self.plans: dict[int, Plan] = {}
        self.started: dict[int, Parts] = {}
        self.why: dict[int, str] = {}

    def is_given(self, jobs: Int64) -> npt.NDArray[np.bool_]:
        """Whether the schedule starts each of some jobs at this instant."""
        given: npt.NDArray[np.bool_] = self.starts[jobs] == self.now
        return given

    def start(self, job: int, parts: Parts, why: str) -> None:
        """Start a job that has the right to."""
        clusters = self.clusters
        self.started[job], self.why[job] = parts, why
        self.waiting = self.waiting[self.waiting != job]
        for plan in self.plans.values():
            plan.release(job)
        for place, procs in parts:
            if place in self.plans:
                end = self.now + clusters.estimate[job]
                self.plans[place].profile.take(self.now, end, procs)
        clusters.begin(job, parts)

    def refuse(self, job: int, why: Callable[[], str]) -> None:
        """Note why a job that the schedule starts now has no right to."""
        if job in self.given:
            self.why[job] = why()

    def walk(
        self,
        jobs: Int64,
        right: Callable[[Int64], npt.NDArray[np.bool_]],
        decide: Callable[[int], bool],
    ) -> None:
        """Decide on jobs in turn; `right` spares a look at those that cannot start anyway.

        Parameters
        ----------
        jobs : int64[k]
            In queue order.
        right : callable
            Tells which of some jobs might start, as things stand; nobody else does.
        decide : callable
            Starts a job or not; returns whether it did.
        """
        while jobs.size:
            looked = right(jobs) | self.is_given(jobs)
            started = next((i for i in np.flatnonzero(looked) if decide(int(jobs[i]))), None)
            if started is None:
                return
            jobs = jobs[started + 1 :]


class Isolated:
    """Each cluster is scheduled alone."""

    only_own = True
    """Whether nobody but its own jobs looks at a cluster's plan."""

    def __init__(self, policy: Policy) -> None:
        self.name = policy.name
        self.depth = policy.depth

    def proofs(self, schedule: Schedule) -> Iterable[Fault | None]:
        """Return what of the policy shows in the columns alone."""
        yield times_on_network.elsewhere(schedule, self.name)

    def could_start(self, clusters: Clusters, jobs: Int64) -> bool:
        """Whether one of some waiting jobs fits what is free now; a quick look."""
        free = np.array(clusters.free)
        return bool((clusters.work.procs[jobs] <= free[clusters.work.origin[jobs]]).any())

    def check(self, step: Step) -> None:
        """Start whoever has the right to."""
        for place in range(len(step.clusters.sizes)):
            self.local(step, place)

    def local(self, step: Step, place: int) -> None:
        """Schedule the jobs of one cluster on it."""
        clusters, work = step.clusters, step.clusters.work
        own = step.waiting[work.origin[step.waiting] == place]
        own = own[work.procs[own] <= clusters.sizes[place]]
        least = int(work.procs[own].min(initial=clusters.sizes[place] + 1)) if self.only_own else 1
        if clusters.free[place] < least and not step.is_given(own).any():
            # Nobody can start here: what the plan would be is never seen.
            return
        behind = self.reserve(step, place, own) if self.depth else own
        plan = step.plans.get(place)
        name = clusters.platform.places[place]

        def right(jobs: Int64) -> npt.NDArray[np.bool_]:
            fits: npt.NDArray[np.bool_] = work.procs[jobs] <= clusters.free[place]
            if plan is not None:
                fits &= work.procs[jobs] <= plan.least(step.now + work.estimate[jobs])
            return fits

        def decide(job: int) -> bool:
            if right(np.array([job]))[0]:
                delays = f", where {clusters.free[place]} are free"
                if plan is not None:
                    delays += ", and delays no reservation"
                parts = ((place, clusters.procs[job]),)
                step.start(job, parts, f"it fits {name}{delays}")
                return True
            step.refuse(job, lambda: crowded(step, job, ((place, clusters.procs[job]),)))
            return False

        step.walk(behind, right, decide)

    def reserve(self, step: Step, place: int, own: Int64) -> Int64:
        """Start who can start at once and reserve for the first K others; return who is behind."""
        clusters = step.clusters
        plan = step.plans[place] = Plan(clusters.profile(place))
        name = clusters.platform.places[place]
        behind = 0
        for job in own.tolist():
            if len(plan.held) == self.depth:
                break
            behind += 1
            procs, length = clusters.procs[job], clusters.estimate[job]
            begin = plan.profile.earliest(procs, length)
            if begin == step.now and procs <= clusters.free[place]:
                step.start(job, ((place, procs),), f"its reservation on {name} is this instant")
                continue
            plan.hold(job, begin, begin + length, procs)
            step.refuse(job, partial(_reserved, name, begin))
        plan.widen()
        return own[behind:]


class Sharing(Isolated):
    """After each cluster's own jobs others come to it, whole or in parts."""

    only_own = False

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self.to, self.links, self.queue = policy.to, policy.links, policy.queue
        # With which rooms, and what to spare on links, a job found no split: less will not do.
        self.failed: dict[int, tuple[Int64, Int64]] = {}

    def proofs(self, schedule: Schedule) -> Iterable[Fault | None]:
        """Return what of the policy shows in the columns alone."""
        if self.links == "kept":
            yield times_on_network.overasked(schedule, self.name)
        if self.links == "unused":
            yield times_on_network.spread(schedule, self.name)

    def could_start(self, clusters: Clusters, jobs: Int64) -> bool:
        """Whether one of some waiting jobs fits what is free now; a quick look."""
        most = max(clusters.free) if self.links == "unused" else sum(clusters.free)
        return bool((clusters.work.procs[jobs] <= most).any())

    def check(self, step: Step) -> None:
        """Start whoever has the right to."""
        if self.queue == "local":
            super().check(step)
        self.migration(step)
        if self.links != "unused":
            self.co_allocation(step)

    def rooms(self, step: Step, jobs: Int64) -> Rooms:
        """Return the room of each cluster for each of some jobs, their own reservations counted."""
        clusters = step.clusters
        rooms = np.empty((len(clusters.sizes), jobs.size), np.int64)
        ends = step.now + np.maximum(clusters.work.estimate[jobs], 1)
        for place, free in enumerate(clusters.free):
            plan = step.plans.get(place)
            rooms[place] = (
                free if plan is None else np.maximum(np.minimum(plan.least(ends), free), 0)
            )
        return rooms

    def rooms_of(self, step: Step, job: int) -> Int64:
        """Return the room of each cluster for a job, int64[clusters]."""
        plan = step.plans.get(step.clusters.origin[job])
        held = None if plan is None else plan.held.get(job)
        if plan is None or held is None:
            rooms: Int64 = self.rooms(step, np.array([job]))[:, 0]
            return rooms
        plan.release(job)
        rooms = self.rooms(step, np.array([job]))[:, 0]
        plan.hold(job, *held)
        return rooms

    def bound(self, step: Step, jobs: Int64) -> Rooms:
        """Return what the room of each cluster for each of some jobs is at most."""
        rooms = self.rooms(step, jobs)
        for place, plan in step.plans.items():
            # Its own reservation is not in a holder's way; what is free there bounds its room.
            holders = (jobs[:, None] == np.array([*plan.held], np.int64)).any(axis=1)
            rooms[place, holders] = step.clusters.free[place]
        return rooms

    def migration(self, step: Step) -> None:
        """Start whoever has room for all of it on a cluster."""
        clusters, work = step.clusters, step.clusters.work

        def right(jobs: Int64) -> npt.NDArray[np.bool_]:
            most: npt.NDArray[np.bool_] = self.bound(step, jobs).max(axis=0) >= work.procs[jobs]
            return most

        def decide(job: int) -> bool:
            rooms, procs = self.rooms_of(step, job), clusters.procs[job]
            enough = np.flatnonzero(rooms >= procs)
            if not enough.size:
                step.refuse(job, lambda: crowded(step, job, step.given[job]))
                return False
            place = int(enough[0])
            if self.to != "first":
                sign = -1 if self.to == "most" else 1
                place = int(enough[np.argmin(sign * rooms[enough])])
            name = clusters.platform.places[place]
            step.start(job, ((place, procs),), f"{name} has room for {rooms[place]} processors")
            return True

        step.walk(step.waiting, right, decide)

    def co_allocation(self, step: Step) -> None:
        """Start whoever finds a split that the links carry."""
        clusters, work = step.clusters, step.clusters.work

        def right(jobs: Int64) -> npt.NDArray[np.bool_]:
            enough: npt.NDArray[np.bool_] = self.bound(step, jobs).sum(axis=0) >= work.procs[jobs]
            return enough

        def decide(job: int) -> bool:
            rooms = self.rooms_of(step, job)
            parts = self.split(step, job, rooms)
            if parts is None:
                step.refuse(job, lambda: self.unsplit(step, job, rooms))
                return False
            there = [(i, int(room)) for i, room in enumerate(rooms) if room]
            why = f"there is room for {clusters.names(tuple(there))}"
            step.start(job, parts, why + ", and on their links" * (self.links == "kept"))
            return True

        step.walk(step.waiting, right, decide)

    def split(self, step: Step, job: int, rooms: Int64) -> Parts | None:
        """Return the split of a job that the rule takes, None if there is none."""
        clusters, procs = step.clusters, step.clusters.procs[job]
        if rooms.sum() < procs:
            return None
        spare = np.full(rooms.size, PLENTY)
        if self.links == "kept":
            spare = np.array(clusters.spare())
            failed = self.failed.get(job)
            if failed and (rooms <= failed[0]).all() and (spare <= failed[1]).all():
                return None
        parts = best_split(rooms, spare, clusters.demands(job))
        if parts is None:
            self.failed[job] = rooms, spare
        return parts

    def unsplit(self, step: Step, job: int, rooms: Int64) -> str:
        """Say why the parts that a schedule gives to a job are none that it may have."""
        clusters, parts = step.clusters, step.given[job]
        there = all(0 <= place < rooms.size for place, _ in parts)
        if there and all(procs <= rooms[place] for place, procs in parts) and len(parts) > 1:
            asks, spare = clusters.asks(job, parts), clusters.spare()
            for link, wants in enumerate(asks):
                if wants > spare[link]:
                    name = clusters.platform.places[link]
                    return f"it asks the link of {name} for {wants} kbit/s, {spare[link]} are left"
        return crowded(step, job, parts)


def _reserved(name: str, begin: int) -> str:
    return f"its reservation on {name}, beside those of the jobs before it, is {begin}"


def crowded(step: Step, job: int, parts: Parts) -> str:
    """Say why there is no room for the parts that a schedule gives to a job."""
    clusters = step.clusters
    until = step.now + clusters.estimate[job]
    for place, procs in parts:
        if not 0 <= place < len(clusters.sizes):
            return f"there is no place {place}"
        name = clusters.platform.places[place]
        if procs > clusters.free[place]:
            return f"it takes {procs} processors of {name}, {clusters.free[place]} are free"
        plan = step.plans.get(place)
        held = plan.held.get(job) if plan else None
        if plan is None:
            continue
        plan.release(job)
        found = plan.in_the_way(procs, max(until, step.now + 1))
        if held:
            plan.hold(job, *held)
        if found:
            holder, instant, free = found
            whose = f"{clusters.says(holder)} is reserved" if holder >= 0 else "others are reserved"
            return (
                f"by its estimate it takes {procs} processors of {name} until {until}, of which "
                f"{free} are to spare at {instant}, when {whose} there"
            )
    return "the rule gives it no processors in this pass"


def best_split(rooms: Int64, spare: Int64, demands: Int64) -> Parts | None:
    """Return the split with the fewest parts, of these the one with most on the first cluster.

    Parameters
    ----------
    rooms, spare : int64[clusters]
        Processors that a part may have; what it may ask of the link, kbit/s.
    demands : int64[n + 1, n + 1]
        What the processors from the i-th up to the j-th of the job ask of a link, kbit/s.

    Returns
    -------
    tuple of (int, int), or None
        Index of a cluster and processors there, of each part.

    Examples
    --------
    >>> from schedfarm.core.audit.machine_of_network import demands_of
    >>> demands = demands_of(4, 1000, 1000)
    >>> best_split(np.array([2, 2, 2]), np.array([1500, 1000, 1500]), demands)
    ((0, 2), (2, 2))
    >>> best_split(np.array([2, 2, 2]), np.array([1500, 1000, 1000]), demands)
    ((0, 2), (1, 1), (2, 1))
    """
    count, edges = rooms.size, np.arange(len(demands))
    lengths = edges - edges[:, None]
    may = [
        (lengths > 0) & (lengths <= room) & (demands <= left)
        for room, left in zip(rooms.tolist(), spare.tolist(), strict=True)
    ]
    # ends[i][m]: from which processors on the clusters from i on, m of them, can hold the rest.
    ends = [[edges == edges[-1]] for _ in range(count + 1)]
    for i in reversed(range(count)):
        for m in range(1, count - i + 1):
            here = (may[i] & ends[i + 1][m - 1]).any(axis=1)
            ends[i].append(here | ends[i + 1][m] if m < len(ends[i + 1]) else here)
    few = next((m for m, ways in enumerate(ends[0]) if ways[0]), None)
    if few is None:
        return None
    parts, first = [], 0
    for i in range(count):
        here = np.flatnonzero(may[i][first] & ends[i + 1][few - 1]) if few else edges[:0]
        if here.size:
            parts.append((i, int(here[-1]) - first))
            first, few = int(here[-1]), few - 1
    return tuple(parts)

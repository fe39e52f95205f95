"""Rules of the reference on hosts: slow and obvious, with objects and lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.hosts.reference.shares import Closing, Farm, Hold, Places
from schedfarm.core.machines.resources.reference.amounts import Amounts, at_most, less
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference import plan
from schedfarm.core.reference.follow import Given, Replayable, Where
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.slurm import Schedulers
from schedfarm.core.workload.workload import Workload


def hosts_of(platform: Hosts) -> dict[int, Places]:
    """Return the hosts that a job may use, by the number in its column `partition`.

    Examples
    --------
    >>> hosts_of(Hosts([{"count": 6, "processors": 1}], partitions={"a": "0-1,5", "b": "3-5"},
    ...                numbers={"a": 7, "b": 3, "a,b": 9}))
    {3: (3, 4, 5), 7: (0, 1, 5), 9: (0, 1, 3, 4, 5)}
    """
    every = f"0-{len(platform.capacity) - 1}"
    listed: dict[str, set[int]] = {}
    for name, text in platform.parts:
        listed[name] = set()
        for part in (text or every).split(","):
            first, _, last = part.partition("-")
            listed[name] |= {*range(int(first), int(last or first) + 1)}
    return {
        number: tuple(sorted({host for name in label.split(",") for host in listed[name]}))
        for label, number in platform.labels
    }


class Machine(Replayable):
    """Model the machine as a list of hosts; a job keeps its hosts from start to end.

    behind: the default reason for a wait in a pass.
    """

    behind = "a job before it in the queue does not fit"

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        platform = workload.platform
        assert isinstance(platform, Hosts)
        for option, value in (("events", policy.events), ("predict", policy.predict)):
            if value not in (None, "", "instant"):
                raise InputError(
                    f"policy {policy.name!r}: {option}={value} is for pools only; "
                    f"on a platform of kind {platform.name!r} leave it out"
                )
        self.units = platform.units
        rows = tuple(tuple(row) for row in platform.capacity.tolist())
        closings = tuple(
            Closing(begin, end, frozenset(hosts)) for begin, end, hosts in platform.intervals
        )
        self.farm = Farm(rows, platform.exclusive, closings)
        # Begins and ends of windows.
        self.changes = {t for one in closings for t in (one.begin, one.end)}
        self.hosts = hosts_of(platform)
        # The hosts that each job may use.
        self.farms: dict[Job, Farm] = {}
        self.count: dict[Job, int] = {}
        self.share: dict[Job, Amounts] = {}
        for job in self.jobs:
            members = self.hosts[job.partition] if self.hosts else None
            self.farms[job] = replace(self.farm, members=members)
            others = (int(getattr(workload, name)[job.position]) for name in platform.names[1:])
            wanted = (job.procs, *(max(amount, 0) for amount in others))
            given = int(workload.hosts[job.position])
            self.count[job], self.share[job] = self.farms[job].request(wanted, given)
        # Hosts of each started job.
        self.places: dict[Job, Places] = {}
        # Reason why a job waited in the last pass.
        self.held_back: dict[Job, str] = {}

    def instants(self) -> list[int]:
        """Yield later instants, including begins and ends of windows."""
        return [*super().instants(), *(t for t in self.changes if t > self.now)]

    def has_changed(self) -> bool:
        """Return whether a window begins or ends now."""
        return self.now in self.changes

    def running_holds(self) -> list[Hold]:
        """Return the holds of running jobs until their predicted ends."""
        return [self.hold(job, job.start, job.predicted_end) for job in self.running]

    def hold(self, job: Job, begin: int, end: int) -> Hold:
        """Return the hold of a job that has started."""
        return Hold(begin, end, self.share[job], self.places[job])

    def free_now(self, job: Job) -> Places:
        """Return the hosts of a job's partition that are free and open for it at this moment.

        Running jobs have already begun, so a host that is free now stays free for the job.
        """
        until = self.now + job.estimate
        return self.farms[job].free_for(self.share[job], self.now, until, self.running_holds())

    def fits(self, job: Job, place: int = 0) -> bool:
        """Return whether enough hosts are free and open for a job."""
        return len(self.free_now(job)) >= self.count[job]

    def beginning(self, job: Job, holds: list[Hold]) -> Hold:
        """Return the earliest reservation of a job next to holds, which include running jobs."""
        share, lasts = self.share[job], job.estimate
        begin, places = self.farms[job].earliest(self.count[job], share, lasts, self.now, holds)
        return Hold(begin, begin + lasts, share, places)

    # A replay.

    def says(self, job: Job) -> str:
        """Name a job in a sentence."""
        entries = zip(self.share[job], self.units, strict=True)
        share = ", ".join(f"{amount} {unit}" for amount, unit in entries if amount)
        return f"job {job.number} ({self.count[job]} x {share})"

    def where(self, job: Job) -> Where:
        """Return an empty place, because a schedule has no hosts."""
        return ()

    def where_given(self, given: Given, job: Job) -> Where:
        """Return an empty place, because a schedule has no hosts."""
        return ()

    def names(self, where: Where) -> str:
        """Return the words for a job's place in a message."""
        return "the machine"

    def refusal(self, job: Job, where: Where) -> str:
        """Return the reason why a job waited in the last pass."""
        if job in self.outside:
            return "a limit keeps it out of the queue"
        if not self.fits(job):
            return self.lacks(job)
        return self.held_back.get(job, self.behind)

    def lacks(self, job: Job) -> str:
        """Return a sentence on the missing hosts."""
        free, count = len(self.free_now(job)), self.count[job]
        what = "free, and in no window before its predicted end" if self.changes else "free for it"
        of = " of its partition" if self.hosts else ""
        return f"of {count} hosts{of} that it needs, only {free} are {what}"

    def is_held_back(self, job: Job) -> bool:
        """Return whether a limit keeps a job from starting; record the reason for the wait."""
        limit = self.limits.held_by(job, self.running, self.now)
        if limit is not None:
            self.held_back[job] = f"the limit {limit.text} is reached"
        return limit is not None

    def begin(self, job: Job, free: Places, why: str, *, backfilled: bool) -> None:
        """Start a job on the free hosts with the lowest numbers, and record the reason."""
        self.places[job] = free[: self.count[job]]
        self.start(job, backfilled=backfilled)
        self.reason[job] = why

    def backfill(self, job: Job, held: list[Hold]) -> None:
        """Start a job behind the K reserved jobs, on hosts next to their reservations."""
        until, holds = self.now + job.estimate, self.running_holds() + held
        free = self.farms[job].free_for(self.share[job], self.now, until, holds)
        if len(free) >= self.count[job]:
            self.begin(job, free, "it fits and delays no reservation", backfilled=True)
        else:
            self.held_back[job] = "it would delay a reservation"


class Strict(Machine):
    """Run `none`: start heads while they fit; stop at the first job that does not fit."""

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Start the jobs that the rule starts now."""
        self.held_back = {}
        behind = self.queue(self.policy.backfill)
        for head in self.queue():
            if self.is_held_back(head):
                continue
            if not self.fits(head):
                self.blocked(head, [job for job in behind if job in self.waiting])
                return
            why = "it fits, and so did all jobs before it"
            self.begin(head, self.free_now(head), why, backfilled=False)

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Handle a head that does not fit; `waiting` contains the head and all jobs behind it."""


class Aggressive(Strict):
    """Run `aggressive`: start every job that fits now; no job holds a reservation."""

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Start the jobs that fit."""
        for job in waiting:
            if self.fits(job) and not self.is_held_back(job):
                self.begin(job, self.free_now(job), "it fits", backfilled=True)


class Easy(Strict):
    """Run `easy`: the first head that does not fit holds the only reservation."""

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Start the jobs that fit and do not delay the head."""
        if self.farm.closings:
            held = self.beginning(head, self.running_holds())
            for job in waiting:
                if job is not head and not self.is_held_back(job):
                    self.backfill(job, [held])
            return
        shadow, reserved = self.shadow(head)
        left = self.left(head, shadow, reserved)
        for job in waiting:
            if job is head or not self.fits(job) or self.is_held_back(job):
                continue
            free, share = self.free_now(job), self.share[job]
            holder = f"job {head.number}, which is reserved for {shadow} s"
            if self.now + job.estimate <= shadow:
                why = f"it fits and would end by the start of {holder}"
                self.begin(job, free, why, backfilled=True)
                continue
            free = tuple(one for one in free if one in left and at_most(share, left[one]))
            if len(free) < self.count[job]:
                self.held_back[job] = f"it would delay {holder}"
                continue
            self.begin(job, free, f"it fits next to {holder}", backfilled=True)
            for one in self.places[job]:
                left[one] = less(left[one], share)

    def shadow(self, head: Job) -> tuple[int, Places]:
        """Return the shadow time of the head, s, and its hosts."""
        farm, holds = self.farms[head], self.running_holds()
        share, count = self.share[head], self.count[head]
        shadow = min(
            t
            for t in [self.now, *(hold.end for hold in holds)]
            if len(farm.free_for(share, t, t + 1, holds)) >= count
        )
        return shadow, farm.free_for(share, shadow, shadow + 1, holds)[:count]

    def left(self, head: Job, shadow: int, reserved: Places) -> dict[int, Amounts]:
        """Return, for each host with room, the extra amounts at the shadow time."""
        holds = self.running_holds()
        left = {}
        for one in range(len(self.farm.capacities)):
            if self.farm.exclusive and (one in reserved or self.farm.on(one, shadow, holds)):
                continue
            left[one] = self.farm.free_at(one, shadow, holds)
            if one in reserved:
                left[one] = less(left[one], self.share[head])
        return left


class Reserving(Machine):
    """Run `depth(K)` and `conservative`: each pass makes reservations for the first jobs again."""

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Reserve for the first K jobs that cannot start; start jobs that delay no reservation."""
        self.held_back = {}
        queue, behind = self.queue(), self.queue(self.policy.backfill)
        held: dict[Job, Hold] = {}
        for job in queue:
            if len(held) == self.policy.depth:
                break
            if self.is_held_back(job):
                continue
            hold = self.beginning(job, [*self.running_holds(), *held.values()])
            if job in arrived:
                job.promise = hold.begin
            if hold.begin == self.now:
                why = "its reservation begins at this instant"
                self.begin(job, hold.places, why, backfilled=bool(held))
            else:
                held[job] = hold
                self.held_back[job] = f"its reservation begins at {hold.begin} s"
        for job in behind:
            if job in self.waiting and job not in held and not self.is_held_back(job):
                self.backfill(job, [*held.values()])


class Planned(plan.Planned, Machine):
    """Run `planned`: each job reserves hosts at arrival, and changes only to an earlier start."""

    def reservation(self, job: Job, claims: list[Any]) -> Any:
        """Return the earliest reservation of a job next to running jobs and reservations."""
        return self.beginning(job, [*self.running_holds(), *claims])

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Reserve for the new jobs; then start the due jobs on their reserved hosts."""
        for job in arrived:
            self.plan[job] = self.earliest_beside(job, self.plan)
            job.promise = self.plan[job].begin
        self.held_back = {}
        for job in self.queue():
            reserved: Any = self.plan[job]
            if reserved.begin > self.now:
                self.held_back[job] = f"its reservation begins at {reserved.begin} s"
                continue
            # Every job has an estimate above 0, so no two jobs hold the same share of a host at one
            # instant.
            assert set(reserved.places) <= set(self.free_now(job))
            del self.plan[job]
            why = "its reservation is due"
            self.begin(job, reserved.places, why, backfilled=bool(self.held_back))


class Slurm(Machine, Schedulers):
    """Run `slurm`: heads start at events and ticks; cycles make reservations in queue order."""

    behind = "no scheduler reaches it at this instant"

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        # Hosts that a scheduler found for jobs in this pass.
        self.tested: dict[Job, Places] = {}

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Delete the reasons and reservations of the last pass, then make a pass."""
        self.held_back, self.tested = {}, {}
        super().scheduling_pass(arrived)

    def is_held(self, job: Job) -> bool:
        """Return whether a limit keeps a job from starting."""
        return self.is_held_back(job)

    def looks_behind(self) -> bool:
        """Return whether there are partitions, so that jobs behind a blocked job may fit."""
        return bool(self.hosts)

    def fits_behind(self, job: Job, blocked: list[Job]) -> bool:
        """Return whether a job fits outside the partitions of blocked jobs; record its hosts."""
        left = {host for one in blocked for host in self.farms[one].places}
        self.tested[job] = tuple(host for host in self.free_now(job) if host not in left)
        if blocked:
            self.held_back[job] = "too few hosts outside the partitions of waiting jobs are free"
        return len(self.tested[job]) >= self.count[job]

    def start(self, job: Job, *, backfilled: bool, place: int = 0) -> None:
        """Start a job on the lowest-numbered hosts that a scheduler found; record a reason."""
        self.places[job] = self.tested[job][: self.count[job]]
        super().start(job, backfilled=backfilled)
        self.reason[job] = "its earliest start is this instant"

    def earliest(self, job: Job, claims: list[Hold]) -> int:
        """Return the earliest start of a job next to claims; record its hosts."""
        found = self.beginning(job, claims)
        self.tested[job] = found.places
        return found.begin

    def claim(self, job: Job, begin: int, end: int) -> Hold:
        """Return the hold of a running or reserved job until a rounded end."""
        places = self.places[job] if job in self.places else self.tested[job]
        return Hold(begin, self.rounded(end), self.share[job], places)

    def postpone(self, job: Job, begin: int) -> None:
        """Record the reason for a wait."""
        self.held_back[job] = f"its earliest start in the cycle is {begin} s"

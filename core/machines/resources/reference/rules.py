"""Rules of the reference on several resources: slow and obvious, with objects and lists."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.machines.resources.reference.amounts import (
    Amounts,
    Hold,
    Stock,
    at_most,
    less,
)
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference import plan
from schedfarm.core.reference.follow import Given, Replayable, Where
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.slurm import Schedulers
from schedfarm.core.workload.workload import Workload


class Machine(Replayable):
    """Model the machine as one stock of each resource.

    behind: the default reason for a wait in a pass.
    """

    behind = "a job before it in the queue does not fit"

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        platform = workload.platform
        assert isinstance(platform, Resources)
        self.platform = platform
        if policy.events != "instant":
            raise InputError(
                f"policy {policy.name!r}: events={policy.events} is for pools only; "
                f"on a platform of kind {platform.name!r} leave it out"
            )
        if policy.predict:
            raise InputError(
                f"policy {policy.name!r}: predict={policy.predict} is for pools only; "
                f"on a platform of kind {platform.name!r} leave it out"
            )
        stocks = platform.stocks
        self.units: tuple[str, ...] = ("processors", *(unit for _, unit, _ in stocks))
        self.stock = Stock((platform.processors, *(amount for _, _, amount in stocks)))
        self.request: dict[Job, Amounts] = {
            job: (job.procs, *(max(int(getattr(workload, name)[job.position]), 0)
                               for name, _, _ in stocks))
            for job in self.jobs
        }  # fmt: skip
        # Reason why a job waited in the last pass.
        self.held_back: dict[Job, str] = {}

    @cached_property
    def windows(self) -> list[Hold]:
        """Holds of windows, one for each interval."""
        given = self.platform.to_dict()["configuration"].get("windows", [])
        return [
            Hold(one["from"] + k * one.get("every", 0), one["until"] + k * one.get("every", 0),
                 self.withheld(one))
            for one in given
            for k in range(one.get("times", 1))
        ]  # fmt: skip

    def withheld(self, window: dict[str, Any]) -> Amounts:
        """Return the amounts that a window withholds: by default all of every resource."""
        names = ("processors", *(name for name, _, _ in self.platform.stocks))
        if not window.keys() & set(names):
            return self.stock.capacities
        return tuple(window.get(name, 0) for name in names)

    def free_now(self) -> Amounts:
        """Return the physically free amounts at this moment of a pass."""
        free = self.stock.capacities
        for job in self.running:
            free = less(free, self.request[job])
        for window in self.windows:
            if window.begin <= self.now < window.end:
                free = less(free, window.amounts)
        return free

    def instants(self) -> list[int]:
        """Yield later instants, including begins and ends of windows."""
        changes = {t for window in self.windows for t in (window.begin, window.end)}
        return [*super().instants(), *(t for t in changes if t > self.now)]

    def has_changed(self) -> bool:
        """Return whether a window begins or ends now."""
        return any(self.now in (window.begin, window.end) for window in self.windows)

    def fits(self, job: Job, place: int = 0) -> bool:
        """Return whether the free amounts are enough, now and during later windows."""
        return at_most(self.request[job], self.free_now()) and self.passes_windows(job)

    def passes_windows(self, job: Job) -> bool:
        """Return whether a job that starts now can run through the windows until its end."""
        if not self.windows:
            return True
        until = self.now + max(job.estimate, 1)
        holds = self.running_holds() + self.windows
        return self.stock.are_free(self.request[job], self.now, until, holds)

    def running_holds(self) -> list[Hold]:
        """Return the holds of running jobs until their predicted ends."""
        return [Hold(job.start, job.predicted_end, self.request[job]) for job in self.running]

    def beginning(self, job: Job, holds: list[Hold]) -> Hold:
        """Return the earliest reservation of a job, given running jobs and other holds."""
        amounts = self.request[job]
        holds = self.running_holds() + self.windows + holds
        begin = self.stock.earliest(amounts, job.estimate, self.now, holds)
        return Hold(begin, begin + job.estimate, amounts)

    # A replay.

    def says(self, job: Job) -> str:
        """Name a job in a sentence."""
        return f"job {job.number} ({self.lists(self.request[job])})"

    def lists(self, amounts: Amounts) -> str:
        """List the entries of a vector that are not 0, with their units."""
        entries = zip(amounts, self.units, strict=True)
        return ", ".join(f"{amount} {unit}" for amount, unit in entries if amount) or "nothing"

    def where(self, job: Job) -> Where:
        """Return an empty place, because there is only one."""
        return ()

    def where_given(self, given: Given, job: Job) -> Where:
        """Return an empty place, because there is only one."""
        return ()

    def names(self, where: Where) -> str:
        """Return the words for a job's place in a message."""
        return "the machine"

    def refusal(self, job: Job, where: Where) -> str:
        """Return the reason why a job waited in the last pass."""
        if job in self.outside:
            return "a limit keeps it out of the queue"
        if not at_most(self.request[job], self.free_now()):
            return self.lacks(job)
        if not self.passes_windows(job):
            return "a window begins before its predicted end"
        return self.held_back.get(job, self.behind)

    def lacks(self, job: Job) -> str:
        """Return a sentence on the missing resources."""
        pairs = zip(self.request[job], self.free_now(), self.units, strict=True)
        short = [f"{free} {unit} are free" for wanted, free, unit in pairs if wanted > free]
        return "only " + " and ".join(short)

    def is_held_back(self, job: Job) -> bool:
        """Return whether a limit keeps a job from starting; record the reason for the wait."""
        limit = self.limits.held_by(job, self.running, self.now)
        if limit is not None:
            self.held_back[job] = f"the limit {limit.text} is reached"
        return limit is not None

    def begin(self, job: Job, why: str, *, backfilled: bool) -> None:
        """Start a job, and record the reason."""
        self.start(job, backfilled=backfilled)
        self.reason[job] = why

    def backfill(self, job: Job, held: list[Hold]) -> None:
        """Start a job behind the K reserved jobs if it fits now and delays no reservation."""
        # A reservation with estimate 0 counts as one second.
        holds = [Hold(one.begin, max(one.end, one.begin + 1), one.amounts) for one in held]
        holds += self.running_holds() + self.windows
        until = self.now + job.estimate
        if not self.fits(job):
            return
        if self.stock.are_free(self.request[job], self.now, until, holds):
            self.begin(job, "it fits and delays no reservation", backfilled=True)
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
            self.begin(head, "it fits, and so did all jobs before it", backfilled=False)

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Handle a head that does not fit; `waiting` contains the head and all jobs behind it."""


class Aggressive(Strict):
    """Run `aggressive`: start every job that fits now; no job holds a reservation."""

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Start the jobs that fit."""
        for job in waiting:
            if self.fits(job) and not self.is_held_back(job):
                self.begin(job, "it fits", backfilled=True)


class Easy(Strict):
    """Run `easy`: the first head that does not fit holds the only reservation."""

    def blocked(self, head: Job, waiting: list[Job]) -> None:
        """Start the jobs that fit and do not delay the head."""
        if self.windows:
            held = self.beginning(head, [])
            for job in waiting:
                if job is not head and not self.is_held_back(job):
                    self.backfill(job, [held])
            return
        shadow, extra = self.stock.shadow(self.request[head], self.now, self.running_holds())
        for job in waiting:
            if job is head or not self.fits(job) or self.is_held_back(job):
                continue
            reserved = f"job {head.number}, which is reserved for {shadow} s"
            if self.now + job.estimate <= shadow:
                why = f"it fits and would end by the start of {reserved}"
            elif at_most(self.request[job], extra):
                extra = less(extra, self.request[job])
                why = f"it fits next to {reserved}"
            else:
                self.held_back[job] = f"it would delay {reserved}"
                continue
            self.begin(job, why, backfilled=True)


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
            hold = self.beginning(job, [*held.values()])
            if job in arrived:
                job.promise = hold.begin
            if hold.begin == self.now and self.fits(job):
                why = "its reservation begins at this instant"
                self.begin(job, why, backfilled=bool(held))
            else:
                held[job] = hold
                self.held_back[job] = f"its reservation begins at {hold.begin} s"
        for job in behind:
            if job in self.waiting and job not in held and not self.is_held_back(job):
                self.backfill(job, [*held.values()])


class Planned(plan.Planned, Machine):
    """Run `planned`: each job keeps its reservation, unless an early end gives an earlier start."""

    def reservation(self, job: Job, claims: list[Any]) -> Any:
        """Return the earliest reservation of a job, given running jobs, windows and claims."""
        return self.beginning(job, claims)

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Start the jobs with due reservations, and record the reservations of other jobs."""
        super().scheduling_pass(arrived)
        self.held_back = {
            job: f"its reservation begins at {hold.begin} s" for job, hold in self.plan.items()
        }

    def start(self, job: Job, *, backfilled: bool, place: int = 0) -> None:
        """Start a job, and record a reason."""
        super().start(job, backfilled=backfilled)
        self.reason[job] = "its reservation is due"


class Slurm(Machine, Schedulers):
    """Run `slurm`: heads start at events and ticks; cycles make reservations in queue order."""

    behind = "no scheduler reaches it at this instant"

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Delete the reasons of the last pass, then make a pass."""
        self.held_back = {}
        super().scheduling_pass(arrived)

    def is_held(self, job: Job) -> bool:
        """Return whether a limit keeps a job from starting."""
        return self.is_held_back(job)

    def start(self, job: Job, *, backfilled: bool, place: int = 0) -> None:
        """Start a job, and record a reason."""
        super().start(job, backfilled=backfilled)
        self.reason[job] = "its earliest start is this instant"

    def earliest(self, job: Job, claims: list[Hold]) -> int:
        """Return the earliest start of a job, given claims."""
        holds = claims + self.windows
        return self.stock.earliest(self.request[job], job.estimate, self.now, holds)

    def claim(self, job: Job, begin: int, end: int) -> Hold:
        """Return the request of a job until a rounded end."""
        return Hold(begin, self.rounded(end), self.request[job])

    def postpone(self, job: Job, begin: int) -> None:
        """Record the reason for a wait."""
        self.held_back[job] = f"its earliest start in the cycle is {begin} s"

"""The state of the machine at an instant, from the times of a schedule, and one pass."""

from __future__ import annotations

from bisect import bisect_left, insort
from functools import cached_property

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.limits import Totals
from schedfarm.core.audit.orders import Past, QueueOrder
from schedfarm.core.audit.profile import Profile
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule


class Site:
    """Hold the jobs that run at one place, their predicted ends, and the free processors."""

    def __init__(self, size: int, name: str) -> None:
        self.size = self.free = size
        self.name = name
        # Predicted ends and indices of the jobs that hold processors, in order.
        self.running: list[tuple[int, int]] = []

    def profile(self, now: int, procs: list[int]) -> Profile:
        """Return the free processors over time, from the predicted ends of the running jobs."""
        return Profile(now, self.free, ((end, procs[job]) for end, job in self.running))

    def shadow(self, need: int, now: int, procs: list[int]) -> tuple[int, int]:
        """Return the shadow time, s, for a number of processors, and the extra processors then."""
        level, instant = self.free, now
        for end, other in self.running:
            if end > instant:
                if level >= need:
                    break
                instant = end
            level += procs[other]
        return instant, level - need


class Machine:
    """Follow given starts and ends: waiting jobs, running jobs, and free processors."""

    def __init__(self, schedule: Schedule, policy: Policy) -> None:
        work = schedule.workload
        self.policy = policy
        self.per_event = policy.events == "per-event"
        self.past = Past((schedule.start, schedule.end))
        self.order = QueueOrder(work, policy, self.past)
        self.starts = schedule.start
        self.estimates, self.widths = work.estimate, work.procs
        self.start: list[int] = schedule.start.tolist()
        self.end: list[int] = schedule.end.tolist()
        self.submit: list[int] = work.submit.tolist()
        self.estimate: list[int] = work.estimate.tolist()
        self.run: list[int] = work.run.tolist()
        self.procs: list[int] = work.procs.tolist()
        self.number: list[int] = work.job.tolist()
        self.user: list[int] = work.user.tolist()
        # Place of each job, an index into the sites.
        self.place: list[int] = schedule.place.tolist()
        sizes, names = work.platform.sizes, work.platform.places
        self.sites = [Site(size, name) for size, name in zip(sizes, names, strict=True)]
        self.limits = Totals(work, policy)
        self.now = 0
        self.waiting = np.empty(0, np.int64)
        # True end of each running job, and the number of earlier starts. By the per-event clock,
        # jobs that end at one instant complete in the order of their starts.
        self.ending: list[tuple[int, int, int]] = []
        self.begun = 0

    def arrive(self, jobs: list[int]) -> list[int]:
        """Add arriving jobs, and jobs that limits no longer keep out, to the queue; return both."""
        entering = self.limits.let_in(jobs)
        self.waiting = np.concatenate((self.waiting, np.array(entering, np.int64)))
        return entering

    def withdraw(self, jobs: list[int]) -> None:
        """Remove submitted jobs that are withdrawn, inside or outside the queue."""
        self.limits.withdraw(jobs)
        self.leave_queue(jobs)

    def begin(self, job: int) -> None:
        """Assign a job its processors; the job leaves the queue at the end of the pass."""
        if not self.per_event or self.estimate[job] > 0:
            site = self.sites[self.place[job]]
            site.free -= self.procs[job]
            insort(site.running, (self.now + self.estimate[job], job))
        insort(self.ending, (self.end[job], self.begun, job))
        self.limits.begin(job, self.now)
        self.begun += 1

    def give_back(self) -> None:
        """Release, by the per-event clock, the processors of jobs with predicted ends up to now."""
        for site in self.sites if self.per_event else ():
            while site.running and site.running[0][0] <= self.now:
                site.free += self.procs[site.running.pop(0)[1]]

    def complete(self, most: int | None = None) -> list[int]:
        """Release the processors of the jobs that end now, or of the first `most` of them."""
        count = bisect_left(self.ending, (self.now + 1, -1, -1))
        ended = [job for _, _, job in self.ending[:count][:most]]
        del self.ending[: len(ended)]
        for job in ended:
            predicted = self.start[job] + self.estimate[job]
            if not self.per_event or predicted > self.now:
                site = self.sites[self.place[job]]
                site.free += self.procs[job]
                del site.running[bisect_left(site.running, (predicted, job))]
            self.limits.complete(job, self.start[job])
            wait = self.start[job] - self.submit[job]
            work = self.run[job] * self.procs[job]
            self.past.add(self.user[job], wait, work, self.now)
        return ended

    def ends_now(self) -> bool:
        """Return whether a running job ends at this instant."""
        return bool(self.ending) and self.ending[0][0] == self.now

    @property
    def most_free(self) -> int:
        """Largest number of free processors of a place."""
        return max(site.free for site in self.sites)

    def room_for(self, job: int) -> int | None:
        """Return the first site where a job fits now; None if there is none."""
        need = self.procs[job]
        return next((i for i, site in enumerate(self.sites) if need <= site.free), None)

    def wide_enough(self, job: int) -> list[int]:
        """Return the sites that can hold a job."""
        return [i for i, site in enumerate(self.sites) if self.procs[job] <= site.size]

    def could_start(self) -> bool:
        """Return whether a waiting job fits the free processors."""
        most = self.most_free
        return bool(self.widths[self.waiting].min(initial=most + 1) <= most)

    def leave_queue(self, jobs: list[int]) -> None:
        """Remove jobs from the queue."""
        for job in jobs:
            self.waiting = self.waiting[self.waiting != job]

    def profiles(self) -> list[Profile]:
        """Return each site's free processors over time, from the predicted ends of its jobs."""
        return [site.profile(self.now, self.procs) for site in self.sites]

    def shadow(self, job: int) -> tuple[int, int, int]:
        """Return the place and the shadow time, s, of a job, and the extra processors then."""
        need, found = self.procs[job], []
        for i in self.wide_enough(job):
            instant, extra = self.sites[i].shadow(need, self.now, self.procs)
            found.append((instant, i, extra))
        instant, i, extra = min(found)
        return i, instant, extra

    def on(self, site: int) -> str:
        """Name a site in a sentence if there are several sites."""
        return f" on {self.sites[site].name}" if len(self.sites) > 1 else ""

    def says(self, job: int) -> str:
        """Name a job in a sentence."""
        return f"job {self.number[job]} ({self.procs[job]} processors)"


class Pass:
    """Compare one pass of the scheduler, decision by decision, with the given starts.

    A rule calls `may` for each job that it would start, and `may_not` for each other job, in the
    order in which the scheduler examines them. If a decision differs from the rule's, the rest of
    the instant is checked as if the job had followed the rule. So no later job is reported for an
    earlier fault.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.now = machine.now
        self.started: list[int] = []
        self.refused: dict[int, str] = {}
        self.left: dict[int, str] = {}
        self.misplaced: set[int] = set()

    @cached_property
    def queue(self) -> Int64:
        """The waiting jobs in queue order."""
        return self.machine.order.queue(self.machine.waiting, self.now)

    def behind(self, rest: Int64) -> Int64:
        """Return the jobs behind the head in backfill order."""
        return self.machine.order.behind(rest, self.machine.waiting, self.now)

    def is_given(self, jobs: Int64) -> npt.NDArray[np.bool_]:
        """Return whether each of some jobs starts now in the schedule."""
        given: npt.NDArray[np.bool_] = self.machine.starts[jobs] == self.now
        return given

    def fits(self, job: int, site: int) -> bool:
        """Return whether enough processors are free at a site at this moment of the pass."""
        return self.machine.procs[job] <= self.machine.sites[site].free

    def may(self, job: int, why: str, site: int) -> None:
        """Start a job that the rule starts now; record a different time or place."""
        machine = self.machine
        if machine.start[job] != self.now:
            self.left[job] = why
            machine.start[job], machine.end[job] = self.now, self.now + machine.run[job]
        elif machine.place[job] != site:
            self.misplaced.add(job)
            self.refused[job] = f"its place is {machine.sites[site].name}: {why}"
        machine.place[job] = site
        machine.begin(job)
        self.started.append(job)

    def keep_out(self) -> None:
        """Record the jobs that limits keep out of the queue."""
        for job in self.machine.limits.outside:
            self.may_not(job, self.machine.limits.keeps_out(job) or "")

    def holds(self, job: int) -> bool:
        """Return whether a limit keeps a job from starting, and record the job."""
        why = self.machine.limits.holds(job, self.now)
        if why is not None:
            self.may_not(job, why)
        return why is not None

    def may_not(self, job: int, why: str) -> None:
        """Record that the rule does not start this job now."""
        if self.machine.start[job] == self.now:
            self.refused[job] = why

    def room(self, job: int, site: int) -> str:
        """Return a clause stating that a job fits at a site."""
        machine = self.machine
        free = f"{machine.sites[site].free} are free{machine.on(site)}"
        return f"it needs {machine.procs[job]} processors and {free}"

    def lacks(self, job: int, site: int | None = None) -> str:
        """Return a clause stating that a job does not fit at a site, or at any site."""
        machine = self.machine
        most = machine.most_free if site is None else machine.sites[site].free
        at_most = "at most " if site is None and len(machine.sites) > 1 else ""
        where = "" if site is None else machine.on(site)
        return f"it needs {machine.procs[job]} processors, {at_most}{most} are free{where}"

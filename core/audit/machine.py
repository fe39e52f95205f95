"""The machine at an instant, known from a schedule's times alone, and one pass over the queue."""

from __future__ import annotations

from bisect import bisect_left, insort
from functools import cached_property

import numpy as np
import numpy.typing as npt

from core.arrays import Int64
from core.audit.order import Past, QueueOrder
from core.audit.profile import Profile
from core.policy.policy import Policy
from core.schedule import Schedule


class Machine:
    """Follow given starts and ends: who waits, who runs, how many processors are free."""

    def __init__(self, schedule: Schedule, policy: Policy) -> None:
        work = schedule.workload
        self.policy = policy
        self.per_event = policy.events == "per-event"
        self.past = Past()
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
        self.free = work.processors
        self.now = 0
        self.waiting = np.empty(0, np.int64)
        # Of those that hold processors, their predicted ends; of all that run, their true ones and
        # how many started before: per event, completions of one instant go by start.
        self.running: list[tuple[int, int]] = []
        self.ending: list[tuple[int, int, int]] = []
        self.begun = 0

    def arrive(self, jobs: list[int]) -> None:
        """Put jobs into the queue."""
        self.waiting = np.concatenate((self.waiting, np.array(jobs, np.int64)))

    def begin(self, job: int) -> None:
        """Give a job its processors; the pass takes it from the queue when it is over."""
        if not self.per_event or self.estimate[job] > 0:
            self.free -= self.procs[job]
            insort(self.running, (self.now + self.estimate[job], job))
        insort(self.ending, (self.end[job], self.begun, job))
        self.begun += 1

    def give_back(self) -> None:
        """Take back, per event, the processors of whoever is predicted to have ended by now."""
        while self.per_event and self.running and self.running[0][0] <= self.now:
            self.free += self.procs[self.running.pop(0)[1]]

    def complete(self, most: int | None = None) -> list[int]:
        """Take back the processors of the jobs that end now, or of so many of them."""
        count = bisect_left(self.ending, (self.now + 1, -1, -1))
        ended = [job for _, _, job in self.ending[:count][:most]]
        del self.ending[: len(ended)]
        for job in ended:
            predicted = self.start[job] + self.estimate[job]
            if not self.per_event or predicted > self.now:
                self.free += self.procs[job]
                del self.running[bisect_left(self.running, (predicted, job))]
            wait = self.start[job] - self.submit[job]
            work = self.run[job] * self.procs[job]
            self.past.add(self.user[job], wait, work, self.now)
        return ended

    def ends_now(self) -> bool:
        """Whether a running job ends at this instant."""
        return bool(self.ending) and self.ending[0][0] == self.now

    def could_start(self) -> bool:
        """Whether a waiting job fits the processors that are free now."""
        return bool(self.widths[self.waiting].min(initial=self.free + 1) <= self.free)

    def leave_queue(self, jobs: list[int]) -> None:
        """Take jobs out of the queue."""
        for job in jobs:
            self.waiting = self.waiting[self.waiting != job]

    def profile(self) -> Profile:
        """Return the free processors by the predicted ends of the running jobs."""
        ends = ((end, self.procs[job]) for end, job in self.running)
        return Profile(self.now, self.free, ends)

    def shadow(self, job: int) -> tuple[int, int]:
        """Return when the predicted ends free enough for a job, s, and what is free beside it."""
        level, instant = self.free, self.now
        for end, other in self.running:
            if end > instant:
                if level >= self.procs[job]:
                    break
                instant = end
            level += self.procs[other]
        return instant, level - self.procs[job]

    def says(self, job: int) -> str:
        """Name a job in a sentence."""
        return f"job {self.number[job]} ({self.procs[job]} processors)"


class Pass:
    """Compare one pass of the scheduler, decision by decision, with the given starts.

    A rule calls `may` for each job that it would start and `may_not` for those that it would
    not, in the order in which the scheduler meets them. Where a job that may start does not, the
    rest of the instant is judged as if it did: whoever is within his rights then is not to blame.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.now = machine.now
        self.started: list[int] = []
        self.refused: dict[int, str] = {}
        self.left: dict[int, str] = {}

    @cached_property
    def queue(self) -> Int64:
        """The waiting jobs in queue order."""
        return self.machine.order.queue(self.machine.waiting, self.now)

    def behind(self, rest: Int64) -> Int64:
        """Return jobs of the queue in the order in which the rule looks for backfills."""
        return self.machine.order.behind(rest, self.machine.waiting, self.now)

    def is_given(self, jobs: Int64) -> npt.NDArray[np.bool_]:
        """Whether the times let each of these jobs start now."""
        given: npt.NDArray[np.bool_] = self.machine.starts[jobs] == self.now
        return given

    def fits(self, job: int) -> bool:
        """Whether the processors that are free at this moment of the pass are enough."""
        return self.machine.procs[job] <= self.machine.free

    def may(self, job: int, why: str) -> None:
        """Start a job that the rule starts now, and note it if the times do not."""
        machine = self.machine
        if machine.start[job] != self.now:
            self.left[job] = why
            machine.start[job], machine.end[job] = self.now, self.now + machine.run[job]
        machine.begin(job)
        self.started.append(job)

    def may_not(self, job: int, why: str) -> None:
        """Note that the rule does not start this job now."""
        if self.machine.start[job] == self.now:
            self.refused[job] = why

    def room(self, job: int) -> str:
        """Say that a job fits."""
        return f"it needs {self.machine.procs[job]} processors and {self.machine.free} are free"

    def lacks(self, job: int) -> str:
        """Say that a job does not fit."""
        return f"it needs {self.machine.procs[job]} processors, {self.machine.free} are free"

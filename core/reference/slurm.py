"""Independent model of Slurm's two schedulers, slow and plain, from semantics.md."""

from __future__ import annotations

from collections import Counter
from typing import Any

from schedfarm.core.durations import seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.loop import Simulation
from schedfarm.core.reference.processors import Claim
from schedfarm.core.reference.rules import Clusters
from schedfarm.core.workload.workload import Workload


class Schedulers(Simulation):
    """Run `slurm` on any machine: the main scheduler at events and ticks, and backfill cycles."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.first = min((job.submit for job in self.jobs), default=0)
        self.main = seconds_of(policy.sched_interval)
        self.interval = seconds_of(policy.bf_interval)
        # Instant of the next cycle, s; infinite without cycles.
        self.due = None if self.interval is None else self.first + self.interval
        self.is_event = False

    def check(self) -> None:
        """Refuse a limit per user for logs without known users."""
        if self.jobs and int(self.policy.bf_max_job_user) and all(j.user == -1 for j in self.jobs):
            raise InputError("bf_max_job_user needs the user of each job; leave it out")

    # The clock.

    def instants(self) -> list[int]:
        """Yield instants, including ticks and the next cycle if a job is in the queue."""
        events = super().instants()
        if not self.waiting:
            return events
        ticks = []
        if self.main is not None:
            ticks.append(self.first + ((self.now - self.first) // self.main + 1) * self.main)
        if self.due is not None:
            ticks.append(self.due)
        return events + ticks

    def step(self, ending: list[Job], arriving: list[Job]) -> None:
        """Record whether the instant has a completion, an arrival, or a change of the machine."""
        self.is_event = bool(ending or arriving) or self.has_changed()
        while self.due is not None and self.due < self.now:
            # The queue was empty.
            self.due += self.interval or 0
        super().step(ending, arriving)

    def is_tick(self) -> bool:
        """Return whether the main scheduler considers all jobs now."""
        since = self.now - self.first
        return self.main is not None and since > 0 and since % self.main == 0

    # The schedulers.

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Run the main scheduler, and then a cycle if one is due."""
        queue = self.queue()
        # A job may also enter the queue because another job was withdrawn.
        self.is_event |= bool(arrived)
        if self.main is not None and (self.is_event or self.is_tick()):
            most = len(queue) if self.is_tick() else int(self.policy.default_queue_depth)
            self.start_heads(queue, most)
        if self.due == self.now:
            tested = self.cycle([job for job in queue if job in self.waiting])
            self.due = self.now + self.length(tested) + (self.interval or 0)

    def start_heads(self, queue: list[Job], most: int) -> None:
        """Start heads of the queue while they fit; consider at most `most` jobs."""
        considered = 0
        blocked: list[Job] = []
        for job in queue:
            if self.is_held(job):
                continue
            considered += 1
            if considered > most:
                return
            if self.fits_behind(job, blocked):
                self.start(job, backfilled=False)
            else:
                blocked.append(job)
                if not self.looks_behind():
                    return

    def length(self, tested: int) -> int:
        """Return the duration of a cycle, s."""
        if self.policy.bf_rate is None:
            return 0
        rate = int(self.policy.bf_rate)
        return (tested + rate - 1) // rate

    def most_tests(self) -> int:
        """Return the largest number of jobs that a cycle tests."""
        most = int(self.policy.bf_max_job_test)
        if self.policy.bf_rate is None:
            return most
        seconds = seconds_of(self.policy.bf_max_time or self.policy.bf_interval) or 0
        return min(most, int(self.policy.bf_rate) * seconds)

    def rounded(self, instant: int) -> int:
        """Return the first multiple of the resolution from an instant on."""
        unit = seconds_of(self.policy.bf_resolution) or 1
        return instant + (-instant) % unit

    def cycle(self, queue: list[Job]) -> int:
        """Test the jobs of the queue, start those that can start now, and count the tests."""
        window, of_user = seconds_of(self.policy.bf_window) or 0, int(self.policy.bf_max_job_user)
        claims = [self.claim(job, job.start, job.predicted_end) for job in self.running]
        tests: Counter[int] = Counter()
        is_behind = False
        for job in queue:
            if sum(tests.values()) == self.most_tests():
                break
            if self.is_held(job):
                continue
            if of_user and job.user != -1 and tests[job.user] == of_user:
                is_behind = True
                continue
            tests[job.user] += 1
            begin = self.earliest(job, claims)
            if begin <= self.now + window:
                claims.append(self.claim(job, begin, begin + job.expected))
            if begin == self.now and self.fits(job):
                self.start(job, backfilled=is_behind)
            else:
                self.postpone(job, begin)
                is_behind = True
        return sum(tests.values())

    # The machine.

    def fits_behind(self, job: Job, blocked: list[Job]) -> bool:
        """Return whether a job fits behind jobs of this pass that do not fit."""
        return self.fits(job)

    def looks_behind(self) -> bool:
        """Return whether the main scheduler continues behind a job that does not fit."""
        return False

    def earliest(self, job: Job, claims: list[Any]) -> int:
        """Return the earliest start of a job, given claims."""
        raise NotImplementedError

    def claim(self, job: Job, begin: int, end: int) -> Any:
        """Return the request of a job from an instant to a rounded end."""
        raise NotImplementedError

    def postpone(self, job: Job, begin: int) -> None:
        """Handle a tested job that continues to wait."""


class Slurm(Clusters, Schedulers):
    """Run `slurm` on a pool."""

    def earliest(self, job: Job, claims: list[Claim]) -> int:
        """Return the earliest start of a job, given claims."""
        return self.clusters[0].earliest(job, self.now, claims)

    def claim(self, job: Job, begin: int, end: int) -> Claim:
        """Return the processors of a job until a rounded end."""
        return Claim(begin, self.rounded(end), job.procs)

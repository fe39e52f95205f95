"""The auditor of Slurm's main scheduler, at events and ticks, and of its backfill cycles."""

from __future__ import annotations

from collections import defaultdict

from schedfarm.core.audit.machine import Machine, Pass
from schedfarm.core.audit.profile import Profile
from schedfarm.core.audit.rules import Discipline
from schedfarm.core.durations import seconds_of
from schedfarm.core.policy.policy import Policy


class Slurm(Discipline):
    """Check `slurm`: heads start at events and ticks; cycles make reservations in queue order."""

    def __init__(self, policy: Policy) -> None:
        self.main = seconds_of(policy.sched_interval)
        self.interval = seconds_of(policy.bf_interval)
        self.depth, self.of_user = int(policy.default_queue_depth), int(policy.bf_max_job_user)
        self.most, self.rate = int(policy.bf_max_job_test), int(policy.bf_rate or 0)
        self.window = seconds_of(policy.bf_window) or 0
        self.unit = seconds_of(policy.bf_resolution) or 1
        if self.rate:
            longest = seconds_of(policy.bf_max_time or policy.bf_interval) or 0
            self.most = min(self.most, self.rate * longest)
        # If the policy has a rate, the tests of a cycle determine when the next cycle begins.
        self.judges_all = self.rate > 0
        self.machine: Machine | None = None
        self.next = -1
        self.happened = False

    def completed(self, machine: Machine, ended: list[int]) -> None:
        """Record whether a job ended, and skip cycles during which the queue was empty."""
        self.happened = bool(ended)
        if self.machine is None:
            self.machine = machine
            self.next = machine.submit[0] + (self.interval or 0)
        self.next = self._after(machine.now - 1)

    def arrived(self, machine: Machine, jobs: list[int]) -> None:
        """Record whether a job arrived or entered the queue."""
        self.happened |= bool(jobs)

    def due(self, now: int) -> int | None:
        """Return the next tick or cycle after now, s; None if the queue is empty."""
        if self.machine is None or not self.machine.waiting.size:
            return None
        found = []
        if self.main:
            since = now - self.machine.submit[0]
            found.append(now + self.main - since % self.main)
        if self.interval:
            found.append(self._after(now))
        return min(found)

    def _after(self, now: int) -> int:
        """Return the next cycle after now, s, if no cycle in between tests a job."""
        if not self.interval or self.next > now:
            return self.next
        return self.next + ((now - self.next) // self.interval + 1) * self.interval

    def check(self, step: Pass) -> None:
        """Report to the pass which jobs may start and which may not."""
        machine = step.machine
        since = step.now - machine.submit[0]
        tick = bool(self.main) and since > 0 and since % (self.main or 1) == 0
        left = step.queue.tolist()
        why = "neither scheduler runs at this instant"
        if tick or (self.main and self.happened):
            most = len(left) if tick else self.depth
            why = self._start_heads(step, left, most)
            started = set(step.started)
            left = [job for job in left if job not in started]
        if self.interval and self.next == step.now:
            tests = self._cycle(step, left)
            length = -(-tests // self.rate) if self.rate else 0
            self.next = step.now + length + self.interval
            return
        for job in left:
            if job not in step.refused:
                step.may_not(job, why)

    def _start_heads(self, step: Pass, queue: list[int], most: int) -> str:
        """Check the main scheduler; return the reason why it starts no further job."""
        looked = 0
        for job in queue:
            if step.holds(job):
                continue
            looked += 1
            if looked > most:
                return f"the main scheduler considers {most} jobs"
            site = step.machine.room_for(job)
            if site is None:
                step.may_not(job, step.lacks(job))
                return f"{step.machine.says(job)}, before it in the queue, waits"
            step.may(job, step.room(job, site), site)
        return "it is held"

    def _cycle(self, step: Pass, queue: list[int]) -> int:
        """Check a cycle; return the number of its tests."""
        machine, site = step.machine, step.machine.sites[0]
        ends = ((self._up(end), machine.procs[job]) for end, job in site.running)
        profile = Profile(step.now, site.free, ends)
        tests, of_user = 0, defaultdict[int, int](int)
        for job in queue:
            if tests == self.most:
                step.may_not(job, f"the cycle tests {self.most} jobs")
                continue
            if step.holds(job):
                continue
            user = machine.user[job]
            if self.of_user and user >= 0 and of_user[user] == self.of_user:
                step.may_not(job, f"the cycle tests {self.of_user} jobs of a user")
                continue
            of_user[user] += 1
            tests += 1
            self._test(step, job, profile)
        return tests

    def _test(self, step: Pass, job: int, profile: Profile) -> None:
        procs, estimate = step.machine.procs[job], step.machine.estimate[job]
        begin = profile.earliest(procs, estimate)
        if begin == step.now and step.fits(job, 0):
            profile.take(begin, self._up(begin + estimate), procs)
            step.may(job, "its earliest start in the cycle is this instant", 0)
            return
        step.may_not(job, f"its earliest start in the cycle is {begin}")
        if begin <= step.now + self.window:
            profile.take(begin, self._up(begin + estimate), procs)

    def _up(self, instant: int) -> int:
        return -(-instant // self.unit) * self.unit

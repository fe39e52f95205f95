"""Classical conservative backfilling, followed through given times: who holds which start."""

from __future__ import annotations

from core.audit.discipline import Discipline
from core.audit.machine import Machine, Pass
from core.audit.profile import Profile
from core.policy.policy import Policy


class Plan(Discipline):
    """Keep each waiting job's reservation as the rule would, from arrivals and given ends."""

    def __init__(self, policy: Policy) -> None:
        self.walk = policy.walk
        self.per_event = policy.events == "per-event"
        self.reserved: dict[int, int] = {}

    def due(self, now: int) -> int | None:
        """Return the next reservation after now, s: the rule promised a start then."""
        return min((t for t in self.reserved.values() if t > now), default=None)

    def arrived(self, machine: Machine, jobs: list[int]) -> None:
        """Give each new job its earliest reservation."""
        profile = self._profile(machine)
        for job in jobs:
            self._place(machine, profile, job)

    def completed(self, machine: Machine, ended: list[int]) -> None:
        """Compress the plan where a job ended before its estimate; per event, where any ended."""
        early = any(self.per_event or machine.run[j] < machine.estimate[j] for j in ended)
        if not self.reserved or not early:
            return
        walk = sorted(self.reserved)
        if self.walk == "start":
            walk.sort(key=self.reserved.__getitem__)
        elif self.walk == "queue":
            walk = machine.order.queue(machine.waiting, machine.now).tolist()
        profile = self._profile(machine)
        for job in walk:
            begin, procs = self.reserved[job], machine.procs[job]
            profile.take(begin, begin + machine.estimate[job], -procs)
            self._place(machine, profile, job)
            # With estimate 0 it takes nothing, and others may have its instant: it keeps that.
            self.reserved[job] = min(begin, self.reserved[job])

    def check(self, step: Pass) -> None:
        """Tell the pass of every reservation that is due and of every one that is not."""
        for job in step.queue.tolist():
            instant = self.reserved[job]
            if instant > step.now:
                step.may_not(job, f"its reservation is {instant}")
            elif not step.fits(job):
                step.may_not(job, step.lacks(job))
            else:
                step.may(job, f"its reservation is {instant}")
                del self.reserved[job]

    def _profile(self, machine: Machine) -> Profile:
        profile = machine.profile()
        for job, begin in self.reserved.items():
            profile.take(begin, begin + machine.estimate[job], machine.procs[job])
        return profile

    def _place(self, machine: Machine, profile: Profile, job: int) -> None:
        procs, estimate = machine.procs[job], machine.estimate[job]
        begin = profile.earliest(procs, estimate)
        profile.take(begin, begin + estimate, procs)
        self.reserved[job] = begin

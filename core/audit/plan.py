"""Classical conservative backfilling, followed through given times: who holds which start."""

from __future__ import annotations

from schedfarm.core.audit.discipline import Discipline
from schedfarm.core.audit.disciplines import earliest
from schedfarm.core.audit.machine import Machine, Pass
from schedfarm.core.audit.profile import Profile
from schedfarm.core.policy.policy import Policy


class Plan(Discipline):
    """Keep each waiting job's reservation as the rule would, from arrivals and given ends."""

    def __init__(self, policy: Policy) -> None:
        self.walk = policy.walk
        self.per_event = policy.events == "per-event"
        # When, s, and at which site.
        self.reserved: dict[int, tuple[int, int]] = {}

    def due(self, now: int) -> int | None:
        """Return the next reservation after now, s: the rule promised a start then."""
        return min((t for t, _ in self.reserved.values() if t > now), default=None)

    def arrived(self, machine: Machine, jobs: list[int]) -> None:
        """Give each new job its earliest reservation."""
        profiles = self._profiles(machine)
        for job in jobs:
            self._take(machine, profiles, job, earliest(machine, profiles, job))

    def completed(self, machine: Machine, ended: list[int]) -> None:
        """Compress the plan where a job ended before its estimate; per event, where any ended."""
        early = any(self.per_event or machine.run[j] < machine.estimate[j] for j in ended)
        if not self.reserved or not early:
            return
        walk = sorted(self.reserved)
        if self.walk == "start":
            walk.sort(key=lambda job: self.reserved[job][0])
        elif self.walk == "queue":
            walk = machine.order.queue(machine.waiting, machine.now).tolist()
        profiles = self._profiles(machine)
        for job in walk:
            begin, site = had = self.reserved[job]
            profiles[site].take(begin, begin + machine.estimate[job], -machine.procs[job])
            found = earliest(machine, profiles, job)
            # With estimate 0 it takes nothing, and others may have its instant: it keeps that.
            self._take(machine, profiles, job, found if found[0] < begin else had)

    def check(self, step: Pass) -> None:
        """Tell the pass of every reservation that is due and of every one that is not."""
        for job in step.queue.tolist():
            instant, site = self.reserved[job]
            on = step.machine.on(site)
            if instant > step.now:
                step.may_not(job, f"its reservation is {instant}{on}")
            elif not step.fits(job, site):
                step.may_not(job, step.lacks(job, site))
            else:
                step.may(job, f"its reservation is {instant}{on}", site)
                del self.reserved[job]

    def _profiles(self, machine: Machine) -> list[Profile]:
        profiles = machine.profiles()
        for job, (begin, site) in self.reserved.items():
            profiles[site].take(begin, begin + machine.estimate[job], machine.procs[job])
        return profiles

    def _take(
        self, machine: Machine, profiles: list[Profile], job: int, reserved: tuple[int, int]
    ) -> None:
        begin, site = reserved
        profiles[site].take(begin, begin + machine.estimate[job], machine.procs[job])
        self.reserved[job] = reserved

"""Rules of the auditor: which jobs may start in a pass, which may not, and why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.machine import Machine, Pass
from schedfarm.core.audit.profile import Profile
from schedfarm.core.policy.policy import Policy


class Discipline:
    """Check each pass by one rule.

    Only these hooks may keep state from one pass to the next.

    judges_all: whether to check also the passes in which no job starts or fits.
    """

    judges_all = False

    def __init__(self, policy: Policy) -> None:
        """Store the rule's options from the policy."""

    def completed(self, machine: Machine, ended: list[int]) -> None:
        """Handle completions, before the arrivals of the instant."""

    def arrived(self, machine: Machine, jobs: list[int]) -> None:
        """Handle the jobs that arrive or enter the queue, before the pass."""

    def due(self, now: int) -> int | None:
        """Return the next instant after now, s, with a pass that the rule itself requires."""
        return None

    def check(self, step: Pass) -> None:
        """Report to the pass which jobs may start and which may not."""
        raise NotImplementedError


Right = Callable[[Int64], npt.NDArray[np.bool_]]
"""Function that returns which jobs would start, given the free processors and reservations."""


class Strict(Discipline):
    """Check `none`: no job overtakes another."""

    def check(self, step: Pass) -> None:
        """Report to the pass which jobs may start and which may not."""
        for place, job in enumerate(step.queue.tolist()):
            if step.holds(job):
                continue
            site = step.machine.room_for(job)
            if site is None:
                step.may_not(job, step.lacks(job))
                self.behind_head(step, job, step.queue[place + 1 :])
                return
            step.may(job, step.room(job, site), site)

    def behind_head(self, step: Pass, head: int, rest: Int64) -> None:
        """Check the jobs behind the head."""
        why = f"{step.machine.says(head)}, before it in the queue, waits"
        for job in rest[step.is_given(rest)].tolist():
            step.may_not(job, why)


class Aggressive(Strict):
    """Check `aggressive`: every job that fits starts."""

    def behind_head(self, step: Pass, head: int, rest: Int64) -> None:
        """Check the jobs behind the head."""
        machine = step.machine

        def right(jobs: Int64) -> npt.NDArray[np.bool_]:
            return machine.widths[jobs] <= machine.most_free

        _walk(step, step.behind(rest), right, machine.room_for, step.lacks)


class Easy(Strict):
    """Check `easy`: a job starts if it fits and does not delay the head."""

    def behind_head(self, step: Pass, head: int, rest: Int64) -> None:
        """Check the jobs behind the head."""
        machine = step.machine
        most = machine.most_free
        if most < machine.widths[rest].min(initial=most + 1) and not step.is_given(rest).any():
            return
        held = _Head(machine, head)

        def why(job: int) -> str:
            return step.lacks(job) if machine.room_for(job) is None else held.refuses(job)

        _walk(step, step.behind(rest), held.right, held.where, why, held.charge)


class _Head:
    """Hold the one reservation of a pass: its job, place, shadow time, s, and extra processors."""

    def __init__(self, machine: Machine, head: int) -> None:
        self.machine, self.head = machine, head
        self.site, self.shadow, self.extra = machine.shadow(head)

    def right(self, jobs: Int64) -> npt.NDArray[np.bool_]:
        """Return, for each of some jobs, whether it would start."""
        machine = self.machine
        widths, left = machine.widths[jobs], self.shadow - machine.now
        delays_none = (machine.estimates[jobs] <= left) | (widths <= self.extra)
        found = np.zeros(jobs.size, np.bool_)
        for i, site in enumerate(machine.sites):
            found |= (widths <= site.free) & (delays_none if i == self.site else True)
        return found

    def where(self, job: int) -> int | None:
        """Return the first site at which a job would start, or None."""
        need = self.machine.procs[job]
        delays_none = not self._crosses(job) or need <= self.extra
        for i, site in enumerate(self.machine.sites):
            if need <= site.free and (i != self.site or delays_none):
                return i
        return None

    def charge(self, job: int, site: int) -> None:
        """Subtract the processors of a starting job from the extra processors."""
        if site == self.site and self._crosses(job):
            self.extra -= self.machine.procs[job]

    def refuses(self, job: int) -> str:
        """Return why a job that fits must not start."""
        machine = self.machine
        return (
            f"by its estimate it ends at {machine.now + machine.estimate[job]}, past the shadow "
            f"time {self.shadow} of the head, {machine.says(self.head)}, and it needs "
            f"{machine.procs[job]} processors where {self.extra} are to spare"
            f"{machine.on(self.site)}"
        )

    def _crosses(self, job: int) -> bool:
        return self.machine.estimate[job] > self.shadow - self.machine.now


class Reserving(Discipline):
    """Check `depth(K)` and `conservative`: each pass reserves again for the first jobs."""

    def __init__(self, policy: Policy) -> None:
        self.depth = policy.depth

    def check(self, step: Pass) -> None:
        """Report to the pass which jobs may start and which may not."""
        machine, queue = step.machine, step.queue
        look = step.is_given(queue) | (machine.widths[queue] <= machine.most_free)
        # Reservations behind the last job that could start have no effect.
        last = int(np.flatnonzero(look)[-1]) + 1 if look.any() else 0
        depth = queue.size if self.depth < 0 else self.depth
        profiles, points, held, place = machine.profiles(), [], 0, 0
        while place < last and held < depth:
            job = int(queue[place])
            place += 1
            if step.holds(job):
                continue
            reserved = _reserve(step, job, profiles)
            if reserved is not None:
                held += 1
                points.append((job, *reserved))
        for job, instant, site in points:
            # Behind the K reserved jobs, no job may run across the start of a reserved job with
            # estimate 0.
            if machine.estimate[job] == 0:
                profiles[site].take(instant, instant + 1, machine.procs[job])
        self._beyond(step, queue[place:], profiles)

    def _beyond(self, step: Pass, rest: Int64, profiles: list[Profile]) -> None:
        machine = step.machine
        look = step.is_given(rest) | (machine.widths[rest] <= machine.most_free)
        for job in step.behind(rest[look]).tolist():
            if step.holds(job):
                continue
            procs, estimate = machine.procs[job], machine.estimate[job]
            fitting = [i for i in machine.wide_enough(job) if step.fits(job, i)]
            site = next((i for i in fitting if profiles[i].has_room(procs, estimate)), None)
            if not fitting:
                step.may_not(job, step.lacks(job))
            elif site is None:
                step.may_not(job, "it would delay a reservation")
            else:
                step.may(job, f"it fits{machine.on(site)} and delays no reservation", site)
                profiles[site].take(step.now, step.now + estimate, procs)


def _reserve(step: Pass, job: int, profiles: list[Profile]) -> tuple[int, int] | None:
    """Reserve the earliest start of a job unless the job can start now; return start and place."""
    machine = step.machine
    procs, estimate = machine.procs[job], machine.estimate[job]
    instant, site = earliest(machine, profiles, job)
    profiles[site].take(instant, instant + estimate, procs)
    on = machine.on(site)
    if instant > step.now:
        step.may_not(
            job,
            f"its reservation, given those of the jobs before it in the queue, is {instant}{on}",
        )
    elif not step.fits(job, site):
        step.may_not(job, step.lacks(job, site))
    else:
        step.may(job, f"its reservation is this instant{on}", site)
        return None
    return instant, site


def earliest(machine: Machine, profiles: list[Profile], job: int) -> tuple[int, int]:
    """Return the earliest start of a job, s, and the first site with this start."""
    procs, estimate = machine.procs[job], machine.estimate[job]
    return min((profiles[i].earliest(procs, estimate), i) for i in machine.wide_enough(job))


def _walk(
    step: Pass,
    jobs: Int64,
    right: Right,
    where: Callable[[int], int | None],
    why: Callable[[int], str],
    charge: Callable[[int, int], None] = lambda job, site: None,
) -> None:
    """Check jobs in order; examine individually only the jobs that start or could start."""
    while jobs.size:
        allowed = right(jobs)
        notable = allowed | step.is_given(jobs)
        place = int(np.argmax(notable))
        if not notable[place]:
            return
        job = int(jobs[place])
        jobs = jobs[place + 1 :]
        if step.holds(job):
            continue
        site = where(job)
        if site is None:
            step.may_not(job, why(job))
        else:
            charge(job, site)
            step.may(job, step.room(job, site), site)


class Planned(Discipline):
    """Check `planned`: each waiting job keeps a reservation, computed from arrivals and ends."""

    def __init__(self, policy: Policy) -> None:
        self.walk = policy.walk
        self.per_event = policy.events == "per-event"
        # Start, s, and site of each job's reservation.
        self.reserved: dict[int, tuple[int, int]] = {}

    def due(self, now: int) -> int | None:
        """Return the next reservation after now, s, which requires a pass."""
        return min((t for t, _ in self.reserved.values() if t > now), default=None)

    def arrived(self, machine: Machine, jobs: list[int]) -> None:
        """Make the earliest reservation for each new job."""
        profiles = self._profiles(machine)
        for job in jobs:
            self._take(machine, profiles, job, earliest(machine, profiles, job))

    def completed(self, machine: Machine, ended: list[int]) -> None:
        """Compress the plan after an early end; by the per-event clock, after any end."""
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
            # A job with estimate 0 takes no processors: its start is kept, and other jobs may start
            # at the same instant.
            self._take(machine, profiles, job, found if found[0] < begin else had)

    def check(self, step: Pass) -> None:
        """Report to the pass which reservations are due and which are not."""
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

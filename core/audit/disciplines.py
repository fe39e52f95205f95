"""What each rule makes of one pass: who has the right to start, and who has not, and why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.discipline import Discipline
from schedfarm.core.audit.machine import Machine, Pass
from schedfarm.core.audit.profile import Profile
from schedfarm.core.policy.policy import Policy

Right = Callable[[Int64], npt.NDArray[np.bool_]]
"""Tells which of some jobs would start, as processors and reservations now stand."""


class Strict(Discipline):
    """Nobody overtakes."""

    def check(self, step: Pass) -> None:
        """Tell the pass of every right to start and of every lack of it."""
        for place, job in enumerate(step.queue.tolist()):
            site = step.machine.room_for(job)
            if site is None:
                step.may_not(job, step.lacks(job))
                self.behind_head(step, job, step.queue[place + 1 :])
                return
            step.may(job, step.room(job, site), site)

    def behind_head(self, step: Pass, head: int, rest: Int64) -> None:
        """Judge the jobs behind the first that does not start."""
        why = f"{step.machine.says(head)}, before it in the queue, waits"
        for job in rest[step.is_given(rest)].tolist():
            step.may_not(job, why)


class Aggressive(Strict):
    """Whoever fits starts."""

    def behind_head(self, step: Pass, head: int, rest: Int64) -> None:
        """Judge the jobs behind the first that does not start."""
        machine = step.machine

        def right(jobs: Int64) -> npt.NDArray[np.bool_]:
            return machine.widths[jobs] <= machine.most_free

        _walk(step, step.behind(rest), right, machine.room_for, step.lacks)


class Easy(Strict):
    """Whoever fits and does not delay the head starts."""

    def behind_head(self, step: Pass, head: int, rest: Int64) -> None:
        """Judge the jobs behind the first that does not start."""
        machine = step.machine
        most = machine.most_free
        if most < machine.widths[rest].min(initial=most + 1) and not step.is_given(rest).any():
            return
        held = _Head(machine, head)

        def why(job: int) -> str:
            return step.lacks(job) if machine.room_for(job) is None else held.refuses(job)

        _walk(step, step.behind(rest), held.right, held.where, why, held.charge)


class _Head:
    """Hold the one reservation of a pass: whose, where, the shadow time, s, and the extra."""

    def __init__(self, machine: Machine, head: int) -> None:
        self.machine, self.head = machine, head
        self.site, self.shadow, self.extra = machine.shadow(head)

    def right(self, jobs: Int64) -> npt.NDArray[np.bool_]:
        """Tell which of some jobs would start."""
        machine = self.machine
        widths, left = machine.widths[jobs], self.shadow - machine.now
        beside = (machine.estimates[jobs] <= left) | (widths <= self.extra)
        found = np.zeros(jobs.size, np.bool_)
        for i, site in enumerate(machine.sites):
            found |= (widths <= site.free) & (beside if i == self.site else True)
        return found

    def where(self, job: int) -> int | None:
        """Return the first site where a job would start, None if there is none."""
        need = self.machine.procs[job]
        beside = not self._crosses(job) or need <= self.extra
        for i, site in enumerate(self.machine.sites):
            if need <= site.free and (i != self.site or beside):
                return i
        return None

    def charge(self, job: int, site: int) -> None:
        """Take what a job takes of the extra."""
        if site == self.site and self._crosses(job):
            self.extra -= self.machine.procs[job]

    def refuses(self, job: int) -> str:
        """Say why a job that fits may not start."""
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
    """The first waiting jobs, or all, hold reservations, made anew at each pass."""

    def __init__(self, policy: Policy) -> None:
        self.depth = policy.depth

    def check(self, step: Pass) -> None:
        """Tell the pass of every right to start and of every lack of it."""
        machine, queue = step.machine, step.queue
        look = step.is_given(queue) | (machine.widths[queue] <= machine.most_free)
        # Reservations behind the last job that could start are never seen by anyone.
        last = int(np.flatnonzero(look)[-1]) + 1 if look.any() else 0
        depth = queue.size if self.depth < 0 else self.depth
        profiles, points, held, place = machine.profiles(), [], 0, 0
        while place < last and held < depth:
            job = int(queue[place])
            reserved = _reserve(step, job, profiles)
            if reserved is not None:
                held += 1
                points.append((job, *reserved))
            place += 1
        for job, instant, site in points:
            # Beyond the depth nobody may cross the start of a holder with estimate 0 either.
            if machine.estimate[job] == 0:
                profiles[site].take(instant, instant + 1, machine.procs[job])
        self._beyond(step, queue[place:], profiles)

    def _beyond(self, step: Pass, rest: Int64, profiles: list[Profile]) -> None:
        machine = step.machine
        look = step.is_given(rest) | (machine.widths[rest] <= machine.most_free)
        for job in step.behind(rest[look]).tolist():
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
    """Reserve the earliest start of a job; return it, and where, unless it starts at once."""
    machine = step.machine
    procs, estimate = machine.procs[job], machine.estimate[job]
    instant, site = earliest(machine, profiles, job)
    profiles[site].take(instant, instant + estimate, procs)
    on = machine.on(site)
    if instant > step.now:
        step.may_not(
            job,
            f"its reservation, beside those of the jobs before it in the queue, is {instant}{on}",
        )
    elif not step.fits(job, site):
        step.may_not(job, step.lacks(job, site))
    else:
        step.may(job, f"its reservation is this instant{on}", site)
        return None
    return instant, site


def earliest(machine: Machine, profiles: list[Profile], job: int) -> tuple[int, int]:
    """Return the earliest start of a job, s, and at which site; of several the first."""
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
    """Judge jobs in order; only those that start, or could, need more than one look at all."""
    while jobs.size:
        allowed = right(jobs)
        notable = allowed | step.is_given(jobs)
        place = int(np.argmax(notable))
        if not notable[place]:
            return
        job = int(jobs[place])
        site = where(job)
        if site is None:
            step.may_not(job, why(job))
        else:
            charge(job, site)
            step.may(job, step.room(job, site), site)
        jobs = jobs[place + 1 :]


def rule_of(policy: Policy, platform: str) -> Discipline:
    """Return the rule of a policy on a kind of platform.

    Raises
    ------
    InputError
        If the rule does not know the platform, or nobody has written how its passes are judged.
    """
    rule: Discipline = policy.row.find("audit", platform)(policy)
    return rule

"""What each rule makes of one pass: who has the right to start, and who has not, and why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from core.arrays import Int64
from core.audit.discipline import Discipline
from core.audit.machine import Pass
from core.audit.profile import Profile
from core.policy.policy import Policy

Right = Callable[[Int64], npt.NDArray[np.bool_]]
"""Tells which of some jobs would start, as processors and reservations now stand."""


class Strict(Discipline):
    """Nobody overtakes."""

    def check(self, step: Pass) -> None:
        """Tell the pass of every right to start and of every lack of it."""
        for place, job in enumerate(step.queue.tolist()):
            if not step.fits(job):
                step.may_not(job, step.lacks(job))
                self.behind_head(step, job, step.queue[place + 1 :])
                return
            step.may(job, step.room(job))

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
            return machine.widths[jobs] <= machine.free

        _walk(step, step.behind(rest), right, step.lacks)


class Easy(Strict):
    """Whoever fits and does not delay the head starts."""

    def behind_head(self, step: Pass, head: int, rest: Int64) -> None:
        """Judge the jobs behind the first that does not start."""
        machine, now = step.machine, step.now
        if machine.free < machine.widths[rest].min(initial=machine.free + 1) and not (
            step.is_given(rest).any()
        ):
            return
        shadow, extra = machine.shadow(head)

        def right(jobs: Int64) -> npt.NDArray[np.bool_]:
            widths = machine.widths[jobs]
            short = machine.estimates[jobs] <= shadow - now
            return (widths <= machine.free) & (short | (widths <= extra))

        def why(job: int) -> str:
            if not step.fits(job):
                return step.lacks(job)
            return (
                f"by its estimate it ends at {now + machine.estimate[job]}, past the shadow time "
                f"{shadow} of the head, {machine.says(head)}, and it needs {machine.procs[job]} "
                f"processors where {extra} are to spare"
            )

        def charge(job: int) -> None:
            nonlocal extra
            if machine.estimate[job] > shadow - now:
                extra -= machine.procs[job]

        _walk(step, step.behind(rest), right, why, charge)


class Reserving(Discipline):
    """The first waiting jobs, or all, hold reservations, made anew at each pass."""

    def __init__(self, policy: Policy) -> None:
        self.depth = policy.depth

    def check(self, step: Pass) -> None:
        """Tell the pass of every right to start and of every lack of it."""
        machine, queue = step.machine, step.queue
        look = step.is_given(queue) | (machine.widths[queue] <= machine.free)
        # Reservations behind the last job that could start are never seen by anyone.
        last = int(np.flatnonzero(look)[-1]) + 1 if look.any() else 0
        depth = queue.size if self.depth < 0 else self.depth
        profile, points, held, place = machine.profile(), [], 0, 0
        while place < last and held < depth:
            job = int(queue[place])
            instant = _reserve(step, job, profile)
            if instant is not None:
                held += 1
                points.append((job, instant))
            place += 1
        for job, instant in points:
            # Beyond the depth nobody may cross the start of a holder with estimate 0 either.
            if machine.estimate[job] == 0:
                profile.take(instant, instant + 1, machine.procs[job])
        self._beyond(step, queue[place:], profile)

    def _beyond(self, step: Pass, rest: Int64, profile: Profile) -> None:
        machine = step.machine
        look = step.is_given(rest) | (machine.widths[rest] <= machine.free)
        for job in step.behind(rest[look]).tolist():
            procs, estimate = machine.procs[job], machine.estimate[job]
            if not step.fits(job):
                step.may_not(job, step.lacks(job))
            elif not profile.has_room(procs, estimate):
                step.may_not(job, "it would delay a reservation")
            else:
                step.may(job, "it fits and delays no reservation")
                profile.take(step.now, step.now + estimate, procs)


def _reserve(step: Pass, job: int, profile: Profile) -> int | None:
    """Reserve the earliest start of a job; return it unless the job starts at once."""
    machine = step.machine
    procs, estimate = machine.procs[job], machine.estimate[job]
    instant = profile.earliest(procs, estimate)
    profile.take(instant, instant + estimate, procs)
    if instant > step.now:
        step.may_not(
            job, f"its reservation, beside those of the jobs before it in the queue, is {instant}"
        )
    elif not step.fits(job):
        step.may_not(job, step.lacks(job))
    else:
        step.may(job, "its reservation is this instant")
        return None
    return instant


def _walk(
    step: Pass,
    jobs: Int64,
    right: Right,
    why: Callable[[int], str],
    charge: Callable[[int], None] = lambda job: None,
) -> None:
    """Judge jobs in order; only those that start, or could, need more than one look at all."""
    while jobs.size:
        allowed = right(jobs)
        notable = allowed | step.is_given(jobs)
        place = int(np.argmax(notable))
        if not notable[place]:
            return
        job = int(jobs[place])
        if not allowed[place]:
            step.may_not(job, why(job))
        else:
            charge(job)
            step.may(job, step.room(job))
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

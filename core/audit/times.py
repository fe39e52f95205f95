"""Checks for every policy, from the columns of a schedule: starts, submissions, kills, capacity."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.logs.schedules import LoggedSchedule
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule, Segments


@dataclass(frozen=True)
class Evidence:
    """Hold a schedule, the policy to check, and a function that describes a job in a sentence."""

    schedule: Schedule
    policy: Policy
    naming: Callable[[Schedule, int], str]

    def says(self, job: int) -> str:
        """Name a job in a sentence."""
        return self.naming(self.schedule, job)

    @cached_property
    def parts(self) -> Segments:
        """Places of each job with their processors, one row per place."""
        parts, work = self.schedule.segments, self.schedule.workload
        if parts is not None:
            return parts
        return Segments(np.arange(len(work)), self.schedule.place, work.procs)


Proofs = Callable[[Evidence], Iterable[Fault | None]]
"""Function that yields the first fault of each of several kinds."""


def first(faults: Iterable[Fault | None]) -> Fault | None:
    """Return the earliest of some faults; of faults at one instant, the fault of the first job."""
    found = [fault for fault in faults if fault]
    return min(found, key=lambda fault: (fault.instant, fault.job), default=None)


def unstarted(evidence: Evidence) -> Fault | None:
    """Return the first job without a start, as a fault at its submission."""
    work = evidence.schedule.workload
    bad = np.flatnonzero((evidence.schedule.start < 0) & (work.leave < 0))
    if not bad.size:
        return None
    job = int(bad[0])
    instant = int(work.submit[job])
    why = f"{evidence.says(job)} never started after its submission at {instant} s"
    return Fault(instant, job, "start", why)


def early(evidence: Evidence) -> Fault | None:
    """Return the first start before its job's submission."""
    work, start = evidence.schedule.workload, evidence.schedule.start
    bad = np.flatnonzero((start >= 0) & (start < work.submit))
    if not bad.size:
        return None
    job = int(bad[np.argmin(start[bad])])
    instant = int(start[job])
    why = f"job {work.job[job]} started at {instant} s, before its submission at {work.submit[job]}"
    return Fault(instant, job, "submit", why)


def late(evidence: Evidence) -> Fault | None:
    """Return the first start of a job that had already left the queue."""
    work, start = evidence.schedule.workload, evidence.schedule.start
    left = work.submit + work.leave
    bad = np.flatnonzero((start >= 0) & (work.leave >= 0) & (start >= left))
    if not bad.size:
        return None
    job = int(bad[np.argmin(start[bad])])
    instant = int(start[job])
    why = f"{evidence.says(job)} started at {instant} s, and left the queue at {left[job]} s"
    return Fault(instant, job, "start", why)


def overrun(evidence: Evidence) -> Fault | None:
    """Return the first job of a logged schedule that ran longer than its estimate."""
    schedule = evidence.schedule
    if not isinstance(schedule, LoggedSchedule):
        return None
    bad = np.flatnonzero(schedule.overrun)
    if not bad.size:
        return None
    job = int(bad[np.argmin(schedule.end[bad])])
    work, instant = schedule.workload, int(schedule.end[job])
    why = (
        f"job {work.job[job]} ran {schedule.overrun[job]} s longer than its estimate of "
        f"{work.estimate[job]} s, which ended at {instant} s"
    )
    return Fault(instant, job, "kills", why)


def misplaced(evidence: Evidence) -> Fault | None:
    """Return the first start at a place that does not exist or is smaller than the job."""
    schedule = evidence.schedule
    work, start, place = schedule.workload, schedule.start, schedule.place
    platform = work.platform
    there = (place >= 0) & (place < len(platform.sizes))
    bad = np.flatnonzero(
        ~there | (work.procs > np.array(platform.sizes)[np.where(there, place, 0)])
    )
    if not bad.size:
        return None
    job = int(bad[np.argmin(start[bad])])
    where, instant = int(place[job]), int(start[job])
    there_is = f"place {where}; the platform has places 0 to {len(platform.sizes) - 1}"
    if there[job]:
        there_is = f"{platform.places[where]}, which has {platform.sizes[where]}"
    why = f"{evidence.says(job)} started at {instant} s on {there_is}"
    return Fault(instant, job, "place", why)


def overload(evidence: Evidence) -> Fault | None:
    """Return the first instant with more processors in use than a place has."""
    platform, parts = evidence.schedule.workload.platform, evidence.parts
    faults = over_limits(evidence, parts.procs, platform.sizes)
    several = len(platform.sizes) > 1
    return first(
        Fault(
            over.instant,
            over.which,
            "capacity",
            f"{evidence.says(over.which)} started at {over.instant} s, when the running jobs"
            f"{f' on {platform.places[place]}' if several else ''} need {over.asked} of "
            f"{platform.sizes[place]} processors",
        )
        for place, over in faults
    )


def over_limits(
    evidence: Evidence, asked: Int64, limits: Iterable[int]
) -> Iterable[tuple[int, Over]]:
    """Yield each place with an exceeded limit, and the first excess; `asked` is per part.

    A part's request lasts from the start to the end of its job. The result names the job whose
    start exceeds the limit.
    """
    parts, start, end = evidence.parts, evidence.schedule.start, evidence.schedule.end
    lasting = np.flatnonzero(end[parts.job] > start[parts.job])
    by_place = lasting[np.argsort(parts.place[lasting], kind="stable")]
    places = parts.place[by_place]
    for place, limit in enumerate(limits):
        here = by_place[np.searchsorted(places, place) : np.searchsorted(places, place + 1)]
        jobs = parts.job[here]
        over = first_over(start[jobs], end[jobs], asked[here], limit)
        if over is not None:
            yield place, over._replace(which=int(jobs[over.which]))


class Over(NamedTuple):
    """Hold the index of the excessive request, its instant, s, and the total of all requests."""

    which: int
    instant: int
    asked: int


def first_over(start: Int64, end: Int64, asked: Int64, limit: int) -> Over | None:
    """Return the first instant at which the sum of the requests exceeds the limit.

    Each request lasts from its start to its end, s; the end is after the start.

    Examples
    --------
    >>> first_over(np.array([0, 4, 5]), np.array([5, 9, 6]), np.array([2, 1, 3]), 3)
    Over(which=2, instant=5, asked=4)
    """
    instants = np.concatenate((start, end))
    change = np.concatenate((asked, -asked))
    order = np.argsort(instants, kind="stable")
    used = np.cumsum(change[order])
    # Only the level after the last change of an instant counts.
    final = np.append(np.diff(instants[order]) > 0, True)[: used.size]
    bad = np.flatnonzero(final & (used > limit))
    if not bad.size:
        return None
    instant, level = int(instants[order][bad[0]]), int(used[bad[0]])
    starting = np.flatnonzero(start == instant)
    before = level - int(asked[starting].sum())
    found = int(starting[np.argmax(before + np.cumsum(asked[starting]) > limit)])
    return Over(found, instant, level)

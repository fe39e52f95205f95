"""What holds for every policy, straight from the columns: starts, submission, kills, capacity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.logs.schedules import LoggedSchedule
from schedfarm.core.schedule import Schedule


def unstarted(schedule: Schedule) -> Fault | None:
    """Return the first job that has no start; its instant is that of its submission."""
    work = schedule.workload
    bad = np.flatnonzero(schedule.start < 0)
    if not bad.size:
        return None
    job = int(bad[0])
    instant = int(work.submit[job])
    why = f"job {work.job[job]} ({work.procs[job]} processors) never started"
    return Fault(instant, job, "start", f"{why} after its submission at {instant} s")


def early(schedule: Schedule) -> Fault | None:
    """Return the first start before its job's submission."""
    work, start = schedule.workload, schedule.start
    bad = np.flatnonzero(start < work.submit)
    if not bad.size:
        return None
    job = int(bad[np.argmin(start[bad])])
    instant = int(start[job])
    why = f"job {work.job[job]} started at {instant} s, before its submission at {work.submit[job]}"
    return Fault(instant, job, "submit", why)


def overrun(schedule: Schedule) -> Fault | None:
    """Return the first job that ran on past its estimate, where the log says so."""
    if not isinstance(schedule, LoggedSchedule):
        return None
    bad = np.flatnonzero(schedule.overrun)
    if not bad.size:
        return None
    job = int(bad[np.argmin(schedule.end[bad])])
    work, instant = schedule.workload, int(schedule.end[job])
    why = (
        f"job {work.job[job]} ran {schedule.overrun[job]} s on after its estimate of "
        f"{work.estimate[job]} s was over at {instant} s"
    )
    return Fault(instant, job, "kills", why)


def misplaced(schedule: Schedule) -> Fault | None:
    """Return the first start at a place that there is not, or that is narrower than the job."""
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
    last = len(platform.sizes) - 1
    there_is = f"place {where}; the platform has places 0 to {last}"
    if there[job]:
        there_is = f"{platform.places[where]}, which has {platform.sizes[where]}"
    who = f"job {work.job[job]} ({work.procs[job]} processors)"
    return Fault(instant, job, "place", f"{who} started at {instant} s on {there_is}")


def overload(schedule: Schedule) -> Fault | None:
    """Return the first instant with more processors in use than a place has."""
    places = range(len(schedule.workload.platform.sizes))
    faults = [fault for fault in (_overload(schedule, place) for place in places) if fault]
    return min(faults, key=lambda fault: fault.instant, default=None)


def _overload(schedule: Schedule, place: int) -> Fault | None:
    work, platform = schedule.workload, schedule.workload.platform
    size, several = platform.sizes[place], len(platform.sizes) > 1
    lasting = np.flatnonzero((work.run > 0) & (schedule.place == place))
    over = first_over(schedule.start[lasting], schedule.end[lasting], work.procs[lasting], size)
    if over is None:
        return None
    instant, used = over.instant, over.asked
    job = int(lasting[over.which])
    there = f" on {platform.places[place]}" if several else ""
    why = (
        f"job {work.job[job]} ({work.procs[job]} processors) started at {instant} s, when the "
        f"jobs that run{there} need {used} of {size} processors"
    )
    return Fault(instant, job, "capacity", why)


class Over(NamedTuple):
    """Say when more is asked for than there is: who is too many, s, and what is asked in all."""

    which: int
    instant: int
    asked: int


def first_over(start: Int64, end: Int64, asked: Int64, limit: int) -> Over | None:
    """Return the first instant at which more is asked for than there is.

    Parameters
    ----------
    start, end : int64[k]
        When each begins and ceases to ask, later than it begins, s.
    asked : int64[k]
        What each asks for.
    limit : int
        What there is.

    Examples
    --------
    >>> first_over(np.array([0, 4, 5]), np.array([5, 9, 6]), np.array([2, 1, 3]), 3)
    Over(which=2, instant=5, asked=4)
    """
    instants = np.concatenate((start, end))
    change = np.concatenate((asked, -asked))
    order = np.argsort(instants, kind="stable")
    used = np.cumsum(change[order])
    # Only the level after the last change of an instant is ever in force.
    final = np.append(np.diff(instants[order]) > 0, True)[: used.size]
    bad = np.flatnonzero(final & (used > limit))
    if not bad.size:
        return None
    instant, level = int(instants[order][bad[0]]), int(used[bad[0]])
    starting = np.flatnonzero(start == instant)
    before = level - int(asked[starting].sum())
    first = int(starting[np.argmax(before + np.cumsum(asked[starting]) > limit)])
    return Over(first, instant, level)

"""What holds for every policy on a network, straight from starts, ends and segments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.machine_of_network import demand
from schedfarm.core.audit.times import first_over
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.schedule import Schedule, Segments
from schedfarm.core.workload.workload import Workload


def says(work: Workload, job: int) -> str:
    """Name a job in a sentence."""
    origin = work.platform.places[work.origin[job]]
    return f"job {work.job[job]} ({work.procs[job]} processors, of {origin})"


def misplaced(schedule: Schedule) -> Fault | None:
    """Return the first start on parts that the job may not have."""
    work, parts = schedule.workload, parts_of(schedule)
    sizes = np.array(work.platform.sizes)
    there = (parts.place >= 0) & (parts.place < sizes.size) & (parts.procs >= 1)
    again = np.zeros(parts.job.size, np.bool_)
    order = np.lexsort((parts.place, parts.job))
    job, place = parts.job[order], parts.place[order]
    again[order[1:]] = (job[1:] == job[:-1]) & (place[1:] == place[:-1])
    wrong = schedule.taken != work.procs
    wrong[parts.job[~there | again]] = True
    bad = np.flatnonzero(wrong)
    if not bad.size:
        return None
    one = int(bad[np.argmin(schedule.start[bad])])
    instant = int(schedule.start[one])
    mine = parts.job == one
    why = _says_why(work, one, parts.place[mine], parts.procs[mine])
    return Fault(instant, one, "segments", f"{says(work, one)} started at {instant} s {why}")


def _says_why(work: Workload, job: int, places: Int64, procs: Int64) -> str:
    last = len(work.platform.places) - 1
    for place, part in zip(places.tolist(), procs.tolist(), strict=True):
        if not 0 <= place <= last:
            return f"on cluster {place}; there are clusters 0 to {last}"
        if part < 1:
            return f"with {part} processors of {work.platform.places[place]}; a part has at least 1"
    if np.unique(places).size < places.size:
        return "on a cluster twice"
    return f"with {int(procs.sum())} processors in all, where it asks for {work.procs[job]}"


def ended(schedule: Schedule) -> Fault | None:
    """Return the first job that ends when it cannot.

    Who is on one cluster, or on links without limits, ends when its run time is over; nobody ends
    before. How late those on several may be follows from who shares links with them: that is
    judged where they are followed.
    """
    work = schedule.workload
    assert isinstance(work.platform, Network)
    due, end = schedule.start + work.run, schedule.end
    slow = is_spread(schedule) if work.platform.links else np.zeros(len(work), np.bool_)
    bad = np.flatnonzero((end < due) | (~slow & (end > due)))
    if not bad.size:
        return None
    instants = np.minimum(end, due)
    job = int(bad[np.argmin(instants[bad])])
    why = f"ends at {end[job]} s, but its run time is over at {due[job]} s"
    if slow[job]:
        why += ", and not before"
    return Fault(int(instants[job]), job, "end", f"{says(work, job)} {why}")


def overload(schedule: Schedule) -> Fault | None:
    """Return the first instant with more processors in use on a cluster than it has."""
    work, parts = schedule.workload, parts_of(schedule)
    faults: list[Fault] = []
    for place, size in enumerate(work.platform.sizes):
        lasting = schedule.end[parts.job] > schedule.start[parts.job]
        here = np.flatnonzero(lasting & (parts.place == place))
        jobs = parts.job[here]
        over = first_over(schedule.start[jobs], schedule.end[jobs], parts.procs[here], size)
        if over is None:
            continue
        job = int(jobs[over.which])
        why = (
            f"started at {over.instant} s, when the jobs that run on "
            f"{work.platform.places[place]} need {over.asked} of {size} processors"
        )
        faults.append(Fault(over.instant, job, "capacity", f"{says(work, job)} {why}"))
    return min(faults, key=lambda fault: (fault.instant, fault.job), default=None)


def elsewhere(schedule: Schedule, rule: str) -> Fault | None:
    """Return the first start on another cluster than the one to which the job was submitted."""
    work, parts = schedule.workload, parts_of(schedule)
    bad = np.unique(parts.job[parts.place != work.origin[parts.job]])
    if not bad.size:
        return None
    job = int(bad[np.argmin(schedule.start[bad])])
    instant = int(schedule.start[job])
    why = f"started at {instant} s on another cluster, which nobody does"
    return Fault(instant, job, rule, f"{says(work, job)} {why}")


def spread(schedule: Schedule, rule: str) -> Fault | None:
    """Return the first start on several clusters."""
    bad = np.flatnonzero(is_spread(schedule))
    if not bad.size:
        return None
    job = int(bad[np.argmin(schedule.start[bad])])
    instant = int(schedule.start[job])
    why = f"started at {instant} s on several clusters, which nobody does"
    return Fault(instant, job, rule, f"{says(schedule.workload, job)} {why}")


def overasked(schedule: Schedule, rule: str) -> Fault | None:
    """Return the first instant at which a link is asked for more than it has."""
    work, parts = schedule.workload, parts_of(schedule)
    assert isinstance(work.platform, Network)
    asked = link_demands(schedule)
    lasting = (schedule.end[parts.job] > schedule.start[parts.job]) & (asked > 0)
    faults: list[Fault] = []
    for link, capacity in enumerate(work.platform.links):
        here = np.flatnonzero(lasting & (parts.place == link))
        jobs = parts.job[here]
        over = first_over(schedule.start[jobs], schedule.end[jobs], asked[here], capacity)
        if over is None:
            continue
        job = int(jobs[over.which])
        why = (
            f"started at {over.instant} s, when the link of {work.platform.places[link]} is asked "
            f"for {over.asked} of {capacity} kbit/s"
        )
        faults.append(Fault(over.instant, job, rule, f"{says(work, job)} {why}"))
    return min(faults, key=lambda fault: (fault.instant, fault.job), default=None)


def link_demands(schedule: Schedule) -> Int64:
    """Return what each part of a schedule asks of the link of its cluster, int64[k], kbit/s."""
    work, parts = schedule.workload, parts_of(schedule)
    order = np.lexsort((parts.place, parts.job))
    job, procs = parts.job[order], parts.procs[order]
    last = np.cumsum(procs)
    begins = np.flatnonzero(np.diff(job, prepend=-1))
    counts = np.diff(np.append(begins, job.size))
    last -= np.repeat(last[begins] - procs[begins], counts)
    total = np.repeat(np.add.reduceat(procs, begins) if job.size else procs, counts)
    asked = np.zeros(job.size, np.int64)
    several = np.repeat(counts > 1, counts)
    jobs = job[several]
    asked[order[several]] = demand(
        total[several],
        (last - procs)[several],
        last[several],
        work.bandwidth[jobs],
        work.alltoall[jobs],
    )
    return asked


def is_spread(schedule: Schedule) -> npt.NDArray[np.bool_]:
    """Return whether each job has processors on several clusters, bool[n]."""
    counts = np.bincount(parts_of(schedule).job, minlength=len(schedule.workload))
    several: npt.NDArray[np.bool_] = counts > 1
    return several


def parts_of(schedule: Schedule) -> Segments:
    """Return the parts of the jobs of a schedule, which on a network always says so."""
    parts = schedule.segments
    assert parts is not None
    return parts

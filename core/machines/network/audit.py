"""Checks of schedules on a network from the columns alone: parts, ends, processors and links."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.audit import times
from schedfarm.core.audit.times import Evidence
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.network.reference.links import demand
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

CHECKS = ("start", "submit", "segments", "end", "capacity")
"""Names of the checks that hold for every policy."""


def naming(schedule: Schedule, job: int) -> str:
    """Name a job in a sentence: its processors and its cluster."""
    work = schedule.workload
    origin = work.platform.places[work.origin[job]]
    return f"job {work.job[job]} ({work.procs[job]} processors, of {origin})"


def proofs(evidence: Evidence) -> Iterator[Fault | None]:
    """Yield the first fault of each kind."""
    yield times.early(evidence)
    yield misplaced(evidence)
    yield ended(evidence)
    yield times.overload(evidence)
    yield overasked(evidence)


def misplaced(evidence: Evidence) -> Fault | None:
    """Return the first start on invalid parts."""
    schedule, parts = evidence.schedule, evidence.parts
    work = schedule.workload
    there = (parts.place >= 0) & (parts.place < len(work.platform.sizes)) & (parts.procs >= 1)
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
    instant, mine = int(schedule.start[one]), parts.job == one
    why = _wrong_parts(work, one, parts.place[mine], parts.procs[mine])
    return Fault(instant, one, "segments", f"{evidence.says(one)} started at {instant} s {why}")


def _wrong_parts(work: Workload, job: int, places: Int64, procs: Int64) -> str:
    last = len(work.platform.places) - 1
    for place, part in zip(places.tolist(), procs.tolist(), strict=True):
        if not 0 <= place <= last:
            return f"on cluster {place}; there are clusters 0 to {last}"
        if part < 1:
            return f"with {part} processors of {work.platform.places[place]}; a part has at least 1"
    if np.unique(places).size < places.size:
        return "on a cluster twice"
    return f"with {int(procs.sum())} processors in all, where it requests {work.procs[job]}"


def ended(evidence: Evidence) -> Fault | None:
    """Return the first job with an impossible end.

    A job on one cluster, or on links without limits, ends exactly after its run time. No job ends
    earlier. The replay checks the delay of a co-allocated job.
    """
    schedule = evidence.schedule
    work = schedule.workload
    assert isinstance(work.platform, Network)
    due, end = schedule.start + work.run, schedule.end
    slow = is_spread(evidence) if work.platform.links else np.zeros(len(work), np.bool_)
    bad = np.flatnonzero((end < due) | (~slow & (end > due)))
    if not bad.size:
        return None
    instants = np.minimum(end, due)
    job = int(bad[np.argmin(instants[bad])])
    why = f"ends at {end[job]} s, but its run time is over at {due[job]} s"
    if slow[job]:
        why += ", and not before"
    return Fault(int(instants[job]), job, "end", f"{evidence.says(job)} {why}")


def overasked(evidence: Evidence) -> Fault | None:
    """Return the first instant at which a link is overloaded, if links matter.

    An overload breaks the policy unless the policy ignores links.
    """
    platform, policy = evidence.schedule.workload.platform, evidence.policy
    assert isinstance(platform, Network)
    if policy.links != "kept" or not platform.links:
        return None
    faults = times.over_limits(evidence, link_demands(evidence), platform.links)
    return times.first(
        Fault(
            over.instant,
            over.which,
            policy.name,
            f"{evidence.says(over.which)} started at {over.instant} s, when the link of "
            f"{platform.places[link]} has a demand of {over.asked} kbit/s and a capacity of "
            f"{platform.links[link]}",
        )
        for link, over in faults
    )


def link_demands(evidence: Evidence) -> Int64:
    """Return the demand of each part of a job on the link of its cluster, int64[k], kbit/s."""
    work, parts = evidence.schedule.workload, evidence.parts
    spread = is_spread(evidence)
    asked = np.zeros(parts.job.size, np.int64)
    total = np.bincount(parts.job, parts.procs, len(work)).astype(np.int64)
    job, first = -1, 0
    for row in np.lexsort((parts.place, parts.job)).tolist():
        if parts.job[row] != job:
            job, first = int(parts.job[row]), 0
        if spread[job]:
            last, n = first + int(parts.procs[row]), int(total[job])
            asked[row] = demand(n, first, last, int(work.bandwidth[job]), int(work.alltoall[job]))
            first = last
    return asked


def is_spread(evidence: Evidence) -> Bool:
    """Return whether each job has processors on several clusters, bool[n]."""
    counts = np.bincount(evidence.parts.job, minlength=len(evidence.schedule.workload))
    several: Bool = counts > 1
    return several

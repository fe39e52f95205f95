"""Checks of schedules on hosts from the columns alone, by the totals of all hosts.

A schedule does not contain the hosts of its jobs. The replay after these checks chooses the hosts
of each job again, and finds starts with too few free hosts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.audit import times
from schedfarm.core.audit.times import Evidence
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.numerals import counted
from schedfarm.core.schedule import Schedule

CHECKS = ("start", "submit", "kills", "capacity", "resources", "partitions", "windows")
"""Names of the checks."""


def naming(schedule: Schedule, job: int) -> str:
    """Name a job in a sentence, with its number of hosts, its share of each, and its partition."""
    work = schedule.workload.take(slice(job, job + 1))
    platform = work.platform
    assert isinstance(platform, Hosts)
    count, share = platform.requests(work)
    amounts = zip(share[0].tolist(), platform.units, strict=True)
    each = ", ".join(f"{amount} {unit}" for amount, unit in amounts if amount)
    said = f"job {work.job[0]} ({counted(int(count[0]), 'host')} with {each} each"
    if platform.parts:
        said += f"; partition {platform.label(int(work.partition[0]))}"
    return said + ")"


def _rows(schedule: Schedule) -> Iterator[tuple[str, Int64, Int64, str]]:
    """Yield, for each resource, the check, the requests of jobs, the hosts' amount, and the unit.

    The hosts themselves count as a resource if each runs one job at a time.
    """
    work = schedule.workload
    platform = work.platform
    assert isinstance(platform, Hosts)
    count, share = platform.requests(work)
    capacity = platform.capacity
    for r, unit in enumerate(platform.units):
        yield "resources" if r else "capacity", count * share[:, r], capacity[:, r], unit
    if platform.exclusive:
        yield "capacity", count, np.ones(capacity.shape[0], np.int64), "hosts"
    for (label, number), inside in zip(platform.labels, platform.members, strict=True):
        asked = np.where(work.partition == number, count * share[:, 0], 0)
        yield "partitions", asked, capacity[:, 0] * inside, f"processors of {label}"


def _overloads(evidence: Evidence) -> Iterator[Fault]:
    """Yield the first instants at which jobs need more than the total of all hosts."""
    for check, asked, each, unit in _rows(evidence.schedule):
        most = int(each.sum())
        for _, over in times.over_limits(evidence, asked, [most]):
            what = f"started at {over.instant} s, when the running jobs need {over.asked} of"
            why = f"{evidence.says(over.which)} {what} {most} {unit}"
            yield Fault(over.instant, over.which, check, why)


def _within_windows(evidence: Evidence) -> Iterator[Fault]:
    """Yield the first instants at which jobs and windows need more than the total of all hosts."""
    schedule = evidence.schedule
    platform = schedule.workload.platform
    assert isinstance(platform, Hosts)
    host, first, last = platform.spans
    lasting = np.flatnonzero(schedule.end > schedule.start)
    start = np.concatenate((schedule.start[lasting], first))
    end = np.concatenate((schedule.end[lasting], last))
    for _, asked, each, unit in _rows(schedule):
        most = int(each.sum())
        over = times.first_over(start, end, np.concatenate((asked[lasting], each[host])), most)
        if over is None:
            continue
        there = (schedule.start <= over.instant) & (over.instant < schedule.end)
        among = np.flatnonzero(there & (asked > 0))
        job = int(among[np.argmax(schedule.start[among])])
        why = (
            f"{evidence.says(job)} runs at {over.instant} s, when windows and the running jobs "
            f"need {over.asked} of {most} {unit}"
        )
        yield Fault(over.instant, job, "windows", why)


def proofs(evidence: Evidence) -> Iterator[Fault | None]:
    """Yield the first fault of each kind."""
    yield times.early(evidence)
    yield times.late(evidence)
    yield times.overrun(evidence)
    yield times.first(_overloads(evidence))
    platform = evidence.schedule.workload.platform
    assert isinstance(platform, Hosts)
    if platform.windows:
        yield times.first(_within_windows(evidence))

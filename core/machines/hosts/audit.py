"""Checks of schedules on hosts from their columns alone: the amounts of all hosts together.

A schedule has no hosts; the replay that follows these checks places each job again, and finds a
start for which too few hosts are free.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedfarm.core.audit import times
from schedfarm.core.audit.times import Evidence
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.numerals import counted
from schedfarm.core.schedule import Schedule

CHECKS = ("start", "submit", "kills", "capacity", "resources")
"""Names of the checks."""


def naming(schedule: Schedule, job: int) -> str:
    """Name a job in a sentence, with its hosts and its share of each."""
    work = schedule.workload.take(slice(job, job + 1))
    platform = work.platform
    assert isinstance(platform, Hosts)
    count, share = platform.requests(work)
    amounts = zip(share[0].tolist(), platform.units, strict=True)
    each = ", ".join(f"{amount} {unit}" for amount, unit in amounts if amount)
    return f"job {work.job[0]} ({counted(int(count[0]), 'host')} with {each} each)"


def _overloads(evidence: Evidence) -> Iterator[Fault]:
    """Yield the first instants at which jobs need more than all hosts have together."""
    work = evidence.schedule.workload
    platform = work.platform
    assert isinstance(platform, Hosts)
    count, share = platform.requests(work)
    total = platform.capacity.sum(axis=0)
    rows = [
        ("resources" if r else "capacity", count * share[:, r], int(total[r]), unit)
        for r, unit in enumerate(platform.units)
    ]
    if platform.exclusive:
        rows.append(("capacity", count, platform.capacity.shape[0], "hosts"))
    for check, asked, most, unit in rows:
        for _, over in times.over_limits(evidence, asked, [most]):
            what = f"started at {over.instant} s, when the running jobs need {over.asked} of"
            why = f"{evidence.says(over.which)} {what} {most} {unit}"
            yield Fault(over.instant, over.which, check, why)


def proofs(evidence: Evidence) -> Iterator[Fault | None]:
    """Find the first fault of each kind."""
    yield times.early(evidence)
    yield times.late(evidence)
    yield times.overrun(evidence)
    yield times.first(_overloads(evidence))

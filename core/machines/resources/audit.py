"""Checks of schedules on a pool with several resources, from the columns alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schedfarm.core.audit import times
from schedfarm.core.audit.times import Evidence
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.schedule import Schedule

CHECKS = ("start", "submit", "kills", "capacity", "resources", "windows")
"""Names of the checks."""


def naming(schedule: Schedule, job: int) -> str:
    """Name a job in a sentence, with its requests."""
    work, platform = schedule.workload, schedule.workload.platform
    assert isinstance(platform, Resources)
    others = (
        f"{getattr(work, name)[job]} {unit}"
        for name, unit, _ in platform.stocks
        if getattr(work, name)[job] > 0
    )
    return f"job {work.job[job]} ({', '.join([f'{work.procs[job]} processors', *others])})"


def overloads(evidence: Evidence, rows: range, check: str) -> Iterator[Fault]:
    """Yield the first instants at which jobs need more of some resources than the capacity."""
    platform = evidence.schedule.workload.platform
    assert isinstance(platform, Resources)
    requests = platform.requests(evidence.schedule.workload)
    for r in rows:
        amount, unit = platform.amounts[r], platform.units[r]
        for _, over in times.over_limits(evidence, requests[:, r], [amount]):
            what = f"started at {over.instant} s, when the running jobs need {over.asked} of"
            why = f"{evidence.says(over.which)} {what} {amount} {unit}"
            yield Fault(over.instant, over.which, check, why)


def _within_windows(evidence: Evidence) -> Iterator[Fault]:
    """Yield the first instant at which jobs hold a withheld amount of a resource."""
    schedule = evidence.schedule
    platform = schedule.workload.platform
    assert isinstance(platform, Resources)
    windows, requests = platform.intervals, platform.requests(schedule.workload)
    lasting = np.flatnonzero(schedule.end > schedule.start)
    start = np.concatenate((schedule.start[lasting], windows.begin))
    end = np.concatenate((schedule.end[lasting], windows.end))
    for r in range(len(platform.names)):
        asked = np.concatenate((requests[lasting, r], windows.amount[:, r]))
        over = times.first_over(start, end, asked, platform.amounts[r])
        if over is None:
            continue
        there = (schedule.start <= over.instant) & (over.instant < schedule.end)
        among = np.flatnonzero(there & (requests[:, r] > 0))
        job = int(among[np.argmax(schedule.start[among])])
        why = (
            f"{evidence.says(job)} runs at {over.instant} s, when windows and the running jobs "
            f"need {over.asked} of {platform.amounts[r]} {platform.units[r]}"
        )
        yield Fault(over.instant, job, "windows", why)


def proofs(evidence: Evidence) -> Iterator[Fault | None]:
    """Yield the first fault of each kind."""
    platform = evidence.schedule.workload.platform
    assert isinstance(platform, Resources)
    yield times.early(evidence)
    yield times.late(evidence)
    yield times.overrun(evidence)
    yield times.overload(evidence)
    yield times.first(overloads(evidence, range(1, platform.shared), "resources"))
    if platform.windows:
        yield times.first(_within_windows(evidence))

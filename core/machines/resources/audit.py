"""Checks of schedules on a pool with several resources from their columns alone."""

from __future__ import annotations

from collections.abc import Iterator

from schedfarm.core.audit import times
from schedfarm.core.audit.times import Evidence
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.schedule import Schedule

CHECKS = ("start", "submit", "kills", "capacity", "resources")
"""Names of the checks."""


def naming(schedule: Schedule, job: int) -> str:
    """Name a job in a sentence, with what it requests."""
    work, platform = schedule.workload, schedule.workload.platform
    assert isinstance(platform, Resources)
    others = (
        f"{getattr(work, name)[job]} {unit}"
        for name, unit, _ in platform.stocks
        if getattr(work, name)[job] > 0
    )
    return f"job {work.job[job]} ({', '.join([f'{work.procs[job]} processors', *others])})"


def overloads(evidence: Evidence, rows: range, check: str) -> Iterator[Fault]:
    """Yield the faults of a check at which jobs need more than there is of some resources."""
    platform = evidence.schedule.workload.platform
    assert isinstance(platform, Resources)
    requests = platform.requests(evidence.schedule.workload)
    for r in rows:
        amount, unit = platform.amounts[r], platform.units[r]
        for _, over in times.over_limits(evidence, requests[:, r], [amount]):
            what = f"started at {over.instant} s, when the running jobs need {over.asked} of"
            why = f"{evidence.says(over.which)} {what} {amount} {unit}"
            yield Fault(over.instant, over.which, check, why)


def proofs(evidence: Evidence) -> Iterator[Fault | None]:
    """Find the first fault of each kind."""
    platform = evidence.schedule.workload.platform
    assert isinstance(platform, Resources)
    yield times.early(evidence)
    yield times.late(evidence)
    yield times.overrun(evidence)
    yield times.overload(evidence)
    yield times.first(overloads(evidence, range(1, platform.shared), "resources"))

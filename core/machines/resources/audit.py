"""Checks of schedules on a pool with several resources from their columns alone."""

from __future__ import annotations

from collections.abc import Iterator

from schedfarm.core.audit import times
from schedfarm.core.audit.times import Evidence
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.resources.platform import UNITS, Resources
from schedfarm.core.schedule import Schedule

CHECKS = ("start", "submit", "kills", "capacity", "resources")
"""Names of the checks."""


def naming(schedule: Schedule, job: int) -> str:
    """Name a job in a sentence, with what it requests."""
    work, platform = schedule.workload, schedule.workload.platform
    assert isinstance(platform, Resources)
    others = (
        f"{getattr(work, name)[job]} {UNITS[name]}"
        for name in platform.names[1:]
        if getattr(work, name)[job] > 0
    )
    return f"job {work.job[job]} ({', '.join([f'{work.procs[job]} processors', *others])})"


def _overload(evidence: Evidence) -> Iterator[Fault]:
    platform = evidence.schedule.workload.platform
    assert isinstance(platform, Resources)
    requests = platform.requests(evidence.schedule.workload)
    for r, name in enumerate(platform.names[1:], 1):
        amount = platform.amounts[r]
        for _, over in times.over_limits(evidence, requests[:, r], [amount]):
            what = f"started at {over.instant} s, when the running jobs need {over.asked} of"
            why = f"{evidence.says(over.which)} {what} {amount} {UNITS[name]}"
            yield Fault(over.instant, over.which, "resources", why)


def proofs(evidence: Evidence) -> Iterator[Fault | None]:
    """Find the first fault of each kind."""
    yield times.early(evidence)
    yield times.overrun(evidence)
    yield times.overload(evidence)
    yield times.first(_overload(evidence))

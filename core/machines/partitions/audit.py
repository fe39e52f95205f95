"""Checks of schedules on a pool with partitions, from the columns alone."""

from __future__ import annotations

from collections.abc import Iterator

from schedfarm.core.audit import times
from schedfarm.core.audit.times import Evidence
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.resources import audit as resources
from schedfarm.core.schedule import Schedule

CHECKS = (*resources.CHECKS, "partitions")
"""Names of the checks."""


def naming(schedule: Schedule, job: int) -> str:
    """Name a job in a sentence, with its requests and its partition."""
    work, platform = schedule.workload, schedule.workload.platform
    assert isinstance(platform, Partitions)
    said = resources.naming(schedule, job)
    return f"{said[:-1]}; partition {platform.label(int(work.partition[job]))})"


def proofs(evidence: Evidence) -> Iterator[Fault | None]:
    """Yield the first fault of each kind."""
    platform = evidence.schedule.workload.platform
    assert isinstance(platform, Partitions)
    yield from resources.proofs(evidence)
    rows = range(platform.shared, len(platform.names))
    yield times.first(resources.overloads(evidence, rows, "partitions"))

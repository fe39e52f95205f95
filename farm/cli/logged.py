"""The schedule that follows from the waits of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedfarm.core.schedule import Schedule
    from schedfarm.core.workload.workload import Workload

LOGGED = "as logged"
"""Name of a log's own schedule in figures."""

FEW = 0.05
"""Share of jobs without a logged wait above which a log has no schedule of its own."""


def as_logged(jobs: Workload) -> Schedule | None:
    """Return the schedule of the log; None if too many waits are unknown."""
    from schedfarm.core import Pool, simulate as run_policy

    known = (jobs.logged_wait >= 0) | (jobs.leave >= 0)
    enough = known.any() and known.mean() >= 1 - FEW
    if not enough:
        return None
    # The log lacks the places of jobs, which no metric here needs.
    return run_policy(jobs.take(known, platform=Pool(jobs.processors)), "fcfs+logged")

"""Processor numbers for the jobs of a schedule, which records only counts of processors."""

from __future__ import annotations

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.schedule import Schedule

Run = tuple[int, int]
"""First and last processor of a run."""


def processors_of(schedule: Schedule) -> list[list[Run]]:
    """Return the runs of consecutive processors of each job, from 0, as `place_jobs` assigns them.

    The processors of a place are numbered after the processors of all places before it. A job of 0
    s shares the lowest numbers with other jobs. Raises `InputError` if the jobs need more
    processors than the machine has.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0, 2], run=[2, 5, 1], estimate=[2, 5, 1],
    ...                           procs=[2, 1, 3], processors=4)
    >>> processors_of(simulate(w, "fcfs+easy"))
    [[(0, 1)], [(2, 2)], [(0, 1), (3, 3)]]
    """
    from schedfarm.core.placement import parts_of, place_jobs

    placed = place_jobs(schedule)
    first, last = placed.first, placed.first + placed.count - 1
    offsets = np.concatenate(([0], np.cumsum(schedule.workload.platform.sizes)))
    # Jobs of a place with too few processors occupy more rows than the place has.
    beyond = last - placed.rows[placed.place] >= np.diff(offsets)[placed.place]
    if beyond.any():
        number = schedule.workload.job[placed.job[beyond][0]]
        raise InputError(
            f"job {number} starts while its processors are not free: the schedule needs more than "
            "the machine has, so that no processor numbers can be given"
        )
    found: list[list[Run]] = [[] for _ in range(len(schedule.workload))]
    for job, *run in zip(placed.job.tolist(), first.tolist(), last.tolist(), strict=True):
        found[job].append((run[0], run[1]))
    job, place, procs = parts_of(schedule)
    instant = (schedule.held[job] == 0) & (procs > 0) & ~schedule.refused[job]
    columns = (job, offsets[place], offsets[place] + procs - 1)
    for at, *run in zip(*(column[instant].tolist() for column in columns), strict=True):
        found[at].append((run[0], run[1]))
    return [sorted(runs) for runs in found]

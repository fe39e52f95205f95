"""Processor numbers for the jobs of a schedule, which records counts only."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.schedule import Schedule

Run = tuple[int, int]
"""First and last processor of a run."""


def processors_of(schedule: Schedule) -> list[list[Run]]:
    """Return the runs of processors of each job, from 0; the free ones with the lowest numbers.

    The processors of a place are numbered after those of the places before it. At one instant jobs
    end before others start. A job of 0 s shares the lowest numbers with other jobs. Raises
    `InputError` if the jobs need more processors than the machine has.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0, 2], run=[2, 5, 1], estimate=[2, 5, 1],
    ...                           procs=[2, 1, 3], processors=4)
    >>> processors_of(simulate(w, "fcfs+easy"))
    [[(0, 1)], [(2, 2)], [(0, 1), (3, 3)]]
    """
    job, place, procs = _parts(schedule)
    start, end = schedule.start[job], schedule.end[job]
    found: list[list[Run]] = [[] for _ in range(len(schedule.workload))]
    sizes = schedule.workload.platform.sizes
    offsets = [0, *accumulate(sizes)]
    free = [[(offset, offset + size - 1)] for offset, size in zip(offsets, sizes, strict=False)]
    held: list[list[Run]] = [[] for _ in range(job.size)]
    instant = np.flatnonzero(start == end)
    for part in instant.tolist():
        first = offsets[int(place[part])]
        found[int(job[part])].append((first, first + int(procs[part]) - 1))
    lasting = np.flatnonzero(start < end)
    # By time; ends, coded by -1 - part, before starts.
    times = np.concatenate([end[lasting], start[lasting]])
    events = np.concatenate([-1 - lasting, lasting])
    order = np.lexsort((events >= 0, times))
    for event in events[order].tolist():
        part = event if event >= 0 else -1 - event
        there = free[int(place[part])]
        if event < 0:
            for run in held[part]:
                _release(there, run)
            held[part] = []
        else:
            if sum(last - first + 1 for first, last in there) < procs[part]:
                raise InputError(
                    f"job {schedule.workload.job[job[part]]} starts while its "
                    f"{int(procs[part])} processors are not free: the schedule needs more than "
                    "the machine has, so that no processor numbers can be given"
                )
            held[part] = _take(there, int(procs[part]))
            found[int(job[part])] += held[part]
    return [sorted(runs) for runs in found]


def _parts(schedule: Schedule) -> tuple[Int64, Int64, Int64]:
    """Return job, place and processors of the parts of all jobs that ran."""
    parts = schedule.segments
    if parts is not None:
        return parts.job, parts.place, parts.procs
    job = np.flatnonzero(~schedule.refused)
    return job, schedule.place[job], schedule.taken[job]


def _take(free: list[Run], count: int) -> list[Run]:
    """Remove the lowest processors from the free runs, and return them as runs."""
    taken: list[Run] = []
    while count:
        first, last = free[0]
        size = min(count, last - first + 1)
        taken.append((first, first + size - 1))
        if first + size > last:
            del free[0]
        else:
            free[0] = (first + size, last)
        count -= size
    return taken


def _release(free: list[Run], run: Run) -> None:
    """Add a run to the free runs, joined with its neighbours."""
    first, last = run
    at = bisect_left(free, run)
    if at < len(free) and free[at][0] == last + 1:
        last = free.pop(at)[1]
    if at and free[at - 1][1] == first - 1:
        at -= 1
        first = free.pop(at)[0]
    free.insert(at, (first, last))

"""Processor numbers for the jobs of a schedule, for figures and exported files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import kernel, verb
from schedfarm.core.schedule import Schedule

UNBOUNDED = 2**62
"""End of the last free range.

The range also holds the jobs of faulty logs that exceed the machine's processors.
"""


@dataclass(frozen=True, eq=False)
class Placement:
    """Hold rectangles of processors x time, in which no two jobs overlap.

    Parameters
    ----------
    job : int64[k]
        Index of the job; a job without contiguous processors has several rectangles.
    first, count : int64[k]
        Lowest processor number, and number of processors.
    place : int64[k]
        Index into the platform's places.
    rows : int64[places + 1]
        First processor number of each place, then the total number of rows. A place has more rows
        than processors if its jobs exceed its capacity, as in faulty logs.
    """

    job: Int64
    first: Int64
    count: Int64
    place: Int64
    rows: Int64


def place_jobs(schedule: Schedule) -> Placement:
    """Assign processor numbers to jobs by first fit, in the order of (start, position).

    A job takes the lowest contiguous range of enough free processors. If there is none, it takes
    the lowest free processors. Jobs that hold processors for no time have no rectangle. Simulations
    count the processors of a place without numbering them, so the numbers are not decisions of a
    scheduler.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0, 0, 4], run=[4, 9, 4, 5], estimate=[4, 9, 4, 5],
    ...                           procs=[1, 1, 1, 2], processors=3)
    >>> found = place_jobs(simulate(w, "fcfs+easy"))
    >>> list(zip(found.job.tolist(), found.first.tolist(), found.count.tolist()))
    [(0, 0, 1), (1, 1, 1), (2, 2, 1), (3, 0, 1), (3, 2, 1)]
    """
    sizes = schedule.workload.platform.sizes
    job, place, procs = parts_of(schedule)
    stays = (procs > 0) & (schedule.held[job] > 0)
    job, place, procs = job[stays], place[stays], procs[stays]
    start, end = schedule.start[job], schedule.end[job]
    order = np.lexsort((job, start, place))
    bounds = np.searchsorted(place[order], np.arange(len(sizes) + 1))
    found, rows = [], [0]
    for number, size in enumerate(sizes):
        these = order[bounds[number] : bounds[number + 1]]
        piece, first, count = _first_fit(start[these], end[these], procs[these], size)
        found.append((job[these][piece], first + rows[-1], count, np.full(piece.size, number)))
        rows.append(rows[-1] + max(size, int((first + count).max(initial=0))))
    piece, first, count, place = (
        np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True)
    )
    return Placement(piece, first, count, place, np.array(rows, np.int64))


def parts_of(schedule: Schedule) -> tuple[Int64, Int64, Int64]:
    """Return job, place and processors of each part of a job; a part is in one place."""
    parts = schedule.segments
    if parts is not None:
        return parts.job, parts.place, parts.procs
    return np.arange(len(schedule.workload)), schedule.place, schedule.taken


def _first_fit(start: Int64, end: Int64, procs: Int64, size: int) -> tuple[Int64, Int64, Int64]:
    """Return the pieces of jobs in order of starts: index, lowest processor, processors."""
    ending = np.argsort(end, kind="stable")
    most = 2 * start.size + 1
    while True:
        pieces = np.empty((3, most), np.int64)
        free = np.empty((2, most + 1), np.int64)
        span = np.empty((2, start.size), np.int64)
        found = first_fit(start, end, procs, ending, size, pieces, free, span)
        if found >= 0:
            return pieces[0, :found], pieces[1, :found], pieces[2, :found]
        most *= 2


@kernel
def first_fit(
    start: Int64, end: Int64, procs: Int64, ending: Int64, size: int,
    pieces: Int64, free: Int64, span: Int64,
) -> int:  # fmt: skip
    """Write the pieces of all jobs; return their number, or -1 if `pieces` is too short.

    start, end, procs: int64[n], ascending by start. ending: int64[n], indices of jobs ascending by
    end. pieces: int64[3, m], output. free: int64[2, m + 1], scratch space for free ranges. span:
    int64[2, n], scratch space for the pieces of each job.
    """
    free[0, 0], free[1, 0] = 0, UNBOUNDED
    ranges, made, ended = 1, 0, 0
    for j in range(start.size):
        while end[ending[ended]] <= start[j]:
            left = ending[ended]
            for k in range(span[0, left], span[1, left]):
                ranges = _release(free, ranges, pieces[1, k], pieces[1, k] + pieces[2, k])
            ended += 1
        span[0, j] = made
        need = procs[j]
        whole = _contiguous(free, ranges, need, size)
        i = max(whole, 0)
        while need > 0:
            if made == pieces.shape[1]:
                return -1
            count = min(need, free[1, i] - free[0, i])
            pieces[0, made], pieces[1, made], pieces[2, made] = j, free[0, i], count
            made += 1
            need -= count
            free[0, i] += count
            if free[0, i] == free[1, i]:
                ranges -= 1
                for k in range(i, ranges):
                    free[0, k], free[1, k] = free[0, k + 1], free[1, k + 1]
        span[1, j] = made
    return made


@verb
def _contiguous(free: Int64, ranges: int, need: int, size: int) -> int:
    """Return the lowest free range with enough processors below `size`, or -1."""
    for i in range(ranges):
        if min(free[1, i], size) - free[0, i] >= need:
            return i
    return -1


@verb
def _release(free: Int64, ranges: int, first: int, last: int) -> int:
    """Add a free range, and join it with its neighbours; return the number of ranges."""
    low, high = 0, ranges
    while low < high:
        middle = (low + high) // 2
        if free[0, middle] < first:
            low = middle + 1
        else:
            high = middle
    below = low > 0 and free[1, low - 1] == first
    # The last range has no upper end, so a range always follows.
    if free[0, low] == last:
        if not below:
            free[0, low] = first
            return ranges
        free[1, low - 1] = free[1, low]
        for k in range(low, ranges - 1):
            free[0, k], free[1, k] = free[0, k + 1], free[1, k + 1]
        return ranges - 1
    if below:
        free[1, low - 1] = last
        return ranges
    for k in range(ranges, low, -1):
        free[0, k], free[1, k] = free[0, k - 1], free[1, k - 1]
    free[0, low], free[1, low] = first, last
    return ranges + 1

"""State of all fair start kernels: the fair order, and a clone of the machine and the queue.

The fair start of a job is found on a clone of the state at its arrival, or at a later instant if
that is exact: the clone is simulated without later jobs until the job starts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.machine import Machine, give_back, next_end, release_due
from schedfarm.core.engine.queue import BLOCK, Queue, enqueue
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import World

GONE = 0
"""Start on a clone, s, of a job that does not exist there, so that this job does not count as
waiting."""


class Fair(NamedTuple):
    """The requested jobs, and the fair order.

    rank: int64[n], place of each job in the fair order. until: int64[n], for each job, 1 + the last
    job that is not later in the fair order. wanted: bool[n]. last: 1 + the last requested job.
    relaxed: whether a job joins only when the jobs before it have started. plain: whether the fair
    order is that of arrival. patient: whether, in addition, a waiting job never affects an earlier
    one.
    """

    rank: Int64
    until: Int64
    wanted: npt.NDArray[np.bool_]
    last: int
    relaxed: bool
    plain: bool
    patient: bool


@verb
def copy_queue(
    queue: Queue, other: Queue, start: Int64, keys: tuple[Int64, Int64], rank: Int64, bar: int
) -> None:
    """Copy the waiting jobs with a rank of at most `bar`, packed into full blocks."""
    place, filled, b = -1, BLOCK, 0
    for p in range(queue.state[0].blocks):
        source = queue.first[queue.order[p]]
        for cell in range(source, source + queue.length[queue.order[p]]):
            j = queue.job[cell]
            if rank[j] > bar:
                start[j] = GONE
                continue
            start[j], keys[1][j] = -1, keys[0][j]
            if filled == BLOCK:
                place, filled = place + 1, 0
                b = other.order[place]
                other.first[b] = b * BLOCK
                other.least_need[b] = other.least_estimate[b] = NEVER
            target = b * BLOCK + filled
            filled += 1
            need, estimate = queue.need[cell], queue.estimate[cell]
            other.job[target], other.submit[target] = j, queue.submit[cell]
            other.need[target], other.estimate[target] = need, estimate
            other.length[b] = filled
            other.least_need[b] = min(other.least_need[b], need)
            other.least_estimate[b] = min(other.least_estimate[b], estimate)
    other.state[0].blocks, other.state[0].seen = place + 1, -1


@verb
def coming(fair: Fair, start: Int64, k: int, j: int) -> int:
    """Return the next job from k on that is not later than job j; `until` if there is none."""
    while k < fair.until[j] and fair.rank[k] > fair.rank[j]:
        start[k] = GONE
        k += 1
    return k


@verb
def turn_alone(
    copy: World, key: Int64, fair: Fair, per_event: bool, k: int, j: int
) -> tuple[int, int]:
    """Go to the next instant, or event, of a clone for job j; return it, s, and the next arrival.

    `key` orders arriving jobs in the clone's queue.
    """
    jobs, machine, queue, _, own = copy
    k = coming(fair, jobs.start, k, j)
    due, end = jobs.submit[k] if k < fair.until[j] else NEVER, next_end(machine)
    now = min(due, end)
    if per_event:
        give_back(machine, now)
    if end == now and not (per_event and due == now):
        release_due(machine, jobs, now, per_event)
    while k < fair.until[j] and jobs.submit[k] == now:
        jobs.start[k], own[k] = -1, key[k]
        enqueue(queue, jobs, own, k)
        k = coming(fair, jobs.start, k + 1, j)
        if per_event:
            break
    return now, k


@verb
def forks_at_arrival(fair: Fair, j: int, arrived: int) -> bool:
    """Return whether job j gets its clone at its arrival, and not just before the next arrival.

    Invariant: with strict fair starts in order of arrival, the schedule itself is the clone of job
    j until the next arrival, unless other jobs arrive after it at the same instant and share its
    pass.
    """
    return bool(fair.wanted[j] and (fair.relaxed or not fair.plain or j + 1 < arrived))


@verb
def forks_before_next(jobs: Jobs, machine: Machine, fair: Fair, fst: Int64, arrived: int) -> bool:
    """Return whether an arrival is next, and the latest job waits and has no clone yet."""
    j = arrived - 1
    if j < 0 or jobs.start[j] >= 0 or fst[j] >= 0 or not fair.wanted[j]:
        return False
    return arrived == jobs.submit.size or jobs.submit[arrived] <= next_end(machine)


@verb
def is_over(jobs: Jobs, fair: Fair, fst: Int64, arrived: int) -> bool:
    """Return whether the last requested job, and thus each, has started or had its clone.

    Also return True if the simulation is cancelled.
    """
    j = fair.last - 1
    return bool(jobs.leave[0] != 0 or (arrived > j and (jobs.start[j] >= 0 or fst[j] >= 0)))


@verb
def fill_in(jobs: Jobs, fair: Fair, fst: Int64) -> None:
    """Use the start in the schedule as the fair start of jobs that had no clone."""
    for j in range(fair.last):
        if fair.wanted[j] and fst[j] < 0:
            fst[j] = jobs.start[j]


@verb
def needs_copy(jobs: Jobs, fair: Fair, fst: Int64, j: int, head: int) -> bool:
    """Return whether job j has no fair start yet, and its start in the schedule may differ.

    Called when job j or a later one has just started; `head` is the first waiting job.

    Invariant: for a patient fair order the schedule decides on job j as its own clone would, until
    a later job starts, since waiting later jobs do not affect it. The start in the schedule of a
    job that has started by then is its fair start; for relaxed fair starts, only if no earlier job
    still waits.
    """
    if not fair.wanted[j] or fst[j] >= 0:
        return False
    return bool(jobs.start[j] < 0 or (fair.relaxed and head < j))


@verb
def answer(start: Int64, fst: Int64, first: int, stop: int, head: int) -> int:
    """Record the starts of jobs first..stop - 1 on a clone; return 1 + the last job that started.

    Before, none of these jobs had started. Invariant: a waiting job never affects an earlier one,
    so that the clone is valid for all of these jobs until one of them starts, and then for the jobs
    later than this one. A job that overtakes the waiting `head` gets a separate clone.
    """
    for j in range(first, stop):
        if start[j] >= 0:
            first = j + 1
            if j < head:
                fst[j] = start[j]
    return first

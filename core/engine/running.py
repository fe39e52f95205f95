"""The running jobs: their ends, their predicted ends, and the head's shadow time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, verb


class Jobs(NamedTuple):
    """The columns that a kernel reads and the two that it writes, each of shape (n,).

    leave: int64[1], nonzero if the kernel is to stop between two instants, before its end.
    Kernels run without the GIL: another thread sets it, and reads the progress in `start`.
    leaving: `core.engine.leaving.Leaving` if jobs may be withdrawn, else `Staying`.
    """

    submit: Int64
    run: Int64
    estimate: Int64
    procs: Int64
    start: Int64
    backfilled: npt.NDArray[np.bool_]
    leave: Int64
    leaving: Any


class Running(NamedTuple):
    """The running jobs in two lists, each with the soonest last, and the processors left.

    Sorted arrays beat a heap here: some 20 to 70 jobs run at once on the archive's logs, a new
    end lies near the soonest, and a pop has no branches to mispredict.

    given: int64[1], the instant, s, or -1. Jobs predicted to end by then have released their
    processors before their completion; their width in the list is 0.
    """

    end: Int64
    job: Int64
    predicted: Int64
    width: Int64
    count: Int64  # type: ignore[assignment]
    free: Int64
    given: Int64

    def running_jobs(self) -> Int64:
        """Return the running jobs, int64[k]."""
        return self.job[: self.count[0]]


def idle_machine(processors: int, most: int) -> Running:
    """Return the idle machine with room for `most` running jobs."""
    # Per event more jobs than processors may run: some are predicted to have ended, or take none.
    free = np.full(1, processors, np.int64)
    return Running(
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.zeros(1, np.int64),
        free,
        np.full(1, -1, np.int64),
    )


@verb
def next_end(running: Running) -> int:
    """Return the next instant at which a job ends, s, or NEVER."""
    count = running.count[0]
    return running.end[count - 1] if count > 0 else NEVER


@verb
def launch(jobs: Jobs, running: Running, j: int, now: int) -> None:
    """Start job `j`: take its processors and record both of its ends."""
    jobs.start[j] = now
    count = running.count[0]
    end, p = now + jobs.run[j], count
    # Jobs that end together leave in the order of their starts, which the per-event clock shows.
    while p > 0 and running.end[p - 1] <= end:
        running.end[p], running.job[p] = running.end[p - 1], running.job[p - 1]
        p -= 1
    running.end[p], running.job[p] = end, j
    end, p = now + jobs.estimate[j], count
    width = jobs.procs[j] if end > running.given[0] else 0
    while p > 0 and running.predicted[p - 1] < end:
        running.predicted[p], running.width[p] = running.predicted[p - 1], running.width[p - 1]
        p -= 1
    running.predicted[p], running.width[p] = end, width
    running.count[0] = count + 1
    running.free[0] -= width


@verb
def give_back(running: Running, now: int) -> bool:
    """Count jobs that are predicted to end by now as free; return whether there are any.

    Only the per-event clock does so, at each event; a job with estimate 0 then takes nothing.
    """
    freed, p = 0, running.count[0] - 1
    while p >= 0 and running.predicted[p] <= now:
        freed += running.width[p]
        running.width[p] = 0
        p -= 1
    running.free[0] += freed
    running.given[0] = now
    return bool(freed > 0)


@verb
def release(jobs: Jobs, running: Running) -> bool:
    """End the next job and release its processors; return whether the end is early."""
    last = running.count[0] - 1
    j = running.job[last]
    predicted = jobs.start[j] + jobs.estimate[j]
    width = jobs.procs[j] if predicted > running.given[0] else 0
    # Jobs with the same prediction and width are interchangeable: no list of ids is kept. Closing
    # the gap during the search is 7 % faster in total than searching first, and a binary search 20
    # % slower: the entry is near the soonest, and each loop mispredicts a branch.
    p = last
    time, procs = running.predicted[p], running.width[p]
    while time != predicted or procs != width:
        p -= 1
        time, running.predicted[p] = running.predicted[p], time
        procs, running.width[p] = running.width[p], procs
    running.count[0] = last
    running.free[0] += width
    return bool(predicted > running.end[last])


@verb
def write_ended(running: Running, begun: int, jobs: Int64, at: int) -> int:
    """Write the jobs that have just ended, of `begun` that ran, from `at` on; return their number.

    They are behind the end of the list until the next start.
    """
    ended = begun - running.count[0]
    for p in range(ended):
        jobs[at + p] = running.job[running.count[0] + p]
    return int(ended)


@verb
def write_running(running: Running, jobs: Int64) -> int:
    """Write the running jobs; return their number."""
    for p in range(running.count[0]):
        jobs[p] = running.job[p]
    return int(running.count[0])


@verb
def find_shadow(running: Running, need: int) -> tuple[int, int]:
    """Return the earliest instant with `need` processors free, s, and the processors left then.

    Predicted ends count, including all ties at that instant (SEMANTICS: easy).
    """
    level, p, shadow = running.free[0], running.count[0], 0
    while level < need:
        p -= 1
        level += running.width[p]
        shadow = running.predicted[p]
    while p > 0 and running.predicted[p - 1] == shadow:
        p -= 1
        level += running.width[p]
    return shadow, level - need

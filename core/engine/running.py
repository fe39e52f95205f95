"""The running jobs: their ends, their predicted ends, and the head's shadow time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, verb


class Jobs(NamedTuple):
    """Hold the columns that a kernel reads and writes, each of shape (n,).

    leave: int64[1], nonzero if the kernel should stop between two instants, before the end. Kernels
    run without the GIL: another thread sets `leave`, and reads the progress from `start`. leaving:
    `core.engine.leaving.Leaving` if jobs may be withdrawn, else `Staying`.
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
    """Hold the running jobs in two lists, each with the soonest end last, and the free processors.

    Sorted arrays beat a heap here: some 20 to 70 jobs run at once on the archive's logs, a new
    end lies near the soonest, and a pop has no branches to mispredict.

    given: int64[1], an instant, s, or -1. Jobs with predicted ends up to this instant have released
    their processors before their completion, and have width 0 in the list.
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
    # By the per-event clock, more jobs than processors may run: some are past their predicted end,
    # or hold no processors.
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
    """Start job `j`: take its processors, and record its end and its predicted end."""
    jobs.start[j] = now
    count = running.count[0]
    end, p = now + jobs.run[j], count
    # Jobs with the same end leave in the order of their starts, which matters for the per-event
    # clock.
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
    """Free the processors of jobs with a predicted end up to now; return whether any exist.

    Only the per-event clock uses this step, at each event; a job with estimate 0 then holds no
    processors.
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
    # Jobs with the same prediction and width are interchangeable, so there is no list of ids.
    # Closing the gap during the search is 7 % faster in total than a search before it. A binary
    # search is 20 % slower: the entry is near the soonest end, and each loop mispredicts a branch.
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
    """Write the jobs that have just ended, from `at` on; return their number.

    `begun` jobs ran before. Until the next start, the ended jobs are behind the end of the list.
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
    """Return the shadow time for `need` processors, s, and the extra processors then.

    All predicted ends up to and at this instant count (semantics.md: easy).
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

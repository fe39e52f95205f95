"""Trials of a fixed queue: jobs that start in a given order, each when its processors are free."""

from __future__ import annotations

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.jit import NEVER, kernel, verb


@verb
def release(end: Int64, width: Int64, count: int, now: int) -> int:
    """Remove the running jobs that have ended by now; return the number of remaining jobs."""
    left = 0
    for k in range(count):
        if end[k] > now:
            end[left], width[left] = end[k], width[k]
            left += 1
    return left


@verb
def in_use(width: Int64, count: int) -> int:
    """Return the processors of the running jobs."""
    used = 0
    for k in range(count):
        used += width[k]
    return used


@verb
def first_end(end: Int64, count: int) -> int:
    """Return the earliest end of the running jobs."""
    found = NEVER
    for k in range(count):
        found = min(found, end[k])
    return found


@kernel
def run_trials(
    submit: Int64,
    run: Int64,
    procs: Int64,
    processors: int,
    order: Int64,
    tau: int,
    end: Int64,
    width: Int64,
    slowdown: Float64,
) -> None:
    """Set the mean bounded slowdown of the queued jobs of each permutation, float64[trials].

    order: int64[trials, queued], a permutation of the last `queued` jobs in each row; the jobs
    before them start in their given order. No job starts before a preceding job. end, width:
    int64[jobs], scratch space.
    """
    trials, queued = order.shape
    running = submit.size - queued
    for trial in range(trials):
        now = count = 0
        total = 0.0
        for place in range(submit.size):
            j = place if place < running else order[trial, place - running]
            now = max(now, submit[j])
            count = release(end, width, count, now)
            while in_use(width, count) + procs[j] > processors:
                now = first_end(end, count)
                count = release(end, width, count, now)
            end[count], width[count] = now + run[j], procs[j]
            count += 1
            if place >= running:
                total += max((now + run[j] - submit[j]) / max(run[j], tau), 1.0)
        slowdown[trial] = total / queued

"""Clusters beside each other: the running jobs of each, their clock, and what fits where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import next_end
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.running import Jobs, Running, find_shadow, launch, release


class Machines(NamedTuple):
    """The running jobs of each cluster as `Running` holds them, a row each, and where jobs ran.

    end, job, predicted, width: int64[clusters, room]. count, free: int64[clusters, 1]. given:
    int64[1], -1: no cluster gives processors back before a completion. size: int64[clusters],
    processors. place: int64[n], the cluster of each job that has started.
    """

    end: Int64
    job: Int64
    predicted: Int64
    width: Int64
    count: Int64  # type: ignore[assignment]
    free: Int64
    given: Int64
    size: Int64
    place: Int64


def idle_machines(size: Int64, n: int) -> Machines:
    """Return clusters of these sizes, int64[clusters], with no job running, for n jobs."""
    clusters = size.size
    # A running job holds at least one processor, also one that ends at once.
    room = min(n, size.max())
    free = np.empty((clusters, 1), np.int64)
    free[:, 0] = size
    return Machines(
        np.empty((clusters, room), np.int64),
        np.empty((clusters, room), np.int64),
        np.empty((clusters, room), np.int64),
        np.empty((clusters, room), np.int64),
        np.zeros((clusters, 1), np.int64),
        free,
        np.full(1, -1, np.int64),
        size.copy(),
        np.zeros(n, np.int64),
    )


@verb
def on_cluster(machines: Machines, c: int) -> Running:
    """Return the running jobs of cluster `c`, for verbs of one machine to read and change.

    Rows are lent: only verbs and routines, which count no references, may ask for them.
    """
    return Running(
        machines.end[c],
        machines.job[c],
        machines.predicted[c],
        machines.width[c],
        machines.count[c],
        machines.free[c],
        machines.given,
    )


@verb
def soonest_end(machines: Machines) -> int:
    """Return the next instant at which a job ends on any cluster, s, or NEVER."""
    soonest = NEVER
    for c in range(machines.size.size):
        soonest = min(soonest, next_end(on_cluster(machines, c)))
    return soonest


@verb
def launch_on(jobs: Jobs, machines: Machines, c: int, j: int, now: int) -> None:
    """Start job `j` on cluster `c`, where it fits."""
    machines.place[j] = c
    launch(jobs, on_cluster(machines, c), j, now)


@verb
def release_ended(jobs: Jobs, machines: Machines, now: int) -> bool:
    """End whatever is to end now; return whether anything was."""
    ended = False
    for c in range(machines.size.size):
        running = on_cluster(machines, c)
        while next_end(running) == now:
            release(jobs, running)
            ended = True
    return ended


@verb
def turn_clock(jobs: Jobs, machines: Machines, arrived: int) -> tuple[int, int, bool]:
    """Go to the next instant, and end the jobs that complete.

    Returns the instant, s, or NEVER at the end, how many jobs have arrived by then, and whether
    any job completed.
    """
    n = jobs.submit.size
    now = min(jobs.submit[arrived] if arrived < n else NEVER, soonest_end(machines))
    if now == NEVER:
        return now, arrived, False
    ended = release_ended(jobs, machines, now)
    while arrived < n and jobs.submit[arrived] == now:
        arrived += 1
    return now, arrived, ended


@verb
def most_free(machines: Machines) -> int:
    """Return the processors that are free on the cluster with the most of them."""
    most = 0
    for c in range(machines.size.size):
        most = max(most, machines.free[c, 0])
    return most


@verb
def first_free(machines: Machines, need: int) -> int:
    """Return the first cluster with so many processors free, -1 if there is none."""
    for c in range(machines.size.size):
        if need <= machines.free[c, 0]:
            return c
    return -1


@verb
def earliest_shadow(machines: Machines, need: int) -> tuple[int, int, int]:
    """Return the cluster where so many processors are free first, when, s, and what is then left.

    By predicted ends; of clusters that are as early, the first.
    """
    cluster, soonest, extra = -1, NEVER, 0
    for c in range(machines.size.size):
        if need <= machines.size[c]:
            shadow, left = find_shadow(on_cluster(machines, c), need)
            if shadow < soonest:
                cluster, soonest, extra = c, shadow, left
    return cluster, soonest, extra


def running_jobs(machines: Machines) -> Int64:
    """Return the jobs that run, int64[k], cluster by cluster."""
    rows = zip(machines.job, machines.count[:, 0], strict=True)
    return np.concatenate([job[:count] for job, count in rows])

"""Clusters of a grid: the running jobs of each, their clock, and the search for a place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import machine
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import up_to
from schedfarm.core.engine.machine import Hold
from schedfarm.core.engine.queue import Queue
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import (
    Jobs,
    Running,
    find_shadow,
    launch,
    next_end,
    release,
)
from schedfarm.core.engine.world import EASY


class Clusters(NamedTuple):
    """Hold the running jobs of each cluster, one row each as in `Running`, and jobs' clusters.

    end, job, predicted, width: int64[clusters, room]. count, free: int64[clusters, 1]. given:
    int64[1], always -1, because no cluster releases processors before a completion. size:
    int64[clusters], processors. place: int64[n], the cluster of each started job. released:
    int64[clusters], for each row, the number of ended jobs just behind its end that have not yet
    been charged to their users.
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
    released: Int64

    def running_jobs(self) -> Int64:
        """Return the running jobs, int64[k], cluster by cluster."""
        rows = zip(self.job, self.count[:, 0], strict=True)
        return np.concatenate([job[:count] for job, count in rows])


def idle_grid(size: Int64, n: int) -> Clusters:
    """Return idle clusters with these sizes, int64[clusters], with room for n jobs."""
    clusters = size.size
    # A running job holds at least one processor, even with run time 0.
    room = min(n, size.max())
    free = np.empty((clusters, 1), np.int64)
    free[:, 0] = size
    return Clusters(
        np.empty((clusters, room), np.int64),
        np.empty((clusters, room), np.int64),
        np.empty((clusters, room), np.int64),
        np.empty((clusters, room), np.int64),
        np.zeros((clusters, 1), np.int64),
        free,
        np.full(1, -1, np.int64),
        size.copy(),
        np.zeros(n, np.int64),
        np.zeros(clusters, np.int64),
    )


@verb
def on_cluster(clusters: Clusters, c: int) -> Running:
    """Return the running jobs of cluster `c`, for the steps of a pool.

    The rows are views without reference counts: only steps may use them.
    """
    return Running(
        clusters.end[c],
        clusters.job[c],
        clusters.predicted[c],
        clusters.width[c],
        clusters.count[c],
        clusters.free[c],
        clusters.given,
    )


@machine.next_end.of(Clusters)
def soonest_end(clusters: Clusters) -> int:
    """Return the next end on any cluster."""
    soonest = NEVER
    for c in range(clusters.size.size):
        soonest = min(soonest, next_end(on_cluster(clusters, c)))
    return soonest


@machine.release_due.of(Clusters)
def release_due(clusters: Clusters, jobs: Jobs, now: int, one: bool) -> bool:
    """End the jobs that end now, cluster by cluster."""
    early = False
    for c in range(clusters.size.size):
        running = on_cluster(clusters, c)
        while next_end(running) == now:
            early |= release(jobs, running)
            clusters.released[c] += 1
    return early


@machine.running_count.of(Clusters)
def running_count(clusters: Clusters) -> int:
    """Return the number of running jobs on all clusters."""
    count = 0
    for c in range(clusters.size.size):
        count += clusters.count[c, 0]
    return count


@machine.most_free.of(Clusters)
def most_free(clusters: Clusters) -> int:
    """Return the largest number of free processors on one cluster."""
    most = 0
    for c in range(clusters.size.size):
        most = max(most, clusters.free[c, 0])
    return most


@machine.has_free.of(Clusters)
def has_free(clusters: Clusters, c: int, need: int) -> bool:
    """Return whether a cluster has `need` processors free."""
    return bool(need <= clusters.free[c, 0])


@machine.place_for.of(Clusters)
def first_free(clusters: Clusters, need: int, now: int) -> int:
    """Return the first cluster with `need` processors free, or -1."""
    for c in range(clusters.size.size):
        if need <= clusters.free[c, 0]:
            return c
    return -1


@verb
def launch_on(jobs: Jobs, clusters: Clusters, c: int, j: int, now: int) -> None:
    """Start job `j` on cluster `c`, where it fits."""
    clusters.place[j] = c
    launch(jobs, on_cluster(clusters, c), j, now)


@machine.begin.of(Clusters)
def begin(clusters: Clusters, jobs: Jobs, c: int, j: int, now: int) -> None:
    """Start a job on cluster c."""
    launch_on(jobs, clusters, c, j, now)


@verb
def earliest_shadow(clusters: Clusters, need: int) -> tuple[int, int, int]:
    """Return the cluster with the earliest shadow time, this time, s, and the extra processors.

    Of equal times, the first cluster counts.
    """
    cluster, soonest, extra = -1, NEVER, 0
    for c in range(clusters.size.size):
        if need <= clusters.size[c]:
            shadow, left = find_shadow(on_cluster(clusters, c), need)
            if shadow < soonest:
                cluster, soonest, extra = c, shadow, left
    return cluster, soonest, extra


@machine.reserve.of(Clusters)
def reserve(clusters: Clusters, hold: Record[Hold], rule: int, need: int) -> None:
    """Make the head's reservation, on the cluster where it is earliest."""
    hold[0].cluster, hold[0].shadow, hold[0].extra = -1, NEVER, 0
    if rule == EASY:
        hold[0].cluster, hold[0].shadow, hold[0].extra = earliest_shadow(clusters, need)
    hold[0].known = 1


@machine.place_beside.of(Clusters)
def place_beside(clusters: Clusters, hold: Record[Hold], now: int, need: int, estimate: int) -> int:
    """Return the first cluster where a job fits without affecting the reservation."""
    for c in range(clusters.size.size):
        if need > clusters.free[c, 0]:
            continue
        if c != hold[0].cluster or now + estimate <= hold[0].shadow:
            return c
        if need <= hold[0].extra:
            hold[0].extra -= need
            return c
    return -1


@machine.candidates.of(Clusters)
def candidates(clusters: Clusters, queue: Queue, hold: Record[Hold], now: int, cell: int) -> int:
    """Return the jobs that fit next to the reservation on its cluster, or on another cluster."""
    held, others = hold[0].cluster, 0
    for c in range(clusters.size.size):
        if c != held:
            others = max(others, clusters.free[c, 0])
    word = up_to(queue.need, cell, others)
    if held >= 0:
        short = up_to(queue.estimate, cell, hold[0].shadow - now)
        narrow = up_to(queue.need, cell, hold[0].extra)
        word |= up_to(queue.need, cell, clusters.free[held, 0]) & (short | narrow)
    return word


@machine.within_reach.of(Clusters)
def within_reach(clusters: Clusters, queue: Queue, hold: Record[Hold], now: int, b: int) -> bool:
    """Return whether a block may hold a job for another cluster or next to the reservation."""
    held, need = hold[0].cluster, queue.least_need[b]
    for c in range(clusters.size.size):
        if need <= clusters.free[c, 0] and (
            c != held or need <= hold[0].extra or now + queue.least_estimate[b] <= hold[0].shadow
        ):
            return True
    return False

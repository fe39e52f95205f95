"""Clones of clusters."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clone import machine as clone
from schedfarm.core.engine.running import Jobs
from schedfarm.core.machines.grid.kernel import Clusters, on_cluster
from schedfarm.core.machines.pool import clone as pool


@clone.copy_machine.of(Clusters)
def copy_clusters(clusters: Clusters, jobs: Jobs, start: Int64, other: Clusters) -> None:
    """Copy the running jobs of every cluster."""
    for c in range(clusters.size.size):
        pool.copy_running(on_cluster(clusters, c), jobs, start, on_cluster(other, c))
        other.released[c] = 0


@clone.withdraw.of(Clusters)
def withdraw(other: Clusters, jobs: Jobs, bar: int) -> None:
    """Remove the jobs with index `bar` or above from every cluster."""
    for c in range(other.size.size):
        pool.withdraw(on_cluster(other, c), jobs, bar)


@clone.latest_running.of(Clusters)
def latest_running(clusters: Clusters, j: int) -> int:
    """Return the latest of the running jobs of all clusters."""
    for c in range(clusters.size.size):
        j = pool.latest_running(on_cluster(clusters, c), j)
    return j

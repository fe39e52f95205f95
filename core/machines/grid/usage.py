"""Usage of users from completions on clusters."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import limits, priority, usage
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.usage import Shares
from schedfarm.core.machines.grid.kernel import Clusters


@usage.follow.of(Clusters)
def follow(clusters: Clusters, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the released jobs of each cluster; all of them ended at this instant."""
    for c in range(clusters.size.size):
        first = clusters.count[c, 0]
        for p in range(first + clusters.released[c] - 1, first - 1, -1):
            usage.count_ended(shares, jobs, clusters.job[c, p], clusters.end[c, p])
        clusters.released[c] = 0
    usage.refresh(shares, now - jobs.submit[0])


@priority.list_ended.of(Clusters)
def list_ended(clusters: Clusters, begun: int, active: Int64, at: int) -> int:
    """Write the released jobs of each cluster."""
    ended = 0
    for c in range(clusters.size.size):
        first = clusters.count[c, 0]
        for p in range(first, first + clusters.released[c]):
            active[at + ended] = clusters.job[c, p]
            ended += 1
    return ended


@priority.list_running.of(Clusters)
def list_running(clusters: Clusters, active: Int64) -> int:
    """Write the lists of all clusters."""
    count = 0
    for c in range(clusters.size.size):
        for p in range(clusters.count[c, 0]):
            active[count] = clusters.job[c, p]
            count += 1
    return count


@limits.forget_ended.of(Clusters)
def forget_ended(clusters: Clusters) -> None:
    """Forget the released jobs of each cluster: set their number to 0."""
    for c in range(clusters.size.size):
        clusters.released[c] = 0

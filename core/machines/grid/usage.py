"""Completions on clusters, counted for their users."""

from __future__ import annotations

from schedfarm.core.engine import usage
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.usage import Shares
from schedfarm.core.machines.grid.kernel import Clusters


@usage.follow.of(Clusters)
def follow(clusters: Clusters, shares: Shares, jobs: Jobs, begun: int, now: int) -> None:
    """Count the released jobs of each cluster: all of them have ended at this instant."""
    for c in range(clusters.size.size):
        first = clusters.count[c, 0]
        for p in range(first + clusters.released[c] - 1, first - 1, -1):
            usage.count_ended(shares, jobs, clusters.job[c, p], clusters.end[c, p])
        clusters.released[c] = 0
    usage.refresh(shares, now - jobs.submit[0])

"""Slurm's limits on random small workloads, by every program, and where fair starts are asked."""

from __future__ import annotations

from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.policy.policy import Policy
from tests.oracles.case import SiteJob, workload
from tests.oracles.compare import check
from tests.oracles.limits import cases, changed


def test_random_limits() -> None:
    """Kernels, reference and audit agree; `python -m tests.oracles.limits` tries more."""
    found = [(work, policy) for work, policy in cases(60, seed=5) if work.platform.name == "pool"]
    for work, policy in found:
        check(work, policy)
    assert sum(changed(work, policy) for work, policy in found) > 5


def test_fair_starts_keep_limits() -> None:
    """Each takes a simulation or the reference: the kernels for fair starts know no limits."""
    work = workload(4, [SiteJob(0, 9, 9, 1, 1), SiteJob(0, 5, 5, 1, 1), SiteJob(1, 4, 4, 4, 2)])
    policy = Policy.parse("fcfs+easy,limits=(root.MaxJobs=1)")
    # At 9 the second job, held until then, starts before the third, which needs all processors.
    assert fair_start_times(work, policy).tolist() == [0, 9, 14]
    assert fair_start_times(work, policy, kind="relaxed").tolist() == [0, 9, 14]

"""Measure simulations of a site: priority, fair tree, limits and Slurm's schedulers.

    python -m tests.benchmarks.site_rate FOLDER

FOLDER has the log SDSC-BLUE. Prints jobs, CPU time and rate of the first 100,000 jobs, and of
600,000 jobs that are drawn from it by whole users.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from schedfarm.core import Workload, read_log, simulate
from schedfarm.core.workload.resample_users import resample_users

ORDER = "multifactor(age=1000, fairshare=10000, size=500)"

LIMITS = (
    "root.MaxJobs=20",
    "qos.2.MaxJobsPerUser=10",
    "qos.3.MaxTRESPerUser=cpu=1152",
    "qos.1.GrpTRES=cpu=1152",
)

LOOSENING = "root.GrpTRESRunMins=cpu=20000000"
"""A limit whose use falls with time, so that each tick may matter."""

POLICIES = {
    "easy": f"{ORDER}+easy",
    "slurm": f"{ORDER}+slurm",
    "slurm, limits": f"{ORDER}+slurm,limits=({', '.join(LIMITS)})",
    "slurm, GrpTRESRunMins": f"{ORDER}+slurm,limits=({', '.join((*LIMITS, LOOSENING))})",
    "slurm, bf_rate=100": f"{ORDER}+slurm,bf_rate=100,limits=({', '.join(LIMITS)})",
}

JOBS = 600_000


def drawn(log: Workload) -> Workload:
    """Return `JOBS` jobs in the log's proportion of users and weeks."""
    weeks = round(1.06 * JOBS / len(log) * (log.submit[-1] - log.submit[0]) / 604_800)
    return resample_users(log, seed=1, index=1, weeks=weeks).take(slice(JOBS))


def main() -> None:
    """Measure each policy on both workloads: the best of three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    log = read_log(next(parser.parse_args().folder.glob("SDSC-BLUE*")))
    for work in (log.take(slice(100_000)), drawn(log)):
        sys.stdout.write(f"{len(work)} jobs, {(work.submit[-1] - work.submit[0]) // 86400} days\n")
        for name, policy in POLICIES.items():
            spent = []
            for _ in range(3):
                began = time.process_time()
                schedule = simulate(work, policy)
                spent.append(time.process_time() - began)
            wait = (schedule.start - work.submit).mean() / 3600
            sys.stdout.write(
                f"  {name}: {min(spent):.2f} s, {len(work) / min(spent):,.0f} jobs/s, "
                f"mean wait {wait:.2f} h\n"
            )


if __name__ == "__main__":
    main()

"""What a simulation on a network takes: tables of docs/benchmarks.md, run by hand.

    python -m tests.benchmarks.network

prints for clusters of 100 processors and Jones and Ligon's jobs the CPU time of each job.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.models.participants import participants
from schedfarm.core.workload.workload import Workload

JOBS, SEEDS = 100_000, (1, 2, 3)

RATES = (570, 690, 755)
"""Jobs a week of all clusters but the last, which has 570: offered loads of 0.77 to 0.95."""

POLICIES = ("fcfs+isolated(10)", "fcfs+ics", "fcfs+icsb(5)", "fcfs+icsb(10)", "fcfs+icsb(20)")


def drawn(clusters: int, rate: float, link: int, seed: int, jobs: int = JOBS) -> Workload:
    """Draw jobs of so many clusters with links of this capacity, kbit/s; 0 for no limit."""
    names = [f"c{i}" for i in range(clusters)]
    network = Network([100] * clusters, names, [link] * clusters if link else ())
    rates = [rate] * (clusters - 1) + [570]
    return participants(network, jobs=jobs, per_week=rates, seed=seed)


def measured(policy: str, clusters: int, rate: float, link: int) -> tuple[str, str]:
    """Return the average number of jobs that wait, and us of each job, of all seeds."""
    spent, waiting = [], []
    for seed in SEEDS:
        work = drawn(clusters, rate, link, seed)
        begin = time.process_time()
        schedule = simulate(work, policy)
        spent.append((time.process_time() - begin) / len(work) * 1e6)
        waiting.append(schedule.wait.sum() / max(schedule.end.max() - work.submit[0], 1))
    waits, us = np.array(waiting), np.array(spent)
    return f"{waits.min():.0f} to {waits.max():.0f}", f"{us.min():.1f} to {us.max():.1f}"


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print the tables."""
    for policy in POLICIES[:2]:
        simulate(drawn(2, 570, 10**6, 1, 50), policy)
    say("| clusters | jobs a week | link | policy | waiting | us a job |")
    say("|--:|--:|--:|:--|--:|--:|")
    cases = [(4, rate, 10**6, policy) for rate in RATES for policy in POLICIES]
    cases += [(clusters, 690, 10**6, "fcfs+icsb(10)") for clusters in (2, 8)]
    cases += [(4, 755, link, "fcfs+icsb(10)") for link in (250_000, 0)]
    for clusters, rate, link, policy in cases:
        told = " | ".join(measured(policy, clusters, rate, link))
        say(f"| {clusters} | {rate} | {link or 'none'} | {policy} | {told} |")


if __name__ == "__main__":
    main()

"""Coverage of the intervals of a comparison, on model workloads with a known true value.

    python -m tests.benchmarks.coverage --replications 2000

A population of model workloads is simulated under two policies; its means are the truth. Each
replication draws samples of it, makes the intervals, and looks whether they hold the truth. Prints
for each number of samples the share of intervals that do, with its standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

from schedfarm.analysis.intervals import Statistic, difference, interval, log_ratio
from schedfarm.core import Workload, lublin, scale_load, simulate, summarise
from schedfarm.core.arrays import Float64

POLICIES = ("fcfs+easy", "spf+easy")

PROCESSORS, JOBS, LOAD = 64, 300, 0.8

SIZES = (5, 10, 20, 40)
"""Samples of a comparison."""

Population = tuple[Float64, Float64]
"""The metric under both policies, float64[workloads, 1] each."""


def population(workloads: int, metric: str) -> Population:
    """Simulate the workloads of the seeds from 0 on under both policies."""

    def of(jobs: Workload, policy: str) -> float:
        return float(summarise(simulate(jobs, policy), names=[metric])[metric])

    rows = []
    for seed in range(workloads):
        jobs = scale_load(lublin(PROCESSORS, jobs=JOBS, seed=seed), LOAD)
        rows.append([of(jobs, policy) for policy in POLICIES])
    values = np.array(rows)
    return values[:, :1], values[:, 1:]


def coverage(
    of: Population, statistic: Statistic, samples: int, replications: int, level: float
) -> tuple[float, float]:
    """Return the share of intervals that hold the value of the population, and its error."""
    truth, held = statistic(*of)[0], 0
    for number in range(replications):
        random = np.random.default_rng([samples, number])
        chosen = random.choice(len(of[0]), samples, replace=False)
        pairs = (of[0][chosen], of[1][chosen])
        found = interval([pairs], statistic, level=level, key=(samples, number))
        held += found.low <= truth <= found.high
    share = held / replications
    return share, float(np.sqrt(share * (1 - share) / replications))


STATISTICS: dict[str, Callable[[Float64, Float64], tuple[Float64, Float64]]] = {
    "ratio": log_ratio,
    "difference": difference,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--workloads", type=int, default=20_000)
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--metric", action="append", default=None)
    given = parser.parse_args()
    sys.stdout.write("metric statistic samples coverage error\n")
    for metric in given.metric or ["wait", "bounded_slowdown"]:
        of = population(given.workloads, metric)
        for name, statistic in STATISTICS.items():
            for samples in SIZES:
                found = coverage(of, statistic, samples, given.replications, given.level)
                sys.stdout.write(f"{metric} {name} {samples} {found[0]:.3f} {found[1]:.3f}\n")
                sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

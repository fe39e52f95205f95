"""Coverage of the intervals of a comparison, on model workloads with a known true value.

    python -m tests.benchmarks.coverage --replications 2000

A population of model workloads is simulated under two policies; its means are the truth. Each
replication draws samples of it, makes the intervals, and looks whether they hold the truth. Prints
for each number of samples the share of intervals that do, with its standard error; then the share
with the caution that pairs are alike, and the coverage with and without it. With --stopping
the samples are added in rounds, by the rule of a campaign that asks for precision, until the
interval is as short as that number of samples makes it on average.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from statistics import NormalDist

import numpy as np

from schedfarm.analysis.intervals import ALIKE, correlation, difference_interval, interval
from schedfarm.core import Workload, downey, jann, lublin, scale_load, simulate, summarise
from schedfarm.core.bootstrap import Block, Interval, difference, log_ratio
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.rounds import Verdict, judge

POLICIES = ("fcfs+easy", "spf+easy")

JOBS, LOAD = 300, 0.8

MODELS: dict[str, Callable[[int], Workload]] = {
    "lublin": lambda seed: lublin(64, jobs=JOBS, seed=seed),
    "jann": lambda seed: jann(322, jobs=JOBS, seed=seed),
    "downey": lambda seed: downey(64, jobs=JOBS, seed=seed),
}

METRICS = ("wait", "bounded_slowdown")

SIZES = (5, 10, 20, 40)
"""Samples of a comparison."""

TARGETS = (20, 40, 80, 160)
"""Samples that make an interval on average as short as is asked for."""

MOST = 2000


def populations(model: str, workloads: int) -> dict[str, Block]:
    """Simulate the workloads of the seeds from 0 on; return each metric under both policies."""

    def of(jobs: Workload, policy: str) -> list[float]:
        found = summarise(simulate(jobs, policy), names=list(METRICS))
        return [float(found[metric]) for metric in METRICS]

    rows = []
    for seed in range(workloads):
        jobs = scale_load(MODELS[model](seed), LOAD)
        rows.append([of(jobs, policy) for policy in POLICIES])
    values = np.array(rows)
    return {m: (values[:, :1, i], values[:, 1:, i]) for i, m in enumerate(METRICS)}


def ratio_of(pairs: Block, level: float, key: tuple[int, ...]) -> Interval:
    return interval([pairs], log_ratio, level=level, key=key)


def difference_of(pairs: Block, level: float, key: tuple[int, ...]) -> Interval:
    return difference_interval(pairs, level=level, key=key)


STATISTICS = {"ratio": (log_ratio, ratio_of), "difference": (difference, difference_of)}


def share(held: list[bool]) -> str:
    """Return the share of intervals that hold the true value, and its standard error."""
    found = float(np.mean(held))
    return f"{found:.3f} {np.sqrt(found * (1 - found) / len(held)):.3f}"


def cautioned(held: list[bool], alike: list[bool]) -> str:
    """Return the share of intervals with a caution, and the coverage with and without it."""
    with_it = [one for one, warned in zip(held, alike, strict=True) if warned]
    without = [one for one, warned in zip(held, alike, strict=True) if not warned]
    covered = (f"{np.mean(part):.3f}" if part else "-" for part in (with_it, without))
    return " ".join([f"{np.mean(alike):.3f}", *covered])


def fixed(of: Block, replications: int, level: float) -> Iterator[str]:
    """Yield the coverage of each statistic with each number of samples."""
    for name, (statistic, make) in STATISTICS.items():
        truth = statistic(*of)[0]
        for samples in SIZES:
            held, alike = [], []
            for number in range(replications):
                random = np.random.default_rng([samples, number])
                chosen = random.choice(len(of[0]), samples, replace=False)
                pairs = (of[0][chosen], of[1][chosen])
                found = make(pairs, level, (samples, number))
                held.append(bool(found.low <= truth <= found.high))
                alike.append(correlation(pairs) > ALIKE)
            yield f"{name} {samples} {share(held)} {cautioned(held, alike)}"


def stopping(of: Block, metric: str, replications: int, level: float) -> Iterator[str]:
    """Yield the coverage of the interval of the ratio that ends the sampling, and mean samples."""
    truth = float(log_ratio(*of)[0])
    spread = float(np.sqrt(log_ratio(*of)[1] * len(of[0])))
    for target in TARGETS:
        half = NormalDist().inv_cdf((1 + level) / 2) * spread / np.sqrt(target)
        asked = asked_for(metric, float(np.sinh(half)), level)
        held, samples = [], []
        for number in range(replications):
            random = np.random.default_rng([target, number])
            order = random.permutation(len(of[0]))[: asked.resamples]
            found = sampled(asked, (of[0][order], of[1][order]))
            (last,) = found.rounds[-1].estimates
            held.append(bool(np.log(last.low) <= truth <= np.log(last.high)))
            samples.append(found.samples)
        yield f"stopped {target} {share(held)} {np.mean(samples):.0f}"


def asked_for(metric: str, relative: float, level: float) -> Campaign:
    """Return a campaign that asks for the precision of a metric."""
    base, other = POLICIES
    request = Precision(metric=metric, policy=other, over=base, relative=relative, level=level)
    trace = Trace(name="m", model="lublin", processors=64, jobs=JOBS)
    return Campaign(
        name="c", traces=(trace,), policies=POLICIES, resamples=MOST, precision=(request,)
    )


def sampled(asked: Campaign, of: Block) -> Verdict:
    """Return the rounds of a campaign with the given samples."""

    def first(samples: int) -> Callable[[Precision, str, str], Block]:
        return lambda request, trace, load: (of[0][:samples], of[1][:samples])

    return judge(asked, first, asked.resamples)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--workloads", type=int, default=20_000)
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--model", choices=list(MODELS), default="lublin")
    parser.add_argument("--stopping", action="store_true")
    given = parser.parse_args()
    sys.stdout.write("model metric statistic samples coverage error [cautioned with without]\n")
    for metric, of in populations(given.model, given.workloads).items():
        lines = (
            stopping(of, metric, given.replications, given.level)
            if given.stopping
            else fixed(of, given.replications, given.level)
        )
        for line in lines:
            sys.stdout.write(f"{given.model} {metric} {line}\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

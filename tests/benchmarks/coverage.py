"""Coverage of the 90 % intervals that are reported, on model workloads with a known true value.

    python -m tests.benchmarks.coverage --replications 2000

`farm compare`, whose intervals are also those of `farm plan` and of the stopping rule: a population
of model workloads is simulated under two policies; its values are the truth. Each replication draws
samples of it, makes the intervals, and looks whether they hold the truth: with a number of samples,
then with rounds of samples by the rule of a campaign that asks for precision, until the interval is
as short as that number makes it on average. The share of intervals with the caution that pairs are
alike follows, and the coverage with and without it.

`farm site`: a generated site runs for years, and is simulated with fewer processors. The distance
between its real and its simulated waits over all years is the truth; each replication judges some
consecutive periods.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from schedfarm.analysis.band_rule import Interval as IntervalOfMean
from schedfarm.analysis.intervals import (
    ALIKE,
    better_share,
    correlation,
    difference_interval,
    interval,
)
from schedfarm.core import Workload, downey, jann, lublin, scale_load, simulate, summarise
from schedfarm.core.arrays import Float64
from schedfarm.core.bootstrap import Block, difference, log_ratio
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.rounds import Verdict, judge
from schedfarm.farm.site.example import Truth, run_site, true_order
from schedfarm.farm.site.judgement import PERIODS, ratio_over_periods

POLICIES = ("fcfs+easy", "spf+easy")

JOBS, LOAD = 300, 0.8

MODELS: dict[str, Callable[[int], Workload]] = {
    "lublin": lambda seed: lublin(64, jobs=JOBS, seed=seed),
    "jann": lambda seed: jann(322, jobs=JOBS, seed=seed),
    "downey": lambda seed: downey(64, jobs=JOBS, seed=seed),
}

METRICS = ("wait", "bounded_slowdown", "bounded_slowdown_p50")
"""Two means and a median, whose waits are 0 in most of these workloads."""

SIZES = (5, 10, 20, 40)
"""Samples of a comparison."""

TARGETS = (20, 40, 80, 160)
"""Samples that make an interval on average as short as is asked for."""

MOST = 2000

COSTLY = 4
"""Replications of an interval with a fixed number of samples for each one of the stopping rule."""

WEEKS, SMALLER = 500, 0.97
"""Weeks of the generated site, and its simulated processors as a part of the real ones."""

UNITS = {"week": (6, 13, 26), "two_weeks": (4, 6, 13)}
"""Numbers of periods of a judgement, by the length of the periods."""


@dataclass(frozen=True)
class Statistic:
    """Hold a statistic's true value of a population, and the interval that is reported of it."""

    truth: Callable[[Block], float]
    ends: Callable[[Block, float, tuple[int, ...]], tuple[float, float]]


def ratio_ends(pairs: Block, level: float, key: tuple[int, ...]) -> tuple[float, float]:
    low, _, high, _ = interval([pairs], log_ratio, level=level, key=key)
    return low, high


def difference_ends(pairs: Block, level: float, key: tuple[int, ...]) -> tuple[float, float]:
    low, _, high, _ = difference_interval(pairs, level=level, key=key)
    return low, high


def better_ends(pairs: Block, level: float, key: tuple[int, ...]) -> tuple[float, float]:
    base, other = pairs
    low, _, high, _ = better_share(int((other < base).sum()), len(base), level=level)
    return low, high


def mean_ends(pairs: Block, level: float, key: tuple[int, ...]) -> tuple[float, float]:
    low, _, high = IntervalOfMean(level).reduce(pairs[0][:, 0]).tolist()
    return low, high


STATISTICS = {
    "ratio": Statistic(lambda of: float(log_ratio(*of)[0]), ratio_ends),
    "difference": Statistic(lambda of: float(difference(*of)[0]), difference_ends),
    "better": Statistic(lambda of: float((of[1] < of[0]).mean()), better_ends),
    "mean": Statistic(lambda of: float(of[0].mean()), mean_ends),
}


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
    for name, statistic in STATISTICS.items():
        truth = statistic.truth(of)
        for samples in SIZES:
            held, alike = [], []
            for number in range(replications):
                random = np.random.default_rng([samples, number])
                chosen = random.choice(len(of[0]), samples, replace=False)
                pairs = (of[0][chosen], of[1][chosen])
                low, high = statistic.ends(pairs, level, (samples, number))
                held.append(bool(low <= truth <= high))
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


def site_waits(weeks: int) -> tuple[Float64, Float64, Float64]:
    """Return the submissions of a generated site's jobs, and their real and simulated waits, s."""
    truth = Truth(jobs=670 * weeks, weeks=weeks, nodes=24, usable=0.9, load=0.7)
    real = run_site(truth)
    smaller = Pool(round(SMALLER * truth.processors))
    jobs = real.workload.take(slice(None), platform=smaller)
    simulated = simulate(jobs, f"{true_order(truth).name}+depth({truth.depth})")
    since = jobs.submit - jobs.submit[0]
    return since, real.wait.astype(np.float64), simulated.wait.astype(np.float64)


def site(weeks: int, replications: int) -> Iterator[str]:
    """Yield the coverage of the distance between real and simulated waits of a site."""
    since, real, simulated = site_waits(weeks)
    for unit, numbers in UNITS.items():
        # The last period is not whole.
        sums = [np.bincount(since // PERIODS[unit], x)[:-1] for x in (real, simulated)]
        for name, over in (("error", np.abs(sums[1] - sums[0])), ("bias", sums[1])):
            truth = over.sum() / sums[0].sum()
            for number in numbers:
                held = []
                for replication in range(replications):
                    random = np.random.default_rng([number, replication])
                    first = random.integers(0, len(over) - number)
                    part = slice(first, first + number)
                    found = ratio_over_periods(over[part], sums[0][part], replication)
                    low, high = (np.nan if x is None else x for x in (found.low, found.high))
                    held.append(bool(low <= truth <= high))
                yield f"{name} {number} {share(held)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--workloads", type=int, default=20_000)
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--only", choices=[*MODELS, "site"], help="a model, or farm site")
    given = parser.parse_args()
    sys.stdout.write("of metric statistic samples coverage error [cautioned with without]\n")

    def lines() -> Iterator[str]:
        for model in [given.only] if given.only else [*MODELS, "site"]:
            if model == "site":
                yield from (f"site {line}" for line in site(WEEKS, given.replications))
                continue
            for metric, of in populations(model, given.workloads).items():
                for line in fixed(of, given.replications, given.level):
                    yield f"{model} {metric} {line}"
                for line in stopping(of, metric, given.replications // COSTLY, given.level):
                    yield f"{model} {metric} {line}"

    for line in lines():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Coverage of the 90 % intervals that are reported, on model workloads with a known true value.

    python -m tests.benchmarks.coverage --replications 2000

`farm compare`, whose intervals are also those of `farm plan` and of the stopping rule: a population
of model workloads is simulated under two policies; its values are the truth. Each replication draws
samples of it, makes the intervals, and looks whether they hold the truth: with a number of samples,
then with rounds of samples by the rule of a campaign that asks for precision, until the interval is
as short as that number makes it on average. The share of intervals with the caution that pairs are
alike follows, and the coverage with and without it. The verdict over several traces has as many
samples of each model, whose populations are blocks. The share of samples without an interval comes
last; the coverage is that of the others. `--only others` compares other policies.

`farm site`: generated sites run for years, and are simulated with fewer processors. The distance
between their real and simulated waits over all years is the truth; each replication judges some
consecutive periods. `--only fit` calibrates other sites, and looks whether the intervals of their
parameters hold the true values (minutes for each site).

`--keep FOLDER` writes the simulated populations and sites to a folder, and reads those that it has:
only the intervals are made anew.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
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
from schedfarm.farm.site.judgement import PERIODS, by_week, ratio_over_periods
from tests.oracles.calibrated import NAMES, known_site

POLICIES = ("fcfs+easy", "spf+easy")

OTHERS = (
    ("fcfs+easy", "fcfs+conservative"),
    ("fcfs+easy", "fcfs+depth(4)"),
    ("fcfs+none", "fcfs+easy"),
    ("spf+easy", "saf+easy"),
)
"""Pairs of policies by which no interval was chosen."""

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

PARTS = (*MODELS, "verdict", "others", "site", "fit")

SITES = (*range(1, 9), *range(21, 27))
"""Seeds of the generated sites."""

WEEKS, SMALLER = 500, 0.97
"""Weeks of a generated site, and its simulated processors as a part of the real ones."""

UNITS = {"week": (6, 13, 26), "two_weeks": (4, 6, 13), "day": (42,)}
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


def kept(folder: Path | None, name: str, make: Callable[[], Float64]) -> Float64:
    """Return the array of a name from a folder; make it, and write it there, if it is missing."""
    path = folder / f"{name}.npy" if folder else None
    if path and path.exists():
        found: Float64 = np.load(path)
        return found
    found = make()
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, found)
    return found


def populations(model: str, workloads: int, folder: Path | None) -> dict[str, Block]:
    """Return each metric under both policies, of the workloads of the seeds from 0 on."""
    name = f"{model}-{workloads}"
    values = kept(folder, name, lambda: simulated(model, workloads, POLICIES))
    return {m: (values[:, :1, i], values[:, 1:, i]) for i, m in enumerate(METRICS)}


def simulated(model: str, workloads: int, policies: Sequence[str]) -> Float64:
    """Simulate workloads; return their metrics as float64[workloads, policies, metrics]."""

    def of(jobs: Workload, policy: str) -> list[float]:
        found = summarise(simulate(jobs, policy), names=list(METRICS))
        return [float(found[metric]) for metric in METRICS]

    rows = []
    for seed in range(workloads):
        jobs = scale_load(MODELS[model](seed), LOAD)
        rows.append([of(jobs, policy) for policy in policies])
    return np.array(rows)


@dataclass
class Count:
    """Count the intervals that hold the true value, of those that are given."""

    held: list[bool] = field(default_factory=list)
    none: int = 0

    def add(self, ends: tuple[float, float], truth: float) -> bool:
        """Count an interval, and return whether there is one."""
        low, high = ends
        if np.isnan(low):
            self.none += 1
            return False
        self.held.append(bool(low <= truth <= high))
        return True

    def __str__(self) -> str:
        if not self.held:
            return "- - none 1.000"
        found, all_of = float(np.mean(self.held)), len(self.held) + self.none
        error = np.sqrt(found * (1 - found) / len(self.held))
        return f"{found:.3f} {error:.3f} none {self.none / all_of:.3f}"


def cautioned(held: list[bool], alike: list[bool]) -> str:
    """Return the share of intervals with a caution, and the coverage with and without it."""
    if not held:
        return ""
    with_it = [one for one, warned in zip(held, alike, strict=True) if warned]
    without = [one for one, warned in zip(held, alike, strict=True) if not warned]
    covered = (f"{np.mean(part):.3f}" if part else "-" for part in (with_it, without))
    return " ".join([f"{np.mean(alike):.3f}", *covered])


def fixed(
    of: Block, replications: int, level: float, names: Sequence[str] = tuple(STATISTICS)
) -> Iterator[str]:
    """Yield the coverage of each statistic with each number of samples."""
    for name in names:
        statistic = STATISTICS[name]
        truth = statistic.truth(of)
        for samples in SIZES:
            count, alike = Count(), []
            for number in range(replications):
                pairs = drawn(of, samples, number)
                if count.add(statistic.ends(pairs, level, (samples, number)), truth):
                    alike.append(correlation(pairs) > ALIKE)
            yield f"{name} {samples} {count} {cautioned(count.held, alike)}"


def others(given: argparse.Namespace) -> Iterator[str]:
    """Yield the coverage of the ratio of other pairs of policies with each number of samples."""
    policies = list(dict.fromkeys(policy for pair in OTHERS for policy in pair))
    for model in ("lublin", "jann"):
        make = partial(simulated, model, given.workloads, policies)
        values = kept(given.keep, f"{model}-others-{given.workloads}", make)
        for (base, other), metric in product(OTHERS, METRICS[:2]):
            chosen = values[:, [policies.index(p) for p in (base, other)], METRICS.index(metric)]
            lines = fixed(
                (chosen[:, :1], chosen[:, 1:]), given.replications, given.level, ["ratio"]
            )
            yield from labelled(f"{model} {base} {other} {metric}", lines)


def drawn(of: Block, samples: int, number: int) -> Block:
    """Return a number of samples of a population."""
    random = np.random.default_rng([samples, number])
    chosen = random.choice(len(of[0]), samples, replace=False)
    return of[0][chosen], of[1][chosen]


def several(traces: list[Block], replications: int, level: float) -> Iterator[str]:
    """Yield the coverage of the change over several traces with each number of samples."""
    truth = float(np.mean([log_ratio(*of)[0] for of in traces]))
    for samples in SIZES:
        count = Count()
        for number in range(replications):
            # Other samples of each trace.
            blocks = [drawn(of, samples, 10 * number + i) for i, of in enumerate(traces)]
            found = interval(blocks, log_ratio, level=level, key=(samples, number))
            count.add((found.low, found.high), truth)
        yield f"verdict {samples} {count}"


def stopping(of: Block, metric: str, replications: int, level: float) -> Iterator[str]:
    """Yield the coverage of the interval of the ratio that ends the sampling, and mean samples."""
    truth = float(log_ratio(*of)[0])
    spread = float(np.sqrt(log_ratio(*of)[1] * len(of[0])))
    for target in TARGETS:
        half = NormalDist().inv_cdf((1 + level) / 2) * spread / np.sqrt(target)
        asked = asked_for(metric, float(np.sinh(half)), level)
        count, samples = Count(), []
        for number in range(replications):
            random = np.random.default_rng([target, number])
            order = random.permutation(len(of[0]))[: asked.resamples]
            found = sampled(asked, (of[0][order], of[1][order]))
            (last,) = found.rounds[-1].estimates
            count.add((np.log(last.low), np.log(last.high)), truth)
            samples.append(found.samples)
        yield f"stopped {target} {count} {np.mean(samples):.0f}"


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


def site_waits(seed: int) -> Float64:
    """Return the submissions of a generated site's jobs, and their real and simulated waits, s.

    As float64[3, jobs].
    """
    truth = Truth(jobs=670 * WEEKS, weeks=WEEKS, nodes=24, usable=0.9, load=0.7, seed=seed)
    real = run_site(truth)
    smaller = Pool(round(SMALLER * truth.processors))
    jobs = real.workload.take(slice(None), platform=smaller)
    simulated = simulate(jobs, f"{true_order(truth).name}+{truth.rule}")
    since = jobs.submit - jobs.submit[0]
    return np.array([since, real.wait, simulated.wait], np.float64)


def site(replications: int, folder: Path | None) -> Iterator[str]:
    """Yield the coverage of the distance between real and simulated waits of sites."""
    sites = [kept(folder, f"site-{seed}", partial(site_waits, seed)) for seed in SITES]
    for unit, numbers in UNITS.items():
        # The last period is not whole.
        sums = [
            [
                np.bincount(since.astype(np.int64) // PERIODS[unit], x)[:-1]
                for x in (real, simulated)
            ]
            for since, real, simulated in sites
        ]
        for name in ("error", "bias"):
            over = [np.abs(b - a) if name == "error" else b for a, b in sums]
            truth = sum(x.sum() for x in over) / sum(a.sum() for a, _ in sums)
            for number in numbers:
                count = Count()
                for replication in range(replications):
                    random = np.random.default_rng([number, replication])
                    i = replication % len(SITES)
                    first = random.integers(0, len(over[i]) - number)
                    part = slice(first, first + number)
                    found = ratio_over_periods(
                        by_week(over[i][part], unit), by_week(sums[i][0][part], unit)
                    )
                    low, high = (np.nan if x is None else x for x in (found.low, found.high))
                    count.add((low, high), truth)
                yield f"{unit} {name} {number} {count}"


def fits(sites: int) -> Iterator[str]:
    """Yield the coverage of the parameters that are fitted to sites."""
    counts = {name: Count() for name in NAMES}
    for seed in range(1, sites + 1):
        known = known_site(seed)
        for name, one in known.fit.parameters.items():
            counts[name].add((one.low, one.high), known.values[name])
    yield from (f"{name} {sites} {count}" for name, count in counts.items())


def lines(given: argparse.Namespace) -> Iterator[str]:
    """Yield the coverage of the intervals of all models, of several traces, and of sites."""
    asked = {given.only} if given.only else {*MODELS, "verdict", "others", "site"}
    found = {
        model: populations(model, given.workloads, given.keep)
        for model in MODELS
        if asked & {model, "verdict"}
    }
    for model, metric in product(found, METRICS):
        if model in asked:
            of = found[model][metric]
            yield from labelled(f"{model} {metric}", fixed(of, given.replications, given.level))
            stopped = stopping(of, metric, given.replications, given.level)
            yield from labelled(f"{model} {metric}", stopped)
    for metric in METRICS if "verdict" in asked else ():
        traces = [of[metric] for of in found.values()]
        over = several(traces, given.replications, given.level)
        yield from labelled(f"{len(traces)} traces {metric}", over)
    if "others" in asked:
        yield from others(given)
    if "site" in asked:
        yield from labelled("site", site(given.replications, given.keep))
    if "fit" in asked:
        yield from labelled("fit", fits(given.sites))


def labelled(label: str, lines: Iterator[str]) -> Iterator[str]:
    return (f"{label} {line}" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--workloads", type=int, default=20_000)
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="simulated populations")
    parser.add_argument("--sites", type=int, default=8, help="sites of `--only fit`")
    given = parser.parse_args()
    sys.stdout.write("of metric statistic samples coverage error [cautioned with without]\n")
    for line in lines(given):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

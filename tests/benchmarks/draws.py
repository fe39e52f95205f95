"""Measure how far samples of a single log represent it, and other logs of its machine.

    python -m tests.benchmarks.draws model
    python -m tests.benchmarks.draws short
    python -m tests.benchmarks.draws real FOLDER

`model`: the mean wait under spf+easy relative to fcfs+easy in logs of a model, in samples of each
log by each draw, and the intervals above and below 1. `short`: the ratios of 100 samples of whole
weeks of shorter logs, and the intervals of 10 of them, next to the ratio of all logs. `real`: the
ratio of each archived log in FOLDER, and of its samples with their interval. The tables are those
of docs/comparisons.md, Samples of a single log.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import schedfarm as sf
from schedfarm.core.bootstrap import Block, Interval, ratio_interval
from schedfarm.core.workload.resample_blocks import resample_blocks
from schedfarm.core.workload.resample_users import resample_users
from schedfarm.core.workload.resample_weeks import resample_weekly
from schedfarm.farm.logs.registry import here

BASE, OTHER = "fcfs+easy", "spf+easy"

METRICS = ("wait", "bounded_slowdown")

DRAWS = {"replace": resample_weekly, "weeks": resample_blocks, "users": resample_users}

LOGS = ("CTC-SP2", "HPC2N", "KTH-SP2", "SDSC-BLUE", "SDSC-SP2")

LEVEL = 0.9

SAMPLES, SEED = 20, 1

MODELS, OTHERS = range(1, 31), range(101, 161)
"""Seeds of the logs of a model, and of the logs that stand for all others."""

SHORT, LENGTHS, MANY, FEW = range(1, 161), (2, 3, 4, 6, 8), 100, 10
"""Seeds and weeks of short logs; samples of each, and samples of an interval."""


def means(log: sf.Workload) -> list[list[float]]:
    """Return the mean of each metric under both policies."""
    found = []
    for policy in (BASE, OTHER):
        schedule = sf.simulate(log, policy)
        values = sf.summarise(schedule, names=METRICS)
        found.append([float(values[name]) for name in METRICS])
    return found


def pairs_of(logs: Sequence[sf.Workload]) -> list[Block]:
    """Return the pairs of each metric."""
    values = np.array([means(log) for log in logs])
    return [(values[:, 0, m, None], values[:, 1, m, None]) for m in range(len(METRICS))]


def samples(log: sf.Workload, draw: str, count: int, weeks: int | None = None) -> list[sf.Workload]:
    """Return samples of a log as campaigns draw them, by default as long as the log."""
    return [DRAWS[draw](log, seed=SEED, index=k, weeks=weeks) for k in range(1, count + 1)]


def interval(pairs: Block, metric: str, log: str) -> Interval:
    """Return the interval of the logarithm of a ratio, as `farm compare` has it."""
    return ratio_interval(pairs, (metric, log, "", OTHER), level=LEVEL, stopped=False)


def ratio(pairs: Block) -> float:
    """Return the ratio of the means."""
    return float(pairs[1].mean() / pairs[0].mean())


def of_models() -> Iterator[str]:
    """Yield a line for each draw."""
    given = {"weeks": 12, "load": 0.8, "users": 40}
    logs = [sf.lublin(128, seed=seed, **given) for seed in MODELS]
    of_logs = np.median([ratio(pairs_of([log])[0]) for log in logs])
    others = ratio(pairs_of([sf.lublin(128, seed=seed, **given) for seed in OTHERS])[0])
    yield f"median of the logs {of_logs:.2f}; the means of {len(OTHERS)} others {others:.2f}"
    for draw in DRAWS:
        ratios, above, below, slowdowns = [], 0, 0, 0
        for seed, log in zip(MODELS, logs, strict=True):
            wait, slowdown = pairs_of(samples(log, draw, SAMPLES, 12))
            found = interval(wait, METRICS[0], str(seed))
            ratios.append(ratio(wait))
            above, below = above + (found.low > 0), below + (found.high < 0)
            slowdowns += interval(slowdown, METRICS[1], str(seed)).high < 0
        yield (
            f"{draw}: median of the samples {np.median(ratios):.2f}; intervals above 1: {above}, "
            f"below: {below}; of bounded slowdown below: {slowdowns}"
        )


def of_short_logs() -> Iterator[str]:
    """Yield a line for each length and metric."""
    for weeks in LENGTHS:
        logs = [sf.lublin(64, weeks=weeks, load=0.8, users=40, seed=seed) for seed in SHORT]
        own = pairs_of(logs)
        drawn = [pairs_of(samples(log, "weeks", MANY, weeks)) for log in logs]
        for m, metric in enumerate(METRICS):
            truth = np.log(ratio(own[m]))
            deviation, within, held, of_log = [], [], [], []
            for seed, pairs in zip(SHORT, drawn, strict=True):
                base, other = pairs[m]
                each = np.log(other / base)[:, 0]
                each = each[np.isfinite(each)]
                low, high = np.quantile(each, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
                deviation.append(each.std(ddof=1))
                within.append(low <= truth <= high)
                found = interval((base[:FEW], other[:FEW]), metric, str(seed))
                if not np.isnan(found.low):
                    rest = np.log(ratio((base[FEW:], other[FEW:])))
                    held.append(found.low <= truth <= found.high)
                    of_log.append(found.low <= rest <= found.high)
            yield (
                f"{metric}, {weeks} weeks: deviation of samples {np.median(deviation):.2f}, of "
                f"logs {np.log(own[m][1] / own[m][0]).std(ddof=1):.2f}; range holds "
                f"{np.mean(within):.0%}, interval {np.mean(held):.0%}, the log's own ratio "
                f"{np.mean(of_log):.0%}; without interval {1 - len(held) / len(logs):.0%}"
            )


def of_real_logs(folder: Path) -> Iterator[str]:
    """Yield a line for each log."""
    for name in LOGS:
        log = sf.read_log(here(name, folder))
        said = [f"{name}: in the log {ratio(pairs_of([log])[0]):.2f}"]
        for draw in DRAWS:
            wait = pairs_of(samples(log, draw, SAMPLES))[0]
            low, value, high = np.exp(interval(wait, METRICS[0], name)[:3])
            said.append(f"{draw} {value:.2f} ({low:.2f} to {high:.2f})")
        yield ", ".join(said)


def main() -> None:
    """Print the lines of one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=("model", "short", "real"))
    parser.add_argument("folder", nargs="?", type=Path, help="folder of the archived logs")
    asked = parser.parse_args()
    if asked.table == "real" and asked.folder is None:
        parser.error("real needs the folder of the logs")
    tables = {
        "model": of_models,
        "short": of_short_logs,
        "real": lambda: of_real_logs(asked.folder),
    }
    for line in tables[asked.table]():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Compare kernels, reference and audit where jobs leave the queue, on random workloads.

    python -m tests.oracles.leaving --cases 10000 --seed 1

Each case has another rule and order; a quarter of them are limited, a quarter scheduled by `slurm`,
and a quarter on machines with windows.
Prints the first case on which programs differ, and then exits with 1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from schedfarm.core.engine.limiting import LimitError
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles import cadence, limits, windows
from tests.oracles.compare import try_cases
from tests.support.strategies import ASKING, CALLED, WRITTEN

RULES = ("none", "aggressive", "easy", "depth(1)", "depth(3)", "conservative")

ORDERS = (
    "fcfs",
    "saf",
    "lcfs",
    "lxf",
    "wfp3",
    "fair-share",
    "fair-usage,refresh=4s",
    "multifactor(age=7, max_age=30s, calc=3s, fairshare=9)",
    *CALLED,
    *ASKING,
    *WRITTEN,
)

PATIENCE = ((-1, 0, 1, 3), (-1, -1, 2, 9), (-1, 0, 5, 20, 40, 90))
"""Waits after which jobs leave, -1 for never."""

OPTIONS = ("", "", "", ",threshold=3s", ",threshold=1x", ",backfill=saf", ",backfill=lxf")


def workload(dice: random.Random, jobs: int) -> Workload:
    """Return jobs of which many may leave: at once, soon, or after most waits."""
    processors, unit = dice.randrange(1, 8), dice.choice((1, 1, 7))
    span = dice.choice((0, 6, 25, jobs))
    patience = dice.choice(PATIENCE)
    rows = []
    for _ in range(jobs):
        leave, estimate = dice.choice(patience), dice.choice((0, 1, 2, 5, 8, 20))
        # As read from a log, or with a run time of its own.
        run = 0 if leave >= 0 and dice.random() < 0.5 else max(0, estimate - dice.choice((0, 0, 3)))
        procs, user = dice.randrange(1, processors + 1), dice.randrange(-1, 3)
        rows.append((dice.randrange(span + 1), run, estimate, leave, procs, user))
    submit, run, estimate, leave, procs, user = np.array(rows, np.int64).T
    return Workload.from_columns(
        submit=unit * submit,
        run=unit * run,
        estimate=unit * estimate,
        leave=np.where(leave < 0, -1, unit * leave),
        procs=procs,
        user=user,
        processors=processors,
    )


def with_departures(dice: random.Random, work: Workload) -> Workload:
    """Return other jobs, of which many may leave."""
    unit = 60 if int(work.estimate.max(initial=0)) >= 60 else 1
    patience = dice.choice(PATIENCE)
    leave = np.array([dice.choice(patience) for _ in range(len(work))])
    without = (leave >= 0) & (dice.random() < 0.5)
    return replace(
        work, leave=np.where(leave < 0, -1, unit * leave), run=np.where(without, 0, work.run)
    )


def cases(count: int, seed: int) -> Iterator[tuple[Workload, Policy]]:
    """Return random workloads, each with a policy."""
    others = [
        limits.cases(10**9, seed, with_departures),
        cadence.cases(10**9, seed, with_departures),
        _with_windows(seed),
    ]
    able = [filter(_is_able, one) for one in others]
    plain = plain_cases(count, seed)
    for k in range(count):
        yield next((plain, *able)[k % 4])


def _with_windows(seed: int) -> Iterator[tuple[Workload, Policy]]:
    """Yield cases on machines with windows."""
    dice = random.Random(seed)
    for work, policy in windows.cases(10**9, seed):
        yield with_departures(dice, work), policy


def _is_able(case: tuple[Workload, Policy]) -> bool:
    work, policy = case
    return policy.without_leaving(work.platform.name) is None


def plain_cases(count: int, seed: int) -> Iterator[tuple[Workload, Policy]]:
    """Return cases without limits; some queues are longer than their blocks."""
    dice = random.Random(seed)
    for k in range(count):
        order, *own = dice.choice(ORDERS).split(",refresh")
        text = f"{order}+{RULES[k % len(RULES)]}" + "".join(f",refresh{one}" for one in own)
        jobs = 200 if dice.random() < 0.02 else dice.randrange(1, 15)
        # Under conservative no job is left to backfill.
        options = OPTIONS[:-2] if "+conservative" in text else OPTIONS
        work = workload(dice, jobs)
        if dice.random() < 0.2:
            work = limits.with_resources(dice, work)
        yield work, Policy.parse(text + dice.choice(options))


def changed(work: Workload, policy: Policy) -> int:
    """Return the number of other jobs that start otherwise if all jobs stay."""
    stays = work.leave < 0
    waiting = replace(work, leave=np.full(len(work), -1))
    try:
        other = simulate(waiting, policy).start != simulate(work, policy).start
    except LimitError:
        # A job that alone exceeds a limit has to leave.
        return 0
    return int((other & stays).sum())


if __name__ == "__main__":
    sys.exit(try_cases(__doc__ or "", cases, sys.argv[1:], changed))

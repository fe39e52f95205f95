"""Compare kernels, reference and audit where reservations outlive early completions.

    python -m tests.oracles.early_completions --cases 10000 --seed 1

The kernels keep snapshots of the profile in long queues only. Here they keep them in short ones,
since the time of the reference grows with the cube of the queue. Prints the first case on which
programs differ, and then exits with 1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from unittest.mock import patch

import numpy as np

from schedfarm.core.engine import snapshots
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.compare import try_cases
from tests.oracles.leaving import with_departures

ORDERS = ("fcfs", "fcfs", "saf", "spf", "lcfs", "lxf", "wfp3", "fair-share")

RULES = ("conservative", "conservative", "depth(9)", "depth(30)")

OPTIONS = ("", "", "", ",threshold=30s", ",events=per-event", ",threshold=30s,events=per-event")


def kept_in_short_queues(
    apart: int = 1, steps: int = snapshots.STEPS
) -> AbstractContextManager[object]:
    """Keep snapshots this few reservations apart, of at most this many steps."""
    return patch.multiple(snapshots, LEAST_APART=apart, STEPS=steps)


def workload(dice: random.Random) -> Workload:
    """Return jobs of which most wait together, and many end before their estimates."""
    jobs, processors = dice.randrange(8, 45), dice.randrange(2, 17)
    span, longest = dice.choice((0, 30, 200, 500)), dice.choice((9, 60, 20_000))
    accurate, points = dice.choice((0.0, 0.5, 0.9)), dice.random() < 0.2
    rows = []
    for _ in range(jobs):
        estimate = dice.randrange(0 if points else 1, longest)
        run = estimate if dice.random() < accurate else dice.randrange(estimate + 1)
        narrow = dice.random() < 0.5
        procs = dice.randrange(1, 3 if narrow else processors + 1)
        rows.append((dice.randrange(span + 1), run, estimate, procs, dice.randrange(3)))
    submit, run, estimate, procs, user = np.array(rows, np.int64).T
    return Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, user=user, processors=processors
    )


def cases(count: int, seed: int) -> Iterator[tuple[Workload, Policy]]:
    """Return random workloads, each with a policy; jobs of a few leave the queue."""
    dice = random.Random(seed)
    for _ in range(count):
        work, options = workload(dice), dice.choice(OPTIONS)
        if not options and dice.random() < 0.2:
            work = with_departures(dice, work)
        rule = dice.choice(RULES)
        if rule != "conservative" and dice.random() < 0.3:
            options += ",backfill=saf"
        yield work, Policy.parse(f"{dice.choice(ORDERS)}+{rule}{options}")


if __name__ == "__main__":
    with kept_in_short_queues():
        sys.exit(try_cases(__doc__ or "", cases, sys.argv[1:]))

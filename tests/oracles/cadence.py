"""Compare kernel, reference and audit under Slurm's schedulers, on random small workloads.

    python -m tests.oracles.cadence --cases 10000 --seed 1

Jobs, their users, orders, limits, other resources, partitions and all options of `slurm` are drawn.
Prints the first case on which programs differ, and then exits with 1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace

from schedfarm.core.engine.limiting import counters_of
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.compare import try_cases
from tests.oracles.limits import (
    NAMES,
    ORDERS,
    Change,
    limit,
    unchanged,
    with_partitions,
    with_resources,
    without_some,
)
from tests.oracles.priorities import workload

MORE_ORDERS = (
    *(*ORDERS, "spf", "wfp3", "fair-share", "multifactor(age=7, calc=2s, fairshare=5)"),
    "-(now - submit) / max(estimate, 1)",
)

TIMES = ("sched_interval", "bf_interval", "bf_window", "bf_resolution", "bf_max_time", "threshold")
"""Options that are times."""


def options(dice: random.Random, unit: int) -> str:
    """Return random options of the rule, with times in a unit, s."""
    drawn = {
        "sched_interval": dice.choice(("", "", "1s", "3s", "7s", "off")),
        "default_queue_depth": dice.choice(("", "1", "2")),
        "bf_interval": dice.choice(("1s", "2s", "3s", "5s", "7s", "30s", "off")),
        "bf_max_job_test": dice.choice(("", "", "1", "2", "3", "5")),
        "bf_max_job_user": dice.choice(("", "", "1", "2")),
        "bf_window": dice.choice(("", "", "1s", "5s", "12s")),
        "bf_resolution": dice.choice(("1s", "1s", "2s", "5s", "")),
        "bf_rate": dice.choice(("", "", "1", "2", "3")),
        "bf_max_time": dice.choice(("", "1s", "2s")),
        "threshold": dice.choice(("", "", "", "9s")),
    }
    for name in TIMES if unit > 1 else ():
        if drawn[name].endswith("s"):
            drawn[name] = f"{unit * int(drawn[name][:-1])}s"
    return "".join(f",{name}={value}" for name, value in drawn.items() if value)


def cases(count: int, seed: int, change: Change = unchanged) -> Iterator[tuple[Workload, Policy]]:
    """Return random workloads, each with a policy; `change` alters the jobs of a workload."""
    dice = random.Random(seed)
    found = 0
    while found < count:
        work = replace(workload(dice), names=NAMES)
        if dice.random() < 0.3:
            work = without_some(dice, work)
        # As drawn there: jobs of minutes would take a thousand ticks of seconds.
        unit = 60 if int(work.estimate.max(initial=0)) >= 60 else 1
        if work.platform.name == "pool" and dice.random() < 0.2:
            work = with_resources(dice, work)
        if work.platform.name != "grid" and dice.random() < 0.3:
            work = with_partitions(dice, work)
        work = change(dice, work)
        text = f"{dice.choice(MORE_ORDERS)}+slurm{options(dice, unit)}"
        if dice.random() < 0.4:
            limits = dict.fromkeys(limit(dice, ("cpu",)) for _ in range(dice.randrange(1, 4)))
            text += f",limits=({', '.join(limits)})"
        try:
            policy = Policy.parse(text)
            counters_of(work, policy)
        except InputError:
            # Two options exclude each other, or a job exceeds a limit alone, for example.
            continue
        if work.platform.name == "grid" or (policy.bf_max_job_user != "0" and _nobody(work)):
            continue
        found += 1
        yield work, policy


def _nobody(work: Workload) -> bool:
    return bool((work.user == -1).all())


def changed(work: Workload, policy: Policy) -> int:
    """Return the number of jobs that start otherwise than under `conservative`."""
    plain = Policy(policy.order, "conservative", threshold=policy.threshold, limits=policy.limits)
    return int((simulate(work, plain).start != simulate(work, policy).start).sum())


if __name__ == "__main__":
    sys.exit(try_cases(__doc__ or "", cases, sys.argv[1:], changed))

"""Compare kernels, reference and audit under Slurm's limits, on random small workloads.

    python -m tests.oracles.limits --cases 10000 --seed 1

Users, accounts, QOS and requests are drawn, and limits of each kind. Each case has another rule and
order. Prints the first case on which programs differ, and then exits with 1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from schedfarm.core.engine.limiting import counters_of
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.policy.limits import MEANINGS
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.compare import try_cases
from tests.oracles.priorities import workload

RULES = ("none", "aggressive", "easy", "depth(1)", "depth(2)", "conservative")

ORDERS = (
    "fcfs",
    "saf",
    "lxf",
    "multifactor(age=7, max_age=30s, calc=3s, fairshare=9, accounts=(optics=1, physics=optics/2))",
)

BACKFILLS = ("", "", "", "saf", "lxf", "multifactor(size=7, accounts=(2=1, optics=2/1))")

NAMES = {
    "user": {1: "ann", 2: "bob"},
    "group": {0: "physics", 1: "optics"},
    "queue": {0: "low", 1: "high"},
}

WHO = {
    "root": ("",),
    "account": ("physics", "optics", "2", "1"),
    "user": ("ann@physics", "bob@optics", "3@optics", "0@physics", "1@1"),
    "qos": ("low", "high", "7", "0"),
}


Change = Callable[[random.Random, Workload], Workload]


def unchanged(dice: random.Random, work: Workload) -> Workload:
    """Return the jobs."""
    return work


def limit(dice: random.Random, tres: tuple[str, ...]) -> str:
    """Return a random limit."""
    kind = dice.choice((*WHO, "qos", "root", "root"))
    name = dice.choice(WHO[kind])
    row = dice.choice([row for row in MEANINGS.values() if kind in row.kinds])
    value = str(dice.randrange(1, 4))
    if row.counts in ("tres", "minutes"):
        most = 9 if row.counts == "tres" else 3
        value = f"{dice.choice(tres)}={dice.randrange(1, most)}"
    return f"{kind}{'.' * bool(name)}{name}.{row.name}={value}"


def with_resources(dice: random.Random, work: Workload) -> Workload:
    """Return the jobs with other requests, on a machine that has them."""
    n, most = len(work), {"gpus": 4, "licences": 2}
    requests = {
        name: np.array([dice.randrange(-1, size + 1) for _ in range(n)])
        for name, size in most.items()
    }
    # Each resource is requested by some job, so that it can be limited.
    for column in requests.values():
        column[0] = max(column[0], 0)
    platform = Resources(work.processors, most)
    return replace(work, platform=platform, **requests)


def with_partitions(dice: random.Random, work: Workload) -> Workload:
    """Return the jobs on a machine whose nodes are in one, two or all of their partitions.

    A job that is larger than its partition takes all of it.
    """
    names = ["0", "1", "2"]
    chosen = dice.sample([*names, "0,1", "0,2", "1,2", "0,1,2"], dice.randrange(1, 5))
    # Each partition has nodes.
    chosen += [name for name in names if all(name not in one.split(",") for one in chosen)]
    regions = {one: dice.randrange(1, 5) for one in chosen}
    partition = np.where(work.partition < 0, 2, work.partition)
    sizes = {
        number: sum(size for one, size in regions.items() if str(number) in one.split(","))
        for number in range(3)
    }
    room = np.array([sizes[number] for number in partition.tolist()])
    columns = {"partition": partition, "procs": np.minimum(work.procs, room)}
    most = {name: amount for name, _, amount in work.platform.stocks}
    numbers = {name: int(name) for name in names}
    platform = Partitions(sum(regions.values()), most, regions, numbers)
    return replace(work, platform=platform, **columns)


def without_some(dice: random.Random, work: Workload) -> Workload:
    """Return the jobs, some of them without a user or account."""
    columns = {
        name: np.array([-1 if dice.random() < 0.3 else one for one in getattr(work, name)])
        for name in ("user", "group")
    }
    return replace(work, **columns)


def cases(count: int, seed: int, change: Change = unchanged) -> Iterator[tuple[Workload, Policy]]:
    """Return random workloads, each with a policy; `change` alters the jobs of a workload."""
    dice = random.Random(seed)
    found = 0
    while found < count:
        work = replace(workload(dice), names=NAMES)
        if dice.random() < 0.3:
            work = without_some(dice, work)
        tres = ["cpu"]
        if work.platform.name == "pool" and dice.random() < 0.3:
            work, tres = with_resources(dice, work), ["cpu", "gres/gpu", "license"]
        if work.platform.name != "grid" and dice.random() < 0.2:
            work = with_partitions(dice, work)
        work = change(dice, work)
        rule, order = RULES[found % len(RULES)], dice.choice(ORDERS)
        limits = dict.fromkeys(limit(dice, tuple(tres)) for _ in range(dice.randrange(1, 6)))
        text = f"{order}+{rule},limits=({', '.join(limits)})"
        backfill = dice.choice(BACKFILLS) if rule != "conservative" else ""
        text += f",backfill={backfill}" * bool(backfill) + ",threshold=9s" * (dice.random() < 0.1)
        try:
            policy = Policy.parse(text)
            counters_of(work, policy)
        except InputError:
            # A job exceeds a limit alone, or a limit was drawn twice, for example.
            continue
        found += 1
        yield work, policy


def changed(work: Workload, policy: Policy) -> int:
    """Return the number of jobs that limits delay or advance."""
    free = simulate(work, replace(policy, limits=None))
    return int((free.start != simulate(work, policy).start).sum())


if __name__ == "__main__":
    sys.exit(try_cases(__doc__ or "", cases, sys.argv[1:], changed))

"""Compare kernels, reference and audit on machines with windows, on random small workloads.

    python -m tests.oracles.windows --cases 10000 --seed 1

Jobs, windows, other resources, partitions, limits, rules and orders are drawn. Prints the first
case on which programs differ, and then exits with 1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.compare import try_cases

RULES = (
    "none",
    "aggressive",
    "easy",
    "depth(2)",
    "conservative",
    "planned",
    "planned,walk=queue",
    "slurm,bf_interval=3s,sched_interval=2s,bf_resolution=1s",
    "slurm,bf_interval=5s,sched_interval=off,bf_resolution=4s,bf_rate=2",
    "slurm,bf_interval=7s,sched_interval=9s,bf_resolution=3s,bf_window=10s",
)

ORDERS = ("fcfs", "fcfs", "lxf")


def window(dice: random.Random, amounts: dict[str, int]) -> dict[str, Any]:
    """Return a random window, of all or some of one resource, repeated or not."""
    begin, lasts = dice.randrange(50), dice.randrange(1, 9)
    found: dict[str, Any] = {"from": begin, "until": begin + lasts}
    name = dice.choice(("", "processors", *amounts))
    if name and amounts[name] > 0:
        found[name] = dice.randrange(1, amounts[name] + 1)
    if dice.random() < 0.3:
        found |= {"every": dice.randrange(lasts, 20), "times": dice.randrange(1, 4)}
    return found


def machine(dice: random.Random) -> Resources:
    """Return a machine with at least one window, or with GPUs and possibly none."""
    while True:
        processors, gpus = dice.randrange(1, 7), dice.randrange(5)
        capacities = {"gpus": gpus} if dice.random() < 0.5 else {}
        amounts = {"processors": processors, **capacities}
        count = dice.randrange(0 if capacities else 1, 4)
        try:
            windows = [window(dice, amounts) for _ in range(count)]
            return Resources(processors, capacities, windows=windows)
        except InputError:
            # Windows together withhold more than there is.
            continue


REGIONS = ("a", "a,b", "b", "b,c", "c")


def divided(dice: random.Random) -> Partitions:
    """Return a machine of up to three partitions, with windows of some regions or of all."""
    sizes = {name: dice.randrange(1, 4) for name in dice.sample(REGIONS, dice.randrange(1, 5))}
    known = sorted({part for name in sizes for part in name.split(",")})
    if len(known) > 1 and dice.random() < 0.3:
        known.append(",".join(dice.sample(known, 2)))
    capacities = {"gpus": dice.randrange(1, 5)} if dice.random() < 0.4 else {}
    size = sum(sizes.values()) + dice.choice((0, 0, 2))
    while True:
        windows = []
        for _ in range(dice.randrange(1, 4)):
            one = window(dice, {"processors": 0, **capacities})
            if "gpus" not in one and dice.random() < 0.8:
                some = dice.sample(sorted(sizes), dice.randrange(1, len(sizes) + 1))
                one["regions"] = {name: dice.randrange(1, sizes[name] + 1) for name in some}
            windows.append(one)
        try:
            numbers = {name: k for k, name in enumerate(known)}
            found = Partitions(size, capacities, sizes, numbers, windows=windows)
            return found.sized(dice.choice((size, size, size + 3, 2 * size)))
        except InputError:
            # Windows together withhold more than there is.
            continue


def on_partitions(dice: random.Random) -> Workload:
    """Return up to 13 jobs on a random machine with partitions."""
    platform, count = divided(dice), range(dice.randrange(1, 14))
    room = {
        number: sum(n for region, n in platform.nodes if {*region.split(",")} & {*label.split(",")})
        for label, number in platform.labels
    }
    partition = [dice.choice(sorted(room)) for _ in count]
    procs = [dice.randrange(1, room[number] + 1) for number in partition]
    return workload(dice, platform, procs, partition=partition)


def on_resources(dice: random.Random) -> Workload:
    """Return up to 13 jobs on a random machine without partitions."""
    platform = machine(dice)
    procs = [dice.randrange(1, platform.size + 1) for _ in range(dice.randrange(1, 14))]
    return workload(dice, platform, procs)


def workload(
    dice: random.Random, platform: Resources, procs: list[int], **columns: list[int]
) -> Workload:
    """Return random jobs of these widths."""
    count = range(len(procs))
    gpus = dict(platform.capacities).get("gpus", 0)
    estimate = [dice.randrange(12) for _ in count]
    return Workload.from_columns(
        submit=sorted(dice.randrange(25) for _ in count),
        run=[dice.choice((one, dice.randrange(one + 1))) for one in estimate],
        estimate=estimate,
        procs=procs,
        gpus=[dice.choice((-1, 0, dice.randrange(gpus + 1))) for _ in count],
        user=[dice.randrange(3) for _ in count],
        platform=platform,
        **columns,
    )


def cases(count: int, seed: int) -> Iterator[tuple[Workload, Policy]]:
    """Return random workloads, each with a policy."""
    dice = random.Random(seed)
    for found in range(count):
        rule = RULES[found % len(RULES)]
        # A plan that is kept has no limits, and is in order of arrival except for walk=queue.
        kept, by_arrival = rule.startswith("planned"), rule == "planned"
        text = f"{'fcfs' if by_arrival else dice.choice(ORDERS)}+{rule}"
        text += ",threshold=6s" * (dice.random() < 0.2 and not by_arrival)
        text += ",limits=(root.GrpJobs=2)" * (dice.random() < 0.2 and not kept)
        has_backfills = found % len(RULES) in (1, 2, 3)
        text += ",backfill=spf" * (has_backfills and dice.random() < 0.3)
        made = on_partitions if dice.random() < 0.4 else on_resources
        yield made(dice), Policy.parse(text)


def changed(work: Workload, policy: Policy) -> int:
    """Return the number of jobs that windows delay or advance."""
    assert isinstance(work.platform, Resources)
    capacities = dict(work.platform.capacities) or {"licences": 0}
    free = replace(work, platform=replace(work.platform, capacities=capacities, windows=()))
    return int((simulate(free, policy).start != simulate(work, policy).start).sum())


if __name__ == "__main__":
    sys.exit(try_cases(__doc__ or "", cases, sys.argv[1:], changed))

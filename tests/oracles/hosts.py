"""Compare kernels, reference and audit on hosts, on random small workloads.

    python -m tests.oracles.hosts --cases 10000 --seed 1

Jobs, hosts, windows, partitions, limits, departures, options of Slurm's schedulers and orders are
drawn. Prints the first case on which programs differ, and then exits with 1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from schedfarm.core.engine.limiting import counters_of
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles import cadence, leaving, limits
from tests.oracles.compare import try_cases

QUEUES = ("fcfs", "lcfs", "spf", "saf", "lxf", "wfp3", "fair-share")
"""Orders of a walk by queue."""


def window(dice: random.Random, count: int, unit: int) -> dict[str, Any]:
    """Return a random window of some or all of `count` hosts, repeated or not.

    Its instants are multiples of a unit, s, or near to one.
    """
    begin, lasts = dice.choice((0, *(dice.randrange(40) for _ in range(3)))), dice.randrange(1, 9)
    late, more = (dice.randrange(unit) * (dice.random() < 0.5) for _ in range(2))
    found: dict[str, Any] = {"from": unit * begin + late}
    found["until"] = unit * (begin + lasts) + late + more
    if dice.random() < 0.7:
        found["hosts"] = dice.sample(range(count), dice.randrange(1, count + 1))
    if dice.random() < 0.3:
        every = unit * dice.randrange(lasts, 20) + more
        found |= {"every": every, "times": dice.randrange(1, 4)}
    return found


def partitions(dice: random.Random, count: int) -> tuple[dict[str, Any], dict[str, int]]:
    """Return up to four random partitions of `count` hosts, or none, and their numbers.

    Up to two lists of partitions have numbers, too.
    """
    names = dice.sample("abcd", dice.choice((0, 0, 0, 0, 1, 2, 3, 4)))
    hosts = {
        name: dice.choice((None, *3 * [dice.sample(range(count), dice.randrange(1, count + 1))]))
        for name in names
    }
    lists = [
        ",".join(sorted(dice.sample(names, dice.randrange(2, len(names) + 1))))
        for _ in range(dice.randrange(3) if len(names) > 1 else 0)
    ]
    labels = dict.fromkeys([*names, *lists])
    return hosts, dict(zip(labels, dice.sample(range(9), len(labels)), strict=True))


def machine(dice: random.Random, unit: int = 1) -> Hosts:
    """Return up to nine hosts in up to three groups, with GPUs, memory or neither.

    Half of the machines have up to three windows, and half up to four partitions; unit: of the
    instants of windows, s.
    """
    names = [name for name in ("gpus", "memory") if dice.random() < 0.4]
    groups = [
        {
            "count": dice.randrange(1, 4),
            "processors": dice.randrange(1, 6),
            **{name: dice.randrange(5) for name in names},
        }
        for _ in range(dice.randrange(1, 4))
    ]
    count = sum(group["count"] for group in groups)
    windows = [window(dice, count, unit) for _ in range(dice.choice((0, 0, 0, 1, 2, 3)))]
    return Hosts(groups, dice.random() < 0.3, windows, *partitions(dice, count))


def with_hosts(dice: random.Random, work: Workload) -> Workload:
    """Return the jobs on random hosts; one that could not run there requests a processor only."""
    unit = 60 if int(work.estimate.max(initial=0)) >= 60 else 1
    platform, n = machine(dice, unit), len(work)
    # Processors of each partition by its number.
    rooms = {
        number: int(platform.capacity[mine, 0].sum())
        for (_, number), mine in zip(platform.labels, platform.members, strict=True)
    } or {-1: platform.size}
    partition = [dice.choice([*rooms]) for _ in range(n)]
    columns = {
        "hosts": np.array([dice.choice((-1, -1, 1, 2, 3, 4)) for _ in range(n)]),
        "partition": np.array(partition),
        "procs": np.array([dice.randrange(1, rooms[number] + 1) for number in partition]),
        "estimate": np.maximum(work.estimate, 1),
        **{
            name: np.array([dice.choice((-1, 0, dice.randrange(1, 9))) for _ in range(n)])
            for name in platform.names[1:]
        },
    }
    fits = platform.admits(replace(work, platform=Pool(platform.size), **columns))
    for name, least in {"hosts": -1, "procs": 1, **dict.fromkeys(platform.names[1:], -1)}.items():
        columns[name] = np.where(fits, columns[name], least)
    return replace(work, platform=platform, **columns)


def _leaving_hosts(dice: random.Random, work: Workload) -> Workload:
    return leaving.with_departures(dice, with_hosts(dice, work))


def _plain(seed: int) -> Iterator[tuple[Workload, Policy]]:
    """Yield cases without limits."""
    dice = random.Random(seed)
    for work, policy in leaving.plain_cases(10**9, seed):
        stays = dice.random() < 0.5
        leave = np.full(len(work), -1) if stays else work.leave
        yield with_hosts(dice, replace(work, leave=leave)), policy


def _planned(seed: int) -> Iterator[tuple[Workload, Policy]]:
    """Yield cases of `planned` with each walk."""
    dice = random.Random(seed)
    for work, _ in leaving.plain_cases(10**9, seed):
        walk = dice.choice(("", ",walk=arrival", ",walk=queue"))
        order = dice.choice(QUEUES) if walk.endswith("queue") else "fcfs"
        limit = dice.choice(("", ",threshold=9s")) if walk.endswith("queue") else ""
        policy = Policy.parse(f"{order}+planned{walk}{limit}")
        yield with_hosts(dice, replace(work, leave=np.full(len(work), -1))), policy


def _is_able(case: tuple[Workload, Policy]) -> bool:
    """Return whether hosts have the policy, whose limits no job exceeds alone."""
    work, policy = case
    try:
        policy.row.find("simulate", work.platform.name)
        counters_of(work, policy)
    except InputError:
        return False
    stays = not (work.leave >= 0).any()
    return policy.events == "instant" and (
        stays or policy.without_leaving(work.platform.name) is None
    )


def cases(count: int, seed: int) -> Iterator[tuple[Workload, Policy]]:
    """Return random workloads, each with a policy."""
    kinds = (
        _plain(seed),
        _planned(seed),
        limits.cases(10**9, seed, with_hosts),
        cadence.cases(10**9, seed, with_hosts),
        limits.cases(10**9, seed + 1, _leaving_hosts),
        cadence.cases(10**9, seed + 1, _leaving_hosts),
    )
    able = [filter(_is_able, one) for one in kinds]
    for k in range(count):
        yield next(able[k % len(able)])


def changed(work: Workload, policy: Policy) -> int:
    """Return the number of jobs that start otherwise on one pool of all processors."""
    pool = replace(work, platform=Pool(work.platform.size))
    return int((simulate(pool, policy).start != simulate(work, policy).start).sum())


if __name__ == "__main__":
    sys.exit(try_cases(__doc__ or "", cases, sys.argv[1:], changed))

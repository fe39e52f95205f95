"""Compare kernels, reference and audit under Slurm's priority, on random small workloads.

    python -m tests.oracles.priorities --cases 10000 --seed 1

Users, accounts, QOS and partitions are drawn, and the arguments of the order with its tables.
Each case has another rule. Prints the first case on which programs differ, and then exits with 1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace

from schedfarm.core.policy.multifactor import Account, Multifactor
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.compare import try_cases
from tests.support.strategies import grid_of

RULES = (
    "easy",
    "easy,events=per-event",
    "easy,threshold=9s",
    "none",
    "aggressive",
    "depth(2)",
    "conservative",
    "planned,walk=queue",
    "easy,backfill=fair-usage",
    "easy,backfill=saf",
    "easy,backfill=tests.support.strategies:heaviest",
    "easy,backfill=multifactor(age=70, max_age=40s, calc=4s, fairshare=30)",
)

NAMES = {"user": {1: "ann", 2: "bob"}, "group": {0: "physics", 1: "optics"}}
"""Names of some users and accounts; the others go by number."""


def definition(dice: random.Random) -> Multifactor:
    """Return arguments of the order, some of them left out."""
    accounts: dict[str, Account] = {}
    for name in dice.sample(("physics", "optics", "2", "idle"), dice.randrange(5)):
        parent = dice.choice(("", *accounts))
        accounts[name] = Account(parent, dice.choice((0, 1, 1, 2, 3)))
    users = {
        (user, account): dice.choice((0, 1, 2, 5))
        for user in ("ann", "bob", "3", "eve")
        for account in accounts
        if dice.random() < 0.3
    }
    weight = {name: dice.choice((0, 0, 1, 7, 100, 10**9)) for name in ("age", "size", "cpu")}
    return Multifactor(
        **weight,
        fairshare=dice.choice((0, 3, 10, 1000, 10**6)),
        partition=dice.choice((0, 10)),
        qos=dice.choice((0, 10)),
        max_age=dice.choice((1, 7, 30, 604800)),
        calc=dice.choice((1, 2, 3, 5, 300)),
        halflife=dice.choice((0, 1, 4, 50, 604800)),
        algorithm=dice.choice(("tree", "tree", "classic")),
        damping=dice.choice((1, 1, 5)),
        favor_small=dice.random() < 0.3,
        relative_to_time=dice.random() < 0.3,
        accounts=accounts,
        users=users,
        qos_priorities={n: dice.randrange(4) for n in ("0", "1") if dice.random() < 0.5},
        partitions={n: dice.randrange(4) for n in ("0", "1") if dice.random() < 0.5},
        tiers={n: dice.randrange(4) for n in ("0", "1", "-1") if dice.random() < 0.2},
    )


def workload(dice: random.Random) -> Workload:
    """Return a few jobs that wait for each other."""
    count, processors = dice.randrange(1, 16), dice.randrange(1, 7)
    span, longest = dice.choice((0, 6, 25)), dice.choice((2, 6, 20))
    estimate = [dice.randrange(longest + 1) for _ in range(count)]
    unit = dice.choice((1, 1, 1, 60))
    draw = lambda low, high: [dice.randrange(low, high) for _ in range(count)]  # noqa: E731
    work = Workload.from_columns(
        submit=[unit * one for one in draw(0, span + 1)],
        run=[unit * max(0, one - dice.choice((0, 0, 1, 5))) for one in estimate],
        estimate=[unit * one for one in estimate],
        procs=draw(1, processors + 1),
        user=draw(-1, 4),
        group=draw(-1, 3),
        queue=draw(-1, 2),
        partition=draw(-1, 2),
        processors=processors,
        names=NAMES,
    )
    if dice.random() < 0.2:
        return replace(work, platform=grid_of(processors, dice.randrange(1, 4)))
    return work


def cases(count: int, seed: int) -> Iterator[tuple[Workload, Policy]]:
    """Return random workloads, each with a policy."""
    dice = random.Random(seed)
    for k in range(count):
        work, rule = workload(dice), RULES[k % len(RULES)]
        if work.platform.name == "grid" and ("planned" in rule or "events" in rule):
            rule = "easy"
        yield work, Policy.parse(f"{definition(dice).name}+{rule}")


if __name__ == "__main__":
    sys.exit(try_cases(__doc__ or "", cases, sys.argv[1:]))

"""Compare orders by what users had, as compiled, with their reference on random tiny workloads.

    python -m tests.core.compare_fair --cases 1000 --seed 1

prints for each of start, backfilled, place and promises how many cases differ in it and the
smallest case found, and exits with 1 if there is any.
"""

from __future__ import annotations

import sys
from random import Random

from core.reference.order import SHARES
from tests.core.reference_cases import Case, draw_case, main
from tests.strategies import BACKFILLING, RULES, THRESHOLDS

INTERVALS = ("1s", "2s", "3s", "5s", "7s", "10s")
"""So short that many multiples fall on arrivals and ends."""


def draw_policy(random: Random, grid: bool) -> str:
    """Draw an order of shares, a rule and options."""
    # A plan over clusters goes with fcfs alone.
    rule = random.choice(["aggressive", *RULES, "easy" if grid else "planned"])
    order = random.choice(sorted(SHARES))
    options = [f"{name}={random.choice(INTERVALS)}" for name in _some(random)]
    if rule == "planned":
        options.append("walk=queue")
    if random.random() < 0.2:
        options.append(f"threshold={random.choice(THRESHOLDS)}")
    if rule in BACKFILLING and random.random() < 0.3:
        orders = [(order, "spf"), (order, "lxf"), ("fcfs", order), ("lxf", order)]
        orders.append((order, random.choice(sorted(SHARES))))
        order, backfill = random.choice(orders)
        options.append(f"backfill={backfill}")
    if not grid and random.random() < 0.2:
        options.append("events=per-event")
    return ",".join([f"{order}+{rule}", *options])


def _some(random: Random) -> list[str]:
    return [name for name in ("refresh", "halflife") if random.random() < 0.5]


def draw(random: Random, grid: bool | None = None) -> Case:
    """Draw a case on a pool or a grid: one in twenty with more jobs."""
    most = 40 if random.random() < 0.05 else 12
    drawn = random.random() < 0.3
    on_grid = drawn if grid is None else grid
    return draw_case(random, draw_policy(random, on_grid), on_grid, most, least=6)


if __name__ == "__main__":
    sys.exit(main(__doc__.partition("\n")[0], draw))

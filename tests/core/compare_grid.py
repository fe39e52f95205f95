"""Compare rules on grids as compiled with their reference on random tiny workloads.

    python -m tests.core.compare_grid --cases 1000 --seed 1

prints for each of start, backfilled, place and promises how many cases differ in it and the
smallest case found, and exits with 1 if there is any.
"""

from __future__ import annotations

import sys
from random import Random

from core.reference.order import KEYS
from tests.core.reference_cases import Case, draw_case, main
from tests.strategies import BACKFILLING, LOGARITHMIC, RULES, THRESHOLDS

ORDERS = sorted({*KEYS} - LOGARITHMIC)
"""Orders in which no last place of a float decides."""


def draw_policy(random: Random) -> str:
    """Draw an order, a rule and options that go together."""
    rule = random.choice([*RULES, "planned", "planned"])
    order = random.choice(["fcfs", random.choice(ORDERS)])
    options = []
    if rule == "planned":
        # A plan over clusters is compressed in order of start alone, which goes with fcfs.
        return "fcfs+planned"
    if random.random() < 0.3:
        options.append(f"threshold={random.choice(THRESHOLDS)}")
    if rule in BACKFILLING and random.random() < 0.3:
        options.append(f"backfill={random.choice(ORDERS)}")
    return ",".join([f"{order}+{rule}", *options])


def draw(random: Random) -> Case:
    """Draw a case on a grid: one in twenty with more jobs."""
    most = 40 if random.random() < 0.05 else 12
    return draw_case(random, draw_policy(random), grid=True, most=most)


if __name__ == "__main__":
    sys.exit(main(__doc__.partition("\n")[0], draw))

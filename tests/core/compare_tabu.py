"""Compare searched plans as compiled with their reference on random tiny workloads.

    python -m tests.core.compare_tabu --cases 1000 --seed 1

prints for each of start, backfilled, place and promises how many cases differ in it and the
smallest case found, and exits with 1 if there is any.
"""

from __future__ import annotations

import sys
from random import Random

from tests.core.reference_cases import Case, draw_case, draw_tabu, main


def draw(random: Random, grid: bool | None = None) -> Case:
    """Draw a case on a pool or a grid: one in fifty with more jobs."""
    most = 40 if random.random() < 0.02 else 12
    drawn = random.random() < 0.4
    return draw_case(random, draw_tabu(random), drawn if grid is None else grid, most, 4)


if __name__ == "__main__":
    sys.exit(main(__doc__.partition("\n")[0], draw))

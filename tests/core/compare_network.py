"""Compare `isolated`, `ics` and `icsb` as compiled with their reference on tiny workloads.

    python -m tests.core.compare_network --cases 1000 --seed 1

prints for each of start, end, segments, backfilled and the auditor's verdict how many cases differ
in it and the smallest case found, and exits with 1 if there is any.
"""

from __future__ import annotations

import sys
from random import Random

from tests.core.network_cases import NETWORK_QUESTIONS, NetworkCase, draw_network
from tests.core.reference_cases import main


def draw(random: Random) -> NetworkCase:
    """Draw a case; one in twenty has more jobs."""
    return draw_network(random, 30 if random.random() < 0.05 else 12)


if __name__ == "__main__":
    sys.exit(main(__doc__.partition("\n")[0], draw, NETWORK_QUESTIONS))

"""Compare `conservative` and `demt` on nodes as compiled with their reference on tiny workloads.

    python -m tests.core.compare_nodes --cases 1000 --seed 1

prints for each of start, end, state, segments, counts, backfilled, promises and the auditor's
verdict how many cases differ in it and the smallest case found, and exits with 1 if there is any.
"""

from __future__ import annotations

import sys
from random import Random

from tests.core.node_cases import NODE_QUESTIONS, NodeCase, conservative, demt, draw_nodes
from tests.core.reference_cases import main


def draw(random: Random) -> NodeCase:
    """Draw a case: two in five of shelves, one in twenty with more jobs."""
    most = 25 if random.random() < 0.05 else 9
    return draw_nodes(random, random.choice([conservative] * 3 + [demt] * 2), most)


if __name__ == "__main__":
    sys.exit(main(__doc__.partition("\n")[0], draw, NODE_QUESTIONS))

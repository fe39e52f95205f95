"""Hosts on random small workloads, by every program."""

from __future__ import annotations

import numba

from tests.oracles.compare import check
from tests.oracles.hosts import cases

FEW = {"fcfs", "saf", "lxf", None}
"""A fixed and a moving order: each further kind compiles all kernels of the rules again."""


MOST = 100 if numba.config.DISABLE_JIT else 1_000
"""Largest number of jobs: 200 jobs under `planned` take minutes without the JIT."""


def test_random_hosts() -> None:
    """Kernel, reference and audit agree; `python -m tests.oracles.hosts` tries all orders."""
    tried = 0
    for work, policy in cases(900, seed=5):
        if {policy.order, policy.backfill} <= FEW and len(work) <= MOST:
            check(work, policy)
            tried += 1
    assert tried > 300

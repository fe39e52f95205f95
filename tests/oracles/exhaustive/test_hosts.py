"""Hosts on random small workloads, by every program."""

from __future__ import annotations

from tests.oracles.compare import check
from tests.oracles.hosts import cases


def test_random_hosts() -> None:
    """Kernel, reference and audit agree; `python -m tests.oracles.hosts` tries more."""
    for work, policy in cases(400, seed=5):
        check(work, policy)

"""Slurm's priority under every rule on random small workloads, by every program."""

from __future__ import annotations

from tests.oracles.compare import check
from tests.oracles.priorities import cases


def test_random_definitions() -> None:
    """Kernels, reference and audit agree; `python -m tests.oracles.priorities` tries more."""
    for work, policy in cases(24, seed=5):
        check(work, policy)

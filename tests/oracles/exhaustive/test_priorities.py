"""Slurm's priority under every rule on random small workloads, by every program."""

from __future__ import annotations

from schedfarm.core.policy.policy import Policy
from tests.oracles.compare import check
from tests.oracles.priorities import cases
from tests.oracles.test_priorities import SITE
from tests.support.strategies import crowd


def test_random_definitions() -> None:
    """Kernels, reference and audit agree; `python -m tests.oracles.priorities` tries more."""
    for work, policy in cases(24, seed=5):
        check(work, policy)


def test_a_crowd_with_reservations() -> None:
    check(crowd(3, 40), Policy.parse(f"{SITE}+conservative"))

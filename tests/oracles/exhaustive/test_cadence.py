"""Slurm's schedulers on random small workloads, by every program."""

from __future__ import annotations

from tests.oracles.cadence import cases, changed
from tests.oracles.compare import check


def test_random_cadences() -> None:
    """Kernel, reference and audit agree; `python -m tests.oracles.cadence` tries more."""
    found = [*cases(60, seed=5)]
    for work, policy in found:
        check(work, policy)
    assert sum(changed(work, policy) for work, policy in found) > 50

"""Reservations that outlive early completions, on many random workloads, by every program."""

from __future__ import annotations

import pytest

from schedfarm.core.engine import snapshots
from tests.oracles.compare import check
from tests.oracles.early_completions import cases, kept_in_short_queues


@pytest.mark.parametrize(("apart", "steps"), [(1, snapshots.STEPS), (3, snapshots.STEPS), (1, 40)])
def test_random_early_completions(apart: int, steps: int) -> None:
    """Kernel, reference and audit agree, wherever the snapshots are."""
    with kept_in_short_queues(apart, steps):
        for work, policy in cases(60, seed=5):
            check(work, policy)

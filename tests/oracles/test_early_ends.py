"""Reservations that outlive early ends, in workloads whose queues are long from the start."""

from __future__ import annotations

import numpy as np
import pytest

from schedfarm.core.engine import snapshots
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.models.lublin import lublin
from schedfarm.core.workload.load import scale_load
from tests.oracles.compare import check
from tests.oracles.early_ends import cases, kept_in_short_queues


@pytest.mark.parametrize("steps", [snapshots.STEPS, 40])
def test_random_early_ends(steps: int) -> None:
    """Kernel, reference and audit agree; `python -m tests.oracles.early_ends` tries more.

    With 40 steps a snapshot often lacks space for the next reservation.
    """
    with kept_in_short_queues(steps=steps):
        for work, policy in cases(12, seed=4):
            check(work, policy)


@pytest.mark.parametrize("apart", [1, 5, 32])
@pytest.mark.parametrize("policy", ["fcfs+conservative", "lxf+conservative", "fcfs+depth(100)"])
def test_the_distance_of_snapshots_changes_no_start(policy: str, apart: int) -> None:
    work = scale_load(lublin(64, jobs=400, seed=3), 1.4)
    with kept_in_short_queues(10**6):
        expected = simulate(work, policy)
    with kept_in_short_queues(apart):
        found = simulate(work, policy)
    np.testing.assert_array_equal(found.start, expected.start)
    np.testing.assert_array_equal(found.backfilled, expected.backfilled)

"""The starts of a real Slurm are those of a simulation of its configuration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.judge import SCENARIOS, compare, on_cycles, priorities
from tests.support.judged import PROGRAMS
from tests.support.slurm import missing

WHY = missing(*PROGRAMS)

pytestmark = pytest.mark.skipif(bool(WHY), reason=WHY or "Slurm and a database are here")


def test_jobs_start_as_simulated__within_two_cycles(tmp_path: Path) -> None:
    """Fair share, age, QOS and two partitions decide, and limits hold jobs."""
    scenario = SCENARIOS["limits"]
    ran = scenario.run(scenario.jobs(120, 45, seed=1))
    given, computed = priorities(ran, tmp_path / "priorities.sacct")
    found = compare(on_cycles(ran), scenario, tmp_path / "cycles.sacct")
    assert len(given) > 100
    assert np.array_equal(given, computed)
    assert np.count_nonzero(found.real_wait > 5) > 30
    late = np.abs(found.late)
    # On a busy machine one start in another cycle can change which user is next.
    assert np.mean(late <= 2) >= 0.9, late
    assert found.simulated_wait.mean() == pytest.approx(found.real_wait.mean(), rel=0.1)

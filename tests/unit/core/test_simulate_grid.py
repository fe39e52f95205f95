"""Rules over clusters: cases by hand, what always holds, and a grid of one cluster as a pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import Rule
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import crowd, grid_of


def hand(clusters: tuple[int, ...], *jobs: tuple[int, ...]) -> Workload:
    """Build a workload of jobs (submit, estimate, processors, and run where that is less)."""
    return Workload.from_columns(
        submit=[job[0] for job in jobs],
        run=[job[3] if len(job) > 3 else job[1] for job in jobs],
        estimate=[job[1] for job in jobs],
        procs=[job[2] for job in jobs],
        platform=grid_of(*clusters),
    )


# The third job fits nowhere at 1 s. Its shadow is 3 s on the first cluster, 8 s on the second, so
# that one fourth and one fifth job may cross the first cluster only by 3 s.
NARROW_FIRST = hand((2, 4), (0, 8, 4), (0, 3, 1), (1, 5, 2), (1, 3, 1), (1, 2, 1))


def test_fair_starts__are_those_of_a_simulation_each() -> None:
    """Strict and by arrival, a job's fair start is its start in the workload that ends with it."""
    work = replace(crowd(3, 60), platform=grid_of(8, 16))
    fair = fair_start_times(work, "fcfs+easy", jobs=range(60))
    each = [simulate(work.take(slice(j + 1)), "fcfs+easy").start[j] for j in range(60)]
    assert fair.tolist() == each
    assert (simulate(work, "fcfs+easy").start != fair).any()


@pytest.mark.parametrize("rule", ["fcfs+none", "lxf+easy", "fcfs+conservative"])
def test_per_event__is_refused(rule: str) -> None:
    """The clock of the pyss family knows one pool."""
    with pytest.raises(InputError, match=r"events=per-event is for one pool"):
        simulate(NARROW_FIRST, f"{rule},events=per-event")


def test_a_function_for_a_rule__is_refused() -> None:
    """Starts do not say where jobs run."""
    with pytest.raises(InputError, match=r"does not support platforms of kind 'grid'"):
        simulate(NARROW_FIRST, "fcfs+tests.unit.core.test_simulate_grid:as_submitted")
    with pytest.raises(InputError, match=r"returned only starts; on platform 'grid'"):
        simulate(NARROW_FIRST, "fcfs+tests.unit.core.test_simulate_grid:BROUGHT")


def as_submitted(workload: Workload, policy: Policy) -> np.ndarray:
    """Start every job at its submission."""
    return workload.submit


BROUGHT = Rule("brought", "at once", simulate=as_submitted, platforms=("pool", "grid"))

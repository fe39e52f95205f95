"""Promises on grids, under rules and orders whose kernels no default test compiles."""

from __future__ import annotations

from hypothesis import given, strategies as st

from schedfarm.core.engine.promises import NO_PROMISE
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.machines.grid.simulation import GRID
from schedfarm.core.policy.orders import ORDERS
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import grid_workloads

PROMISING = ("depth(1)", "depth(2)", "depth(3)", "conservative")


@given(grid_workloads(), st.sampled_from(tuple(ORDERS)), st.sampled_from(PROMISING))
def test_promising__changes_no_start(work: Workload, order: str, rule: str) -> None:
    """Reservations behind the last job that may start are made for promises alone."""
    schedule = simulate(work, f"{order}+{rule}")
    planner = GRID.schedule_reserving(work, Policy(order, rule))
    start, place, promised = planner.jobs.start, planner.machine.place, planner.promised
    assert start.tolist() == schedule.start.tolist()
    assert place.tolist() == schedule.place.tolist()
    assert ((promised >= work.submit) | (promised == NO_PROMISE)).all()
    if rule == "conservative":
        assert (promised != NO_PROMISE).all()

"""From a policy to the kernels that simulate it over several clusters."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine import reservations
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.clock import NOW
from schedfarm.core.engine.compiled_order import Orders
from schedfarm.core.engine.fixed_order import run_fixed
from schedfarm.core.engine.moving_order import next_pass, run_moving, run_pass
from schedfarm.core.engine.plan import COUNT
from schedfarm.core.engine.reservations import UNSEEN
from schedfarm.core.engine.world import AGGRESSIVE, EASY, NONE, RESERVING, Options, empty_world
from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid import clone as _clone  # noqa: F401
from schedfarm.core.machines.grid.kernel import idle_grid, running_jobs
from schedfarm.core.machines.grid.plans import empty_plans
from schedfarm.core.machines.grid.search import planned, promise_planned
from schedfarm.core.machines.pool.simulation import idle_jobs, options_of, unit_of, widest_of
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

__all__ = [
    "aggressive",
    "easy",
    "none",
    "planned",
    "promise_planned",
    "promise_reserving",
    "reserving",
]


def sizes_of(workload: Workload, unit: int = 1) -> Int64:
    """Return the processors of each cluster, int64[clusters], in whole units.

    Examples
    --------
    >>> from schedfarm.core.machines.grid.platform import Grid
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[2],
    ...                           platform=Grid([5, 8], ["a", "b"]))
    >>> sizes_of(w, 2).tolist()
    [2, 4]
    """
    return np.array(workload.platform.sizes, np.int64) // unit


def _options(workload: Workload, policy: Policy, rule: int) -> Options:
    if policy.events != "instant":
        raise InputError(
            f"policy {policy.name!r}: events={policy.events} is for one pool of processors; "
            "on a grid leave it out"
        )
    return options_of(workload, policy, rule)


def _without_plan(workload: Workload, policy: Policy, code: int) -> Schedule:
    """Simulate a rule with at most one reservation, which every pass makes anew."""
    options, jobs = _options(workload, policy, code), idle_jobs(workload, workload.procs)
    key, machine = (
        find_order(policy.order).fixed_key(workload),
        idle_grid(sizes_of(workload), len(workload)),
    )
    if key is not None and policy.backfill in (None, policy.order):
        world = empty_world(jobs, machine, key)
        run_fixed(world, options)
    else:
        world = empty_world(jobs, machine, np.zeros(len(workload), np.int64))
        orders = Orders(workload, policy, stepwise=True)
        clock, waiting = np.zeros(2, np.int64), np.empty(len(workload), np.int64)
        if orders.called:
            while count := next_pass(world, clock, options.per_event, waiting):
                now = int(clock[NOW])
                orders.call(now, waiting[:count].copy(), jobs.start, running_jobs(machine))
                run_pass(world, orders.rankings, options, now)
        else:
            run_moving(world, clock, orders.rankings, options)
    underway().check()
    return Schedule(workload, policy.name, jobs.start, jobs.backfilled, place=machine.place)


none = partial(_without_plan, code=NONE)
aggressive = partial(_without_plan, code=AGGRESSIVE)
easy = partial(_without_plan, code=EASY)


def reserving(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``depth(K)`` or ``conservative``."""
    start, backfilled, place, _ = schedule_reserving(workload, policy, promises=False)
    return Schedule(workload, policy.name, start, backfilled, place=place)


def promise_reserving(workload: Workload, policy: Policy) -> Int64:
    """Return the starts that ``depth(K)`` or ``conservative`` reserves at arrival, s."""
    return schedule_reserving(workload, policy)[3]


def schedule_reserving(
    workload: Workload, policy: Policy, *, promises: bool = True
) -> tuple[Int64, npt.NDArray[np.bool_], Int64, Int64]:
    """Simulate a workload under ``depth(K)`` or ``conservative``.

    Parameters
    ----------
    workload, policy, promises
        As for `core.machines.pool.simulation.schedule_reserving`.

    Returns
    -------
    start, backfilled
        As there.
    place : int64[n]
        Cluster on which the job runs.
    promised : int64[n]
        As there.

    Raises
    ------
    InputError
        As there, or if the policy asks for the per-event clock.
    Left
        As `core.simulate`.

    Examples
    --------
    >>> from schedfarm.core.machines.grid.platform import Grid
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 7], estimate=[9, 9, 7],
    ...                           procs=[1, 2, 1], platform=Grid([2, 1], ["a", "b"]))
    >>> told = schedule_reserving(w, Policy.parse("fcfs+conservative"))
    >>> [column.tolist() for column in told]
    [[0, 9, 2], [False, False, True], [0, 0, 0], [0, 9, 2]]
    """
    options = _options(workload, policy, RESERVING)
    planner = idle_planner(workload, UNSEEN if promises else NO_PROMISE)
    jobs, machines, plans, clock, promised = planner
    orders = Orders(workload, policy, stepwise=True)
    while reservations.run_reserving(planner, orders.rankings, options, promises, orders.called):
        first = plans.front[0]
        waiting = np.sort(plans.job[first : first + plans.state[COUNT]])
        orders.call(int(clock[NOW]), waiting, jobs.start, running_jobs(machines))
    underway().check()
    return jobs.start, jobs.backfilled, machines.place, promised


def idle_planner(workload: Workload, promise: int) -> reservations.Planner:
    """Return idle clusters that count in units, with the same promise for every job.

    Raises
    ------
    InputError
        If a job is wider than `core.machines.pool.simulation.WIDEST` units.
    """
    n, unit, widest = len(workload), unit_of(workload), widest_of(workload)
    size = sizes_of(workload, unit)
    return reservations.Planner(
        idle_jobs(workload, workload.procs // unit),
        idle_grid(size, n),
        empty_plans(size.size, n, widest),
        np.zeros(reservations.CLOCK, np.int64),
        np.full(n, promise, np.int64),
    )

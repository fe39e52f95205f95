"""From a policy to the kernels that simulate it on one pool of processors."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine import planned as planned_kernel
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.clock import NOW
from schedfarm.core.engine.compiled_order import Orders
from schedfarm.core.engine.fixed_order import run_fixed
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.moving_order import next_pass, run_moving, run_pass
from schedfarm.core.engine.plan import COUNT, empty_plan
from schedfarm.core.engine.reservations import CLOCK, UNSEEN, Planner, run_reserving
from schedfarm.core.engine.running import Jobs, idle_machine
from schedfarm.core.engine.shared_order import run_planned_shared, run_reserving_shared, run_shared
from schedfarm.core.engine.world import (
    AGGRESSIVE,
    EASY,
    NONE,
    RESERVING,
    Options,
    World,
    empty_world,
)
from schedfarm.core.errors import InputError
from schedfarm.core.machines.pool import clone as _clone, kernel as _kernel, plans as _plans  # noqa: F401
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

WIDEST = 2**24
"""No job may be wider, in units of what all widths have in common: a plan has tables by width."""

WALKS = {
    "start": planned_kernel.BY_START,
    "arrival": planned_kernel.BY_ARRIVAL,
    "queue": planned_kernel.BY_QUEUE,
}
"""Codes of the orders in which ``planned`` compresses."""


def _without_plan(workload: Workload, policy: Policy, code: int) -> Schedule:
    """Simulate a rule with at most one reservation, which every pass makes anew."""
    jobs = idle_jobs(workload, workload.procs)
    options = options_of(workload, policy, code)
    key = find_order(policy.order).fixed_key(workload)
    if key is not None and policy.backfill in (None, policy.order):
        run_fixed(empty_world(jobs, idle_machine(workload.processors, len(workload)), key), options)
    else:
        machine = idle_machine(workload.processors, len(workload))
        world = empty_world(jobs, machine, np.zeros(len(workload), np.int64))
        _move(world, Orders(workload, policy), options)
    underway().check()
    return Schedule(workload, policy.name, jobs.start, jobs.backfilled)


none = partial(_without_plan, code=NONE)
aggressive = partial(_without_plan, code=AGGRESSIVE)
easy = partial(_without_plan, code=EASY)


def _move(world: World, orders: Orders, options: Options) -> None:
    """Run in orders that change with time, or differ for backfills."""
    clock, waiting = np.zeros(2, np.int64), np.empty_like(world.key)
    if orders.called:
        _step(world, clock, orders, options, waiting)
    elif orders.sharing is not None:
        run_shared(world, clock, orders.rankings, orders.sharing, options, waiting)
    else:
        run_moving(world, clock, orders.rankings, options)


def _step(world: World, clock: Int64, orders: Orders, options: Options, waiting: Int64) -> None:
    """Run pass by pass, with the keys of the waiting jobs evaluated before each."""
    running = world.machine
    while count := next_pass(world, clock, options.per_event, waiting):
        now = int(clock[NOW])
        orders.call(now, waiting[:count].copy(), world.jobs.start, running.job[: running.count[0]])
        run_pass(world, orders.rankings, options, now)


def reserving(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``depth(K)`` or ``conservative``."""
    start, backfilled, _ = schedule_reserving(workload, policy, promises=False)
    return Schedule(workload, policy.name, start, backfilled)


def promise_reserving(workload: Workload, policy: Policy) -> Int64:
    """Return the starts that ``depth(K)`` or ``conservative`` reserves at arrival, s."""
    return schedule_reserving(workload, policy)[2]


def planned(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``planned``."""
    start, backfilled, _ = schedule_planned(workload, policy)
    return Schedule(workload, policy.name, start, backfilled)


def promise_planned(workload: Workload, policy: Policy) -> Int64:
    """Return the starts that ``planned`` reserves at arrival, s."""
    return schedule_planned(workload, policy)[2]


def schedule_reserving(
    workload: Workload, policy: Policy, *, promises: bool = True
) -> tuple[Int64, npt.NDArray[np.bool_], Int64]:
    """Simulate a workload under ``depth(K)`` or ``conservative``.

    Under ``depth(K)`` the backfill order of the policy, where it has one, is the order in which
    the jobs behind the K reserved ones are examined; starving jobs come first in it too.

    Parameters
    ----------
    workload : Workload
        The jobs and their machine.
    policy : Policy
        Of such a rule.
    promises : bool
        Whether to work out the starts promised at arrival. Passes otherwise make reservations
        only as far as a job may still start: 1.3 to 1.7 times as fast.

    Returns
    -------
    start : int64[n]
        Start instant, s.
    backfilled : bool[n]
        Whether the job started while one before it in the queue stayed waiting.
    promised : int64[n]
        Start reserved in the pass at the job's arrival, s, also where it started in that pass;
        `NO_PROMISE` where it held no reservation, or without `promises`.

    Raises
    ------
    InputError
        If an order's function cannot be used, or a job is wider than `WIDEST`.
    Left
        As `core.simulate`.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 7], estimate=[9, 9, 7],
    ...                           procs=[1, 2, 1], processors=2)
    >>> told = schedule_reserving(w, Policy.parse("fcfs+conservative"))
    >>> [column.tolist() for column in told]
    [[0, 9, 2], [False, False, True], [0, 9, 2]]
    """
    planner = idle_planner(workload, UNSEEN if promises else NO_PROMISE)
    jobs, running, plan, clock, promised = planner
    orders, options = Orders(workload, policy), options_of(workload, policy, RESERVING)
    if orders.sharing is not None and not orders.called:
        run_reserving_shared(planner, orders.rankings, orders.sharing, options, promises)
    else:
        while run_reserving(planner, orders.rankings, options, promises, orders.called):
            first = plan.front[0]
            waiting = np.sort(plan.job[first : first + plan.state[COUNT]])
            orders.call(int(clock[NOW]), waiting, jobs.start, running.job[: running.count[0]])
    underway().check()
    return jobs.start, jobs.backfilled, promised


def schedule_planned(
    workload: Workload, policy: Policy
) -> tuple[Int64, npt.NDArray[np.bool_], Int64]:
    """Simulate a workload under ``planned``; returns as `schedule_reserving`.

    Promises cost nothing here: each is the reservation that a job gets at its arrival.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 7], estimate=[9, 9, 7],
    ...                           procs=[1, 2, 1], processors=2)
    >>> [x.tolist() for x in schedule_planned(w, Policy.parse("fcfs+planned"))]
    [[0, 9, 2], [False, False, True], [0, 9, 2]]
    """
    keeper = bookkeeper(workload)
    jobs, running, _, clock, _ = keeper
    orders, options = Orders(workload, policy), options_of(workload, policy, RESERVING)
    ranking, walk = orders.rankings.queue, WALKS[policy.walk]
    if orders.sharing is not None and not orders.called:
        run_planned_shared(keeper, orders.rankings, orders.sharing, options, walk)
    else:
        while planned_kernel.run_planned(keeper, ranking, options, walk, orders.called):
            waiting = np.sort(keeper.book.job[: keeper.book.state[planned_kernel.COUNT]])
            orders.call(int(clock[NOW]), waiting, jobs.start, running.job[: running.count[0]])
    underway().check()
    return jobs.start, jobs.backfilled, keeper.promised


def bookkeeper(workload: Workload) -> planned_kernel.Bookkeeper:
    """Return an idle machine of whole units, and an empty book."""
    n, unit = len(workload), unit_of(workload)
    processors = workload.processors // unit
    return planned_kernel.Bookkeeper(
        idle_jobs(workload, workload.procs // unit),
        idle_machine(processors, n),
        planned_kernel.empty_book(n, processors),
        np.zeros(planned_kernel.CLOCK, np.int64),
        np.full(n, NO_PROMISE, np.int64),
    )


def options_of(workload: Workload, policy: Policy, rule: int) -> Options:
    """Return what a policy asks of the kernels, with the code of its rule."""
    theta = policy.threshold_seconds(workload.max_estimate)
    threshold = NEVER if theta is None else min(theta, NEVER)
    depth = policy.depth if policy.depth >= 0 else NEVER
    return Options(rule, depth, threshold, policy.events == "per-event")


def idle_jobs(workload: Workload, width: Int64) -> Jobs:
    """Return what kernels read and write of the jobs, of these widths, none of them started."""
    n = len(workload)
    start, backfilled = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    leave = underway().follow(start)
    return Jobs(workload.submit, workload.run, workload.estimate, width, start, backfilled, leave)


def unit_of(workload: Workload) -> int:
    """Return the processors that all widths are multiples of; no job can use a part of it."""
    return int(np.gcd.reduce(workload.procs)) if len(workload) else 1


def widest_of(workload: Workload) -> int:
    """Return the processors of the widest job, in units, of which plans have tables.

    Raises
    ------
    InputError
        If that is more than `WIDEST`.
    """
    unit = unit_of(workload)
    widest = int(workload.procs.max(initial=unit)) // unit
    if widest > WIDEST:
        raise InputError(
            f"workload {workload.name!r}: its widest job takes {widest} times {unit} processors; a "
            f"rule with reservations knows at most {WIDEST} widths; count in larger units"
        )
    return widest


def idle_planner(workload: Workload, promise: int) -> Planner:
    """Return an idle machine that counts in units, with the same promise for every job.

    Raises
    ------
    InputError
        If a job is wider than `WIDEST`.
    """
    n, unit, widest = len(workload), unit_of(workload), widest_of(workload)
    return Planner(
        idle_jobs(workload, workload.procs // unit),
        idle_machine(workload.processors // unit, n),
        empty_plan(n, widest),
        np.zeros(CLOCK, np.int64),
        np.full(n, promise, np.int64),
    )

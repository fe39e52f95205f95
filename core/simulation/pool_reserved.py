"""The door to the rules with an availability profile: depth(K), conservative and planned."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.arrays import NO_PROMISE, Int64
from core.errors import InputError
from core.kernels.jit import NEVER
from core.kernels.machine import Jobs, Running, idle_machine
from core.kernels.moving_order import KEYED
from core.kernels.plan import COUNT, Plan, empty_plan
from core.kernels.planned import run_planned
from core.kernels.reservations import CLOCK, NOW, UNSEEN, run_depth
from core.policy.orders import moving_key
from core.policy.policy import Policy
from core.simulation.compiled_order import named_order
from core.workload.workload import Workload

WIDEST = 2**24
"""No job may be wider, in units of what all widths have in common: a plan has tables by width."""


def schedule_reserved(
    workload: Workload, policy: Policy, *, promises: bool = True
) -> tuple[Int64, npt.NDArray[np.bool_], Int64]:
    """Simulate a workload under a rule with reservations.

    Under ``depth(K)`` the backfill order of the policy, where it has one, is the order in which
    the jobs behind the K reserved ones are examined; starving jobs come first in it too.

    Parameters
    ----------
    workload : Workload
        The jobs and their machine.
    policy : Policy
        With the rule ``depth(K)``, ``conservative`` or ``planned``.
    promises : bool
        Whether to work out the starts promised at arrival. Passes otherwise make reservations
        only as far as a job may still start: 1.3 to 1.7 times as fast. Under ``planned`` they
        cost nothing and are always given.

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

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 7], estimate=[9, 9, 7],
    ...                           procs=[1, 2, 1], processors=2)
    >>> [x.tolist() for x in schedule_reserved(w, Policy.parse("fcfs+conservative"))]
    [[0, 9, 2], [False, False, True], [0, 9, 2]]
    """
    n = len(workload)
    width = workload.procs // _unit(workload)
    columns = (workload.submit, workload.run, workload.estimate, width)
    jobs = Jobs(*columns, np.full(n, -1, np.int64), np.zeros(n, np.bool_))
    promised = np.full(n, UNSEEN if promises else NO_PROMISE, np.int64)
    if policy.rule == "planned":
        per_event, by_start = policy.events == "per-event", policy.walk == "start"
        plan, machine = _empty(workload)
        units = workload.processors // _unit(workload)
        run_planned(plan, jobs, machine, promised, units, per_event, by_start)
    else:
        _run(workload, policy, jobs, promised, promises)
    return jobs.start, jobs.backfilled, promised


def _unit(workload: Workload) -> int:
    """Return the processors that all widths are multiples of; no job can use a part of it."""
    return int(np.gcd.reduce(workload.procs)) if len(workload) else 1


def _empty(workload: Workload) -> tuple[Plan, Running]:
    n, unit = len(workload), _unit(workload)
    widest = int(workload.procs.max(initial=unit)) // unit
    if widest > WIDEST:
        raise InputError(
            f"workload {workload.name!r}: its widest job takes {widest} times {unit} processors; a "
            f"rule with reservations knows at most {WIDEST} widths; count in larger units"
        )
    return empty_plan(n, widest), idle_machine(workload.processors // unit, n)


def _run(workload: Workload, policy: Policy, jobs: Jobs, promised: Int64, promises: bool) -> None:
    names = (policy.order, policy.backfill or policy.order)
    orders, functions = zip(*(named_order(workload, name) for name in names), strict=True)
    theta = policy.threshold_seconds(workload.max_estimate)
    plan, machine = _empty(workload)
    clock = np.zeros(CLOCK, np.int64)
    stepwise = functions[0] is not None or functions[1] is not None
    moving = functions[0] is not None or orders[0].code != KEYED
    while run_depth(
        plan, jobs, machine, clock, promised, orders, moving, stepwise,
        NEVER if theta is None else min(theta, NEVER), policy.depth if policy.depth > 0 else NEVER,
        names[0] != names[1], policy.events == "per-event", promises,
    ):  # fmt: skip
        waiting, now = np.sort(plan.job[: plan.state[COUNT]]), int(clock[NOW])
        for name, order, function in zip(names, orders, functions, strict=True):
            if function is not None and waiting.size:
                order.key[waiting] = moving_key(workload, function, name, waiting, now)

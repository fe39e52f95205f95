"""The door of the simulator: a workload and a policy in, a schedule out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.arrays import Int64
from core.policy.orders import OrderFunction, fixed_key, moving_key
from core.policy.policy import Policy
from core.schedule import Schedule
from core.workload.workload import Workload

if TYPE_CHECKING:
    from core.kernels.machine import Jobs
    from core.kernels.moving_order import Order

NEVER = 2**63 - 1
"""The threshold of a policy without one, s."""


def simulate(workload: Workload, policy: Policy | str) -> Schedule:
    """Run the jobs of a workload through a scheduler and return when each starts.

    Parameters
    ----------
    workload : Workload
        The jobs and their machine.
    policy : Policy or str
        What the scheduler does, or its name.

    Returns
    -------
    Schedule
        Start, s, of each job and whether it was backfilled.

    Raises
    ------
    InputError
        If the policy is unknown, or its order's function cannot be used.

    Examples
    --------
    >>> from core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[10, 10, 5], estimate=[10, 10, 5],
    ...                           procs=[2, 4, 2], processors=4)
    >>> simulate(w, "fcfs+easy").start.tolist()
    [0, 10, 2]
    """
    chosen = Policy.parse(policy) if isinstance(policy, str) else policy
    if chosen.rule not in ("none", "aggressive", "easy"):
        from core.simulation.pool_reserved import schedule_reserved

        start, backfilled, _ = schedule_reserved(workload, chosen, promises=False)
        return Schedule(workload, chosen.name, start, backfilled)
    jobs = _jobs(workload)
    key = fixed_key(workload, chosen.order)
    if key is not None and chosen.backfill in (None, chosen.order):
        _run_fixed(workload, chosen, jobs, key)
    else:
        _run_moving(workload, chosen, jobs)
    return Schedule(workload, chosen.name, jobs.start, jobs.backfilled)


def _jobs(workload: Workload) -> Jobs:
    from core.kernels.machine import Jobs

    n = len(workload)
    return Jobs(
        workload.submit,
        workload.run,
        workload.estimate,
        workload.procs,
        np.full(n, -1, np.int64),
        np.zeros(n, np.bool_),
    )


def _options(workload: Workload, policy: Policy) -> tuple[int, int, bool]:
    from core.kernels.fixed_order import AGGRESSIVE, EASY, NONE

    rule = {"none": NONE, "aggressive": AGGRESSIVE, "easy": EASY}[policy.rule]
    threshold = policy.threshold_seconds(workload.max_estimate)
    limit = NEVER if threshold is None else min(threshold, NEVER)
    return rule, limit, policy.events == "per-event"


def _run_fixed(workload: Workload, policy: Policy, jobs: Jobs, key: Int64) -> None:
    from core.kernels.fixed_order import run_fixed

    run_fixed(jobs, key, workload.processors, *_options(workload, policy))


def _run_moving(workload: Workload, policy: Policy, jobs: Jobs) -> None:
    from core.kernels.moving_order import run_moving
    from core.simulation.compiled_order import named_order

    primary, function = named_order(workload, policy.order)
    second, other = named_order(workload, policy.backfill or policy.order)
    if function is None and other is None:
        options = _options(workload, policy)
        run_moving(jobs, (primary, second), workload.processors, *options)
    else:
        _run_functions(workload, policy, jobs, ((primary, function), (second, other)))


def _run_functions(
    workload: Workload,
    policy: Policy,
    jobs: Jobs,
    orders: tuple[tuple[Order, OrderFunction | None], tuple[Order, OrderFunction | None]],
) -> None:
    from core.kernels.machine import idle_machine
    from core.kernels.moving_order import NOW, next_pass, run_pass
    from core.kernels.queue import empty_queue

    n = len(workload)
    rule, threshold, per_event = _options(workload, policy)
    running, queue = idle_machine(workload.processors, n), empty_queue(n)
    hold, clock, by_age = np.zeros(3, np.int64), np.zeros(2, np.int64), np.zeros(n, np.int64)
    pair = (orders[0][0], orders[1][0])
    names = (policy.order, policy.backfill or policy.order)
    while True:
        waiting = next_pass(queue, jobs, running, clock, per_event, by_age)
        if not waiting.size:
            return
        now = int(clock[NOW])
        for name, (order, function) in zip(names, orders, strict=True):
            if function is not None:
                order.key[waiting] = moving_key(workload, function, name, waiting, now)
        limit = now - threshold if threshold < NEVER else -1
        run_pass(queue, jobs, running, hold, pair, rule, now, limit, by_age)

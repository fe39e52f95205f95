"""From a policy to the kernel that finds its fair start times."""

from __future__ import annotations

import numpy as np

from core.arrays import Int64
from core.kernels.fair_start.fixed_order import empty_world, fair_fixed, fair_patient
from core.kernels.fair_start.moving_order import fair_moving
from core.kernels.fair_start.reservations import Rule, empty_planner, fair_depth
from core.kernels.fair_start.state import Fair
from core.kernels.fixed_order import AGGRESSIVE, EASY, NONE
from core.kernels.jit import NEVER
from core.kernels.moving_order import KEYED
from core.policy.orders import MOVING, fixed_key
from core.policy.policy import Policy
from core.simulation.compiled_order import named_order
from core.workload.workload import Workload

CODES = {"none": NONE, "aggressive": AGGRESSIVE, "easy": EASY}
"""Code of each rule without a profile."""


def fair_order(asked: Int64, rank: Int64, relaxed: bool, plain: bool, patient: bool) -> Fair:
    """Return what the kernels need to know of the jobs asked for, of which there are some.

    Examples
    --------
    >>> import numpy as np
    >>> fair = fair_order(np.array([1]), np.array([2, 0, 1]), False, False, False)
    >>> fair.until.tolist(), fair.last
    ([3, 2, 3], 2)
    """
    wanted = np.zeros(rank.size, np.bool_)
    wanted[asked] = True
    # One past the last job that is not later than each: a running maximum along the fair order.
    order = np.argsort(rank)
    until = np.empty(rank.size, np.int64)
    until[order] = np.maximum.accumulate(order) + 1
    return Fair(rank, until, wanted, int(asked.max()) + 1, relaxed, plain, patient)


def is_compiled(workload: Workload, policy: Policy) -> bool:
    """Tell whether the kernels know a policy: not a plan that is kept, nor a function that moves.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[1], processors=2)
    >>> is_compiled(w, Policy.parse("lxf+easy")), is_compiled(w, Policy.parse("fcfs+planned"))
    (True, False)
    """
    orders = {policy.order, policy.backfill or policy.order}
    return policy.rule != "planned" and all(
        name in MOVING or fixed_key(workload, name) is not None for name in orders
    )


def run_fair(workload: Workload, policy: Policy, fair: Fair) -> Int64:
    """Return the fair start times, s, of the jobs wanted, int64[n]; -1 elsewhere."""
    columns = (workload.submit, workload.run, workload.estimate, workload.procs)
    machine, per_event = workload.processors, policy.events == "per-event"
    theta = policy.threshold_seconds(workload.max_estimate)
    threshold = NEVER if theta is None or fair.patient else min(theta, NEVER)
    second, fst = policy.backfill or policy.order, np.full(len(workload), -1, np.int64)
    orders = (named_order(workload, policy.order)[0], named_order(workload, second)[0])
    moving, other = orders[0].code != KEYED, second != policy.order
    if policy.rule not in CODES:
        depth = policy.depth if policy.depth > 0 else NEVER
        rule = Rule(orders, moving, threshold, depth, other, per_event)
        planners = [empty_planner(*columns, machine) for _ in range(2)]
        fair_depth(planners[0], planners[1], fair, rule, fst)
        return fst
    code, key = CODES[policy.rule], orders[0].key
    if moving or other:
        key = np.zeros(len(workload), np.int64)
    worlds = [empty_world(*columns, key, machine) for _ in range(2)]
    if moving or other:
        fair_moving(worlds[0], worlds[1], fair, orders, code, threshold, per_event, fst)
    elif fair.patient:
        fair_patient(worlds[0], worlds[1], fair, code, per_event, fst)
    else:
        fair_fixed(worlds[0], worlds[1], fair, code, threshold, per_event, fst)
    return fst


def is_patient(policy: Policy) -> bool:
    """Tell whether under a policy no job that waits moves one that came before it.

    First come, first served also those do that starve.

    Examples
    --------
    >>> is_patient(Policy.parse("fcfs+easy,threshold=3d")), is_patient(Policy.parse("spf+easy"))
    (True, False)
    """
    return policy.order == "fcfs" and policy.backfill in (None, "fcfs") and policy.rule != "planned"

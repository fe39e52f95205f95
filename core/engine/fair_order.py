"""Fair orders for the kernels, and the policies with compiled fair starts."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clone.state import Fair
from schedfarm.core.policy.policy import Policy


def fair_order(asked: Int64, rank: Int64, relaxed: bool, plain: bool, patient: bool) -> Fair:
    """Return the fair order and the requested jobs, at least one, for the kernels.

    Examples
    --------
    >>> import numpy as np
    >>> fair = fair_order(np.array([1]), np.array([2, 0, 1]), False, False, False)
    >>> fair.until.tolist(), fair.last
    ([3, 2, 3], 2)
    """
    wanted = np.zeros(rank.size, np.bool_)
    wanted[asked] = True
    # For each job, 1 + the last job that is not later: a running maximum along the fair order.
    order = np.argsort(rank)
    until = np.empty(rank.size, np.int64)
    until[order] = np.maximum.accumulate(order) + 1
    return Fair(rank, until, wanted, int(asked.max()) + 1, relaxed, plain, patient)


def is_compiled(policy: Policy, platform: str, plain: bool = True) -> bool:
    """Return whether kernels compute fair starts under a policy on a kind of platform.

    Under a rule that keeps its plan, they compute fair starts in the order of arrival only.

    Examples
    --------
    >>> lxf = Policy.parse("lxf+easy")
    >>> is_compiled(lxf, "grid"), is_compiled(lxf, "nodes")
    (True, False)
    >>> is_compiled(Policy.parse("fcfs+planned"), "pool", plain=False)
    False
    """
    row = policy.row
    known = policy.compiles_fair_starts and platform in row.fair_platforms
    return known and (plain or not row.keeps_plan)


def is_patient(policy: Policy) -> bool:
    """Return whether no waiting job affects an earlier job, under a compiled policy.

    Starving jobs are also served first come, first served. With `events=per-event`, the pass after
    an arrival may start jobs before the completions of the same instant free their processors.

    Examples
    --------
    >>> is_patient(Policy.parse("fcfs+easy,threshold=3d")), is_patient(Policy.parse("spf+easy"))
    (True, False)
    >>> is_patient(Policy.parse("fcfs+easy,events=per-event"))
    False
    """
    by_arrival = policy.order == "fcfs" and policy.backfill in (None, "fcfs")
    return by_arrival and policy.events == "instant"

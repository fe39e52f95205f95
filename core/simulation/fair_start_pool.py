"""From a policy to the kernels that find its fair start times on one pool of processors."""

from __future__ import annotations

from functools import partial

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.kernels.fair_start.arrival_order import fair_relaxed
from schedfarm.core.kernels.fair_start.fixed_order import fair_fixed, fair_patient
from schedfarm.core.kernels.fair_start.moving_order import fair_moving
from schedfarm.core.kernels.fair_start.planned import fair_planned
from schedfarm.core.kernels.fair_start.reservations import fair_reserving
from schedfarm.core.kernels.fair_start.shared_order import (
    fair_planned_shared,
    fair_reserving_shared,
    fair_shared,
)
from schedfarm.core.kernels.fair_start.state import Fair
from schedfarm.core.kernels.fair_start.trail import no_trail
from schedfarm.core.kernels.jit import NEVER
from schedfarm.core.kernels.shares import Shares
from schedfarm.core.kernels.users_line import Sharing
from schedfarm.core.kernels.world import (
    AGGRESSIVE,
    EASY,
    NONE,
    RESERVING,
    Options,
    World,
    empty_world,
)
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.simulation.compiled_order import Orders
from schedfarm.core.simulation.pool import WALKS, bookkeeper, idle_jobs, idle_planner, options_of
from schedfarm.core.simulation.underway import underway
from schedfarm.core.workload.workload import Workload


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


def is_compiled(policy: Policy, platform: str, plain: bool = True) -> bool:
    """Tell whether kernels know a policy on a kind of platform.

    One that keeps a plan they know only in the order of arrival.

    Examples
    --------
    >>> lxf = Policy.parse("lxf+easy")
    >>> is_compiled(lxf, "pool"), is_compiled(lxf, "grid")
    (True, False)
    >>> is_compiled(Policy.parse("fcfs+planned"), "pool", plain=False)
    False
    """
    orders = {policy.order, policy.backfill or policy.order}
    row = policy.row
    known = row.fair_start is not None and platform in row.fair_platforms
    return (
        known
        and (plain or not row.keeps_plan)
        and all(find_order(name).is_compiled for name in orders)
    )


def is_patient(policy: Policy) -> bool:
    """Tell whether under a compiled policy no job that waits moves one that came before it.

    First come, first served also those do that starve. Per event the pass that an arrival makes
    may start jobs on processors that are about to come back, before those who end have.

    Examples
    --------
    >>> is_patient(Policy.parse("fcfs+easy,threshold=3d")), is_patient(Policy.parse("spf+easy"))
    (True, False)
    >>> is_patient(Policy.parse("fcfs+easy,events=per-event"))
    False
    """
    by_arrival = policy.order == "fcfs" and policy.backfill in (None, "fcfs")
    return by_arrival and policy.events == "instant"


def copied(sharing: Sharing) -> Sharing:
    """Return sums for a copy to keep: the lines are made anew at each pass, and shared."""
    shares = sharing.shares
    own = Shares(
        shares.user,
        shares.work,
        shares.waited.copy(),
        shares.worked.copy(),
        shares.seen_waited.copy(),
        shares.seen_worked.copy(),
        shares.quotient.copy(),
        shares.passed.copy(),
        shares.refresh,
        shares.halflife,
    )
    return Sharing(own, sharing.queue, sharing.backfill)


def _options(workload: Workload, policy: Policy, fair: Fair, rule: int) -> Options:
    options = options_of(workload, policy, rule)
    # Who is patient starves in the order of arrival too, in which everyone waits anyway.
    return options._replace(threshold=NEVER) if fair.patient else options


def _without_plan(workload: Workload, policy: Policy, fair: Fair, code: int) -> Int64:
    """Return fair start times, s, of the jobs wanted, int64[n]; -1 elsewhere."""
    under = underway()
    orders, options = Orders(workload, policy), _options(workload, policy, fair, code)
    rankings = orders.rankings
    anew, fst = rankings.moves or rankings.differ, np.full(len(workload), -1, np.int64)
    key = np.zeros(len(workload), np.int64) if anew else rankings.queue.key

    def idle() -> World:
        return empty_world(idle_jobs(workload, workload.procs), key, workload.processors)

    here, copy = idle(), idle()
    under.follow(here.jobs.start, fair.last)
    if orders.sharing is not None:
        sharing, waiting = (orders.sharing, copied(orders.sharing)), np.empty_like(fst)
        fair_shared(here, copy, fair, rankings, sharing, options, waiting, fst)
    elif anew:
        fair_moving(here, copy, fair, rankings, options, fst)
    elif fair.patient and fair.relaxed:
        fair_relaxed(here, copy, idle(), no_trail(len(workload)), fair, options, fst)
    elif fair.patient:
        fair_patient(here, copy, fair, options, fst)
    else:
        fair_fixed(here, copy, fair, options, fst)
    return fst


none = partial(_without_plan, code=NONE)
aggressive = partial(_without_plan, code=AGGRESSIVE)
easy = partial(_without_plan, code=EASY)


def reserving(workload: Workload, policy: Policy, fair: Fair) -> Int64:
    """Return fair start times under ``depth(K)`` or ``conservative``, as for the other rules."""
    fst, orders = np.full(len(workload), -1, np.int64), Orders(workload, policy)
    options = _options(workload, policy, fair, RESERVING)
    here, copy = (idle_planner(workload, NO_PROMISE) for _ in range(2))
    underway().follow(here.jobs.start, fair.last)
    if orders.sharing is not None:
        sharing = (orders.sharing, copied(orders.sharing))
        fair_reserving_shared(here, copy, fair, orders.rankings, sharing, options, fst)
    else:
        fair_reserving(here, copy, fair, orders.rankings, options, fst)
    return fst


def planned(workload: Workload, policy: Policy, fair: Fair) -> Int64:
    """Return fair start times under ``planned``, by arrival, as for the other rules."""
    orders, walk = Orders(workload, policy), WALKS[policy.walk]
    options, fst = options_of(workload, policy, RESERVING), np.full(len(workload), -1, np.int64)
    here, copy = bookkeeper(workload), bookkeeper(workload)
    underway().follow(here.jobs.start, fair.last)
    if orders.sharing is not None:
        sharing = (orders.sharing, copied(orders.sharing))
        fair_planned_shared(here, copy, fair, orders.rankings, sharing, options, walk, fst)
    else:
        fair_planned(here, copy, fair, orders.rankings.queue, options, walk, fst)
    return fst

"""From a policy to the kernels that find its fair start times on one pool of processors."""

from __future__ import annotations

from functools import partial

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.clone.arrival_order import fair_relaxed
from schedfarm.core.engine.clone.fixed_order import fair_fixed, fair_patient
from schedfarm.core.engine.clone.moving_order import fair_moving
from schedfarm.core.engine.clone.planned import fair_planned
from schedfarm.core.engine.clone.reservations import fair_reserving
from schedfarm.core.engine.clone.shared_order import (
    fair_planned_shared,
    fair_reserving_shared,
    fair_shared,
)
from schedfarm.core.engine.clone.state import Fair
from schedfarm.core.engine.clone.trail import no_trail
from schedfarm.core.engine.compiled_order import Orders
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.running import idle_machine
from schedfarm.core.engine.usage import Shares
from schedfarm.core.engine.user_ranking import Sharing
from schedfarm.core.engine.world import (
    AGGRESSIVE,
    EASY,
    NONE,
    RESERVING,
    Options,
    World,
    empty_world,
)
from schedfarm.core.machines.pool.simulation import (
    WALKS,
    bookkeeper,
    idle_jobs,
    idle_planner,
    options_of,
)
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload


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
        machine = idle_machine(workload.processors, len(workload))
        return empty_world(idle_jobs(workload, workload.procs), machine, key)

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

"""Simulation of policies on one pool of processors, by kernels."""

from __future__ import annotations

from functools import partial

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.checkpoint import fair_starts
from schedfarm.core.engine.clone.course import empty_course, fair_on_course
from schedfarm.core.engine.clone.planned import fair_planned
from schedfarm.core.engine.clone.state import Fair
from schedfarm.core.engine.compiled_order import Orders, cloned
from schedfarm.core.engine.plan import Plan, empty_plan
from schedfarm.core.engine.planned import (
    Bookkeeper,
    KeeperClock,
    empty_book,
)
from schedfarm.core.engine.predicted import promise_predicted, simulate_predicted
from schedfarm.core.engine.record import record
from schedfarm.core.engine.run import WALKS, Door, idle_jobs, options_of, unit_of
from schedfarm.core.engine.running import Running, idle_machine
from schedfarm.core.engine.world import AGGRESSIVE, EASY, NONE, RESERVING
from schedfarm.core.machines.pool import clone, kernel, plans, usage
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

STEPS = (clone, kernel, plans, usage)
"""Modules with the implementations of generic steps for a pool."""


def _machine(workload: Workload, unit: int) -> Running:
    return idle_machine(workload.processors // unit, len(workload))


def _plan(workload: Workload, unit: int, widest: int) -> Plan:
    return empty_plan(len(workload), widest)


def _keeper(workload: Workload) -> Bookkeeper:
    """Return an idle machine, in units, with an empty reservation table."""
    n, unit = len(workload), unit_of(workload)
    processors = workload.processors // unit
    return Bookkeeper(
        idle_jobs(workload, workload.procs // unit),
        idle_machine(processors, n),
        empty_book(n, processors),
        record(KeeperClock),
        np.full(n, NO_PROMISE, np.int64),
    )


POOL = Door(lambda policy: None, _machine, _plan, lambda machine: None, keeper=_keeper)


def _schedule(workload: Workload, policy: Policy, code: int) -> Schedule:
    if policy.predict is not None:
        return simulate_predicted(workload, policy, code)
    return POOL.schedule(workload, policy, code)


none = partial(_schedule, code=NONE)
aggressive = partial(_schedule, code=AGGRESSIVE)
easy = partial(_schedule, code=EASY)
planned, promise_planned = POOL.planned, POOL.promise_planned
slurm = POOL.slurm


def reserving(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``depth(K)`` or ``conservative``."""
    if policy.predict is not None:
        return simulate_predicted(workload, policy, RESERVING)
    return POOL.reserving(workload, policy)


def promise_reserving(workload: Workload, policy: Policy) -> Int64:
    """Return the starts that ``depth(K)`` or ``conservative`` reserves at arrival, s."""
    if policy.predict is not None:
        return promise_predicted(workload, policy)
    return POOL.promise_reserving(workload, policy)


def _fair(workload: Workload, policy: Policy, fair: Fair, code: int) -> Int64:
    """Return fair start times; relaxed fair starts under FCFS come from a single course."""
    if not (fair.patient and (fair.relaxed or code == NONE)):
        return POOL.fair(workload, policy, fair, code)
    # Under `none`, no job starts before an earlier job. So a job has the same start without later
    # jobs and behind all other jobs.
    first = fair.last if code == NONE else int(fair.wanted.argmax())
    before = POOL.schedule(workload.take(slice(first)), policy, code).start
    fst = fair_starts(len(workload))
    if code == NONE:
        fst[:first] = before
        return fst
    jobs = idle_jobs(workload, workload.procs)
    jobs.start[:first] = before
    course = empty_course(len(workload), int(workload.submit[first]), workload.processors)
    underway().follow(jobs.start, fair.last)
    fair_on_course(jobs, course, fair, code, first, fst)
    return fst


fair_none = partial(_fair, code=NONE)
fair_aggressive = partial(_fair, code=AGGRESSIVE)
fair_easy = partial(_fair, code=EASY)
fair_reserving = POOL.fair_reserving


def fair_plan(workload: Workload, policy: Policy, fair: Fair) -> Int64:
    """Return fair start times under ``planned``, by arrival, as for other rules."""
    orders, walk = Orders(workload, policy), WALKS[policy.walk]
    options, fst = options_of(workload, policy, RESERVING), fair_starts(len(workload))
    here, copy = _keeper(workload), _keeper(workload)
    underway().follow(here.jobs.start, fair.last)
    fair_planned(here, copy, fair, cloned(orders.ranked), options, walk, fst)
    orders.check()
    return fst

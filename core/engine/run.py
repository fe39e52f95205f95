"""Simulation of a policy by the kernels, on any machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.cadence import CadenceWorld, run_cadence
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.checkpoint import fair_starts
from schedfarm.core.engine.clock import Clock
from schedfarm.core.engine.clone.fixed_order import fair_fixed, fair_patient
from schedfarm.core.engine.clone.moving_order import fair_moving
from schedfarm.core.engine.clone.reservations import fair_reserving
from schedfarm.core.engine.clone.state import Fair
from schedfarm.core.engine.compiled_order import Orders, cloned
from schedfarm.core.engine.fixed_order import run_fixed
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.leaving import leaving_of, true_starts
from schedfarm.core.engine.limited import Limited, LimitedClock, run_limited
from schedfarm.core.engine.limiting import counters_of
from schedfarm.core.engine.machine import Hold, Machine
from schedfarm.core.engine.moving_order import next_pass, run_moving, run_pass
from schedfarm.core.engine.planned import (
    BY_ARRIVAL,
    BY_QUEUE,
    BY_START,
    AnyKeeper,
    run_planned,
)
from schedfarm.core.engine.planning import AnyPlan
from schedfarm.core.engine.record import record
from schedfarm.core.engine.reservations import UNSEEN, Planner, PlannerClock, run_reserving
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.schedulers import cadence_of, new_clock, users_of
from schedfarm.core.engine.world import EASY, RESERVING, Options, World, empty_world
from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

WALKS = {"start": BY_START, "arrival": BY_ARRIVAL, "queue": BY_QUEUE}
"""Codes of the orders in which ``planned`` compresses."""

WIDEST = 2**24
"""Largest width, in units of the common divisor of all widths, because a plan has tables by
width."""


def options_of(workload: Workload, policy: Policy, rule: int) -> Options:
    """Return a policy's options for the kernels, including the code of the rule."""
    theta = policy.threshold_seconds(workload.max_estimate)
    threshold = NEVER if theta is None else min(theta, NEVER)
    depth = policy.depth if policy.depth >= 0 else NEVER
    return Options(rule, depth, threshold, policy.events == "per-event")


def idle_jobs(workload: Workload, width: Int64) -> Jobs:
    """Return the kernels' columns for jobs with some widths, before any start."""
    n = len(workload)
    start, backfilled = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    leave = underway().follow(start)
    times = (workload.submit, workload.run, workload.estimate)
    return Jobs(*times, width, start, backfilled, leave, leaving_of(workload))


def unit_of(workload: Workload) -> int:
    """Return the unit of processors, a common divisor of all widths."""
    return int(np.gcd.reduce(workload.procs)) if len(workload) else 1


def widest_of(workload: Workload) -> int:
    """Return the processors of the widest job, in units; plans have tables of this size.

    Raises
    ------
    InputError
        If the widest job has more than `WIDEST` units.
    """
    unit = unit_of(workload)
    widest = int(workload.procs.max(initial=unit)) // unit
    if widest > WIDEST:
        raise InputError(
            f"workload {workload.name!r}: its widest job takes {widest} times {unit} processors; a "
            f"rule with reservations supports at most {WIDEST} widths; count in larger units"
        )
    return widest


def _widths(workload: Workload, machine: Machine, unit: int) -> Int64:
    return workload.procs // unit


def _has_none(workload: Workload) -> bool:
    return False


class Door(NamedTuple):
    """Hold the functions by which the engine makes the parts of a machine.

    check: raises an `InputError` for policies that the machine does not support. machine: returns
    the idle machine, given the workload and the unit of processors. plan: returns an empty plan,
    given the workload, the unit, and the width of the widest job in units. place: returns the place
    of each job, int64[n], or None if places follow from the starts. needs: returns the need of each
    job, int64[n], given the workload, the machine and the unit. has_parts: returns whether some
    free processors may be unusable for the first job that does not fit. replans: returns whether
    each pass makes all decisions again, because free resources also change between starts and ends,
    or because a job may start earlier although none ends early: a plan keeps its reservations
    between passes. ``easy`` is then simulated as ``depth(1)``. keeper: returns the idle machine
    with an empty reservation table, for ``planned``.
    """

    check: Callable[[Policy], None]
    machine: Callable[[Workload, int], Machine]
    plan: Callable[[Workload, int, int], AnyPlan]
    place: Callable[[Machine], Int64 | None]
    needs: Callable[[Workload, Machine, int], Int64] = _widths
    has_parts: Callable[[Workload], bool] = _has_none
    replans: Callable[[Workload], bool] = _has_none
    keeper: Callable[[Workload], AnyKeeper] | None = None

    def schedule(self, workload: Workload, policy: Policy, code: int) -> Schedule:
        """Simulate a rule with at most one reservation, which each pass makes again."""
        self.check(policy)
        if policy.limits is not None or self.replans(workload):
            world_of_limits = self.limited(workload, policy, code)
            return self._done(workload, policy, world_of_limits.jobs, world_of_limits.machine)
        options, orders = options_of(workload, policy, code), Orders(workload, policy)
        world, clock = self.world(workload, orders), record(Clock)
        jobs, machine = world.jobs, world.machine
        if not _moves(orders):
            run_fixed(world, options)
        elif orders.called:
            waiting = np.empty_like(world.key)
            while count := next_pass(world, clock, orders.rankings, options, waiting):
                now = int(clock[0].now)
                start = true_starts(workload, jobs.start)
                orders.call(now, waiting[:count].copy(), start, machine.running_jobs())
                run_pass(world, orders.rankings, options, now)
        else:
            run_moving(world, clock, orders.ranked, options)
        orders.check()
        return self._done(workload, policy, jobs, machine)

    def reserving(self, workload: Workload, policy: Policy) -> Schedule:
        """Simulate ``depth(K)`` or ``conservative``."""
        if policy.limits is not None or self.replans(workload):
            return self.schedule(workload, policy, RESERVING)
        planner = self.schedule_reserving(workload, policy, promises=False)
        return self._done(workload, policy, planner.jobs, planner.machine)

    def promise_reserving(self, workload: Workload, policy: Policy) -> Int64:
        """Return the starts that ``depth(K)`` or ``conservative`` reserves at arrival, s."""
        if policy.limits is not None or self.replans(workload):
            self.check(policy)
            promised = self.limited(workload, policy, RESERVING, promises=True).promised
            return np.maximum(promised, NO_PROMISE)
        # A job that leaves before its first pass gets no promise.
        return np.maximum(self.schedule_reserving(workload, policy).promised, NO_PROMISE)

    def schedule_reserving(
        self, workload: Workload, policy: Policy, *, promises: bool = True
    ) -> Planner:
        """Simulate ``depth(K)`` or ``conservative``; return the machine after the last completion.

        Under ``depth(K)`` the jobs behind the K reserved jobs are examined in the backfill order,
        if the policy has one; starving jobs also come first in this order. Without `promises`, a
        pass makes no reservations behind the last job that may start, which is 1.3 to 1.7 times as
        fast.
        """
        self.check(policy)
        planner = self.planner(workload, UNSEEN if promises else NO_PROMISE)
        jobs, machine, plan, clock, _ = planner
        orders, options = Orders(workload, policy), options_of(workload, policy, RESERVING)
        while run_reserving(planner, orders.ranked, options, promises, orders.called):
            first = plan.front[0]
            waiting = np.sort(plan.job[first : first + plan.state[0].waiting])
            start = true_starts(workload, jobs.start)
            orders.call(int(clock[0].now), waiting, start, machine.running_jobs())
        underway().check()
        orders.check()
        return planner

    def limited(
        self, workload: Workload, policy: Policy, code: int, *, promises: bool = False
    ) -> Limited:
        """Simulate a rule with limits on jobs; return the machine after the last completion."""
        world = self.limited_world(workload, policy, UNSEEN if promises else NO_PROMISE)
        orders, options = Orders(workload, policy), options_of(workload, policy, code)
        if code == EASY and self.replans(workload):
            options = options._replace(rule=RESERVING, depth=1)
        while run_limited(world, orders.ranked, options, promises, orders.called):
            _call(orders, workload, world)
        underway().check()
        orders.check()
        return world

    def planned(self, workload: Workload, policy: Policy) -> Schedule:
        """Simulate ``planned``."""
        keeper = self._kept(workload, policy)
        return Schedule(workload, policy.name, keeper.jobs.start, keeper.jobs.backfilled)

    def promise_planned(self, workload: Workload, policy: Policy) -> Int64:
        """Return the starts that ``planned`` reserves at arrival, s.

        A start takes no further computation: it is the reservation that the job gets at arrival.
        """
        promised: Int64 = self._kept(workload, policy).promised
        return promised

    def _kept(self, workload: Workload, policy: Policy) -> AnyKeeper:
        """Simulate ``planned``; return the machine after the last completion."""
        self.check(policy)
        assert self.keeper is not None
        keeper = self.keeper(workload)
        jobs, machine, book, clock, _ = keeper
        orders, options = Orders(workload, policy), options_of(workload, policy, RESERVING)
        walk = WALKS[policy.walk]
        while run_planned(keeper, orders.ranked, options, walk, orders.called):
            waiting = np.sort(book.job[: book.state[0].waiting])
            orders.call(int(clock[0].now), waiting, jobs.start, machine.running_jobs())
        underway().check()
        orders.check()
        return keeper

    def slurm(self, workload: Workload, policy: Policy) -> Schedule:
        """Simulate ``slurm``."""
        self.check(policy)
        if not len(workload):
            return Schedule(workload, policy.name, np.zeros(0, np.int64), np.zeros(0, np.bool_))
        users = users_of(workload, policy)
        options, orders = options_of(workload, policy, RESERVING), Orders(workload, policy)
        idle = self.limited_world(workload, policy, NO_PROMISE)
        loosens = bool(idle.running.slope.any())
        cadence = cadence_of(policy, loosens, self.has_parts(workload))
        clock = new_clock(cadence, int(workload.submit[0]))
        world = CadenceWorld(*idle._replace(clock=clock))
        while run_cadence(world, orders.ranked, options, cadence, users, orders.called):
            _call(orders, workload, world)
        orders.check()
        return self._done(workload, policy, world.jobs, world.machine)

    def fair(self, workload: Workload, policy: Policy, fair: Fair, code: int) -> Int64:
        """Return fair start times of the requested jobs, s, int64[n]; -1 for other jobs."""
        self.check(policy)
        orders, options = Orders(workload, policy), fair_options(workload, policy, fair, code)
        here, copy = self.world(workload, orders), self.world(workload, orders)
        fst = fair_starts(len(workload))
        underway().follow(here.jobs.start, fair.last)
        if _moves(orders):
            fair_moving(here, copy, fair, cloned(orders.ranked), options, fst)
        elif fair.patient and not fair.relaxed:
            fair_patient(here, copy, fair, options, fst)
        else:
            fair_fixed(here, copy, fair._replace(patient=False), options, fst)
        orders.check()
        return fst

    def fair_reserving(self, workload: Workload, policy: Policy, fair: Fair) -> Int64:
        """Return fair start times under ``depth(K)`` or ``conservative``; otherwise as `fair`."""
        self.check(policy)
        fst, orders = fair_starts(len(workload)), Orders(workload, policy)
        options = fair_options(workload, policy, fair, RESERVING)
        here, copy = (self.planner(workload, NO_PROMISE) for _ in range(2))
        underway().follow(here.jobs.start, fair.last)
        fair_reserving(here, copy, fair, cloned(orders.ranked), options, fst)
        orders.check()
        return fst

    def world(self, workload: Workload, orders: Orders) -> World:
        """Return the idle machine with an empty queue."""
        key = orders.rankings.queue.key
        if _moves(orders):
            key = np.zeros(len(workload), np.int64)
        machine = self.machine(workload, 1)
        return empty_world(idle_jobs(workload, self.needs(workload, machine, 1)), machine, key)

    def planner(self, workload: Workload, promise: int) -> Planner:
        """Return an idle machine, in units, with the same promise for every job."""
        n, unit, widest = len(workload), unit_of(workload), widest_of(workload)
        machine = self.machine(workload, unit)
        return Planner(
            idle_jobs(workload, self.needs(workload, machine, unit)),
            machine,
            self.plan(workload, unit, widest),
            record(PlannerClock),
            np.full(n, promise, np.int64),
        )

    def limited_world(self, workload: Workload, policy: Policy, promise: int) -> Limited:
        """Return an idle machine, in units, with no use of limits."""
        jobs, machine, plan, _, promised = self.planner(workload, promise)
        waiting, behind, spare, outside = (np.empty(len(workload), np.int64) for _ in range(4))
        running, submitted = counters_of(workload, policy)
        return Limited(
            jobs,
            machine,
            plan,
            record(Hold),
            waiting,
            behind,
            spare,
            outside,
            running,
            submitted,
            record(LimitedClock),
            promised,
        )

    def _done(self, workload: Workload, policy: Policy, jobs: Jobs, machine: Machine) -> Schedule:
        underway().check()
        place, start = self.place(machine), true_starts(workload, jobs.start)
        return Schedule(workload, policy.name, start, jobs.backfilled, place=place)


def _call(orders: Orders, workload: Workload, world: Limited) -> None:
    """Compute the keys of the waiting jobs by the functions of the orders."""
    waiting = np.sort(world.waiting[: world.clock[0].waiting])
    start, running = true_starts(workload, world.jobs.start), world.machine.running_jobs()
    orders.call(int(world.clock[0].now), waiting, start, running)


def fair_options(workload: Workload, policy: Policy, fair: Fair, rule: int) -> Options:
    """Return the options of a policy for its fair starts."""
    options = options_of(workload, policy, rule)
    # In a patient order all jobs wait in order of arrival, which is also the order of starving
    # jobs.
    return options._replace(threshold=NEVER) if fair.patient else options


def _moves(orders: Orders) -> bool:
    """Return whether the orders change with time, or differ for queue and backfills."""
    return orders.rankings.moves or orders.rankings.differ

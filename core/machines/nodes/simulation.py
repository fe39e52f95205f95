"""Simulation of policies on nodes, by kernels."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.durations import DAY, seconds_of
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.compiled_order import Orders
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.profile import empty_profile
from schedfarm.core.engine.record import Records, record, records
from schedfarm.core.engine.reservations import UNSEEN
from schedfarm.core.engine.run import idle_jobs, options_of
from schedfarm.core.engine.world import RESERVING
from schedfarm.core.errors import InputError
from schedfarm.core.machines.nodes.kernels.holds import Hold, Holds
from schedfarm.core.machines.nodes.kernels.machine import (
    Ask,
    Booked,
    BookedNode,
    Machine,
    Outcome,
    Running,
    Site,
)
from schedfarm.core.machines.nodes.kernels.plan import Many, Plan
from schedfarm.core.machines.nodes.kernels.run import END, run_nodes
from schedfarm.core.machines.nodes.kernels.world import (
    Clock,
    Outages,
    Shelves,
    Waiting,
    World,
)
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.nodes.shelves import WORTHS, Renewal
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule, Segments, State
from schedfarm.core.workload.molding import molded
from schedfarm.core.workload.workload import Workload


def reserving(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``conservative``.

    Raises
    ------
    InputError
        If the policy requests the per-event clock, or its order depends on the usage of users.
    Left
        As `core.simulate`.

    Examples
    --------
    >>> nodes = Nodes([2, 2], ["a", "b"])
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 7], estimate=[9, 9, 7],
    ...                           procs=[2, 4, 1], weight=[2, 2, 1], platform=nodes)
    >>> schedule = reserving(w, Policy.parse("fcfs+conservative"))
    >>> schedule.start.tolist(), schedule.segments.place.tolist()
    ([0, 9, 2], [0, 0, 1, 1])
    """
    return _schedule(workload, policy, _run_reserving(workload, policy, NO_PROMISE))


def promise_reserving(workload: Workload, policy: Policy) -> Int64:
    """Return the starts in the plan of ``conservative`` at arrival, s."""
    return _run_reserving(workload, policy, UNSEEN).promised


def _run_reserving(workload: Workload, policy: Policy, promise: int) -> World:
    """Return the nodes after the last completion."""
    options = options_of(workload, policy, RESERVING)
    orders = Orders(workload, _known(policy), stepwise=True)
    world = idle_world(workload, promise)
    while run_nodes(world, orders.rankings, options, promise == UNSEEN, orders.called) != END:
        _call(orders, world)
    underway().check()
    return world


def demt(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``demt``.

    Raises
    ------
    InputError
        If the order changes with time.
    Left
        As `core.simulate`.

    Examples
    --------
    >>> nodes = Nodes([1, 1], ["a", "b"])
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 3600, 9], estimate=[9, 3600, 9],
    ...                           procs=[2, 2, 2], platform=nodes)
    >>> schedule = demt(w, Policy.parse("fcfs+demt,resets=5s"))
    >>> schedule.start.tolist(), dict(schedule.counts)
    ([0, 18, 9], {'selections': 3, 'given_up': 0})
    """
    world, renewal = _run_demt(workload, policy, NO_PROMISE)
    counts = {"selections": renewal.selections, "given_up": renewal.given_up}
    return _schedule(workload, policy, world, counts)


def promise_demt(workload: Workload, policy: Policy) -> Int64:
    """Return the starts in the plan of ``demt`` at arrival, s."""
    return _run_demt(workload, policy, UNSEEN)[0].promised


def _run_demt(workload: Workload, policy: Policy, promise: int) -> tuple[World, Renewal]:
    """Return the nodes after the last completion, and the counts of the renewals of shelves."""
    key = find_order(policy.order).fixed_key(workload)
    if key is None:
        raise InputError(
            f"policy {policy.name!r}: order {policy.order!r} changes while jobs wait; shelves need "
            "one that does not change, such as fcfs, spf or saf"
        )
    options, orders = options_of(workload, policy, RESERVING), Orders(workload, policy)
    world = idle_world(workload, promise, shelves_of(workload, policy))
    renewal = Renewal(world, key, WORTHS[policy.worth], int(policy.budget))
    while run_nodes(world, orders.rankings, options, promise == UNSEEN, False) != END:
        renewal.renew()
    underway().check()
    return world, renewal


def shelves_of(workload: Workload, policy: Policy) -> Shelves:
    """Return empty shelves, with the times of moldable jobs on nodes and the times of renewal.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0], run=[90], estimate=[100], procs=[1], serial=[0],
    ...                           platform=Nodes([1, 1], ["a", "b"]), epoch=3600)
    >>> shelves = shelves_of(w, Policy.parse("fcfs+demt,utc=1h"))
    >>> shelves.estimate.tolist(), shelves.resets.tolist()
    ([100, 50], [21600, 39600])
    """
    nodes, n = workload.platform, len(workload)
    assert isinstance(nodes, Nodes)
    molds = np.flatnonzero((workload.serial >= 0) & (workload.reserved < 0))
    most, first = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    times: dict[str, list[Int64]] = {"estimate": [], "run": []}
    for j in molds.tolist():
        asked, weight = int(workload.procs[j] // workload.weight[j]), int(workload.weight[j])
        most[j] = nodes.candidates(int(workload.properties[j]), weight).sum()
        for name, found in times.items():
            seconds, serial = int(getattr(workload, name)[j]), int(workload.serial[j])
            found.append(molded(seconds, asked, serial, int(most[j])))
    first[molds] = np.cumsum(most[molds]) - most[molds]
    none = np.zeros(0, np.int64)
    return no_shelves(n)._replace(
        first=first,
        most=most,
        estimate=np.concatenate([none, *times["estimate"]]),
        run=np.concatenate([none, *times["run"]]),
        smallest=np.array([seconds_of(policy.shelf)], np.int64),
        resets=_resets(workload, policy),
    )


def _resets(workload: Workload, policy: Policy) -> Int64:
    """Return the times at which shelves are renewed, s after a whole day since instant 0."""
    ahead = 0 if workload.epoch < 0 else workload.epoch + (seconds_of(policy.utc) or 0)
    local = np.array([seconds_of(text) for text in policy.resets.split(":")], np.int64)
    return (local - ahead) % DAY


def _known(policy: Policy) -> Policy:
    """Return the policy; refuse options for pools only."""
    if policy.events != "instant":
        raise InputError(
            f"policy {policy.name!r}: events={policy.events} is for one pool of processors; "
            "on nodes leave it out"
        )
    if policy.predict is not None:
        raise InputError(
            f"policy {policy.name!r}: predict={policy.predict} is for one pool of processors; "
            "on nodes leave it out"
        )
    if policy.limits is not None:
        raise InputError(
            f"policy {policy.name!r}: limits are for processors and other countable "
            "resources; on nodes leave them out"
        )
    row = find_order(policy.order)
    if row.remembers:
        raise InputError(
            f"policy {policy.name!r}: order {policy.order!r} depends on users' usage, which is "
            "tracked on a pool of processors only; use another order"
        )
    return policy


def _call(orders: Orders, world: World) -> None:
    jobs, running = world.site.jobs, world.site.running
    waiting = np.sort(world.waiting.job[: world.waiting.count[0]])
    orders.call(int(world.clock[0].now), waiting, jobs.start, running.job[: running.count[0]])


def _schedule(
    workload: Workload, policy: Policy, world: World, counts: dict[str, int] | None = None
) -> Schedule:
    site, nodes = world.site, workload.platform
    assert isinstance(nodes, Nodes)
    outcome, order = site.outcome, taken_in_order(nodes)
    places = [
        np.sort(order[outcome.node[first : first + count]])
        for first, count in zip(outcome.first[:-1], outcome.count, strict=True)
    ]
    segments = Segments(
        np.repeat(np.arange(len(workload)), outcome.count),
        np.concatenate([np.empty(0, np.int64), *places]),
        np.repeat(workload.weight, outcome.count),
    )
    return Schedule(
        workload,
        policy.name,
        site.jobs.start,
        site.jobs.backfilled,
        end=outcome.end,
        state=outcome.state,
        segments=segments,
        counts=counts,
    )


def taken_in_order(nodes: Nodes) -> Int64:
    """Return the nodes in the order of selection for equal room, int64[nodes].

    Examples
    --------
    >>> taken_in_order(Nodes([1, 1, 1], ["a", "b", "c"], {"s": ["a", "b"], "t": ["a"]})).tolist()
    [2, 1, 0]
    """
    return np.argsort(nodes.members.sum(axis=0), kind="stable").astype(np.int64)


def idle_world(workload: Workload, promise: int, shelves: Shelves | None = None) -> World:
    """Return idle nodes, an empty queue, and the same promise for each job."""
    nodes, n = workload.platform, len(workload)
    assert isinstance(nodes, Nodes)
    shelves = shelves or no_shelves(n)
    asks = _asks(workload)
    most = np.maximum(asks["nodes"], shelves.most)
    outcome = Outcome(
        np.full(n, -1, np.int64),
        np.where(workload.killed, State.KILLED, State.DONE).astype(np.int8),
        np.concatenate(([0], np.cumsum(most))),
        np.zeros(n, np.int64),
        np.zeros(most.sum(), np.int64),
    )
    running = Running(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(1, np.int64))
    site = Site(
        idle_jobs(workload, workload.procs),
        asks,
        _machine(nodes),
        running,
        _booked(asks, nodes),
        outcome,
    )
    clock = record(Clock)
    clock[0].reset = -1 if shelves.resets.size else NEVER
    return World(
        site,
        _empty_plan(n, len(nodes.capacities), int(most.sum())),
        _outages(nodes),
        shelves,
        Waiting(np.zeros(n, np.int64), np.zeros(1, np.int64)),
        clock,
        np.full(n, promise, np.int64),
    )


def _asks(workload: Workload) -> Records[Ask]:
    asks, reserved = records(Ask, len(workload)), workload.reserved
    asks["nodes"] = workload.procs // workload.weight
    asks["length"], asks["run"], asks["weight"] = workload.estimate, workload.run, workload.weight
    asks["row"] = workload.properties + 1
    asks["due"] = np.where(reserved >= 0, workload.submit + reserved, -1)
    return asks


def _machine(nodes: Nodes) -> Machine:
    order = taken_in_order(nodes)
    capacity = np.array(nodes.capacities, np.int64)[order]
    members = np.concatenate((np.ones((1, order.size), np.bool_), nodes.members))[:, order]
    up = np.ones(order.size, np.bool_)
    return Machine(capacity, capacity.copy(), up, np.ascontiguousarray(members))


def _booked(asks: Records[Ask], nodes: Nodes) -> Booked:
    asking = asks["due"] >= 0
    room = int(asks["nodes"][asking].sum())
    top = np.full(len(nodes.capacities), -1, np.int64)
    job = np.zeros(int(asking.sum()), np.int64)
    return Booked(job, np.zeros(1, np.int64), records(BookedNode, room), top)


def _empty_plan(n: int, nodes: int, room: int) -> Plan:
    top, size = np.full(nodes, -1, np.int64), np.zeros(1, np.int64)
    return Plan(
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(1, np.int64),
        Holds(records(Hold, room), top, size),
        empty_profile(4 * n + 8),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(room, np.int64),
        # The system allocates memory at the first write, so only rows of jobs that wait together
        # take memory.
        np.zeros((2, n, nodes), np.int64),
        np.zeros(n, np.int64),
        np.zeros((2, 2, n), np.int64),
        np.zeros(n, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        record(Many),
    )


def _outages(nodes: Nodes) -> Outages:
    rows, place = nodes.outages, np.argsort(taken_in_order(nodes))
    falls, rises = (
        rows[np.argsort(rows[:, 1], kind="stable")],
        rows[np.argsort(rows[:, 2], kind="stable")],
    )
    return Outages(
        np.ascontiguousarray(falls[:, 1]),
        place[falls[:, 0]],
        np.ascontiguousarray(rises[:, 2]),
        place[rises[:, 0]],
    )


def no_shelves(n: int) -> Shelves:
    """Return a single shelf for n jobs, for rules without shelves."""
    none = np.zeros(0, np.int64)
    return Shelves(
        np.zeros(n, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(1, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        none,
        none,
        np.zeros(1, np.int64),
        none,
    )

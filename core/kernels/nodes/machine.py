"""Nodes, what jobs ask of them, who runs on which, and reservations in advance."""

from __future__ import annotations

from typing import NamedTuple

from core.arrays import Bool, Int8, Int64
from core.kernels.jit import NEVER, verb
from core.kernels.machine import Jobs


class Asks(NamedTuple):
    """What each job asks of the nodes, int64[n] each.

    nodes, length, run: how many nodes, and with so many the estimate and the run time, s, which
    change when a moldable job changes shelves. weight: processors of each node. row: row of
    `Machine.members`. due: the start that it asks for in advance, s, -1 for none.
    """

    nodes: Int64
    length: Int64
    run: Int64
    weight: Int64
    row: Int64
    due: Int64


class Machine(NamedTuple):
    """The nodes in the order in which the first is taken: fewest sets, then as declared.

    capacity, free: int64[nodes], processors, and those that nobody who runs has. up: bool[nodes].
    members: bool[1 + sets, nodes], the first row for jobs that take any node.
    """

    capacity: Int64
    free: Int64
    up: Bool
    members: Bool


class Running(NamedTuple):
    """The running jobs, the soonest to end last; count: int64[1]."""

    end: Int64
    job: Int64
    count: Int64  # type: ignore[assignment]


class Booked(NamedTuple):
    """Accepted reservations whose time has not come, and what they take of each node.

    job: int64[reservations], the soonest last; count: int64[1]. begin, until, weight: int64[room],
    of each node of each. below: the next on the same node, top: int64[nodes] the first, -1 for
    none.
    """

    job: Int64
    count: Int64  # type: ignore[assignment]
    begin: Int64
    until: Int64
    weight: Int64
    below: Int64
    top: Int64


class Outcome(NamedTuple):
    """What became of the jobs: end, s, and state of each, and its nodes.

    first: int64[n + 1], where each job's nodes are in `node`; count: int64[n], how many it had.
    """

    end: Int64
    state: Int8
    first: Int64
    count: Int64  # type: ignore[assignment]
    node: Int64


class Site(NamedTuple):
    """The jobs, what they ask, the nodes, and who runs, is to run and has run there."""

    jobs: Jobs
    asks: Asks
    machine: Machine
    running: Running
    booked: Booked
    outcome: Outcome


@verb
def next_end(running: Running) -> int:
    """Return the next instant at which a job ends, s, or NEVER."""
    count = running.count[0]
    return running.end[count - 1] if count > 0 else NEVER


@verb
def launch(site: Site, j: int, now: int) -> None:
    """Start job `j` on the nodes that the outcome has for it."""
    jobs, asks, machine, running, _, outcome = site
    jobs.start[j] = now
    end, p = now + asks.run[j], running.count[0]
    outcome.end[j] = end
    for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
        machine.free[outcome.node[i]] -= asks.weight[j]
    while p > 0 and running.end[p - 1] < end:
        running.end[p], running.job[p] = running.end[p - 1], running.job[p - 1]
        p -= 1
    running.end[p], running.job[p] = end, j
    running.count[0] += 1


@verb
def leave(site: Site, p: int) -> int:
    """Take the p-th running job off its nodes; return it."""
    _, asks, machine, running, _, outcome = site
    j = running.job[p]
    for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
        machine.free[outcome.node[i]] += asks.weight[j]
    running.count[0] -= 1
    for k in range(p, running.count[0]):
        running.end[k], running.job[k] = running.end[k + 1], running.job[k + 1]
    return int(j)


@verb
def end_of_booked(asks: Asks, j: int) -> int:
    """Return until when the nodes of an accepted reservation are kept, s."""
    return int(asks.due[j] + max(asks.length[j], 1))


@verb
def book(site: Site, j: int) -> None:
    """Accept a reservation on the nodes that the outcome has for it."""
    asks, booked = site.asks, site.booked
    p = booked.count[0]
    while p > 0 and asks.due[booked.job[p - 1]] <= asks.due[j]:
        booked.job[p] = booked.job[p - 1]
        p -= 1
    booked.job[p] = j
    booked.count[0] += 1
    note_booked(site)


@verb
def note_booked(site: Site) -> None:
    """List anew what accepted reservations take of each node."""
    _, asks, _, _, booked, outcome = site
    booked.top[:] = -1
    k = 0
    for p in range(booked.count[0]):
        j = booked.job[p]
        for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
            v = outcome.node[i]
            booked.begin[k], booked.until[k] = asks.due[j], end_of_booked(asks, j)
            booked.weight[k], booked.below[k], booked.top[v] = asks.weight[j], booked.top[v], k
            k += 1

"""Nodes, the requests of jobs, running jobs, and advance reservations."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Bool, Int8, Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.record import Records
from schedfarm.core.engine.running import Jobs


class Ask:
    """The request of a job.

    nodes: number of nodes. length, run: the estimate and the run time on that many nodes, s, which
    change if a moldable job moves to another shelf. weight: processors on each node. row: row of
    `Machine.members`. due: the requested start of an advance reservation, s, -1 for none. (One
    array of records, here and below, because a call passes each array of a tuple separately:
    together with inlined steps this took the time to two thirds.)
    """

    nodes: int
    length: int
    run: int
    weight: int
    row: int
    due: int


class BookedNode:
    """A reservation on a node.

    begin, end: its times, s. taken: number of processors. next: place of the next reservation on
    the same node, -1 for none.
    """

    begin: int
    end: int
    taken: int
    next: int


class Machine(NamedTuple):
    """Hold the nodes in the order of selection: fewest sets first, then as declared.

    capacity, free: int64[nodes], all processors, and processors without a running job. up:
    bool[nodes]. members: bool[1 + sets, nodes]; the first row is for jobs that take any node.
    """

    capacity: Int64
    free: Int64
    up: Bool
    members: Bool


class Running(NamedTuple):
    """Hold the running jobs; the job with the soonest end is last. count: int64[1]."""

    end: Int64
    job: Int64
    count: Int64  # type: ignore[assignment]


class Booked(NamedTuple):
    """Hold the accepted reservations that have not begun, and their processors on each node.

    job: int64[reservations], the soonest last; count: int64[1]. record: one for each node of each
    reservation. top: int64[nodes], the place of the first record of each node, -1 for none.
    """

    job: Int64
    count: Int64  # type: ignore[assignment]
    record: Records[BookedNode]
    top: Int64


class Outcome(NamedTuple):
    """Hold the outcome of the jobs: the end, s, the state and the nodes of each job.

    first: int64[n + 1], place of each job's nodes in `node`. count: int64[n], number of these
    nodes.
    """

    end: Int64
    state: Int8
    first: Int64
    count: Int64  # type: ignore[assignment]
    node: Int64


class Site(NamedTuple):
    """Hold the jobs, their requests, the nodes, and the running, reserved and completed jobs."""

    jobs: Jobs
    asks: Records[Ask]
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
    """Start job `j` on its nodes in the outcome."""
    jobs, asks, machine, running, _, outcome = site
    jobs.start[j] = now
    end, p = now + asks[j].run, running.count[0]
    outcome.end[j] = end
    for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
        machine.free[outcome.node[i]] -= asks[j].weight
    while p > 0 and running.end[p - 1] < end:
        running.end[p], running.job[p] = running.end[p - 1], running.job[p - 1]
        p -= 1
    running.end[p], running.job[p] = end, j
    running.count[0] += 1


@verb
def leave(site: Site, p: int) -> int:
    """Remove the p-th running job from its nodes; return the job."""
    _, asks, machine, running, _, outcome = site
    j = running.job[p]
    for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
        machine.free[outcome.node[i]] += asks[j].weight
    running.count[0] -= 1
    for k in range(p, running.count[0]):
        running.end[k], running.job[k] = running.end[k + 1], running.job[k + 1]
    return int(j)


@verb
def end_of_booked(asks: Records[Ask], j: int) -> int:
    """Return the end of an accepted reservation, s."""
    return int(asks[j].due + max(asks[j].length, 1))


@verb
def book(site: Site, j: int) -> None:
    """Accept the reservation of job `j` on its nodes in the outcome."""
    asks, booked = site.asks, site.booked
    p = booked.count[0]
    while p > 0 and asks[booked.job[p - 1]].due <= asks[j].due:
        booked.job[p] = booked.job[p - 1]
        p -= 1
    booked.job[p] = j
    booked.count[0] += 1
    note_booked(site)


@verb
def note_booked(site: Site) -> None:
    """Rebuild the list of accepted reservations of each node."""
    _, asks, _, _, booked, outcome = site
    booked.top[:] = -1
    k = 0
    for p in range(booked.count[0]):
        j = booked.job[p]
        for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
            v = outcome.node[i]
            one = booked.record[k]
            one.begin, one.end = asks[j].due, end_of_booked(asks, j)
            one.taken, one.next, booked.top[v] = asks[j].weight, booked.top[v], k
            k += 1

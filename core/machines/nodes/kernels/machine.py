"""Nodes, the requests of jobs, running jobs, and advance reservations."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Bool, Int8, Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.running import Jobs

NODES, LENGTH, RUN, WEIGHT, ROW, DUE, ASKS = range(7)
"""Rows of the requests, int64[ASKS, n].

NODES: number of nodes. LENGTH, RUN: estimate and run time on these nodes, s, which change when a
moldable job changes shelves. WEIGHT: processors per node. ROW: row of `Machine.members`. DUE:
requested start of an advance reservation, s, or -1. ASKS: number of rows. Requests share one array
because a call passes each array of a tuple separately; together with inlined steps, shared arrays
reduced the time to two thirds.
"""

FROM, TO, TAKEN, NEXT, BOOKED = range(5)
"""Rows of the reservations on nodes: begin and end, s; processors; the next reservation on the same
node, or -1; and the number of rows."""


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

    job: int64[reservations], the soonest last. count: int64[1]. record: int64[BOOKED, room], one
    record for each node of each reservation. top: int64[nodes], first record of each node, or -1.
    """

    job: Int64
    count: Int64  # type: ignore[assignment]
    record: Int64
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
    asks: Int64
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
    end, p = now + asks[RUN, j], running.count[0]
    outcome.end[j] = end
    for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
        machine.free[outcome.node[i]] -= asks[WEIGHT, j]
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
        machine.free[outcome.node[i]] += asks[WEIGHT, j]
    running.count[0] -= 1
    for k in range(p, running.count[0]):
        running.end[k], running.job[k] = running.end[k + 1], running.job[k + 1]
    return int(j)


@verb
def end_of_booked(asks: Int64, j: int) -> int:
    """Return the end of the accepted reservation of job `j`, s."""
    return int(asks[DUE, j] + max(asks[LENGTH, j], 1))


@verb
def book(site: Site, j: int) -> None:
    """Accept the reservation of job `j` on its nodes in the outcome."""
    asks, booked = site.asks, site.booked
    p = booked.count[0]
    while p > 0 and asks[DUE, booked.job[p - 1]] <= asks[DUE, j]:
        booked.job[p] = booked.job[p - 1]
        p -= 1
    booked.job[p] = j
    booked.count[0] += 1
    note_booked(site)


@verb
def note_booked(site: Site) -> None:
    """Rebuild the list of accepted reservations of each node."""
    _, asks, _, _, booked, outcome = site
    record = booked.record
    booked.top[:] = -1
    k = 0
    for p in range(booked.count[0]):
        j = booked.job[p]
        for i in range(outcome.first[j], outcome.first[j] + outcome.count[j]):
            v = outcome.node[i]
            record[FROM, k], record[TO, k] = asks[DUE, j], end_of_booked(asks, j)
            record[TAKEN, k], record[NEXT, k], booked.top[v] = asks[WEIGHT, j], booked.top[v], k
            k += 1

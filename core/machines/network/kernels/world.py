"""State of a network in a simulation, and the starts of jobs on it."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import routine, verb
from schedfarm.core.engine.queue import precedes
from schedfarm.core.engine.record import Records
from schedfarm.core.engine.running import Jobs
from schedfarm.core.machines.grid.kernel import Clusters, launch_on
from schedfarm.core.machines.network.kernels.rooms import Plans, give, measure, take
from schedfarm.core.machines.network.kernels.split import Split, demand, row_of
from schedfarm.core.machines.network.kernels.spread import Spread, put
from schedfarm.core.machines.network.kernels.waiting import NOT_RESERVED, Waiting, remove

KEPT, IGNORED, UNUSED = 0, 1, 2
"""Codes of the links that jobs may use: links with room, all links, or none."""

MOST_ROOM, LEAST_ROOM, FIRST_ROOM = 0, 1, 2
"""Codes of the choice of the cluster to which a job migrates."""

NOWHERE, OVER_LINKS = -1, -2
"""Values in place of a cluster: no room, and co-allocation on several clusters."""


class Asks(NamedTuple):
    """Hold the requests of jobs on a network, int64[n], as in the columns of a workload.

    kind: equal for jobs with equal processors, bandwidth and alltoall.
    """

    origin: Int64
    communication: Int64
    bandwidth: Int64
    alltoall: Int64
    kind: Int64


class Failure:
    """The last test in which links had no room for a job of a kind.

    version: `Notes.sooner` at the test, -1 without a test. least: the least estimate, s, of the
    jobs without room in that version.
    """

    version: int
    least: int


class Notes(NamedTuple):
    """Hold the state that several passes share.

    begun: int64[n], jobs that have started in this pass; many: int64[1], their number. sooner:
    int64[1], a version that grows whenever a job may have more room than before. failed: of each
    kind. slid: int64[clusters], whether predicted ends have moved. end: int64[n], s. number:
    int64[n], index of a co-allocated job among these, else -1.
    """

    begun: Int64
    many: Int64
    sooner: Int64
    failed: Records[Failure]
    slid: Int64
    end: Int64
    number: Int64


class World(NamedTuple):
    """Hold the running and waiting jobs of a network."""

    jobs: Jobs
    asks: Asks
    machines: Clusters
    spread: Spread
    waiting: Waiting
    plans: Plans
    split: Split
    notes: Notes


class Options(NamedTuple):
    """Hold the options of a policy: number of reservations per queue, and codes.

    shared: whether links may be overloaded, so that shares are computed. local: whether each
    cluster has its own queue; jobs have priority on their own cluster.
    """

    depth: int
    to: int
    links: int
    shared: bool
    local: bool


@verb
def renew(world: World) -> None:
    """Mark all waiting jobs for a new examination, since there may be more room."""
    state = world.waiting.state
    for c in range(state.size):
        state[c].fresh = 0
    world.notes.sooner[0] += 1


@verb
def begin(world: World, c: int, place: int, now: int, depth: int) -> int:
    """Remove the job at a place from queue `c` before its start; return the job.

    The job's reservation is removed from the plan at once; the next pass makes the plan again.
    """
    waiting, notes = world.waiting, world.notes
    at = waiting.first[c] + place
    j, t = waiting.job[at], waiting.reserved[waiting.job[at]]
    if t != NOT_RESERVED:
        give(world.plans, c, t, waiting.length[at], waiting.need[at])
        waiting.state[c].void = 1
        measure(world.plans, world.machines, c, now, depth)
    remove(waiting, c, place)
    if t != NOT_RESERVED:
        renew(world)
    notes.begun[notes.many[0]] = j
    notes.many[0] += 1
    return int(j)


@verb
def spread_out(world: World, j: int, now: int, depth: int) -> None:
    """Start job `j` on the parts of the found split."""
    jobs, asks, machines, spread, _, plans, split, notes = world
    n, band, alltoall = jobs.procs[j], asks.bandwidth[j], asks.alltoall[j]
    notes.number[j] = spread.number[0]
    s = put(spread, j, now, jobs.run[j], jobs.estimate[j])
    jobs.start[j] = now
    w, a = row_of(n), 0
    for d in range(split.take.size):
        k = split.take[d]
        spread.parts[notes.number[j], d], spread.demand[s, d] = k, 0
        if k > 0:
            asked = demand(n, w, a, k, band, alltoall)
            spread.demand[s, d] = asked
            spread.asked[d] += asked
            machines.free[d, 0] -= k
            if depth > 0:
                take(plans, d, now, jobs.estimate[j], k)
            measure(plans, machines, d, now, depth)
        a += k


@routine
def start(world: World, c: int, place: int, to: int, now: int, depth: int) -> None:
    """Start the job at a place of queue `c` on cluster `to`; on its split for `OVER_LINKS`."""
    jobs, plans, machines = world.jobs, world.plans, world.machines
    j = begin(world, c, place, now, depth)
    if to == OVER_LINKS:
        spread_out(world, j, now, depth)
        return
    launch_on(jobs, machines, to, j, now)
    if depth > 0:
        take(plans, to, now, jobs.estimate[j], jobs.procs[j])
    measure(plans, machines, to, now, depth)


@verb
def note_overtaken(world: World, local: bool) -> None:
    """Mark jobs that have overtaken a waiting job of the same queue in this pass."""
    jobs, waiting, notes = world.jobs, world.waiting, world.notes
    for i in range(notes.many[0]):
        j = notes.begun[i]
        for c in range(waiting.first.size):
            is_same = not local or c == world.asks.origin[j]
            if is_same and waiting.state[c].count > 0:
                head = waiting.job[waiting.first[c]]
                jobs.backfilled[j] |= precedes(waiting.key, head, j)
    notes.many[0] = 0

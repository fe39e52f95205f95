"""The state of a simulation of nodes between events, and its queue."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import routine, verb
from schedfarm.core.engine.ranking import Ranking, goes_before
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.machines.nodes.kernels.machine import Site
from schedfarm.core.machines.nodes.kernels.plan import Plan

TURNED, REMADE = 1, 2
"""Steps of an instant.

TURNED: all except the reset and the pass is done. REMADE: the reset is also done.
"""


class Clock:
    """State of the clock.

    now: the instant, s. arrived, before: number of jobs that have arrived by now, and before it.
    fallen, risen: number of outages that have begun and ended. reset: the next reset, s. step: the
    last step of this instant, 0 at its end.
    """

    now: int
    arrived: int
    before: int
    fallen: int
    risen: int
    reset: int
    step: int


class Outages(NamedTuple):
    """Hold the instants at which nodes go down and come up, s, ascending, and the nodes."""

    falls: Int64
    fallen: Int64
    rises: Int64
    risen: Int64


class Shelves(NamedTuple):
    """Hold the shelves, in order, and the possible sizes of their jobs.

    of: int64[n], the shelf of each waiting job. length: int64[n + 1], s. waiting: int64[n + 1],
    number of waiting jobs of each shelf. count: int64[1], number of shelves. first: int64[n], for a
    moldable job, the place in `estimate` and `run` of its times on 1, 2 and more nodes, s; -1 for a
    rigid job. most: int64[n], largest number of nodes of each job. smallest: int64[1], length of
    the first shelf, s. resets: int64[k], times of day at which shelves are renewed, s after a whole
    day since instant 0. Under a rule without shelves, all jobs are in one shelf.
    """

    of: Int64
    length: Int64
    waiting: Int64
    count: Int64  # type: ignore[assignment]
    first: Int64
    most: Int64
    estimate: Int64
    run: Int64
    smallest: Int64
    resets: Int64


class Waiting(NamedTuple):
    """Hold the waiting jobs in order, int64[n]. count: int64[1]."""

    job: Int64
    count: Int64  # type: ignore[assignment]


class World(NamedTuple):
    """Hold the nodes with their running jobs, the queue and its shelves, the plan, and the clock.

    promised: int64[n], start of each job in the plan of the pass at its arrival, s.
    """

    site: Site
    plan: Plan
    outages: Outages
    shelves: Shelves
    waiting: Waiting
    clock: Record[Clock]
    promised: Int64


@routine
def arrange(
    jobs: Jobs,
    shelves: Shelves,
    waiting: Waiting,
    ranking: Ranking,
    now: int,
    limit: int,
    first: int,
) -> None:
    """Sort the almost sorted queue from place `first` on, by shelf, then by the order.

    Jobs submitted before `limit` starve.
    """
    queue, of = waiting.job, shelves.of
    for p in range(first, waiting.count[0]):
        j, k = queue[p], p
        while k > 0:
            i = queue[k - 1]
            if of[j] > of[i] or (
                of[j] == of[i] and not goes_before(ranking, jobs, now, limit, j, i)
            ):
                break
            queue[k] = i
            k -= 1
        queue[k] = j


@verb
def enqueue(world: World, ranking: Ranking, j: int) -> None:
    """Insert job `j` into the queue in the present order."""
    shelves, waiting = world.shelves, world.waiting
    last = waiting.count[0]
    waiting.job[last] = j
    waiting.count[0] += 1
    shelves.waiting[shelves.of[j]] += 1
    arrange(world.site.jobs, shelves, waiting, ranking, world.clock[0].now, -1, last)


@routine
def dequeue(shelves: Shelves, waiting: Waiting, place: int) -> None:
    """Remove the job at a place from the queue, and remove its shelf if it is then empty."""
    queue, count, s = waiting.job, waiting.count, shelves.of[waiting.job[place]]
    count[0] -= 1
    for k in range(place, count[0]):
        queue[k] = queue[k + 1]
    shelves.waiting[s] -= 1
    if shelves.waiting[s] > 0 or shelves.count[0] == 0:
        return
    shelves.count[0] -= 1
    for k in range(s, shelves.count[0]):
        shelves.length[k] = shelves.length[k + 1]
        shelves.waiting[k] = shelves.waiting[k + 1]
    for p in range(count[0]):
        shelves.of[queue[p]] -= shelves.of[queue[p]] > s

"""Everything that a simulation of nodes keeps from event to event, and its queue."""

from __future__ import annotations

from typing import NamedTuple

from core.arrays import Int64
from core.kernels.jit import verb
from core.kernels.nodes.machine import Site
from core.kernels.nodes.plan import Plan
from core.kernels.ranking import Ranking, goes_before

NOW, ARRIVED, BEFORE, FALLEN, RISEN, RESET, STEP, CLOCK = range(8)
"""Fields of the clock: the instant, s; how many jobs have arrived, by now and before it; how many
outages have begun and have ended; the next reset, s; what is to come at this instant; the number
of all fields."""

TURNED, REMADE = 1, 2
"""Steps of an instant: all but the reset and the pass is done; and the reset is, too."""


class Outages(NamedTuple):
    """Instants at which nodes go down and come up, s, ascending, and which ones."""

    falls: Int64
    fallen: Int64
    rises: Int64
    risen: Int64


class Shelves(NamedTuple):
    """The shelves, in order, and what is known of those who may be put into them.

    of: int64[n], the shelf of each job that waits. length: int64[n + 1], s. waiting: int64[n + 1],
    how many wait in each. count: int64[1]. first: int64[n], where a moldable job's times on 1, 2
    and more nodes are in `estimate` and `run`, s, -1 for a rigid job. most: int64[n], how many
    nodes it may have. smallest: int64[1], length of the first shelf, s. resets: int64[k], seconds
    after a whole day since instant 0 at which shelves are made anew. Without shelves all jobs are
    in one.
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


class World(NamedTuple):
    """The nodes and who runs there, who waits, in which shelf, the plan, and the clock.

    queue: int64[n], the waiting jobs in order; count: int64[1]. promised: int64[n], start in the
    plan of the pass at the job's arrival, s.
    """

    site: Site
    plan: Plan
    outages: Outages
    shelves: Shelves
    queue: Int64
    count: Int64  # type: ignore[assignment]
    clock: Int64
    promised: Int64


@verb
def comes_before(world: World, ranking: Ranking, limit: int, i: int, j: int) -> bool:
    """Say whether waiting job `i` comes before `j`; those submitted before `limit` starve."""
    of, jobs = world.shelves.of, world.site.jobs
    if of[i] != of[j]:
        return bool(of[i] < of[j])
    return goes_before(ranking, jobs, world.clock[NOW], limit, i, j)


@verb
def arrange(world: World, ranking: Ranking, limit: int, first: int) -> None:
    """Sort the queue from place `first` on; by insertion, since it is almost sorted."""
    queue = world.queue
    for p in range(first, world.count[0]):
        j, k = queue[p], p
        while k > 0 and comes_before(world, ranking, limit, j, queue[k - 1]):
            queue[k] = queue[k - 1]
            k -= 1
        queue[k] = j


@verb
def enqueue(world: World, ranking: Ranking, j: int) -> None:
    """Put job `j` into the queue, as the order is now."""
    world.queue[world.count[0]] = j
    world.count[0] += 1
    world.shelves.waiting[world.shelves.of[j]] += 1
    arrange(world, ranking, -1, world.count[0] - 1)


@verb
def dequeue(world: World, place: int) -> int:
    """Take the job at a place out of the queue, and its shelf away if it is the last there."""
    queue, count, shelves = world.queue, world.count, world.shelves
    j = queue[place]
    count[0] -= 1
    for k in range(place, count[0]):
        queue[k] = queue[k + 1]
    s = shelves.of[j]
    shelves.waiting[s] -= 1
    if shelves.waiting[s] == 0 and shelves.count[0] > 0:
        drop_shelf(world, s)
    return int(j)


@verb
def drop_shelf(world: World, s: int) -> None:
    """Take an empty shelf away."""
    shelves = world.shelves
    shelves.count[0] -= 1
    for k in range(s, shelves.count[0]):
        shelves.length[k] = shelves.length[k + 1]
        shelves.waiting[k] = shelves.waiting[k + 1]
    shelves.waiting[shelves.count[0]] = 0
    for p in range(world.count[0]):
        shelves.of[world.queue[p]] -= shelves.of[world.queue[p]] > s

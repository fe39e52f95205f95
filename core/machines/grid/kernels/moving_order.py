"""The rules none, aggressive and easy over clusters, in orders that change with time, or differ.

As on one machine (`core.engine.moving_order`) nothing is sorted: the jobs wait by (submit,
position), and each look at the queue finds the best of those that may start.
"""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import ARRIVED, NOW
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.moving_order import first_of_all, fits_somewhere
from schedfarm.core.engine.queue import Queue, dequeue, enqueue
from schedfarm.core.engine.ranking import Ranking, Rankings, goes_before
from schedfarm.core.engine.world import NONE, Options, starving_before
from schedfarm.core.machines.grid.kernels.machines import (
    first_free,
    launch_on,
    most_free,
    turn_clock,
)
from schedfarm.core.machines.grid.kernels.world import World, backfill_on, cluster_for, reserve

TURNED, CLOCK = 2, 3
"""Further field of a clock: whether the pass of this instant is still to come. The number of all
fields."""


@verb
def first_backfill(world: World, ranking: Ranking, now: int, limit: int) -> int:
    """Return the first job that may start behind the head, -1 if none may."""
    jobs, machines, queue, hold, _ = world
    best, most = -1, most_free(machines)
    for place in range(queue.size[0]):
        b = queue.order[place]
        if queue.least_need[b] > most:
            continue
        least_need = NEVER
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            need, j = queue.need[cell], queue.job[cell]
            least_need = min(least_need, need)
            if (
                need <= most
                and cluster_for(machines, hold, now, need, queue.estimate[cell]) >= 0
                and (best < 0 or goes_before(ranking, jobs, now, limit, j, best))
            ):
                best = j
        queue.least_need[b] = least_need
    return best


@verb
def decide(world: World, rankings: Rankings, rule: int, now: int, limit: int) -> None:
    """Run one pass: the head while it fits, in the one order; then backfills, in the other.

    The world's key is 0 for each job, so that all wait by (submit, position).
    """
    jobs, machines, queue, hold, by_age = world
    head = -1
    while head < 0:
        if not fits_somewhere(queue, most_free(machines)):
            return
        j = queue.job[first_of_all(queue, jobs, rankings.queue, now, limit)]
        c = first_free(machines, jobs.procs[j])
        if c < 0:
            head = j
        else:
            launch_on(jobs, machines, c, j, now)
            dequeue(queue, by_age, j)
    if rule == NONE:
        return
    reserve(machines, hold, rule, jobs.procs[head])
    j = first_backfill(world, rankings.backfill, now, limit)
    while j >= 0:
        c = cluster_for(machines, hold, now, jobs.procs[j], jobs.estimate[j])
        backfill_on(world, c, j, now)
        dequeue(queue, by_age, j)
        j = first_backfill(world, rankings.backfill, now, limit)


@verb
def advance(world: World, clock: Int64) -> bool:
    """Go on to the next pass that may start a job; return whether there is one to be made."""
    jobs, machines, queue, _, by_age = world
    while jobs.leave[0] == 0:
        first = clock[ARRIVED]
        clock[NOW], clock[ARRIVED], _ = turn_clock(jobs, machines, first)
        if clock[NOW] == NEVER:
            break
        for j in range(first, clock[ARRIVED]):
            enqueue(queue, jobs, by_age, j)
        if fits_somewhere(queue, most_free(machines)):
            return True
    return False


@routine
def run_events(
    world: World, clock: Int64, rankings: Rankings, options: Options, stepwise: bool
) -> bool:
    """Go through the events, each with its pass, to the end or, stepwise, to the next pass."""
    while True:
        if clock[TURNED] == 0:
            if not advance(world, clock):
                return False
            if stepwise:
                clock[TURNED] = 1
                return True
        clock[TURNED] = 0
        limit = starving_before(options, clock[NOW])
        decide(world, rankings, options.rule, clock[NOW], limit)


@kernel
def run_moving(
    world: World, clock: Int64, rankings: Rankings, options: Options, stepwise: bool
) -> bool:
    """Run every event and its pass, to the last completion; return False at the end, or if left.

    Stepwise, return True before each pass that may start a job, for the keys of the waiting jobs
    to be evaluated.
    """
    return run_events(world, clock, rankings, options, stepwise)


def waiting_jobs(queue: Queue) -> Int64:
    """Return the jobs that wait, int64[k], in the order of the queue."""
    first, length = queue.first, queue.length
    chain = queue.order[: queue.size[0]]
    blocks = [queue.job[first[b] : first[b] + length[b]] for b in chain]
    return np.concatenate([np.empty(0, np.int64), *blocks])

"""All rules in the orders that share by what users have got: keys are worked out at each pass."""

from __future__ import annotations

import numpy as np

from core.arrays import Int64
from core.kernels import planned
from core.kernels.clock import ARRIVED, NOW
from core.kernels.jit import kernel, routine, verb
from core.kernels.machine import Jobs, idle_machine
from core.kernels.moving_order import advance, decide
from core.kernels.plan import COUNT
from core.kernels.planned import Bookkeeper, run_planned
from core.kernels.queue import Queue, empty_queue
from core.kernels.ranking import Rankings
from core.kernels.reservations import Planner, run_reserving
from core.kernels.users_line import Sharing, rank_by_shares
from core.kernels.world import HOLD, Options, World, starving_before


@verb
def gather(queue: Queue, waiting: Int64) -> int:
    """Write down the waiting jobs; return how many there are."""
    count = 0
    for place in range(queue.size[0]):
        b = queue.order[place]
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            waiting[count] = queue.job[cell]
            count += 1
    return count


@routine
def run_events(
    world: World,
    clock: Int64,
    rankings: Rankings,
    sharing: Sharing,
    options: Options,
    waiting: Int64,
) -> None:
    """Go through all events, each with its pass."""
    jobs, running = world.jobs, world.running
    while advance(world, clock, options.per_event):
        now, count = clock[NOW], gather(world.queue, waiting)
        rank_by_shares(sharing, rankings, jobs, running, clock[ARRIVED], waiting, count, now)
        decide(world, rankings, options.rule, now, starving_before(options, now))


@kernel
def run_shared(
    jobs: Jobs, rankings: Rankings, sharing: Sharing, processors: int, options: Options
) -> None:
    """Do as `run_moving`, under none, aggressive and easy."""
    n = jobs.submit.size
    running, queue, by_age = idle_machine(processors, n), empty_queue(n), np.zeros(n, np.int64)
    world = World(jobs, running, queue, np.zeros(HOLD, np.int64), by_age)
    clock, waiting = np.zeros(2, np.int64), np.empty(n, np.int64)
    run_events(world, clock, rankings, sharing, options, waiting)


@kernel
def run_reserving_shared(
    planner: Planner, rankings: Rankings, sharing: Sharing, options: Options, promises: bool
) -> None:
    """Do as `run_reserving`, under depth(K) and conservative."""
    jobs, running, plan, clock, _ = planner
    while run_reserving(planner, rankings, options, promises, True):
        now, arrived, count = clock[NOW], clock[ARRIVED], plan.state[COUNT]
        rank_by_shares(sharing, rankings, jobs, running, arrived, plan.job, count, now)


@kernel
def run_planned_shared(
    keeper: Bookkeeper, rankings: Rankings, sharing: Sharing, options: Options, walk: int
) -> None:
    """Do as `run_planned`."""
    jobs, running, book, clock, _ = keeper
    while run_planned(keeper, rankings.queue, options, walk, True):
        now, arrived, count = clock[NOW], clock[planned.ARRIVED], book.state[planned.COUNT]
        rank_by_shares(sharing, rankings, jobs, running, arrived, book.job, count, now)

"""The rules none, aggressive and easy in orders that change with time, or differ for backfills.

Nothing is ever sorted. The jobs wait by (submit, position); the head is the best of all, and
the next backfill the best of those that may start: a job refused once stays refused in a pass,
since backfills only take processors. A pass starts about one job, so that two looks at the
queue replace a sort: LXF with EASY runs three times as fast on the KTH log.
"""

from __future__ import annotations

from core.arrays import Int64
from core.kernels.clock import ARRIVED, NOW
from core.kernels.fixed_order import may_backfill, reserve, within_reach
from core.kernels.jit import NEVER, kernel, routine, verb
from core.kernels.machine import Jobs, launch
from core.kernels.queue import Queue, dequeue, gather, head_of
from core.kernels.ranking import Ranking, Rankings, comes_first
from core.kernels.world import EXTRA, NONE, SHADOW, Options, World, starving_before, turn


@verb
def fits_somewhere(queue: Queue, free: int) -> bool:
    """Say whether some waiting job may fit, by the blocks' minima."""
    least = NEVER
    for place in range(queue.size[0]):
        least = min(least, queue.least_need[queue.order[place]])
    return least <= free


@verb
def first_of_all(queue: Queue, jobs: Jobs, ranking: Ranking, now: int, limit: int) -> int:
    """Return the head of the queue; a job submitted before `limit` starves and goes first."""
    best = queue.job[head_of(queue)]
    if jobs.submit[best] < limit:
        return int(best)
    for place in range(queue.size[0]):
        b = queue.order[place]
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            if comes_first(ranking, jobs, now, queue.job[cell], best):
                best = queue.job[cell]
    return int(best)


@verb
def first_backfill(world: World, ranking: Ranking, now: int, limit: int) -> int:
    """Return the first job that may start behind the head, -1 if none may."""
    jobs, running, queue, hold, _ = world
    best, free = -1, running.free[0]
    slack, extra = hold[SHADOW] - now, hold[EXTRA]
    for place in range(queue.size[0]):
        b = queue.order[place]
        if queue.least_need[b] > free or not within_reach(queue, hold, now, b):
            continue
        least_need, least_estimate = NEVER, NEVER
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            need, estimate = queue.need[cell], queue.estimate[cell]
            least_need, least_estimate = min(least_need, need), min(least_estimate, estimate)
            if need <= free and (estimate <= slack or need <= extra):
                j = queue.job[cell]
                if best < 0 or (
                    jobs.submit[best] >= limit and comes_first(ranking, jobs, now, j, best)
                ):
                    best = j
        queue.least_need[b], queue.least_estimate[b] = least_need, least_estimate
    return best


@verb
def decide(world: World, rankings: Rankings, rule: int, now: int, limit: int) -> None:
    """Run one pass: the head while it fits, in the one order; then backfills, in the other.

    The world's key is 0 for each job, so that all wait by (submit, position).
    """
    jobs, running, queue, hold, by_age = world
    head = -1
    while head < 0:
        if not fits_somewhere(queue, running.free[0]):
            return
        j = first_of_all(queue, jobs, rankings.queue, now, limit)
        if jobs.procs[j] > running.free[0]:
            head = j
        else:
            launch(jobs, running, j, now)
            dequeue(queue, by_age, j)
    if rule == NONE:
        return
    reserve(running, hold, rule, jobs.procs[head])
    j = first_backfill(world, rankings.backfill, now, limit)
    while j >= 0:
        may_backfill(hold, now, jobs.procs[j], jobs.estimate[j])
        jobs.backfilled[j] = True
        launch(jobs, running, j, now)
        dequeue(queue, by_age, j)
        j = first_backfill(world, rankings.backfill, now, limit)


@verb
def advance(world: World, clock: Int64, per_event: bool) -> bool:
    """Go on to the next pass that may start a job; return whether there is one to be made."""
    jobs, running = world.jobs, world.running
    while (clock[ARRIVED] < jobs.submit.size or running.count[0] > 0) and jobs.leave[0] == 0:
        clock[NOW], clock[ARRIVED] = turn(world, clock[ARRIVED], per_event)
        if fits_somewhere(world.queue, running.free[0]):
            return True
    return False


@routine
def run_events(world: World, clock: Int64, rankings: Rankings, options: Options) -> None:
    """Go through all events, each with its pass."""
    while advance(world, clock, options.per_event):
        now = clock[NOW]
        decide(world, rankings, options.rule, now, starving_before(options, now))


@kernel
def run_moving(world: World, clock: Int64, rankings: Rankings, options: Options) -> None:
    """Fill `start` (all -1) and `backfilled` (all False) of the jobs by the clock of SEMANTICS.

    Jobs wait by (submit, position): all keys of the world are the same.
    """
    run_events(world, clock, rankings, options)


@kernel
def next_pass(world: World, clock: Int64, per_event: bool, waiting: Int64) -> int:
    """Go on as `advance`; write down the jobs that wait, ascending, and return how many do.

    None do at the end.
    """
    return gather(world.queue, waiting) if advance(world, clock, per_event) else 0


@kernel
def run_pass(world: World, rankings: Rankings, options: Options, now: int) -> None:
    """Run one pass with the orders as they are now."""
    decide(world, rankings, options.rule, now, starving_before(options, now))

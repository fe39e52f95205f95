"""The rules none, aggressive and easy in an order that is fixed at submission."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import turn_clock
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.lanes import WORD, first_places, highest, least, lowest, up_to
from schedfarm.core.engine.queue import Queue, close_cell, dequeue, enqueue, head_of, precedes, tidy
from schedfarm.core.engine.running import Jobs, Running, find_shadow, launch
from schedfarm.core.engine.world import EASY, EXTRA, KNOWN, NONE, SHADOW, Options, World

STARVED = -(2**63)
"""Key of a starving job: before all others, first come first served among themselves."""


@verb
def reserve(running: Running, hold: Int64, rule: int, need: int) -> None:
    """Give the head the one reservation; without one, whatever fits may start."""
    if rule == EASY:
        hold[SHADOW], hold[EXTRA] = find_shadow(running, need)
    else:
        hold[SHADOW], hold[EXTRA] = NEVER, 0
    hold[KNOWN] = 1


@verb
def may_backfill(hold: Int64, now: int, need: int, estimate: int) -> bool:
    """Say whether a job that fits now leaves the reservation alone, and charge it for extra."""
    if now + estimate <= hold[SHADOW]:
        return True
    if need > hold[EXTRA]:
        return False
    hold[EXTRA] -= need
    return True


@verb
def promote(queue: Queue, jobs: Jobs, key: Int64, oldest: int, arrived: int, limit: int) -> int:
    """Put the jobs submitted before `limit` that still wait first; return the next to watch."""
    while oldest < arrived and jobs.submit[oldest] < limit:
        if jobs.start[oldest] < 0:
            dequeue(queue, key, oldest)
            key[oldest] = STARVED
            enqueue(queue, jobs, key, oldest)
        oldest += 1
    return oldest


@verb
def may_pass(world: World, rule: int, now: int, need: int, estimate: int) -> bool:
    """Say whether a job that fits now may start before the head, and charge it for extra."""
    _, running, queue, hold, _ = world
    if hold[KNOWN] == 0:
        reserve(running, hold, rule, queue.need[head_of(queue)])
    return may_backfill(hold, now, need, estimate)


@verb
def admit(world: World, rule: int, j: int) -> bool:
    """Take in a job that arrives alone; return whether the others need a look too.

    Behind a blocked head, and with nothing released, only the arrival can start: time makes no
    waiting job's backfill legal, and a legal backfill moves no shadow.
    """
    jobs, running, queue, hold, key = world
    now, need = jobs.submit[j], jobs.procs[j]
    fits = need <= running.free[0]
    starts, looks = fits, False
    if queue.size[0] == 0:
        hold[KNOWN] = 0
    elif precedes(key, j, queue.job[head_of(queue)]):
        starts, looks = False, fits or rule == EASY
    elif fits:
        starts = rule != NONE and may_pass(world, rule, now, need, jobs.estimate[j])
        jobs.backfilled[j] = starts
    if starts:
        launch(jobs, running, j, now)
    else:
        enqueue(queue, jobs, key, j)
    return looks


@verb
def start_heads(queue: Queue, jobs: Jobs, running: Running, now: int) -> int:
    """Start the head while it fits; return the need of the one that does not, 0 if none waits."""
    while queue.size[0] > 0:
        b = queue.order[0]
        need = queue.need[queue.first[b]]
        if need > running.free[0]:
            return int(need)
        launch(jobs, running, queue.job[queue.first[b]], now)
        close_cell(queue, b, queue.first[b])
        if queue.length[b] == 0:
            tidy(queue)
    return 0


@verb
def may_backfill_here(queue: Queue, cell: int, free: int, slack: int, extra: int) -> int:
    """Return the word of the cells from one on whose jobs fit, and leave the reservation alone."""
    need, estimate = queue.need, queue.estimate
    beside = up_to(estimate, cell, slack) | up_to(need, cell, extra)
    return up_to(need, cell, free) & beside


@verb
def backfill(world: World, now: int, b: int) -> None:
    """Start what may start of block `b` behind the head, and make its minima exact."""
    jobs, running, queue, hold, _ = world
    first, stop = queue.first[b], queue.first[b] + queue.length[b]
    slack = hold[SHADOW] - now
    least_need = least_estimate = NEVER
    gone = 0
    for cell in range(first, stop, WORD):
        left = first_places(stop - cell)
        word = may_backfill_here(queue, cell, running.free[0], slack, hold[EXTRA]) & left
        while word != 0:
            at = lowest(word)
            word &= word - 1
            need, estimate = queue.need[cell + at], queue.estimate[cell + at]
            if need <= running.free[0] and may_backfill(hold, now, need, estimate):
                j = queue.job[cell + at]
                jobs.backfilled[j] = True
                launch(jobs, running, j, now)
                left ^= 1 << at
                gone |= 1 << int(cell + at - first)
        least_need = min(least_need, least(queue.need, cell, left))
        least_estimate = min(least_estimate, least(queue.estimate, cell, left))
    queue.least_need[b], queue.least_estimate[b] = least_need, least_estimate
    # Only now: what was just moved is read by words with a delay.
    while gone != 0:
        at = highest(gone)
        close_cell(queue, b, first + at)
        gone ^= 1 << at


@verb
def within_reach(queue: Queue, hold: Int64, now: int, b: int) -> bool:
    """Say whether the minima of block `b` leave room for a backfill."""
    soon = now + queue.least_estimate[b] <= hold[SHADOW]
    return bool(soon or queue.least_need[b] <= hold[EXTRA])


@verb
def schedule(world: World, rule: int, now: int) -> None:
    """Run one pass: start the head while it fits, then backfill behind the one that does not."""
    jobs, running, queue, hold, _ = world
    hold[KNOWN] = 0
    head = start_heads(queue, jobs, running, now)
    if head == 0 or rule == NONE:
        return
    emptied = False
    for place in range(queue.size[0]):
        b = queue.order[place]
        if queue.least_need[b] > running.free[0]:
            continue
        if hold[KNOWN] == 0:
            reserve(running, hold, rule, head)
        if within_reach(queue, hold, now, b):
            waiting = queue.length[b]
            backfill(world, now, b)
            emptied |= queue.length[b] < waiting
    if emptied:
        tidy(queue)


@verb
def take_in(world: World, rule: int, first: int, arrived: int, look: bool) -> bool:
    """Queue the jobs from `first` on that arrive; return whether the instant needs a pass."""
    if arrived == first + 1 and not look:
        return admit(world, rule, first)
    for j in range(first, arrived):
        enqueue(world.queue, world.jobs, world.key, j)
    return True


@routine
def run_events(world: World, options: Options) -> None:
    """Go through all events, each with its pass."""
    jobs, running, queue, _, _ = world
    rule, threshold, n = options.rule, options.threshold, jobs.submit.size
    arrived = oldest = 0
    while (arrived < n or running.count[0] > 0) and jobs.leave[0] == 0:
        first = arrived
        now, arrived, look = turn_clock(jobs, running, arrived, options.per_event)
        if threshold < NEVER and oldest < first and jobs.submit[oldest] < now - threshold:
            oldest = promote(queue, jobs, world.key, oldest, first, now - threshold)
            look = True
        if take_in(world, rule, first, arrived, look) and queue.size[0] > 0:
            schedule(world, rule, now)


@kernel
def run_fixed(world: World, options: Options) -> None:
    """Fill `start` (all -1) and `backfilled` (all False) of the jobs by the clock of SEMANTICS.

    Starving jobs are marked in the key.
    """
    run_events(world, options)

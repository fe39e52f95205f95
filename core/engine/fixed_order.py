"""The rules none, aggressive and easy in an order that is fixed at submission."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import turn_clock
from schedfarm.core.engine.jit import NEVER, rolled_kernel, routine, verb
from schedfarm.core.engine.lanes import WORD, first_places, highest, least, lowest
from schedfarm.core.engine.leaving import withdraw_due
from schedfarm.core.engine.machine import (
    begin,
    candidates,
    most_free,
    place_beside,
    place_for,
    reserve,
    within_reach,
)
from schedfarm.core.engine.queue import (
    Queue,
    close_cell,
    dequeue,
    enqueue,
    head_of,
    precedes,
    tidy,
)
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import EASY, NONE, Options, World

STARVED = -(2**63)
"""Key of starving jobs, which precede all other jobs and are served first come, first served."""


@verb
def promote(queue: Queue, jobs: Jobs, key: Int64, oldest: int, arrived: int, limit: int) -> int:
    """Move waiting jobs submitted before `limit` to the front; return the next job to examine.

    Invariant: all jobs before `oldest` already starve or have started, since the limit only grows.
    """
    while oldest < arrived and jobs.submit[oldest] < limit:
        if jobs.start[oldest] < 0:
            dequeue(queue, key, oldest)
            key[oldest] = STARVED
            enqueue(queue, jobs, key, oldest)
        oldest += 1
    return oldest


@verb
def admit(world: World, rule: int, j: int) -> bool:
    """Start or queue a job that arrives alone; return whether the queue needs a pass.

    Invariant: after a pass no waiting job may start. If the head is blocked and no processors have
    been released, only the arriving job can start. The passage of time does not permit any other
    backfill. A permitted backfill neither moves the shadow time nor, on a grid, gives another
    cluster an earlier shadow time.
    """
    jobs, machine, queue, hold, key = world
    now, need = jobs.submit[j], jobs.procs[j]
    c, looks = place_for(machine, need, now), False
    if queue.state[0].blocks == 0:
        hold[0].known = 0
    elif precedes(key, j, queue.job[head_of(queue)]):
        c, looks = -1, c >= 0 or rule == EASY
    elif c >= 0:
        c = -1
        if rule != NONE:
            if hold[0].known == 0:
                reserve(machine, hold, rule, queue.need[head_of(queue)])
            c = place_beside(machine, hold, now, need, jobs.estimate[j])
        jobs.backfilled[j] = c >= 0
    if c >= 0:
        begin(machine, jobs, c, j, now)
    else:
        enqueue(queue, jobs, key, j)
    return looks


@verb
def start_heads(world: World, now: int) -> int:
    """Start heads while they fit; return the need of the next head, 0 if no job waits."""
    jobs, machine, queue, _, _ = world
    while queue.state[0].blocks > 0:
        b = queue.order[0]
        cell = queue.first[b]
        c = place_for(machine, queue.need[cell], now)
        if c < 0:
            return int(queue.need[cell])
        begin(machine, jobs, c, queue.job[cell], now)
        close_cell(queue, b, cell)
        if queue.length[b] == 0:
            tidy(queue)
    return 0


@verb
def backfill(world: World, now: int, b: int) -> None:
    """Start the backfills in block `b`, and make the minima of the block exact."""
    jobs, machine, queue, hold, _ = world
    first, stop = queue.first[b], queue.first[b] + queue.length[b]
    least_need = least_estimate = NEVER
    gone = 0
    for cell in range(first, stop, WORD):
        left = first_places(stop - cell)
        word = candidates(machine, queue, hold, now, cell) & left
        while word != 0:
            at = lowest(word)
            word &= word - 1
            need, estimate = queue.need[cell + at], queue.estimate[cell + at]
            c = place_beside(machine, hold, now, need, estimate)
            if c >= 0:
                j = queue.job[cell + at]
                jobs.backfilled[j] = True
                begin(machine, jobs, c, j, now)
                left ^= 1 << at
                gone |= 1 << int(cell + at - first)
        least_need = min(least_need, least(queue.need, cell, left))
        least_estimate = min(least_estimate, least(queue.estimate, cell, left))
    queue.least_need[b], queue.least_estimate[b] = least_need, least_estimate
    # This step is last, because reads by lanes stall on data that has just been moved.
    while gone != 0:
        at = highest(gone)
        close_cell(queue, b, first + at)
        gone ^= 1 << at


@verb
def schedule(world: World, rule: int, now: int) -> None:
    """Run one pass: start heads while they fit, then backfill behind the first blocked head.

    A block is skipped if its least need exceeds the free processors, which only decrease.
    """
    _, machine, queue, hold, _ = world
    hold[0].known = 0
    head = start_heads(world, now)
    if head == 0 or rule == NONE:
        return
    emptied = False
    for place in range(queue.state[0].blocks):
        b = queue.order[place]
        if queue.least_need[b] > most_free(machine):
            continue
        if hold[0].known == 0:
            reserve(machine, hold, rule, head)
        if within_reach(machine, queue, hold, now, b):
            waiting = queue.length[b]
            backfill(world, now, b)
            emptied |= queue.length[b] < waiting
    if emptied:
        tidy(queue)


@verb
def take_in(world: World, rule: int, first: int, arrived: int, look: bool) -> bool:
    """Queue the arriving jobs from `first` on; return whether the instant needs a pass.

    A job that arrives alone, with `look` False, does not leave at this instant.
    """
    if arrived == first + 1 and not look:
        return admit(world, rule, first)
    for j in range(first, arrived):
        enqueue(world.queue, world.jobs, world.key, j)
    return True


@routine
def run_events(world: World, options: Options) -> None:
    """Process all events, each with its pass."""
    jobs, machine, queue, _, _ = world
    rule, threshold = options.rule, options.threshold
    arrived = oldest = 0
    while jobs.leave[0] == 0:
        first = arrived
        now, arrived, look = turn_clock(jobs, machine, arrived, options.per_event)
        if now == NEVER:
            return
        if threshold < NEVER and oldest < first and jobs.submit[oldest] < now - threshold:
            oldest = promote(queue, jobs, world.key, oldest, first, now - threshold)
            look = True
        if take_in(world, rule, first, arrived, look):
            withdraw_due(jobs.leaving, world, now)
            if queue.state[0].blocks > 0:
                schedule(world, rule, now)


@rolled_kernel
def run_fixed(world: World, options: Options) -> None:
    """Fill `start` (all -1) and `backfilled` (all False) of the jobs by the clock of semantics.md.

    Starving jobs are marked in the key.
    """
    run_events(world, options)

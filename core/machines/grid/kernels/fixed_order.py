"""The rules none, aggressive and easy over clusters, in an order that is fixed at submission."""

from __future__ import annotations

from schedfarm.core.engine.fixed_order import promote
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.queue import close_cell, enqueue, tidy
from schedfarm.core.engine.world import KNOWN, NONE, Options
from schedfarm.core.machines.grid.kernels.machines import (
    first_free,
    launch_on,
    most_free,
    turn_clock,
)
from schedfarm.core.machines.grid.kernels.world import World, backfill_on, cluster_for, reserve


@verb
def start_heads(world: World, now: int) -> int:
    """Start the head while it fits; return the need of the one that does not, 0 if none waits."""
    jobs, machines, queue, _, _ = world
    while queue.size[0] > 0:
        b = queue.order[0]
        cell = queue.first[b]
        c = first_free(machines, queue.need[cell])
        if c < 0:
            return int(queue.need[cell])
        launch_on(jobs, machines, c, queue.job[cell], now)
        close_cell(queue, b, cell)
        if queue.length[b] == 0:
            tidy(queue)
    return 0


@verb
def backfill(world: World, now: int, b: int, most: int) -> int:
    """Start what may start of block `b` behind the head, and make its minimum exact.

    `most` processors are free on one cluster; returns how many are then.
    """
    jobs, machines, queue, hold, _ = world
    least_need, cell = NEVER, queue.first[b]
    while cell < queue.first[b] + queue.length[b]:
        need, c = queue.need[cell], -1
        if need <= most:
            c = cluster_for(machines, hold, now, need, queue.estimate[cell])
        if c >= 0:
            backfill_on(world, c, queue.job[cell], now)
            most = most_free(machines)
            close_cell(queue, b, cell)
            cell = max(cell, queue.first[b])
        else:
            least_need = min(least_need, need)
            cell += 1
    queue.least_need[b] = least_need
    return most


@verb
def schedule(world: World, rule: int, now: int) -> None:
    """Run one pass: start the head while it fits, then backfill behind the one that does not."""
    machines, queue, hold = world.machines, world.queue, world.hold
    hold[KNOWN] = 0
    head = start_heads(world, now)
    if head == 0 or rule == NONE:
        return
    most, emptied = most_free(machines), False
    for place in range(queue.size[0]):
        b = queue.order[place]
        if queue.least_need[b] > most:
            continue
        if hold[KNOWN] == 0:
            reserve(machines, hold, rule, head)
        waiting = queue.length[b]
        most = backfill(world, now, b, most)
        emptied |= queue.length[b] < waiting
    if emptied:
        tidy(queue)


@routine
def run_events(world: World, options: Options) -> None:
    """Go through all events, each with its pass."""
    jobs, machines, queue, _, key = world
    threshold, arrived, oldest = options.threshold, 0, 0
    while jobs.leave[0] == 0:
        first = arrived
        now, arrived, _ = turn_clock(jobs, machines, first)
        if now == NEVER:
            break
        if threshold < NEVER:
            oldest = promote(queue, jobs, key, oldest, first, now - threshold)
        for j in range(first, arrived):
            enqueue(queue, jobs, key, j)
        if queue.size[0] > 0:
            schedule(world, options.rule, now)


@kernel
def run_fixed(world: World, options: Options) -> None:
    """Fill `start` (all -1) and `backfilled` (all False) of the jobs by the clock of SEMANTICS.

    Starving jobs are marked in the world's key.
    """
    run_events(world, options)

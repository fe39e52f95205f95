"""Pool of processors for the engine's passes: a machine with a single place, 0."""

from __future__ import annotations

from schedfarm.core.engine import machine
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import up_to
from schedfarm.core.engine.machine import Hold
from schedfarm.core.engine.queue import Queue
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import (
    Jobs,
    Running,
    find_shadow,
    give_back,
    launch,
    next_end,
    release,
)
from schedfarm.core.engine.world import EASY


@machine.next_end.of(Running)
def next_end_of(running: Running) -> int:
    """Return the next end of a job, s."""
    return next_end(running)


@machine.give_back.of(Running)
def give_back_to(running: Running, now: int) -> bool:
    """Free the processors of jobs with a predicted end up to now."""
    return give_back(running, now)


@machine.release_due.of(Running)
def release_due(running: Running, jobs: Jobs, now: int, one: bool) -> bool:
    """End the jobs that end now."""
    early = release(jobs, running)
    while not one and next_end(running) == now:
        early |= release(jobs, running)
    return early


@machine.running_count.of(Running)
def running_count(running: Running) -> int:
    """Return the number of running jobs."""
    return int(running.count[0])


@machine.most_free.of(Running)
def most_free(running: Running) -> int:
    """Return the free processors."""
    return int(running.free[0])


@machine.has_free.of(Running)
def has_free(running: Running, c: int, need: int) -> bool:
    """Return whether `need` processors are free."""
    return bool(need <= running.free[0])


@machine.place_for.of(Running)
def place_for(running: Running, need: int, now: int) -> int:
    """Return 0 if a job fits, else -1."""
    return 0 if need <= running.free[0] else -1


@machine.begin.of(Running)
def begin(running: Running, jobs: Jobs, c: int, j: int, now: int) -> None:
    """Start a job."""
    launch(jobs, running, j, now)


@machine.set_aside.of(Running)
def set_aside(running: Running, need: int) -> bool:
    """Return False, because the job could use all free processors."""
    return False


@machine.reserve.of(Running)
def reserve(running: Running, hold: Record[Hold], rule: int, need: int) -> None:
    """Make the head's reservation."""
    if rule == EASY:
        hold[0].shadow, hold[0].extra = find_shadow(running, need)
    else:
        hold[0].shadow, hold[0].extra = NEVER, 0
    hold[0].known = 1


@verb
def leaves_alone(hold: Record[Hold], now: int, need: int, estimate: int) -> bool:
    """Return whether a job that fits now respects the reservation; charge its extra processors."""
    if now + estimate <= hold[0].shadow:
        return True
    if need > hold[0].extra:
        return False
    hold[0].extra -= need
    return True


@machine.place_beside.of(Running)
def place_beside(running: Running, hold: Record[Hold], now: int, need: int, estimate: int) -> int:
    """Return 0 if a job fits without affecting the reservation."""
    fits = need <= running.free[0] and leaves_alone(hold, now, need, estimate)
    return 0 if fits else -1


@machine.candidates.of(Running)
def candidates(running: Running, queue: Queue, hold: Record[Hold], now: int, cell: int) -> int:
    """Return the jobs that fit without affecting the reservation."""
    short = up_to(queue.estimate, cell, hold[0].shadow - now)
    narrow = up_to(queue.need, cell, hold[0].extra)
    return up_to(queue.need, cell, running.free[0]) & (short | narrow)


@machine.within_reach.of(Running)
def within_reach(running: Running, queue: Queue, hold: Record[Hold], now: int, b: int) -> bool:
    """Return whether a block's minima are short or narrow enough."""
    soon = now + queue.least_estimate[b] <= hold[0].shadow
    return bool(soon or queue.least_need[b] <= hold[0].extra)

"""A machine with its queue, and the options of a policy for the kernels."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import turn_clock
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.leaving import withdraw_due
from schedfarm.core.engine.machine import Hold, Machine
from schedfarm.core.engine.queue import Queue, empty_queue, enqueue
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.running import Jobs

NONE, AGGRESSIVE, EASY, RESERVING = 0, 1, 2, 3
"""Codes of the rules that make at most one reservation, again at each pass."""


class World(NamedTuple):
    """The jobs, the machine, the queue, the head's reservation and the queue's key.

    Jobs wait in the order of `key`, int64[n], smallest first, ties by index.
    """

    jobs: Jobs
    machine: Machine
    queue: Queue
    hold: Record[Hold]
    key: Int64


class Options(NamedTuple):
    """Options of a policy in addition to its orders.

    rule: a code. depth: number of waiting jobs with reservations under RESERVING, NEVER for all.
    threshold: wait after which a job starves, s, or NEVER. per_event: whether each event has its
    own pass.
    """

    rule: int
    depth: int
    threshold: int
    per_event: bool


def empty_world(jobs: Jobs, machine: Machine, key: Int64) -> World:
    """Return an idle machine with an empty queue and a key of its own."""
    n = jobs.submit.size
    return World(jobs, machine, empty_queue(n), record(Hold), key.copy())


@verb
def turn(world: World, arrived: int, per_event: bool) -> tuple[int, int]:
    """Go to the next instant or event and change the queue; return it, s, and the arrivals."""
    first = arrived
    now, arrived, _ = turn_clock(world.jobs, world.machine, first, per_event)
    for j in range(first, arrived):
        enqueue(world.queue, world.jobs, world.key, j)
    withdraw_due(world.jobs.leaving, world, now)
    return now, arrived


@verb
def starving_before(options: Options, now: int) -> int:
    """Return the instant, s, before which submitted jobs starve now; -1 for none."""
    return now - options.threshold if options.threshold < NEVER else -1

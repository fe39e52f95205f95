"""Clusters with one queue, and the one reservation for the head."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.queue import Queue, empty_queue
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import EASY, EXTRA, HOLD, KNOWN, SHADOW
from schedfarm.core.machines.grid.kernels.machines import (
    Machines,
    earliest_shadow,
    idle_machines,
    launch_on,
)

CLUSTER = HOLD
"""Field of the head's reservation beside those on one machine: its cluster, -1 for none."""


class World(NamedTuple):
    """The jobs, those that run and those that wait, the head's reservation and the queue's key.

    As `core.engine.world.World`, but for the machines.
    """

    jobs: Jobs
    machines: Machines
    queue: Queue
    hold: Int64
    key: Int64


def empty_world(jobs: Jobs, size: Int64, key: Int64) -> World:
    """Return idle clusters of these sizes, and nobody in the queue."""
    n = jobs.submit.size
    return World(
        jobs, idle_machines(size, n), empty_queue(n), np.zeros(HOLD + 1, np.int64), key.copy()
    )


@verb
def reserve(machines: Machines, hold: Int64, rule: int, need: int) -> None:
    """Give the head the one reservation; without one, whatever fits may start."""
    hold[CLUSTER], hold[SHADOW], hold[EXTRA] = -1, NEVER, 0
    if rule == EASY:
        hold[CLUSTER], hold[SHADOW], hold[EXTRA] = earliest_shadow(machines, need)
    hold[KNOWN] = 1


@verb
def cluster_for(machines: Machines, hold: Int64, now: int, need: int, estimate: int) -> int:
    """Return the first cluster where a job fits and leaves the reservation alone, -1 for none."""
    for c in range(machines.size.size):
        if need <= machines.free[c, 0] and (
            c != hold[CLUSTER] or now + estimate <= hold[SHADOW] or need <= hold[EXTRA]
        ):
            return c
    return -1


@verb
def backfill_on(world: World, c: int, j: int, now: int) -> None:
    """Start a job behind the head on cluster `c`, and charge it for the extra processors."""
    jobs, machines, hold = world.jobs, world.machines, world.hold
    if c == hold[CLUSTER] and now + jobs.estimate[j] > hold[SHADOW]:
        hold[EXTRA] -= jobs.procs[j]
    jobs.backfilled[j] = True
    launch_on(jobs, machines, c, j, now)

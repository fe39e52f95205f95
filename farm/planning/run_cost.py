"""Cost of a whole run: CPU and wall time, memory and disk, including fixed costs.

The constants were measured on a machine of two cores with compiled kernels. `farm plan` scales them
by its own share of a core.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedfarm.core.format.geometry import Block
from schedfarm.farm.planning.backlog import WRITE_SECONDS
from schedfarm.farm.planning.tasks import Task
from schedfarm.farm.store.store import Store

START_SECONDS = 3.5
"""CPU time of the coordinator and its scheduler before workers are requested, s."""

WORKER_SECONDS = 1.4
"""CPU time of a worker process before it requests its first task, s."""

LOAD_SECONDS = 0.3
"""CPU time to load the kernels of a worker's first task, s."""

ANSWER_SECONDS = 1.3
"""CPU time per trace to fold, print and draw the answer, s: 0.7 to 1.9 in four campaigns."""

COORDINATOR_BYTES = 300 * 10**6
"""Memory of the coordinator with its scheduler while it draws the answer; before, 210 MB."""

WORKER_BYTES = 75 * 10**6
"""Memory of an idle worker with loaded kernels, bytes."""

HELD = 2.0
"""Memory of a task relative to the arrays that it writes together."""

COMPRESSED = 0.2
"""Bytes on the disk for each byte of arrays: 0.15 to 0.28 in five campaigns."""

STORE_BYTES = 1.5e6
"""Bytes of a store outside of its blocks: metadata, coordinates, events."""


@dataclass(frozen=True)
class RunCost:
    """Hold the cost of a run.

    cpu: CPU time of all its processes, s. wall: time from its start to the answer, s. memory: peak
    memory of all its processes together, bytes. disk: size of its store, bytes.
    """

    cpu: float
    wall: float
    memory: float
    disk: float


def fixed_seconds(traces: int, workers: int) -> float:
    """Return the CPU time of a run outside of its cells, s.

    Examples
    --------
    >>> round(fixed_seconds(traces=2, workers=2), 1)
    9.5
    """
    return START_SECONDS + workers * (WORKER_SECONDS + LOAD_SECONDS) + traces * ANSWER_SECONDS


def run_cost(
    store: Store,
    tasks: Sequence[Task],
    costs: Mapping[Block, float],
    *,
    workers: int,
    cores: int,
    slowness: float = 1.0,
) -> RunCost:
    """Return the cost of a run on a number of worker processes; the store need not exist.

    costs: CPU time of each block of the tasks, s. cores: total cores of the workers. slowness: wall
    time of a process, s, per second of its CPU time.
    """
    batches = [batch for task in tasks for batch in task.batches]
    seconds = [math.fsum(costs[block] for block in batch) for batch in batches]
    written = [sum(store.block_bytes(block) for block in batch) for batch in batches]
    answer = ANSWER_SECONDS * len(store.sources)
    at_once = max(1, min(workers, cores, len(batches)))
    stored = [one + WRITE_SECONDS for one in seconds]
    together = max(max(stored, default=0.0), math.fsum(stored) / at_once)
    waves = math.ceil(workers / max(1, cores))
    begun = waves * WORKER_SECONDS + LOAD_SECONDS
    wall = START_SECONDS + (begun if batches else 0.0) + together + answer
    fixed = fixed_seconds(len(store.sources), workers if batches else 0)
    held = workers * (WORKER_BYTES + HELD * max(written, default=0)) if batches else 0.0
    return RunCost(
        cpu=fixed + math.fsum(seconds),
        wall=slowness * wall,
        memory=COORDINATOR_BYTES + held,
        disk=STORE_BYTES + COMPRESSED * sum(written),
    )

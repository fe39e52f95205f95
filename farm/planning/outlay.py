"""What a whole run takes beside its cells: time to start, memory, and room on the disk.

The constants are measurements of one machine of two cores, of processes whose kernels are compiled;
`farm plan` holds them against how much of a core it gets itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedfarm.core.format.geometry import Block
from schedfarm.farm.planning.backlog import WRITE_SECONDS
from schedfarm.farm.planning.tasks import Task
from schedfarm.farm.store.store import Store

START_SECONDS = 1.6
"""CPU time of the coordinator and its scheduler until workers are asked for, s."""

WORKER_SECONDS = 1.0
"""CPU time until a worker process asks for its first task, s."""

LOAD_SECONDS = 0.3
"""CPU time to load the kernels of a worker's first task, s."""

ANSWER_SECONDS = 1.3
"""CPU time to fold, print and draw the answer, s a trace: 0.7 to 1.9 over four campaigns."""

COORDINATOR_BYTES = 300 * 10**6
"""Memory of the coordinator with its scheduler when it draws the answer; 210 MB before."""

WORKER_BYTES = 75 * 10**6
"""Memory of a worker that has its kernels and no task."""

HELD = 2.0
"""Memory of a task against the arrays that it writes at once."""

COMPRESSED = 0.2
"""Bytes on the disk of each that arrays have: 0.15 to 0.28 in five campaigns."""

STORE_BYTES = 1.5e6
"""Bytes of a store beside its blocks: metadata, coordinates, events."""


@dataclass(frozen=True)
class Outlay:
    """Say what a run takes.

    Parameters
    ----------
    cpu : float
        CPU time of all its processes, s.
    wall : float
        Time from its start to the answer, s.
    memory : float
        Memory of all its processes together at most, bytes.
    disk : float
        Room that its store takes, bytes.
    """

    cpu: float
    wall: float
    memory: float
    disk: float


def fixed_seconds(traces: int, workers: int) -> float:
    """Return the CPU time that a run takes beside its cells, s.

    Examples
    --------
    >>> round(fixed_seconds(traces=2, workers=2), 1)
    6.8
    """
    return START_SECONDS + workers * (WORKER_SECONDS + LOAD_SECONDS) + traces * ANSWER_SECONDS


def outlay(
    store: Store,
    tasks: Sequence[Task],
    costs: Mapping[Block, float],
    *,
    workers: int,
    cores: int,
    slowness: float = 1.0,
) -> Outlay:
    """Return what a run takes on a number of workers.

    Parameters
    ----------
    store : Store
        The store, which need not exist.
    tasks : sequence of Task
        What is to be done.
    costs : mapping of Block to float
        CPU time of each of their blocks, s.
    workers : int
        Worker processes.
    cores : int
        Cores that these have between them.
    slowness : float
        Time that a process waits for each second of CPU that it gets, and that second, s.
    """
    portions = [portion for task in tasks for portion in task.portions]
    seconds = [math.fsum(costs[block] for block in portion) for portion in portions]
    written = [sum(store.block_bytes(block) for block in portion) for portion in portions]
    answer = ANSWER_SECONDS * len(store.sources)
    at_once = max(1, min(workers, cores, len(portions)))
    stored = [one + WRITE_SECONDS for one in seconds]
    together = max(max(stored, default=0.0), math.fsum(stored) / at_once)
    waves = math.ceil(workers / max(1, cores))
    begun = waves * WORKER_SECONDS + LOAD_SECONDS
    wall = START_SECONDS + (begun if portions else 0.0) + together + answer
    fixed = fixed_seconds(len(store.sources), workers if portions else 0)
    held = workers * (WORKER_BYTES + HELD * max(written, default=0)) if portions else 0.0
    return Outlay(
        cpu=fixed + math.fsum(seconds),
        wall=slowness * wall,
        memory=COORDINATOR_BYTES + held,
        disk=STORE_BYTES + COMPRESSED * sum(written),
    )

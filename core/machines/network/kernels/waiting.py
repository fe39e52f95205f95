"""Waiting jobs: an ordered queue for each cluster of origin."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.queue import precedes
from schedfarm.core.engine.running import Jobs

COUNT, EDGE, HELD, POINTS, VOID, DUE, OWN, FRESH, AT, STATE = range(10)
"""Rows of a queue's state.

COUNT: number of waiting jobs. EDGE: place behind the last job with a reservation. HELD, POINTS:
number of reservations, and of reservations with estimate 0. VOID, DUE: whether the plan must be
made again, and whether it must be continued. OWN, FRESH: first place to examine in the cluster's
own part of a pass, and in the other parts. AT: present place in the other parts. STATE: number of
rows.
"""

NOT_RESERVED = -1


class Waiting(NamedTuple):
    """Hold the queues of all clusters, one after the other.

    job, need, length: int64[n], index, processors and estimate, s, of each waiting job. first:
    int64[clusters], the beginning of each queue. key: int64[n], the order of jobs. reserved:
    int64[n], reserved start of each job, s. state: int64[STATE, clusters].
    """

    job: Int64
    need: Int64
    length: Int64
    first: Int64
    key: Int64
    reserved: Int64
    state: Int64


@verb
def place_of(waiting: Waiting, c: int, j: int) -> int:
    """Return the place for job `j` in queue `c`."""
    base, low, high = waiting.first[c], 0, waiting.state[COUNT, c]
    if high == 0 or precedes(waiting.key, waiting.job[base + high - 1], j):
        return int(high)
    while low < high:
        middle = (low + high) // 2
        if precedes(waiting.key, waiting.job[base + middle], j):
            low = middle + 1
        else:
            high = middle
    return int(low)


@verb
def insert(waiting: Waiting, jobs: Jobs, c: int, j: int) -> int:
    """Insert job `j` into queue `c`; return its place."""
    job, need, length, state = waiting.job, waiting.need, waiting.length, waiting.state
    place = place_of(waiting, c, j)
    at = waiting.first[c] + place
    for k in range(waiting.first[c] + state[COUNT, c], at, -1):
        job[k], need[k], length[k] = job[k - 1], need[k - 1], length[k - 1]
    job[at], need[at], length[at] = j, jobs.procs[j], jobs.estimate[j]
    state[COUNT, c] += 1
    state[EDGE, c] += place < state[EDGE, c]
    state[OWN, c] = min(state[OWN, c], place)
    state[FRESH, c] = min(state[FRESH, c], place)
    return place


@verb
def remove(waiting: Waiting, c: int, place: int) -> None:
    """Remove the job at a place from queue `c`."""
    job, need, length, state = waiting.job, waiting.need, waiting.length, waiting.state
    at = waiting.first[c] + place
    state[COUNT, c] -= 1
    for row in (EDGE, OWN, FRESH, AT):
        state[row, c] -= place < state[row, c]
    if waiting.reserved[job[at]] != NOT_RESERVED:
        waiting.reserved[job[at]] = NOT_RESERVED
        state[HELD, c] -= 1
        state[POINTS, c] -= length[at] == 0
    for k in range(at, waiting.first[c] + state[COUNT, c]):
        job[k], need[k], length[k] = job[k + 1], need[k + 1], length[k + 1]


@verb
def hold(waiting: Waiting, c: int, place: int, t: int) -> None:
    """Record the reserved start of the job at a place."""
    at = waiting.first[c] + place
    waiting.reserved[waiting.job[at]] = t
    waiting.state[HELD, c] += 1
    waiting.state[POINTS, c] += waiting.length[at] == 0
    waiting.state[EDGE, c] = place + 1


@verb
def forget(waiting: Waiting, c: int) -> None:
    """Delete all reservations of queue `c`."""
    state, base = waiting.state, waiting.first[c]
    for k in range(base, base + state[EDGE, c]):
        waiting.reserved[waiting.job[k]] = NOT_RESERVED
    state[EDGE, c] = state[HELD, c] = state[POINTS, c] = state[OWN, c] = 0

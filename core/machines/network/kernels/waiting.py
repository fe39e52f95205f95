"""Waiting jobs: an ordered queue for each cluster of origin."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.queue import precedes
from schedfarm.core.engine.record import Records
from schedfarm.core.engine.running import Jobs

NOT_RESERVED = -1


class QueueState:
    """State of a queue.

    count: number of waiting jobs. edge: place after the last job with a reservation. held: number
    of reservations. points: number of reservations of jobs with estimate 0. void, due: whether the
    plan has to be made again, or continued. own, fresh: first place to examine in the cluster's own
    part of a pass, and in the other parts. at: present place in the other parts.
    """

    count: int
    edge: int
    held: int
    points: int
    void: int
    due: int
    own: int
    fresh: int
    at: int


class Waiting(NamedTuple):
    """Hold the queues of all clusters, one after the other.

    job, need, length: int64[n], index, processors and estimate, s, of each waiting job. first:
    int64[clusters], the beginning of each queue. key: int64[n], the order of jobs. reserved:
    int64[n], reserved start of each job, s. state: of each queue.
    """

    job: Int64
    need: Int64
    length: Int64
    first: Int64
    key: Int64
    reserved: Int64
    state: Records[QueueState]


@verb
def place_of(waiting: Waiting, c: int, j: int) -> int:
    """Return the place in queue `c` where job `j` belongs."""
    base, low, high = waiting.first[c], 0, waiting.state[c].count
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
    for k in range(waiting.first[c] + state[c].count, at, -1):
        job[k], need[k], length[k] = job[k - 1], need[k - 1], length[k - 1]
    job[at], need[at], length[at] = j, jobs.procs[j], jobs.estimate[j]
    state[c].count += 1
    state[c].edge += place < state[c].edge
    state[c].own = min(state[c].own, place)
    state[c].fresh = min(state[c].fresh, place)
    return place


@verb
def remove(waiting: Waiting, c: int, place: int) -> None:
    """Remove the job at a place from queue `c`."""
    job, need, length, state = waiting.job, waiting.need, waiting.length, waiting.state
    at = waiting.first[c] + place
    state[c].count -= 1
    state[c].edge -= place < state[c].edge
    state[c].own -= place < state[c].own
    state[c].fresh -= place < state[c].fresh
    state[c].at -= place < state[c].at
    if waiting.reserved[job[at]] != NOT_RESERVED:
        waiting.reserved[job[at]] = NOT_RESERVED
        state[c].held -= 1
        state[c].points -= length[at] == 0
    for k in range(at, waiting.first[c] + state[c].count):
        job[k], need[k], length[k] = job[k + 1], need[k + 1], length[k + 1]


@verb
def hold(waiting: Waiting, c: int, place: int, t: int) -> None:
    """Record the reserved start of the job at a place."""
    at = waiting.first[c] + place
    waiting.reserved[waiting.job[at]] = t
    waiting.state[c].held += 1
    waiting.state[c].points += waiting.length[at] == 0
    waiting.state[c].edge = place + 1


@verb
def forget(waiting: Waiting, c: int) -> None:
    """Delete all reservations of queue `c`."""
    state, base = waiting.state, waiting.first[c]
    for k in range(base, base + state[c].edge):
        waiting.reserved[waiting.job[k]] = NOT_RESERVED
    state[c].edge = state[c].held = state[c].points = state[c].own = 0

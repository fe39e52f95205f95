"""The trail: a memo of the starts on the previous clone.

Invariant: two clones without arrivals are equal from an instant on if at that instant, after all
its passes, the same jobs run since the same instants and the same jobs wait. A pass depends on
these and on the time only. So a new clone is simulated until it equals the previous one, and its
remaining jobs start as the trail says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.queue import Queue
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import World

ABSENT = -2
"""Start, s, of a job that is not on a clone."""

WAITED, BAR, UNTIL, PLACE, STATE = range(5)
"""Fields of a trail's state: number of jobs that waited at its beginning; one past its last job; a
time, s, until which the present clone differs from it; position, in the round of `differs`, of the
job that differed last; the number of fields."""


class Trail(NamedTuple):
    """The previous clone: it has the jobs before ``state[BAR]``, all of which start on it.

    start: int64[n], s, of the jobs that waited at its beginning, which are the first
    ``state[WAITED]`` of job, int64[n], and of the jobs from the clone's `first` on. state:
    int64[STATE].
    """

    start: Int64
    job: Int64
    state: Int64


def no_trail(n: int) -> Trail:
    """Return an empty trail with room for n jobs."""
    return Trail(np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(STATE, np.int64))


@verb
def copy_starts(trail: Trail, jobs: Jobs, start: Int64, first: int, bar: int) -> None:
    """Copy the starts, of jobs before `bar`, that `differs` will read.

    Nothing else copies those of jobs that have ended. Jobs from `first` on may have other starts on
    other clones of this instant.
    """
    for c in range(trail.state[WAITED]):
        start[trail.job[c]] = jobs.start[trail.job[c]]
    for j in range(min(first, trail.state[BAR]), bar):
        start[j] = jobs.start[j]


@verb
def differs_until(trail: Trail, jobs: Jobs, bar: int, now: int, j: int) -> int:
    """Return a time, s, before which job j is always in another state than on the previous clone.

    It is `now` if the states are equal after all passes of `now`. Else the job starts at different
    instants on the two clones (or is on one of them only), and the states differ until it has ended
    on both: max of the starts + run. A job that still waits starts at `now` at the earliest. A job
    without duration counts as 1 s, since its state may change within the instant.
    """
    start = jobs.start[j] if j < bar else ABSENT
    other = trail.start[j] if j < trail.state[BAR] else ABSENT
    if start == other or (start == -1 and other > now):
        return now
    if start == -1:
        start = now
    return int(max(now, max(start, other) + max(jobs.run[j], 1)))


@verb
def differs(trail: Trail, jobs: Jobs, bar: int, now: int) -> bool:
    """Return whether a clone still differs from the previous one, after all passes of `now`.

    Only jobs that are on one of the clones, or that waited at the beginning of the previous one,
    can differ: the others had started on both before they were cloned.

    Invariant: before state[UNTIL] the clone differs, by `differs_until` of the job found last. The
    round begins with that job, so that a clone that differs costs one comparison; it is complete
    when no job differs.
    """
    state = trail.state
    if now < state[UNTIL]:
        return True
    first, alone = min(bar, state[BAR]), abs(bar - state[BAR])
    places, place = alone + state[WAITED], state[PLACE]
    for _ in range(places):
        j = first + place if place < alone else trail.job[place - alone]
        until = differs_until(trail, jobs, bar, now, j)
        if until > now:
            state[UNTIL], state[PLACE] = until, place
            return True
        place = place + 1 if place + 1 < places else 0
    return False


@verb
def free_at(world: World, trail: Trail, now: int) -> tuple[int, int]:
    """Return the free processors at an instant if waiting jobs start by the trail.

    And the next instant at which a job ends, s.
    """
    jobs, running, queue, _, _ = world
    free, soon = running.free[0], NEVER
    for p in range(running.count[0]):
        if running.end[p] <= now:
            free += jobs.procs[running.job[p]]
        else:
            soon = min(soon, running.end[p])
    for place in range(queue.size[0]):
        b = queue.order[place]
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            j = queue.job[cell]
            end = trail.start[j] + jobs.run[j]
            if end > now:
                free -= queue.need[cell]
                soon = min(soon, end)
    return free, soon


@verb
def last_start(queue: Queue, trail: Trail, now: int) -> int:
    """Return the last start of the waiting jobs by the trail, s; `now` if none waits."""
    for place in range(queue.size[0]):
        b = queue.order[place]
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            now = max(now, trail.start[queue.job[cell]])
    return now


@verb
def first_fit(world: World, trail: Trail, j: int, now: int) -> int:
    """Return the start, s, of job j, which joins when no job waits."""
    now = last_start(world.queue, trail, now)
    free, soon = free_at(world, trail, now)
    while free < world.jobs.procs[j]:
        now = soon
        free, soon = free_at(world, trail, now)
    return now


@verb
def leave_trail(trail: Trail, queue: Queue, start: Int64, first: int, bar: int) -> None:
    """Make a clone's starts the trail; jobs that still wait keep the starts of the old trail.

    `queue` holds the jobs that waited at its beginning, and jobs from `bar` on.
    """
    count = 0
    for place in range(queue.size[0]):
        b = queue.order[place]
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            j = queue.job[cell]
            if j < bar:
                trail.job[count] = j
                count += 1
                if start[j] >= 0:
                    trail.start[j] = start[j]
    for j in range(first, bar):
        if start[j] >= 0:
            trail.start[j] = start[j]
    trail.state[WAITED], trail.state[BAR] = count, bar
    trail.state[UNTIL] = trail.state[PLACE] = 0

"""The trail of a copy: when those who waited at its beginning started there, nobody arriving.

Two copies to which nobody comes are equal from the instant on at which the same jobs run, since
the same instants, and the same jobs wait. What the last one did then need not be done again.
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
"""Start, s, of a job that is not on a copy."""

WAITED, BAR, UNTIL, PLACE, STATE = range(5)
"""Fields of a trail's state: how many jobs waited at its beginning; one past the last job; until
when, s, the copy that is made now differs from it at least; where in the round of `differs` the job
is that was found to differ last; their number."""


class Trail(NamedTuple):
    """The last copy: jobs from ``state[BAR]`` on were not there, and nobody waits at its end.

    start: int64[n], s, of the jobs that waited at its beginning, which are the first
    ``state[WAITED]`` of job, int64[n], and of those from the `first` of its copy on. state:
    int64[STATE].
    """

    start: Int64
    job: Int64
    state: Int64


def no_trail(n: int) -> Trail:
    """Return the trail of a copy with no jobs, of n."""
    return Trail(np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(STATE, np.int64))


@verb
def copy_starts(trail: Trail, jobs: Jobs, start: Int64, first: int, bar: int) -> None:
    """Copy the starts that `differs` will look at, of jobs before `bar`.

    Of those that are over nothing else copies them. Jobs from `first` on may differ from those on
    other copies of this instant.
    """
    for c in range(trail.state[WAITED]):
        start[trail.job[c]] = jobs.start[trail.job[c]]
    for j in range(min(first, trail.state[BAR]), bar):
        start[j] = jobs.start[j]


@verb
def differs_until(trail: Trail, jobs: Jobs, bar: int, now: int, j: int) -> int:
    """Return until when at least job j is in another state than on the last copy, s.

    Now if its state is the same after all passes of now, which those of a job that takes no
    time may not be yet.
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
    """Say whether a copy differs still from the last one, after all passes of now.

    That is whether a job does that is on one of both alone, or that waited at the beginning of
    the last; the one that was found last mostly does for long.
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
    """Return how many processors are free then, if those who wait start by the trail.

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
    """Return when the last of those who wait starts by the trail, s; now if nobody waits."""
    for place in range(queue.size[0]):
        b = queue.order[place]
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            now = max(now, trail.start[queue.job[cell]])
    return now


@verb
def first_fit(world: World, trail: Trail, j: int, now: int) -> int:
    """Return when job j starts that joins when nobody waits any more, s."""
    now = last_start(world.queue, trail, now)
    free, soon = free_at(world, trail, now)
    while free < world.jobs.procs[j]:
        now = soon
        free, soon = free_at(world, trail, now)
    return now


@verb
def leave_trail(trail: Trail, queue: Queue, start: Int64, first: int, bar: int) -> None:
    """Make a copy's starts the trail, on which those go on who still wait.

    `queue` is who waited at its beginning, besides jobs from `bar` on.
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

"""The clock: which instant or event is next, and who has completed and arrived by it."""

from __future__ import annotations

from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.running import Jobs, Running, give_back, release

NOW, ARRIVED = 0, 1
"""First fields of a clock that is kept between calls: the instant, s, and how many jobs arrived."""


@verb
def next_end(running: Running) -> int:
    """Return the next instant at which a job ends, s, or NEVER."""
    count = running.count[0]
    return running.end[count - 1] if count > 0 else NEVER


@verb
def turn_clock(
    jobs: Jobs, running: Running, arrived: int, per_event: bool
) -> tuple[int, int, bool]:
    """Go to the next instant, or single event, and end the jobs that complete.

    Returns the instant, s, how many jobs have arrived by then, and whether any job completed or,
    per event, had to by its prediction.
    """
    n = jobs.submit.size
    due, end = jobs.submit[arrived] if arrived < n else NEVER, next_end(running)
    now = min(due, end)
    freed = per_event and give_back(running, now)
    ended = end == now and not (per_event and due == now)
    if ended:
        release(jobs, running)
        while not per_event and next_end(running) == now:
            release(jobs, running)
    if due == now:
        arrived += 1
        while not per_event and arrived < n and jobs.submit[arrived] == now:
            arrived += 1
    return now, arrived, ended or freed

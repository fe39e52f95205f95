"""The clock: the next instant or event, and the jobs that complete and arrive by it."""

from __future__ import annotations

from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.leaving import next_leave
from schedfarm.core.engine.machine import Machine, give_back, next_end, release_due
from schedfarm.core.engine.running import Jobs


class Clock:
    """State of a clock that is kept between calls.

    now: the instant, s. arrived: number of jobs that have arrived by then.
    """

    now: int
    arrived: int


@verb
def turn_clock(
    jobs: Jobs, machine: Machine, arrived: int, per_event: bool
) -> tuple[int, int, bool]:
    """Go to the next instant or, per event, to the next event, and end the completing jobs.

    Return the instant, s, or NEVER at the end; the number of jobs that have arrived; and whether a
    job completed, leaves the queue now or, per event, reached its predicted end.
    """
    n = jobs.submit.size
    due, end = jobs.submit[arrived] if arrived < n else NEVER, next_end(machine)
    leave = next_leave(jobs.leaving, jobs.start)
    now = min(min(due, end), leave)
    if now == NEVER:
        return now, arrived, False
    freed = per_event and give_back(machine, now)
    ended = end == now and not (per_event and due == now)
    if ended:
        release_due(machine, jobs, now, per_event)
    if due == now:
        arrived += 1
        while not per_event and arrived < n and jobs.submit[arrived] == now:
            arrived += 1
    return now, arrived, ended or freed or leave == now

"""Use of limits by jobs, and whether another job would exceed a limit.

Each limit has counters for sets of jobs. A running job adds an amount to each of its counters. For
limits of running TRES-minutes this amount falls with time: procs x (start + estimate - now). So a
counter holds the sum of the amounts at its last change, and the sum of procs as its slope.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, optional, verb
from schedfarm.core.engine.machine import Machine


class Counters(NamedTuple):
    """Hold the counters of limits, and the entries with the jobs' amounts.

    The entries of job j are ``first[j] : first[j + 1]``, int64[n + 1]. counter, amount, slope,
    checked: int64[entries], the counter, the job's amount at its start, the decrease of the amount
    per second, and whether the limit applies to this job. most, used, since, fall: int64[counters],
    the limit, the use at the last change, the instant of this change, s, and the sum of slopes.
    """

    first: Int64
    counter: Int64
    amount: Int64
    slope: Int64
    checked: Int64
    most: Int64
    used: Int64
    since: Int64
    fall: Int64


@verb
def exceeds(counters: Counters, j: int, now: int) -> bool:
    """Return whether the start of a job now would exceed a limit that applies to the job."""
    for entry in range(counters.first[j], counters.first[j + 1]):
        k = counters.counter[entry]
        used = counters.used[k] - (now - counters.since[k]) * counters.fall[k]
        if counters.checked[entry] != 0 and used + counters.amount[entry] > counters.most[k]:
            return True
    return False


@verb
def allowed_from(counters: Counters, j: int, now: int) -> int:
    """Return the instant, s, from which limits admit a job if no other job starts or ends."""
    instant = now
    for entry in range(counters.first[j], counters.first[j + 1]):
        k = counters.counter[entry]
        over = counters.used[k] + counters.amount[entry] - counters.most[k]
        if counters.checked[entry] == 0 or over <= 0:
            continue
        fall = counters.fall[k]
        if fall == 0:
            return NEVER
        instant = max(instant, counters.since[k] + (over + fall - 1) // fall)
    return int(instant)


@verb
def add(counters: Counters, j: int, start: int, now: int, sign: int) -> None:
    """Add a job that starts now, or, with sign -1, remove a job that started at `start`, s."""
    for entry in range(counters.first[j], counters.first[j + 1]):
        k, slope = counters.counter[entry], counters.slope[entry]
        counters.used[k] -= (now - counters.since[k]) * counters.fall[k]
        counters.used[k] += sign * (counters.amount[entry] - (now - start) * slope)
        counters.since[k] = now
        counters.fall[k] += sign * slope


@optional
def forget_ended(machine: Machine) -> None:
    """Forget the jobs that `core.engine.priority.list_ended` lists.

    By default nothing is done: released jobs are stored behind the end of the list.
    """

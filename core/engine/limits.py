"""Use of limits by jobs, and whether another job would exceed a limit.

Each limit counts for a set of jobs. A running job adds an amount to each of its counters, of
running TRES-minutes one that falls with time: procs x (start + estimate - now). So a counter holds
the sum at the instant of its last change, and the sum of procs as the slope by which it falls.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, optional, verb
from schedfarm.core.engine.machine import Machine


class Counters(NamedTuple):
    """The counters of limits, and the entries by which jobs add to them.

    The entries of job j are ``first[j] : first[j + 1]``, int64[n + 1]. counter, amount, slope,
    checked: int64[entries], the counter, the job's amount at its start, its decrease per
    second, and whether the limit applies to this job. most, used, since, fall: int64[counters],
    the limit, the use at the last change, its instant, s, and the sum of slopes.
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
    """Return whether a job that starts now would exceed a limit that holds for it."""
    for entry in range(counters.first[j], counters.first[j + 1]):
        k = counters.counter[entry]
        used = counters.used[k] - (now - counters.since[k]) * counters.fall[k]
        if counters.checked[entry] != 0 and used + counters.amount[entry] > counters.most[k]:
            return True
    return False


@verb
def allowed_from(counters: Counters, j: int, now: int) -> int:
    """Return the instant, s, from which a job exceeds no limit if no job starts or ends."""
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
    """Add a job that starts now, or remove one that started at an instant, s, with sign -1."""
    for entry in range(counters.first[j], counters.first[j + 1]):
        k, slope = counters.counter[entry], counters.slope[entry]
        counters.used[k] -= (now - counters.since[k]) * counters.fall[k]
        counters.used[k] += sign * (counters.amount[entry] - (now - start) * slope)
        counters.since[k] = now
        counters.fall[k] += sign * slope


@optional
def forget_ended(machine: Machine) -> None:
    """Forget the jobs that `core.engine.priority.list_ended` lists.

    By default released jobs are behind the end of the list.
    """

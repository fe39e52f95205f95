"""The plan of each cluster, and its free capacity for jobs that start now.

A cluster's plan is a profile (`core.engine.profile`) of its running jobs and of the reservations of
its own jobs. Invariant, as on one machine (`core.engine.plan`): the plan is valid until a job ends
before its predicted end, a predicted end moves, or a job with a reservation starts on another
cluster.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, routine, verb
from schedfarm.core.engine.profile import (
    HEAD,
    TAIL,
    Profile,
    advance,
    earliest_fit,
    lift,
    reserve,
    split,
)
from schedfarm.core.engine.record import Record
from schedfarm.core.machines.grid.kernel import Clusters
from schedfarm.core.machines.network.kernels.spread import Spread


class Top:
    """The largest needs with an entry: on_one, in `Plans.one`, and on_all, in `Plans.all`."""

    on_one: int
    on_all: int


class Plans(NamedTuple):
    """Hold the profile of each cluster, one row each, and the lasting free processors.

    times, free: int64[clusters, steps]. mark: int64[clusters, 2]. until, level: int64[clusters,
    steps]: level[c, i] processors remain free from now until until[c, i], and `level` falls with i;
    size: int64[clusters], number of entries of each cluster. one, all: int64[widest + 1], by need:
    the instant until which this number of processors is free on one cluster, and on all clusters
    together; 0 if fewer are free now. top: the largest need with an entry in each of these tables.
    """

    times: Int64
    free: Int64
    mark: Int64
    until: Int64
    level: Int64
    size: Int64
    one: Int64
    all: Int64
    top: Record[Top]


ONE, ALL = 0, 1
"""Codes of the parts of a pass by the table that they use: `one` or `all` of a plan."""


@verb
def profile_of(plans: Plans, c: int) -> Profile:
    """Return the profile of cluster `c`, for the steps of a pool.

    The rows are views without reference counts: only steps may use them.
    """
    return Profile(plans.times[c], plans.free[c], plans.mark[c])


@routine
def load(plans: Plans, machines: Clusters, spread: Spread, c: int, now: int) -> None:
    """Lay out the profile of the jobs that run on cluster `c`, by their predicted ends."""
    times, free, mark = profile_of(plans, c)
    predicted, width = machines.predicted[c], machines.width[c]
    times[0], free[0] = now, machines.free[c, 0]
    i = 0
    for p in range(machines.count[c, 0] - 1, -1, -1):
        if predicted[p] > times[i]:
            i += 1
            times[i], free[i] = predicted[p], free[i - 1]
        free[i] += width[p]
    mark[HEAD], mark[TAIL] = 0, i + 1
    for p in range(spread.count[0]):
        s = spread.line[p]
        procs = spread.parts[spread.state[s].number, c]
        if procs > 0:
            for k in range(split(profile_of(plans, c), spread.state[s].predicted), mark[TAIL]):
                free[k] += procs


@routine
def take(plans: Plans, c: int, t: int, length: int, procs: int) -> None:
    """Reserve processors in the plan of cluster `c`."""
    reserve(profile_of(plans, c), t, length, procs)


@routine
def earliest(plans: Plans, c: int, need: int, length: int, now: int) -> int:
    """Return the first instant at which a job fits into the plan of cluster `c`."""
    return earliest_fit(profile_of(plans, c), need, length, now)


@routine
def give(plans: Plans, c: int, t: int, length: int, procs: int) -> None:
    """Release a reservation; a reservation with length 0 counted as one second."""
    lift(profile_of(plans, c), t, max(length, 1), procs)


@routine
def measure(plans: Plans, machines: Clusters, c: int, now: int, depth: int) -> None:
    """Tabulate the processors of cluster `c` that remain free from now on, by their end."""
    until, level = plans.until[c], plans.level[c]
    now_free, k = machines.free[c, 0], 0
    if depth > 0:
        advance(profile_of(plans, c), now)
        times, free, mark = profile_of(plans, c)
        now_free = max(min(now_free, free[mark[HEAD]]), 0)
        for i in range(mark[HEAD] + 1, mark[TAIL]):
            if now_free == 0:
                break
            if free[i] < now_free:
                until[k], level[k] = times[i], now_free
                k, now_free = k + 1, max(free[i], 0)
    if now_free > 0:
        until[k], level[k] = NEVER, now_free
        k += 1
    plans.size[c] = k


@verb
def room_of(plans: Plans, c: int, end: int) -> int:
    """Return the number of processors of cluster `c` that are free from now until `end`."""
    for k in range(plans.size[c]):
        if end <= plans.until[c, k]:
            return int(plans.level[c, k])
    return 0


@routine
def room_beside(
    plans: Plans, machines: Clusters, c: int, now: int, length: int, own: tuple[int, int, int]
) -> int:
    """Return the room of cluster `c` for a job with its own reservation (start, end, procs)."""
    begin, stop, procs = own
    times, free, mark = profile_of(plans, c)
    least, i = machines.free[c, 0], mark[HEAD]
    while i < mark[TAIL] and (i == mark[HEAD] or times[i] < now + length):
        there = begin <= max(times[i], now) < stop
        least = min(least, free[i] + (procs if there else 0))
        i += 1
    return int(max(least, 0))


@verb
def top_of(plans: Plans) -> int:
    """Return the number of free processors on all clusters together."""
    total = 0
    for c in range(plans.size.size):
        if plans.size[c] > 0:
            total += plans.level[c, 0]
    return total


@verb
def tabulate_one(plans: Plans) -> None:
    """Write, for each need, the instant until which one cluster has room."""
    one, top = plans.one, 0
    for q in range(plans.top[0].on_one + 1):
        one[q] = 0
    for c in range(plans.size.size):
        for k in range(plans.size[c]):
            low = plans.level[c, k + 1] if k + 1 < plans.size[c] else 0
            for q in range(low + 1, min(plans.level[c, k], one.size - 1) + 1):
                one[q] = max(one[q], plans.until[c, k])
        if plans.size[c] > 0:
            top = max(top, min(plans.level[c, 0], one.size - 1))
    plans.top[0].on_one = top


@verb
def tabulate_all(plans: Plans) -> None:
    """Write, for each need, the instant until which all clusters together have room."""
    all, total, after = plans.all, top_of(plans), 0
    for q in range(min(total, all.size - 1) + 1, plans.top[0].on_all + 1):
        all[q] = 0
    plans.top[0].on_all = min(total, all.size - 1)
    while total > 0:
        soonest, less = NEVER, 0
        for c in range(plans.size.size):
            for k in range(plans.size[c]):
                if plans.until[c, k] > after:
                    soonest = min(soonest, plans.until[c, k])
                    break
        for c in range(plans.size.size):
            for k in range(plans.size[c]):
                if plans.until[c, k] == soonest:
                    left = plans.level[c, k + 1] if k + 1 < plans.size[c] else 0
                    less += plans.level[c, k] - left
        for q in range(total - less + 1, min(total, all.size - 1) + 1):
            all[q] = soonest
        total, after = total - less, soonest


@routine
def tabulate(plans: Plans) -> None:
    """Write both tables of instants until which there is room, by need."""
    tabulate_one(plans)
    tabulate_all(plans)

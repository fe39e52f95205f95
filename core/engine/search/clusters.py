"""Clusters under a plan: the processors free on each now, and those free of reservations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, routine, verb
from schedfarm.core.engine.lanes import room
from schedfarm.core.engine.profile import HEAD, TAIL, Profile, advance, earliest_fit, lift, reserve


class Clusters(NamedTuple):
    """The clusters in declared order, each with a profile of its own.

    size, room: int64[c], processors in all, and physically free now. times, free, mark:
    int64[c, steps], int64[c, steps], int64[c, 2], the profiles, row by row.
    """

    size: Int64
    room: Int64
    times: Int64
    free: Int64
    mark: Int64


def idle_clusters(size: Int64, n: int) -> Clusters:
    """Return idle clusters, with room for the reservations of n jobs on each."""
    count, steps = size.size, room(4 * n + 8)
    times, free = np.zeros((count, steps), np.int64), np.empty((count, steps), np.int64)
    mark = np.zeros((count, 2), np.int64)
    free[:, 0], mark[:, TAIL] = size, 1
    return Clusters(size, size.copy(), times, free, mark)


@verb
def profile_of(clusters: Clusters, c: int) -> Profile:
    """Return the profile of a cluster; for steps and helpers only.

    Steps count no references; a kernel would release one that it had not taken.
    """
    return Profile(clusters.times[c], clusters.free[c], clusters.mark[c])


@verb
def advance_all(clusters: Clusters, now: int) -> None:
    """Drop the part of the profiles before now."""
    for c in range(clusters.size.size):
        advance(profile_of(clusters, c), now)


@routine
def earliest_place(clusters: Clusters, need: int, length: int, now: int) -> tuple[int, int]:
    """Return the first instant, s, at which a job could start, and its cluster; ties by order."""
    best, place = NEVER, -1
    for c in range(clusters.size.size):
        if need <= clusters.size[c]:
            t = earliest_fit(profile_of(clusters, c), need, length, now)
            if t < best:
                best, place = t, c
            if t == now:
                break
    return best, place


@verb
def take(clusters: Clusters, c: int, t: int, length: int, need: int) -> None:
    """Reserve processors of a cluster."""
    reserve(profile_of(clusters, c), t, length, need)


@verb
def untake(clusters: Clusters, c: int, t: int, length: int, need: int) -> None:
    """Return the processors of a reservation to the profile."""
    if length > 0:
        lift(profile_of(clusters, c), t, length, need)


@verb
def copy_profile(source: Clusters, target: Clusters, c: int) -> None:
    """Overwrite the profile of a cluster in another set of clusters."""
    head, tail = source.mark[c, HEAD], source.mark[c, TAIL]
    for i in range(head, tail):
        target.times[c, i], target.free[c, i] = source.times[c, i], source.free[c, i]
    target.mark[c, HEAD], target.mark[c, TAIL] = head, tail

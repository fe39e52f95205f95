"""Clusters under a plan, with free processors now, and a profile of free processors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import WORD, copy_from, room
from schedfarm.core.engine.profile import (
    HEAD,
    TAIL,
    Profile,
    advance,
    change,
    fit_before,
    step_at,
    step_from,
)


class Clusters(NamedTuple):
    """The clusters in declared order, each with a profile of its own.

    size, room: int64[c], all processors of each cluster, and its processors that are physically
    free now. times, free, mark: int64[c, steps], int64[c, steps], int64[c, 2], the profiles, row by
    row.
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

    Steps count no references; a kernel would release a reference that it had not taken.
    """
    return Profile(clusters.times[c], clusters.free[c], clusters.mark[c])


@verb
def advance_all(clusters: Clusters, now: int) -> None:
    """Drop the part of the profiles before now."""
    for c in range(clusters.size.size):
        advance(profile_of(clusters, c), now)


@verb
def earliest_place(clusters: Clusters, need: int, length: int, now: int) -> tuple[int, int, int]:
    """Return the first instant, s, at which a job could start, its cluster, and the step there.

    Ties go to the first cluster.
    """
    best, place, found = NEVER, -1, 0
    for c in range(clusters.size.size):
        if need <= clusters.size[c]:
            profile = profile_of(clusters, c)
            step = step_from(profile, profile.mark[HEAD], now)
            t, step = fit_before(profile, step, need, length, now, best, NEVER)
            if t < best:
                best, place, found = t, c, step
            if t == now:
                break
    return best, place, found


@verb
def take_at(clusters: Clusters, c: int, step: int, t: int, length: int, need: int) -> None:
    """Reserve processors of a cluster from t on; the given step contains t."""
    if length > 0:
        change(profile_of(clusters, c), step, t, t + length, need)


@verb
def untake(clusters: Clusters, c: int, t: int, length: int, need: int) -> int:
    """Put the processors of a reservation back; return a step that does not begin after t."""
    profile = profile_of(clusters, c)
    step = step_at(profile, t)
    if length > 0:
        change(profile, step, t, t + length, -need)
    return int(max(step - 1, profile.mark[HEAD]))


@verb
def copy_profile(source: Clusters, target: Clusters, c: int) -> None:
    """Overwrite the profile of a cluster in another set of clusters."""
    head, tail = source.mark[c, HEAD], source.mark[c, TAIL]
    for i in range(head, tail, WORD):
        copy_from(target.times[c], i, source.times[c])
        copy_from(target.free[c], i, source.free[c])
    target.mark[c, HEAD], target.mark[c, TAIL] = head, tail

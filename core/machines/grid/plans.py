"""A plan on clusters: one queue, and a profile for each cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import plan as one, planning, profile as profiles
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import room, slide
from schedfarm.core.engine.plan import KINDS, STAIRS, Plan, PlanState
from schedfarm.core.engine.profile import HEAD, Profile
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.snapshots import Snapshots, no_snapshots
from schedfarm.core.machines.grid.kernel import Clusters, on_cluster


class Plans(NamedTuple):
    """Hold the queue in order, the cluster of each reservation, and the profile of each cluster.

    The fields are those of `Plan`; fields of a machine have one row per cluster. on:
    int64[room(n)], the cluster of each reservation.
    """

    job: Int64
    need: Int64
    length: Int64
    submit: Int64
    front: Int64
    at: Int64
    on: Int64
    times: Int64
    free: Int64
    mark: Int64
    floor: Int64
    stair: Int64
    snapshots: Snapshots
    state: Record[PlanState]


def empty_plans(clusters: int, n: int, widest: int) -> Plans:
    """Return plans with room for n waiting jobs of at most `widest` processors."""
    n, steps = room(n), room(4 * n + 8)
    return Plans(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.zeros(1, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty((clusters, steps), np.int64),
        np.empty((clusters, steps), np.int64),
        np.zeros((clusters, 2), np.int64),
        np.zeros((clusters, KINDS * (widest + 1), 4), np.int64),
        np.empty((2, STAIRS), np.int64),
        no_snapshots()[1],
        record(PlanState),
    )


@verb
def profile_on(plans: Plans, c: int) -> Profile:
    """Return the profile of cluster `c`, as views like `on_cluster`."""
    return Profile(plans.times[c], plans.free[c], plans.mark[c])


@verb
def plan_on(plans: Plans, c: int) -> Plan:
    """Return the queue with the profile of cluster `c`, as views like `on_cluster`."""
    return Plan(
        plans.job,
        plans.need,
        plans.length,
        plans.submit,
        plans.front,
        plans.at,
        profile_on(plans, c),
        plans.floor[c],
        plans.stair,
        plans.snapshots,
        plans.state,
    )


@planning.lay_out.of(Clusters)
def lay_out(clusters: Clusters, plans: Plans, now: int) -> None:
    """Lay out the profile of every cluster."""
    for c in range(clusters.size.size):
        one.load(plan_on(plans, c), on_cluster(clusters, c), now)


@planning.go_on.of(Clusters)
def go_on(clusters: Clusters, plans: Plans, now: int) -> None:
    """Drop the steps before now on every cluster; reset floors if steps have moved."""
    for c in range(clusters.size.size):
        plans.state[0].layout += profiles.advance(profile_on(plans, c), now)


@planning.earliest.of(Clusters)
def earliest(clusters: Clusters, plans: Plans, i: int, now: int) -> tuple[int, int, int]:
    """Return the cluster with the job's earliest start, this start, s, and its step."""
    cluster, soonest, found, need = -1, NEVER, -1, plans.need[plans.front[0] + i]
    for c in range(clusters.size.size):
        if need <= clusters.size[c] and soonest > now:
            t, step = one.earliest_start(plan_on(plans, c), i, now)
            if t < soonest:
                cluster, soonest, found = c, t, step
    return cluster, soonest, found


@planning.place_now.of(Clusters)
def place_now(clusters: Clusters, plans: Plans, now: int, i: int) -> int:
    """Return the first cluster on which the job may start now, or -1."""
    need = plans.need[plans.front[0] + i]
    for c in range(clusters.size.size):
        if need <= clusters.free[c, 0] and one.may_start(
            plan_on(plans, c), on_cluster(clusters, c), now, i
        ):
            return c
    return -1


@planning.last_candidate.of(Clusters)
def last_candidate(
    clusters: Clusters, plans: Plans, now: int, first: int, last: int
) -> tuple[int, int]:
    """Return the last job that may start now, and the first cluster on which it may start.

    Invariant: no searched cluster has room for a place after the best place so far. The next
    cluster is searched only after the best place. So the last place is found on the first cluster
    with room for its job.
    """
    if last < first:
        return last, -1
    best, where = first - 1, -1
    for c in range(clusters.size.size):
        place = one.last_candidate(plan_on(plans, c), on_cluster(clusters, c), now, best + 1, last)
        if place > best:
            best, where = place, c
    return best, where


@planning.last_rival.of(Clusters)
def last_rival(
    clusters: Clusters, plans: Plans, c: int, now: int, first: int, last: int, end: int
) -> int:
    """Return the last job that may start on cluster c before `end`.

    Return `last` itself if the profile of an earlier cluster has room for the job at place `last`.
    A job with duration 0, which the profile does not show, has just taken the processors there.
    """
    cell = plans.front[0] + last
    need, length = plans.need[cell], plans.length[cell]
    for b in range(c):
        step = plans.mark[b, HEAD]
        if need <= clusters.size[b] and profiles.has_room(
            profile_on(plans, b), step, need, now + length
        ):
            return last
    return one.last_rival(plan_on(plans, c), now, first, last, end)


@planning.step_now.of(Clusters)
def step_now(clusters: Clusters, plans: Plans, c: int) -> int:
    """Return the first step of a cluster."""
    return int(plans.mark[c, HEAD])


@planning.step_of.of(Clusters)
def step_of(clusters: Clusters, plans: Plans, c: int, t: int) -> int:
    """Return the step of a cluster at t."""
    return profiles.step_at(profile_on(plans, c), t)


@planning.take.of(Clusters)
def take(
    clusters: Clusters, plans: Plans, c: int, step: int, t: int, length: int, need: int
) -> None:
    """Reserve processors of a cluster."""
    profiles.reserve_at(profile_on(plans, c), step, t, length, need)


@planning.leaves_room.of(Clusters)
def leaves_room(clusters: Clusters, plans: Plans, c: int, step: int, need: int, end: int) -> bool:
    """Return whether processors of a cluster are free until an instant."""
    return profiles.has_room(profile_on(plans, c), step, need, end)


@planning.place_of.of(Clusters)
def place_of(clusters: Clusters, plans: Plans, i: int) -> int:
    """Return the cluster of a reservation."""
    return int(plans.on[i])


@planning.put_down.of(Clusters)
def put_down(clusters: Clusters, plans: Plans, i: int, c: int) -> None:
    """Record the cluster of a reservation."""
    plans.on[i] = c


@planning.strike_out.of(Clusters)
def strike_out(clusters: Clusters, plans: Plans, i: int) -> None:
    """Remove a job's entry from the clusters of the reservations."""
    if i < plans.state[0].kept:
        slide((plans.on,), i + 1, plans.state[0].kept, -1)


@planning.reconsider.of(Clusters)
def reconsider(clusters: Clusters, plans: planning.AnyPlan, now: int) -> None:
    """Invalidate all reservations."""
    one.void(plans)

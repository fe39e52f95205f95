"""Simulation of policies on clusters with links, by kernels."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.lanes import room
from schedfarm.core.engine.ranking import KEYED, NO_CELLS, Ranking, Rankings
from schedfarm.core.engine.record import record, records
from schedfarm.core.engine.reservations import run_reserving
from schedfarm.core.engine.run import WIDEST, idle_jobs
from schedfarm.core.engine.world import RESERVING, Options as PoolOptions
from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid.kernel import idle_grid
from schedfarm.core.machines.network.kernels.rooms import Plans, Top
from schedfarm.core.machines.network.kernels.run import run_network
from schedfarm.core.machines.network.kernels.split import empty_split
from schedfarm.core.machines.network.kernels.spread import nobody_spread
from schedfarm.core.machines.network.kernels.waiting import NOT_RESERVED, QueueState, Waiting
from schedfarm.core.machines.network.kernels.world import (
    FIRST_ROOM,
    IGNORED,
    KEPT,
    LEAST_ROOM,
    MOST_ROOM,
    UNUSED,
    Asks,
    Failure,
    Notes,
    Options,
    World,
)
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.machines.pool.simulation import POOL
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule, Segments
from schedfarm.core.workload.workload import Workload

TO = {"most": MOST_ROOM, "least": LEAST_ROOM, "first": FIRST_ROOM}
"""Codes of the choice of the cluster to which a job migrates."""

LINKS = {"kept": KEPT, "ignored": IGNORED, "unused": UNUSED}
"""Codes of the links that jobs may use."""

DEPTH = 10
"""Default number of reservations in isolation, the look-ahead of Jones and Ligon."""


def isolated(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``isolated(K)``, with each cluster as a separate pool.

    Raises
    ------
    InputError
        If a job is wider than its cluster.
    Left
        As `core.simulate`.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 7], estimate=[9, 9, 7],
    ...                           procs=[2, 2, 1], origin=[0, 0, 1],
    ...                           platform=Network([2, 1], ["a", "b"]))
    >>> schedule = isolated(w, Policy.parse("fcfs+isolated(10)"))
    >>> schedule.start.tolist(), schedule.segments.place.tolist()
    ([0, 9, 2], [0, 0, 1])
    """
    size = np.array(workload.platform.sizes, np.int64)[workload.origin]
    if (wide := workload.procs > size).any():
        j = int(wide.argmax())
        raise InputError(
            f"policy {policy.name!r}: job {workload.job[j]} requests {workload.procs[j]} "
            f"processors; it runs on its own cluster, "
            f"{workload.platform.places[workload.origin[j]]!r}, which has {size[j]}"
        )
    start, backfilled = _alone(workload, policy)
    segments = Segments(np.arange(len(workload)), workload.origin, workload.procs)
    end = start + workload.run
    return Schedule(workload, policy.name, start, backfilled, end=end, segments=segments)


def isolated_starts(workload: Workload, policy: Policy) -> Int64:
    """Return the start of each job in a simulation of its own cluster alone.

    Parameters
    ----------
    workload : Workload
        Jobs of a network.
    policy : Policy
        Policy whose order sorts the queues, and whose depth is the number of reservations, by
        default `DEPTH`.

    Returns
    -------
    int64[n]
        Start, s; -1 for a job that is wider than its cluster, and therefore left out.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 7], estimate=[9, 9, 7],
    ...                           procs=[2, 3, 2], platform=Network([2, 1], ["a", "b"]))
    >>> isolated_starts(w, Policy.parse("fcfs+ics")).tolist()
    [0, -1, 9]
    """
    return _alone(workload, policy)[0]


def _alone(workload: Workload, policy: Policy) -> tuple[Int64, np.ndarray]:
    """Return starts and backfilled jobs if each cluster runs only its own jobs."""
    n, key = len(workload), _key(workload, policy)
    sizes = np.array(workload.platform.sizes, np.int64)
    start, backfilled = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    # One array holds the starts of all clusters, cluster by cluster, so that the progress counts
    # all jobs.
    seen, begin = np.full(n, -1, np.int64), 0
    for c, size in enumerate(sizes.tolist()):
        chosen = np.flatnonzero((workload.origin == c) & (workload.procs <= size))
        planner = POOL.planner(workload.take(chosen, platform=Pool(size)), NO_PROMISE)
        own = seen[begin : begin + chosen.size]
        begin += chosen.size
        underway().follow(seen)
        ranking = Ranking(KEYED, key[chosen], np.zeros(chosen.size), NO_CELLS)
        run_reserving(
            planner._replace(jobs=planner.jobs._replace(start=own)),
            Rankings(ranking, ranking, False, False),
            PoolOptions(RESERVING, policy.depth or DEPTH, NEVER, False),
            False,
            False,
        )
        underway().check()
        start[chosen], backfilled[chosen] = own, planner.jobs.backfilled
    return start, backfilled


def sharing(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``ics`` or ``icsb(K)``.

    Raises
    ------
    InputError
        If a job is wider than `core.engine.run.WIDEST`; if links are not used, and a job is wider
        than every cluster; or if idle links have no room for any split of a job.
    Left
        As `core.simulate`.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 9, 7], estimate=[9, 9, 7],
    ...                           procs=[1, 2, 3], platform=Network([2, 2], ["a", "b"]))
    >>> schedule = sharing(w, Policy.parse("fcfs+ics"))
    >>> schedule.start.tolist(), schedule.segments.place.tolist(), schedule.segments.procs.tolist()
    ([0, 1, 10], [0, 1, 0, 1], [1, 2, 2, 1])
    """
    widest = int(workload.procs.max(initial=1))
    if widest > WIDEST:
        raise InputError(
            f"workload {workload.name!r}: its widest job takes {widest} processors; on a network "
            f"at most {WIDEST} are supported"
        )
    world = idle_world(workload, policy)
    limited = bool((world.spread.link < NEVER).any())
    options = Options(
        min(policy.depth, len(workload)),
        TO[policy.to],
        LINKS[policy.links],
        limited and policy.links == "ignored",
        policy.queue == "local",
    )
    run_network(world, options)
    underway().check()
    jobs = world.jobs
    _check_all_started(workload, policy, jobs.start)
    return Schedule(
        workload,
        policy.name,
        jobs.start,
        jobs.backfilled,
        end=world.notes.end,
        segments=_segments(workload, world),
    )


def _check_all_started(workload: Workload, policy: Policy, start: Int64) -> None:
    """Raise an error for a job that even idle clusters and links could not hold."""
    if (never := start < 0).any():
        j = int(never.argmax())
        why = {
            "unused": "jobs stay inside one cluster",
            "kept": "no split of it keeps every link within its capacity",
        }
        raise InputError(
            f"policy {policy.name!r}: job {workload.job[j]} requests {workload.procs[j]} "
            f"processors; the widest cluster has {max(workload.platform.sizes)}, and "
            f"{why[policy.links]}"
        )


def _key(workload: Workload, policy: Policy) -> Int64:
    key = find_order(policy.order).fixed_key(workload)
    if key is None:
        raise InputError(
            f"policy {policy.name!r}: order {policy.order!r} changes while jobs wait; queues on a "
            "network need one that does not change, such as fcfs, spf or saf"
        )
    return key


def idle_world(workload: Workload, policy: Policy) -> World:
    """Return idle clusters with empty queues."""
    n, network = len(workload), workload.platform
    assert isinstance(network, Network)
    size = np.array(network.sizes, np.int64)
    clusters, widest = size.size, int(workload.procs.max(initial=1))
    kind, kinds = _kinds(workload)
    asks = Asks(
        workload.origin, workload.communication, workload.bandwidth, workload.alltoall, kind
    )
    link = np.array(network.links or [NEVER] * clusters, np.int64)
    # Each part has at least one processor, and each co-allocated job two parts.
    spread = nobody_spread(n, min(n, network.size // 2), link)
    failed = records(Failure, kinds)
    failed["version"] = -1
    notes = Notes(
        np.empty(n, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        failed,
        np.zeros(clusters, np.int64),
        np.full(n, -1, np.int64),
        np.full(n, -1, np.int64),
    )
    # Each running job has one step in a profile, and each reservation two steps. Past steps are
    # dropped when they fill half of the profile.
    steps = room(4 * (min(n, int(size.max())) + min(n, max(policy.depth, 0))) + 16)
    plans = Plans(
        np.zeros((clusters, steps), np.int64),
        np.tile(size[:, None], (1, steps)),
        np.tile(np.array([0, 1]), (clusters, 1)),
        np.zeros((clusters, steps), np.int64),
        np.zeros((clusters, steps), np.int64),
        np.zeros(clusters, np.int64),
        np.zeros(widest + 1, np.int64),
        np.zeros(widest + 1, np.int64),
        record(Top),
    )
    jobs = idle_jobs(workload, workload.procs)
    waiting = _nobody_waiting(workload, _key(workload, policy))
    split = empty_split(clusters, widest)
    return World(jobs, asks, idle_grid(size, n), spread, waiting, plans, split, notes)


def _kinds(workload: Workload) -> tuple[Int64, int]:
    """Return an index of each job's requests on links, and the number of distinct requests."""
    kind, kinds = np.zeros(len(workload), np.int64), 1
    for values in (workload.procs, workload.bandwidth, workload.alltoall):
        if values.size and values.min() == values.max():
            continue
        one, place = np.unique(values, return_inverse=True)
        both, kind = np.unique(kind * one.size + place, return_inverse=True)
        kinds = both.size
    return kind.astype(np.int64), max(kinds, 1)


def _nobody_waiting(workload: Workload, key: Int64) -> Waiting:
    n, clusters = len(workload), len(workload.platform.sizes)
    many = np.bincount(workload.origin, minlength=clusters)
    state = records(QueueState, clusters)
    state["due"] = 1
    return Waiting(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        (np.cumsum(many) - many).astype(np.int64),
        key,
        np.full(n, NOT_RESERVED, np.int64),
        state,
    )


def _segments(workload: Workload, world: World) -> Segments:
    """Return the parts of all jobs, by job, then by place."""
    number = world.notes.number
    inside, over = np.flatnonzero(number < 0), np.flatnonzero(number >= 0)
    parts = world.spread.parts[number[over]]
    row, place = np.nonzero(parts)
    job = np.concatenate((inside, over[row]))
    order = np.argsort(job, kind="stable")
    places = np.concatenate((world.machines.place[inside], place))
    procs = np.concatenate((workload.procs[inside], parts[row, place]))
    return Segments(job[order], places[order], procs[order])

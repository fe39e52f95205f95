"""Simulation by the kernels that keep a plan on clusters; a pool counts as one cluster."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Float64, Int64
from schedfarm.core.durations import seconds_of
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.checkpoint import checkpointed, state_of
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.record import record
from schedfarm.core.engine.run import idle_jobs
from schedfarm.core.engine.running import idle_machine
from schedfarm.core.engine.search import draws
from schedfarm.core.engine.search.plan import empty_plan
from schedfarm.core.engine.search.run import Planner, SearchClock, run_plan
from schedfarm.core.engine.search.score import Counts, empty_past, empty_score
from schedfarm.core.engine.search.search import GAP, RANDOM, TABU, Aim, empty_search
from schedfarm.core.errors import InputError
from schedfarm.core.policy.options import TIMES
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

KINDS = {"tabu": TABU, "random": RANDOM, "gap": GAP}
"""Codes of the searches."""


NO_AIM = Aim(NEVER, 0, 0, TABU, Counts(False, False, False))
"""Aim of rules that never search the plan."""

_PROMISED: WeakKeyDictionary[Workload, tuple[Policy, Int64]] = WeakKeyDictionary()
"""Promises of the latest simulation of a workload.

They are kept because a search takes minutes on a long log, and promises are often requested after
the schedule.
"""


def tabu(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``tabu``."""
    return _schedule(workload, policy, _aim(policy))


def promise_tabu(workload: Workload, policy: Policy) -> Int64:
    """Return the starts that ``tabu`` reserves at arrival, s, before any search."""
    return _promised(workload, policy, _aim(policy))


def planned(workload: Workload, policy: Policy) -> Schedule:
    """Simulate ``planned`` on a grid."""
    return _schedule(workload, _by_start(policy), NO_AIM)


def promise_planned(workload: Workload, policy: Policy) -> Int64:
    """Return the starts that ``planned`` reserves at arrival on a grid, s."""
    return _promised(workload, _by_start(policy), NO_AIM)


def _by_start(policy: Policy) -> Policy:
    for option in ("walk", "events"):
        if option in policy.given:
            raise InputError(
                f"policy {policy.name!r}: on a grid `planned` compresses in order of start, by "
                f"the instant clock; leave out {option}={policy.given[option]}"
            )
    return policy


def _aim(policy: Policy) -> Aim:
    times = TIMES.fullmatch(policy.iterations)
    each, moves = (int(times[1]), 0) if times else (0, int(policy.iterations))
    every = seconds_of(policy.every) if each or moves else None
    counts = Counts(policy.jobs == "all", policy.users == "all", policy.fairness == "raised")
    return Aim(every or NEVER, each, moves, KINDS[policy.search], counts)


def _run(workload: Workload, policy: Policy, aim: Aim) -> Planner:
    """Return the machine after the last completion."""
    n, size = len(workload), np.array(workload.platform.sizes, np.int64)
    users, user = np.unique(workload.user, return_inverse=True)
    planner = Planner(
        idle_jobs(workload, workload.procs),
        idle_machine(workload.processors, n),
        empty_plan(size, n),
        empty_past(users.size),
        empty_score(user.astype(np.int64), users.size, _weights(policy)),
        empty_search(size, n, int(policy.tenure), _seed(policy)),
        np.full(n, NO_PROMISE, np.int64),
        np.zeros(n, np.int64),
    )
    clock = record(SearchClock)
    clock[0].searched = -1
    state = {**state_of(planner), **state_of(clock, "clock")}
    # The request for cancellation is not part of the simulation's state.
    del state["jobs.leave"]
    with checkpointed(workload, policy, "schedule", state) as checkpoints:
        while n and run_plan(planner, aim, clock, checkpoints.due):
            checkpoints.save()
    underway().check()
    return planner


def _weights(policy: Policy) -> Float64:
    return np.array([float(part) for part in policy.weights.split(":")])


def _seed(policy: Policy) -> Int64:
    return np.full(draws.SIZE, draws.SEED + int(policy.seed), np.int64)


def _schedule(workload: Workload, policy: Policy, aim: Aim) -> Schedule:
    planner = _run(workload, policy, aim)
    _PROMISED[workload] = policy, planner.promised
    jobs, keeps = planner.jobs, "place" in workload.platform.keeps
    place = planner.where if keeps else None
    return Schedule(workload, policy.name, jobs.start, jobs.backfilled, place=place)


def _promised(workload: Workload, policy: Policy, aim: Aim) -> Int64:
    known, promised = _PROMISED.get(workload, (None, None))
    if known == policy and promised is not None:
        return promised.copy()
    return _run(workload, policy, aim).promised

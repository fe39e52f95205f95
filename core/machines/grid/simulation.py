"""Simulation of policies on several clusters, by kernels."""

from __future__ import annotations

from functools import partial

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.run import Door
from schedfarm.core.engine.world import AGGRESSIVE, EASY, NONE
from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid import clone, kernel, plans, usage
from schedfarm.core.machines.grid.kernel import Clusters, idle_grid
from schedfarm.core.machines.grid.plans import Plans, empty_plans
from schedfarm.core.machines.grid.search import planned, promise_planned
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

__all__ = [
    "aggressive",
    "easy",
    "fair_aggressive",
    "fair_easy",
    "fair_none",
    "fair_reserving",
    "none",
    "planned",
    "promise_planned",
    "promise_reserving",
    "reserving",
]

STEPS = (clone, kernel, plans, usage)
"""Modules with the implementations of generic steps for clusters."""


def sizes_of(workload: Workload, unit: int = 1) -> Int64:
    """Return the processors of each cluster in whole units, int64[clusters].

    Examples
    --------
    >>> from schedfarm.core.machines.grid.platform import Grid
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[2],
    ...                           platform=Grid([5, 8], ["a", "b"]))
    >>> sizes_of(w, 2).tolist()
    [2, 4]
    """
    return np.array(workload.platform.sizes, np.int64) // unit


def _check(policy: Policy) -> None:
    if policy.events != "instant":
        raise InputError(
            f"policy {policy.name!r}: events={policy.events} is for one pool of processors; "
            "on a grid leave it out"
        )
    if policy.predict is not None:
        raise InputError(
            f"policy {policy.name!r}: predict={policy.predict} is for one pool of processors; "
            "on a grid leave it out"
        )


def _machine(workload: Workload, unit: int) -> Clusters:
    return idle_grid(sizes_of(workload, unit), len(workload))


def _plans(workload: Workload, unit: int, widest: int) -> Plans:
    return empty_plans(len(workload.platform.sizes), len(workload), widest)


def _place(clusters: Clusters) -> Int64:
    return clusters.place


GRID = Door(_check, _machine, _plans, _place)

none = partial(GRID.schedule, code=NONE)
aggressive = partial(GRID.schedule, code=AGGRESSIVE)
easy = partial(GRID.schedule, code=EASY)
reserving, promise_reserving = GRID.reserving, GRID.promise_reserving
fair_none = partial(GRID.fair, code=NONE)
fair_aggressive = partial(GRID.fair, code=AGGRESSIVE)
fair_easy = partial(GRID.fair, code=EASY)
fair_reserving = GRID.fair_reserving

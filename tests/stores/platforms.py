"""The kinds of platform as values: jobs for each, policies, and the columns that it alone has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from schedfarm.core import Grid, Pool, Schedule, Workload
from schedfarm.core.logs.oar import write_oar
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.schedule import State
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from tests.support.made import MadeStores

LOAD = "0.9"

LAST = 1
"""The one resample of each campaign."""


@dataclass(frozen=True)
class Kind:
    """One kind of platform in a store.

    Parameters
    ----------
    platform : platform
        The machine of the campaign's one trace.
    trace : callable
        Returns the trace; may write its log once in the session.
    policies : tuple of str
        Of the campaign.
    columns : tuple of str
        Columns of a schedule that have to come back from the store.
    special : tuple of str
        Arrays that only traces on such a platform have.
    altered : tuple of str
        Arrays of which an altered number has to be found, no two neighbours of one record of one
        load; the first is read with each schedule.
    metric : str
        Body of a metric of a user's own, of `counted`.
    by_hand : callable
        The same metric of a schedule.
    has_all : callable
        Tells whether a schedule exercises what is special to the platform.
    on_pools : tuple of str
        Those of the policies that simulate a pool, too.
    options : dict
        Other keys of the campaign.
    """

    platform: Any
    trace: Callable[[MadeStores], Trace]
    policies: tuple[str, ...]
    columns: tuple[str, ...]
    special: tuple[str, ...]
    altered: tuple[str, ...]
    metric: str
    by_hand: Callable[[Schedule], float]
    has_all: Callable[[Schedule], bool]
    on_pools: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def campaign(self, made: MadeStores) -> Campaign:
        """Return a campaign of several blocks on the platform alone."""
        return Campaign(
            name=self.platform.name,
            traces=(self.trace(made),),
            policies=self.policies,
            loads=("original", LOAD),
            resamples=LAST,
            block_seconds=1e-6,
            **self.options,
        )

    def on_a_pool(self, *traces: Trace) -> Campaign:
        """Return a campaign on a pool, and on other traces beside it."""
        return Campaign(
            name=f"{self.platform.name}-beside-a-pool",
            traces=(IN_POOL, *traces),
            policies=self.on_pools,
            resamples=1,
        )


IN_POOL = Trace(name="plain", model="lublin", jobs=40, processors=64)

ON_POOL = replace(IN_POOL, name="pool", jobs=60)

GRID = Grid([48, 64], ["east wing", "west wing"])

ON_GRID = Trace(name="grid", model="lublin", jobs=80, platform=GRID.to_dict())

NODE_NAMES = [f"ita{k}" for k in range(1, 9)]

NODES = Nodes([2] * 8, NODE_NAMES, {"half": NODE_NAMES[:4]}, [["ita3", 300_000, 400_000]])

CLUSTERS = ("north", "south", "west")

NETWORK = Network([64, 32, 32], CLUSTERS, [400_000, 200_000, 100_000])

ON_NETWORK = Trace(
    name="network",
    model="participants",
    jobs=120,
    platform=NETWORK.to_dict(),
    parameters={"per_week": [1500, 700, 500], "most": 40},
)


def jobs_on_nodes() -> Workload:
    """Return three weeks of jobs of four users, of every kind."""
    rng = np.random.default_rng(5)
    n = 120
    weight, run = rng.integers(1, 3, n), rng.integers(1, 90_000, n)
    return Workload.from_columns(
        submit=np.sort(rng.integers(0, 3 * 604_800, n)),
        run=run,
        estimate=np.maximum(run, rng.integers(1, 90_000, n)),
        procs=rng.integers(1, 5, n) * weight,
        weight=weight,
        properties=rng.integers(-1, 1, n),
        reserved=np.where(rng.random(n) < 0.3, rng.integers(0, 90_000, n), -1),
        serial=np.where(rng.random(n) < 0.3, 50_000, -1),
        user=rng.integers(1, 5, n),
        platform=NODES,
        epoch=1_130_000_000,
    )


def on_nodes(made: MadeStores) -> Trace:
    """Return a log as a CSV with its machine beside it."""

    def write(folder: Path) -> None:
        folder.mkdir()
        write_oar(jobs_on_nodes(), folder / "nodes.csv")

    return Trace(file=str(made.once("site-of-nodes", write) / "nodes.csv"))


def parts_of(schedule: Schedule) -> float:
    """Return the mean number of nodes, or clusters, of a job that started."""
    assert schedule.segments is not None
    return float(len(schedule.segments.job) / np.count_nonzero(schedule.start >= 0))


KINDS = (
    Kind(
        platform=Pool(64),
        trace=lambda made: ON_POOL,
        policies=("fcfs+easy", "saf+conservative"),
        columns=("start", "end", "wait", "backfilled", "killed"),
        special=(),
        altered=("wait", "backfilled"),
        metric="counted.wait.max()",
        by_hand=lambda schedule: float(schedule.wait.max()),
        has_all=lambda schedule: bool(schedule.wait.any() and schedule.backfilled.any()),
        on_pools=("fcfs+easy",),
    ),
    Kind(
        platform=GRID,
        trace=lambda made: ON_GRID,
        policies=("fcfs+easy", "saf+conservative"),
        columns=("start", "end", "wait", "backfilled", "killed", "place"),
        special=("place",),
        altered=("place",),
        metric="(counted.schedule.place == 0).mean()",
        by_hand=lambda schedule: float((schedule.place == 0).mean()),
        has_all=lambda schedule: set(schedule.place.tolist()) == {0, 1},
        on_pools=("fcfs+easy",),
    ),
    Kind(
        platform=NODES,
        trace=on_nodes,
        policies=("fcfs+conservative", "fcfs+demt,budget=3"),
        columns=("start", "end", "state", "wait", "taken"),
        special=("on", "end", "state", "weight"),
        altered=("on",),
        metric="len(counted.schedule.segments.job) / len(counted)",
        by_hand=parts_of,
        has_all=lambda schedule: {State.REFUSED, State.LOST} <= set(schedule.state.tolist()),
        on_pools=("fcfs+conservative",),
        options={"log": True, "fairness": ("resource", "promise")},
    ),
    Kind(
        platform=NETWORK,
        trace=lambda made: ON_NETWORK,
        policies=("fcfs+icsb(3)", "spf+ics,links=unused"),
        columns=("start", "end", "wait", "taken", "held"),
        special=("on", "end", "job_origin", "origin_wait"),
        altered=("on", "origin_wait", "origin_gain_isolation", "job_origin"),
        metric="len(counted.schedule.segments.job) / len(counted)",
        by_hand=parts_of,
        has_all=lambda schedule: bool(
            schedule.workload.bandwidth.any()
            and set(schedule.workload.origin.tolist()) == {0, 1, 2}
        ),
        options={"fairness": ("isolation", "resource")},
    ),
)
"""Every kind of platform that a store can hold, once."""

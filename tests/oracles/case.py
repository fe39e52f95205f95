"""Cases that are worked out by hand: a platform, a few jobs, a policy, and their schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import NAMES


class Job(NamedTuple):
    """A job of a pool or a grid."""

    submit: int
    run: int
    estimate: int
    procs: int
    user: int = -1


class LeavingJob(NamedTuple):
    """A job that leaves the queue if it has waited for `leave` seconds, -1 for never."""

    submit: int
    run: int
    estimate: int
    procs: int
    leave: int = -1
    user: int = -1


class SiteJob(NamedTuple):
    """A job of a user with an account, and its QOS."""

    submit: int
    run: int
    estimate: int
    procs: int
    user: int
    group: int = 7
    queue: int = 5


class NodeJob(NamedTuple):
    """A job of some nodes, with `weight` processors on each."""

    submit: int
    run: int
    estimate: int
    nodes: int
    weight: int = 1
    properties: int = -1
    reserved: int = -1
    serial: int = -1


class NetworkJob(NamedTuple):
    """A job of a network; the last three are in kbit/s and thousandths."""

    submit: int
    run: int
    estimate: int
    procs: int
    origin: int = 0
    communication: int = 0
    bandwidth: int = 0
    alltoall: int = 0


class ResourceJob(NamedTuple):
    """A job that requests GPUs and licences, too."""

    submit: int
    run: int
    estimate: int
    procs: int
    gpus: int = 0
    licences: int = 0
    leave: int = -1


class PartitionJob(NamedTuple):
    """A job that uses the nodes of a partition."""

    submit: int
    run: int
    estimate: int
    procs: int
    partition: int


class HostJob(NamedTuple):
    """A job that takes equal shares of some hosts, -1 for as few as possible."""

    submit: int
    run: int
    estimate: int
    procs: int
    hosts: int = -1
    gpus: int = 0
    memory: int = 0
    leave: int = -1


AnyJob = Job | LeavingJob | SiteJob | NodeJob | NetworkJob | ResourceJob | PartitionJob | HostJob

Rows = Sequence[AnyJob | tuple[int, ...]]
"""Jobs; a bare tuple is a `Job`."""


def workload(platform: Platform | int, rows: Rows, epoch: int = -1) -> Workload:
    """Return jobs on a platform; a number is a pool of as many processors."""
    jobs = [row if hasattr(row, "_fields") else Job(*row) for row in rows]
    columns = {name: [getattr(job, name) for job in jobs] for name in (jobs or [Job])[0]._fields}
    if "nodes" in columns:
        nodes = np.array(columns.pop("nodes"))
        columns["procs"] = (nodes * np.array(columns["weight"])).tolist()
    machine = Pool(platform) if isinstance(platform, int) else platform
    return Workload.from_columns(**columns, platform=machine, epoch=epoch)  # type: ignore[arg-type]


class Case(NamedTuple):
    """One case; what it is not about is None.

    name: the claim. starts: s, -1 of a refused job. source: where the rule is laid down, a section
    of docs/semantics.md unless a paper is named. backfilled: indices of the jobs that overtake.
    on: of each job a letter for each node, or for each processor on a network; on a grid one letter
    for its cluster. ends, states, promises, counts: as in a schedule.
    """

    name: str
    policy: str
    platform: Platform | int
    jobs: Rows
    starts: list[int]
    source: str
    backfilled: list[int] | None = None
    promises: list[int] | None = None
    on: list[str] | None = None
    ends: list[int] | None = None
    states: list[int] | None = None
    counts: Mapping[str, int] | None = None
    epoch: int = -1

    def __str__(self) -> str:
        return f"{self.name}: {self.policy}, jobs {[tuple(job) for job in self.jobs]}"

    @property
    def parsed(self) -> Policy:
        """The policy."""
        return Policy.parse(self.policy)

    @property
    def work(self) -> Workload:
        """The jobs on their platform."""
        return workload(self.platform, self.jobs, self.epoch)

    @property
    def expected(self) -> dict[str, object]:
        """All that the case is about, by the names of a program's answers."""
        told = {
            "start": self.starts,
            "backfilled": self.backfilled,
            "promises": self.promises,
            "on": self.on,
            "end": self.ends,
            "state": self.states,
            "counts": self.counts,
        }
        return {name: value for name, value in told.items() if value is not None}


def words(work: Workload, place: list[int], parts: list[tuple[int, int, int]]) -> list[str]:
    """Return where each job runs, as `Case.on` has it."""
    if work.platform.name == "grid":
        return [NAMES[one] for one in place]
    found = [""] * len(work)
    for job, one, procs in parts:
        found[job] += NAMES[one] * (1 if work.platform.name == "nodes" else procs)
    return found

"""Rules of the reference on a machine with partitions: those of resources, with other vectors.

The unions of partitions are found by trying every set of partitions.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.resources.reference import rules
from schedfarm.core.machines.resources.reference.amounts import Amounts, Stock, at_most, less
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.workload.workload import Workload

Regions = frozenset[str]
"""Regions of nodes by their names."""


def connected(sets: tuple[Regions, ...]) -> bool:
    """Whether one can go from each set to each other by sets that share a region."""
    reached = {sets[0]}
    while more := {one for one in sets if one not in reached and any(one & r for r in reached)}:
        reached |= more
    return reached == set(sets)


def unions_of(sets: set[Regions]) -> set[Regions]:
    """Return the unions of all connected sets of sets."""
    return {
        frozenset().union(*some)
        for count in range(1, len(sets) + 1)
        for some in combinations(sets, count)
        if connected(some)
    }


def largest(platform: Partitions, nodes: dict[int, Regions], union: Regions) -> set[str]:
    """Return the names of the partitions within a union that are in no larger one."""
    inside = {label: nodes[number] for label, number in platform.labels if nodes[number] <= union}
    return {
        label
        for label, mine in inside.items()
        if not any(mine < other for other in inside.values())
        and label == min(one for one, same in inside.items() if same == mine)
    }


class Machine(rules.Machine):
    """The machine is one stock of each resource, and one of each union of partitions."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        platform = workload.platform
        assert isinstance(platform, Partitions)
        self.sizes = sizes = dict(platform.nodes)
        nodes = {
            number: frozenset(r for r in sizes if {*r.split(",")} & {*label.split(",")})
            for label, number in platform.labels
        }
        unions = sorted(unions_of(set(nodes.values())), key=sorted)
        self.nodes = {job: nodes[int(workload.partition[job.position])] for job in self.jobs}
        self.units += tuple(
            "processors of " + "+".join(sorted(largest(platform, nodes, union))) for union in unions
        )
        amounts = tuple(sum(sizes[region] for region in union) for union in unions)
        self.stock = Stock((*self.stock.capacities, *amounts))
        self.unions = unions
        self.others = len(platform.stocks)
        for job in self.jobs:
            within = self.amounts_of(job, job.procs)[1 + self.others :]
            self.request[job] = (*self.request[job], *within)

    def withheld(self, window: dict[str, Any]) -> Amounts:
        """Return what a window withholds: by default all of everything that a partition has."""
        stocks = {name: amount for name, _, amount in self.platform.stocks}
        whole = not window.keys() & {*stocks, "regions"}
        regions: dict[str, int] = self.sizes if whole else window.get("regions", {})
        others = stocks if whole else {name: window.get(name, 0) for name in stocks}
        within = (
            sum(amount for region, amount in regions.items() if region in union)
            for union in self.unions
        )
        return (sum(regions.values()), *others.values(), *within)

    def amounts_of(self, job: Job, processors: int) -> Amounts:
        """Return the vector of some processors of a job's partition, and of nothing else."""
        within = (processors if self.nodes[job] <= union else 0 for union in self.unions)
        return (processors, *(0 for _ in range(self.others)), *within)


class Strict(Machine, rules.Strict):
    """`none`."""


class Aggressive(Machine, rules.Aggressive):
    """`aggressive`."""


class Easy(Machine, rules.Easy):
    """`easy`."""


class Reserving(Machine, rules.Reserving):
    """`depth(K)`, `conservative`."""


class Planned(rules.Planned, Machine):
    """`planned`."""


class Slurm(Machine, rules.Slurm):
    """`slurm`: behind a job that does not fit, the main scheduler leaves its processors alone."""

    def fits_behind(self, job: Job, blocked: list[Job]) -> bool:
        """Whether a job fits next to all that the blocked jobs before it could take."""
        free = self.free_now()
        for one in blocked:
            most = 0
            while at_most(self.amounts_of(one, most + 1), free):
                most += 1
            free = less(free, self.amounts_of(one, most))
        return at_most(self.request[job], free) and self.passes_windows(job)

    def looks_behind(self) -> bool:
        """Return True: jobs of other partitions may fit."""
        return True

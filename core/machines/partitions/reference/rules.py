"""Rules of the reference on partitions: the rules of resources, with other vectors.

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
    """Return whether some sets are connected by shared regions."""
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
    """Return the names of the largest partitions within a union."""
    inside = {label: nodes[number] for label, number in platform.labels if nodes[number] <= union}
    return {
        label
        for label, mine in inside.items()
        if not any(mine < other for other in inside.values())
        and label == min(one for one, same in inside.items() if same == mine)
    }


class Machine(rules.Machine):
    """Model the machine as a stock of each resource and of each union of partitions."""

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
        """Return the amounts that a window withholds: by default all regions and resources."""
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
        """Return the vector for some processors of a job's partition, without other resources."""
        within = (processors if self.nodes[job] <= union else 0 for union in self.unions)
        return (processors, *(0 for _ in range(self.others)), *within)


class Strict(Machine, rules.Strict):
    """Run `none`."""


class Aggressive(Machine, rules.Aggressive):
    """Run `aggressive`."""


class Easy(Machine, rules.Easy):
    """Run `easy`."""


class Reserving(Machine, rules.Reserving):
    """Run `depth(K)` and `conservative`."""


class Planned(rules.Planned, Machine):
    """Run `planned`."""


class Slurm(Machine, rules.Slurm):
    """Run `slurm`: the main scheduler withholds the processors of jobs that do not fit."""

    def fits_behind(self, job: Job, blocked: list[Job]) -> bool:
        """Return whether a job fits if earlier blocked jobs take all their possible processors."""
        free = self.free_now()
        for one in blocked:
            most = 0
            while at_most(self.amounts_of(one, most + 1), free):
                most += 1
            free = less(free, self.amounts_of(one, most))
        return at_most(self.request[job], free) and self.passes_windows(job)

    def looks_behind(self) -> bool:
        """Return True, because jobs of other partitions may fit."""
        return True

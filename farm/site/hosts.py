"""Hosts of a site: their declaration in a campaign, and machines with fewer or more hosts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from schedfarm.core.machines.hosts.members import plain
from schedfarm.core.machines.hosts.platform import COUNT, Hosts
from schedfarm.core.machines.platform import Platform, of_size
from schedfarm.core.machines.resources.platform import PROCESSORS
from schedfarm.core.workload.on_hosts import OnHosts, put_on_hosts
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.dump.facts import Fact
from schedfarm.farm.site.windows import sourced


@dataclass(frozen=True)
class Hosted:
    """Hold the declaration of hosts in a campaign.

    groups: number and amounts of equal nodes. exclusive: whether each node runs one job at a time.
    partitions: hosts of each partition by name; empty if all jobs use all hosts. max_time,
    max_nodes: limits of the jobs of a partition, by name. windows: intervals in which hosts were
    withheld from jobs.
    """

    groups: Sequence[Fact[dict[str, int]]]
    exclusive: Fact[bool]
    partitions: Mapping[str, Fact[str]]
    max_time: Mapping[str, Fact[str]]
    max_nodes: Mapping[str, Fact[int]]
    windows: Sequence[Fact[dict[str, Any]]] = ()

    @cached_property
    def how(self) -> OnHosts:
        """The hosts in the form of a campaign's table."""
        return OnHosts(
            [fact.value for fact in self.groups],
            self.exclusive.value,
            [fact.value for fact in self.windows],
            *(
                {name: fact.value for name, fact in table.items()}
                for table in (self.partitions, self.max_time, self.max_nodes)
            ),
        )

    def put(self, jobs: Workload) -> Workload:
        """Return the jobs that the hosts can hold, with the hosts as their machine."""
        return put_on_hosts(jobs, self.how)

    def sized(self, processors: int) -> Hosted:
        """Return the largest number of hosts within some processors; sources are unchanged."""
        machine = whole_hosts(self.how.machine, processors)
        groups = [
            Fact(dict(row), _part(fact, dict(row)[COUNT]))
            for fact, row in zip(self.groups, machine.groups, strict=True)
        ]
        texts = plain(machine.parts, machine.count)
        return replace(
            self,
            groups=groups,
            partitions={
                name: Fact(texts[name], one.source) for name, one in self.partitions.items()
            },
            windows=sourced(machine.to_dict()["configuration"].get("windows", ()), self.windows),
        )


PART = "; its part of "
"""Words in the source of a group whose number of hosts differs from sinfo's."""


def _part(group: Fact[dict[str, int]], count: int) -> str:
    source, _, listed = group.source.partition(PART)
    of = int(listed or group.value[COUNT])
    return source if count == of else f"{source}{PART}{of}"


def whole_hosts(machine: Hosts, processors: int) -> Hosts:
    """Return the largest machine within some processors in which groups keep their shares.

    `Hosts.sized` rounds down the number of hosts of each group, which may leave room for further
    hosts. Every machine has at least one host of each group.

    Examples
    --------
    >>> machine = Hosts([{"count": 3, "processors": 1}, {"count": 4, "processors": 1}])
    >>> machine.sized(5).size, whole_hosts(machine, 5).size, whole_hosts(machine, 1).size
    (4, 5, 2)
    """
    near, size_at = _sizes(machine, processors)
    return machine.sized(near[max(bisect_right(near, processors, key=size_at) - 1, 0)])


def enlarged(machine: Hosts, processors: int) -> int:
    """Return the least number with which `Hosts.sized` has at least this many processors.

    Examples
    --------
    >>> machine = Hosts([{"count": 8, "processors": 16}])
    >>> enlarged(machine, 141), machine.sized(141).size
    (144, 128)
    """
    near, size_at = _sizes(machine, processors)
    return near[bisect_left(near, processors, key=size_at)]


def _sizes(machine: Hosts, processors: int) -> tuple[range, Callable[[int], int]]:
    """Return numbers near `processors`, and a function from numbers to sizes of `Hosts.sized`.

    Rounding changes each group by less than a host. The size of the first number is therefore at
    most `processors`, if any size is, and the size of the last number is at least `processors`.
    """
    bare = Hosts(machine.groups)
    widths = sum(int(dict(group)[PROCESSORS]) for group in machine.groups)
    near = range(max(1, processors - widths), processors + widths + 1)
    return near, lambda number: bare.sized(number).size


def usable(platform: Platform, processors: int) -> Platform:
    """Return a site's machine with another number of processors; for hosts, at most this number."""
    if isinstance(platform, Hosts):
        return whole_hosts(platform, processors)
    found = of_size(platform, processors)
    assert found is not None
    return found

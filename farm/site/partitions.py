"""Partitions of a site: processors of the nodes that they share, limits of jobs, and tiers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.partitions.windows import (
    plain_windows,
    region_rows,
    scaled_regions,
    scaled_rows,
)
from schedfarm.core.machines.platform import of_size
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.numerals import counted
from schedfarm.core.workload.on_partitions import OnPartitions, put_on_partitions
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.dump.conf import Conf
from schedfarm.farm.site.dump.facts import Fact, whole
from schedfarm.farm.site.dump.kinds import KINDS
from schedfarm.farm.site.dump.sinfo import Nodes
from schedfarm.farm.site.notes import Note
from schedfarm.farm.site.partition_limits import partition_limits, used_of
from schedfarm.farm.site.windows import (
    Maintained,
    in_regions,
    sourced,
    unsimulated,
    windows_of,
)

SINFO = KINDS["sinfo"].file


@dataclass(frozen=True)
class Divided:
    """Hold the declaration of partitions in a campaign.

    regions: processors of each region, by the names of its partitions, separated by commas; a
    region has the nodes in the same partitions. max_time, max_nodes: limits of the jobs of a
    partition, by name. windows: intervals in which nodes were withheld from jobs.
    """

    regions: Mapping[str, Fact[int]]
    max_time: Mapping[str, Fact[str]]
    max_nodes: Mapping[str, Fact[int]]
    windows: Sequence[Fact[dict[str, Any]]] = ()

    @property
    def overlap(self) -> bool:
        """Whether partitions share some nodes, but not all."""
        return len(self.regions) > 1 and any("," in label for label in self.regions)

    def put(self, jobs: Workload, capacities: Mapping[str, int]) -> Workload:
        """Return the jobs on a machine with these partitions and the other resources."""
        how: dict[str, Any] = {
            key: {name: fact.value for name, fact in table.items()}
            for key, table in self._tables().items()
        }
        how["windows"] = [fact.value for fact in self.windows]
        return put_on_partitions(jobs, OnPartitions.from_dict(how), capacities)

    def scaled(self, old: int, new: int, stocks: Mapping[str, int]) -> Divided:
        """Return the partitions and windows of a machine with `new` instead of `old` processors.

        Numbers are rounded down. stocks: capacities of the machine's other resources.
        """
        if old == new:
            return self
        before = {label: fact.value for label, fact in self.regions.items()}
        after = scaled_regions(before, old, new)
        rows = region_rows([fact.value for fact in self.windows], stocks, before)
        return replace(
            self,
            regions={label: replace(self.regions[label], value=after[label]) for label in after},
            windows=sourced(plain_windows(scaled_rows(rows, before, after)), self.windows),
        )

    def _tables(self) -> dict[str, Mapping[str, Fact[Any]]]:
        tables: dict[str, Mapping[str, Fact[Any]]] = {
            "regions": self.regions,
            "max_time": self.max_time,
            "max_nodes": self.max_nodes,
        }
        return {key: table for key, table in tables.items() if table}

    def lines(self, jobs: Workload, processors: int) -> Iterator[tuple[str, str, Any, str]]:
        """Yield table, name, value and source of each line, for a machine of this size."""
        platform = of_size(jobs.platform, processors)
        sizes = dict(platform.nodes) if isinstance(platform, Partitions) else {}
        for key, table in self._tables().items():
            for name, fact in table.items():
                value, source = fact.value, fact.source
                if key == "regions":
                    value = sizes.get(name, min(value, processors))
                    source += f"; its part of {fact.value}" if value != fact.value else ""
                yield key, name, value, source

    def windows_for(self, jobs: Workload, processors: int) -> list[Fact[dict[str, Any]]]:
        """Return the windows of a machine of this size, with their sources."""
        platform = of_size(jobs.platform, processors)
        if not isinstance(platform, Partitions):
            return []
        return sourced(plain_windows(platform.windows), self.windows)


def divided_of(
    jobs: Workload,
    nodes: Nodes,
    chosen: frozenset[str],
    conf: Conf,
    capacities: Mapping[str, Fact[int]],
    maintained: Sequence[Maintained],
) -> tuple[Divided | None, list[Note]]:
    """Return the partitions with jobs on the nodes of chosen partitions, and notes.

    None if the partitions limit no job more than all nodes do, and no node was withheld.
    """
    used = used_of(jobs, chosen)
    times, widest, notes = partition_limits(jobs, conf, used)
    region_of = _region_of(nodes, chosen, used)
    windows = windows_of(maintained, in_regions(nodes, region_of, capacities))
    divided = Divided(_regions(nodes, region_of), times, widest, windows)
    listed = sum(fact.value for fact in divided.regions.values())
    whole_machine = nodes.processors(chosen)
    if len(divided.regions) < 2 and listed == whole_machine and not (times or widest or windows):
        return None, notes
    amounts = {name: fact.value for name, fact in capacities.items()}
    tried = replace(jobs, platform=Pool(max(whole_machine, jobs.processors)))
    try:
        divided.put(tried, amounts)
    except InputError as error:
        if windows:
            without, further = divided_of(jobs, nodes, chosen, conf, capacities, ())
            return without, [*further, *unsimulated(maintained, str(error))]
        effect = f"{error}; all partitions share one pool, so that jobs of crowded ones wait less"
        return None, [*notes, Note("the nodes of each partition", SINFO, effect)]
    if divided.overlap:
        what = "the nodes of each job within its partition"
        effect = "running jobs count as if they could be moved there, so that others wait less"
        notes.append(Note(what, SINFO, effect))
    return divided, notes


def _region_of(nodes: Nodes, chosen: frozenset[str], used: Mapping[str, int]) -> dict[str, str]:
    """Return the region of each node: the names of its partitions that have jobs."""
    found = {}
    for node in sorted(nodes.of(chosen)):
        inside = sorted(name for name in used if node in nodes.partitions[name])
        if inside and nodes.nodes[node].cpus:
            found[node] = ",".join(inside)
    return found


def _regions(nodes: Nodes, region_of: Mapping[str, str]) -> dict[str, Fact[int]]:
    """Return the processors of each region."""
    of: dict[str, list[int]] = {}
    for node, label in region_of.items():
        of.setdefault(label, []).append(nodes.nodes[node].cpus)
    return {
        label: Fact(sum(cpus), f"{SINFO}: CPUs of {counted(len(cpus), 'node')}")
        for label, cpus in sorted(of.items())
    }


def tiers_of(conf: Conf) -> dict[str, Fact[int]]:
    """Return PriorityTier by partition; empty if it is the same for all partitions."""
    found = {}
    for name, line in conf.partitions.items():
        text = line.value.get("prioritytier", "1")
        found[name] = Fact(
            whole(f"{line.source}: PriorityTier", text), f"{line.source}, PriorityTier"
        )
    return found if len({fact.value for fact in found.values()}) > 1 else {}

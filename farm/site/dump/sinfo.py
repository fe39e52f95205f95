"""`sinfo --Node`: nodes, their processors, memory, GPUs and partitions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.farm.site.dump.facts import whole
from schedfarm.farm.site.dump.tables import rows_of

NEEDED = ("nodelist", "partition", "cpus", "memory")

OUT = ("down", "drain", "fail", "maint", "unk")
"""Prefixes of the states of nodes that run no jobs."""

_GPUS = re.compile(r"gpu(?::[^:(,]+)?:(\d+)")
_NEGATIVE = re.compile(r"-\d+")


@dataclass(frozen=True)
class Node:
    """Hold a node's processors, memory in MiB, GPUs, state, and line."""

    cpus: int
    memory: int
    gpus: int
    state: str
    where: str

    @property
    def out(self) -> bool:
        """Whether the node ran no jobs when sinfo was called."""
        return self.state.startswith(OUT)


@dataclass(frozen=True)
class Nodes:
    """Hold nodes by name, and the names of the nodes of each partition."""

    nodes: Mapping[str, Node]
    partitions: Mapping[str, frozenset[str]]

    def processors(self, partitions: frozenset[str]) -> int:
        """Return the processors of all nodes of some partitions; each node counts once."""
        return sum(self.nodes[one].cpus for one in self.of(partitions))

    def of(self, partitions: frozenset[str]) -> frozenset[str]:
        """Return the nodes of some partitions."""
        return frozenset().union(*(self.partitions[one] for one in partitions))


def read_sinfo(path: Path) -> Nodes:
    """Read nodes and partitions; refuse contradictory lines."""
    nodes: dict[str, Node] = {}
    partitions: dict[str, set[str]] = {}
    for row in rows_of(path, NEEDED):
        name, memory = row.get("nodelist"), row.get("memory")
        if _NEGATIVE.fullmatch(memory):
            raise InputError(
                f"{row.where}: node {name!r} has {memory} MiB of memory; give an amount from 0 on"
            )
        one = Node(
            whole(f"{row.where}, CPUs", row.get("cpus")),
            whole(f"{row.where}, Memory", memory),
            sum(map(int, _GPUS.findall(row.get("gres")))),
            (row.get("state") or row.get("statelong")).lower(),
            row.where,
        )
        other = nodes.setdefault(name, one)
        if other.cpus != one.cpus:
            raise InputError(
                f"{row.where}: node {name!r} has {one.cpus} CPUs, and {other.cpus} in "
                f"{other.where}; print the table again"
            )
        # A star marks the default partition.
        if partition := row.get("partition").rstrip("*"):
            partitions.setdefault(partition, set()).add(name)
    return Nodes(nodes, {name: frozenset(found) for name, found in partitions.items()})

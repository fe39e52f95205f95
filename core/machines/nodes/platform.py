"""Platform of nodes; a job requests a number of processors on each of several nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.checks import is_whole
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices, numbered

if TYPE_CHECKING:
    from schedfarm.core.workload.columns import Columns

ANY = -1
"""Value of the property set for jobs that take any node."""

MOST = 2**31 - 1
"""Largest number of processors of a node: stores use 32 bits for a job's processors on a node."""


@dataclass(frozen=True)
class Nodes:
    """Describe nodes; a job takes the same number of processors on each of its nodes.

    Source: Eyraud 2006, section 3.1.

    Parameters
    ----------
    capacities : sequence of int
        Processors of each node, at least 1 and at most 2^31 - 1. Ties between nodes go to the
        first.
    names : sequence of str, optional
        Distinct names of the nodes; by default node1, node2 and so on.
    sets : mapping of str to sequence of str, optional
        Names of the nodes with certain properties; jobs name a set by its index.
    down : sequence of (str, int, int), optional
        Rows of a node's name, the instant at which it goes down, and the end of the outage, s.

    Raises
    ------
    InputError
        If there is no node; if a node has no processor or too many processors; if names repeat or
        differ in number from the nodes; if a set is empty or names an unknown node; or if an outage
        has no duration or overlaps another outage of the same node.

    Examples
    --------
    >>> nodes = Nodes([2, 2, 4], ["n1", "n2", "big"], {"large": ["big"]}, [["n1", 60, 90]])
    >>> nodes.size, nodes.places, nodes.sizes
    (8, ('n1', 'n2', 'big'), (2, 2, 4))
    >>> nodes.members.tolist()
    [[False, False, True]]
    >>> nodes.to_dict()["configuration"]["down"]
    [['n1', 60, 90]]
    """

    name: ClassVar[str] = "nodes"
    part: ClassVar[str] = "node"
    keeps: ClassVar[tuple[str, ...]] = ("end", "state", "segments")
    asks: ClassVar[tuple[str, ...]] = ("weight", "properties", "reserved", "serial")
    dated: ClassVar[bool] = True

    capacities: Sequence[int]
    names: Sequence[str] = ()
    sets: Mapping[str, Sequence[str]] = ()  # type: ignore[assignment]
    down: Sequence[Sequence[Any]] = ()

    def __post_init__(self) -> None:
        self._take_nodes()
        self._take_sets()
        self._take_down()

    def _take_nodes(self) -> None:
        sizes, names = self.capacities, self.names
        if not isinstance(sizes, Sequence) or isinstance(sizes, str) or not sizes:
            raise InputError(
                f"capacities is {sizes!r}; give the processors of each node, such as [2, 2]"
            )
        for size in sizes:
            if not is_whole(size) or not 1 <= size <= MOST:
                raise InputError(
                    f"capacities holds {size!r}; a node has at least 1 processor, at most {MOST}"
                )
        if names == () or names == []:
            names = numbered(self.part, len(sizes))
        if not isinstance(names, Sequence) or isinstance(names, str):
            raise InputError(f"names is {names!r}; give the name of each node")
        if len(names) != len(sizes) or not all(isinstance(n, str) and n for n in names):
            raise InputError(f"names holds {len(names)} names; give {len(sizes)}, one per node")
        if len(set(names)) < len(names):
            twice = next(n for i, n in enumerate(names) if n in names[:i])
            raise InputError(f"names holds {twice!r} twice; node names must differ")
        object.__setattr__(self, "capacities", tuple(int(size) for size in sizes))
        object.__setattr__(self, "names", tuple(names))

    def _take_sets(self) -> None:
        given = self.sets
        if isinstance(given, tuple):
            # `dataclasses.replace` passes the checked values of this class in this form.
            given = dict(given)
        if not isinstance(given, Mapping):
            raise InputError(f"sets is {given!r}; give a table of a name and the nodes of each set")
        for name, nodes in given.items():
            if not isinstance(name, str) or not name:
                raise InputError(f"sets holds the name {name!r}; give a word")
            if isinstance(nodes, str) or not isinstance(nodes, Sequence) or not nodes:
                raise InputError(f"set {name!r} is {nodes!r}; give the names of its nodes")
            for node in nodes:
                self._known(node, f"set {name!r}")
        rows = tuple((name, tuple(nodes)) for name, nodes in given.items())
        object.__setattr__(self, "sets", rows)

    def _take_down(self) -> None:
        if isinstance(self.down, str) or not isinstance(self.down, Sequence):
            raise InputError(f"down is {self.down!r}; give rows of node, from and until")
        rows = []
        for row in self.down:
            if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 3:
                raise InputError(f"down holds {row!r}; give node, from and until, s")
            node, first, until = row
            self._known(node, "down")
            if not (is_whole(first) and is_whole(until) and 0 <= first < until < HORIZON):
                raise InputError(
                    f"down has node {node!r} from {first!r} until {until!r}; give whole "
                    "seconds, until after from"
                )
            rows.append((str(node), int(first), int(until)))
        rows.sort(key=lambda row: (row[1], self.names.index(row[0])))
        up: dict[str, int] = {}
        for node, first, until in rows:
            if first < up.get(node, 0):
                raise InputError(
                    f"down has node {node!r} from {first}, but it is down until {up[node]}; "
                    "give times that do not overlap"
                )
            up[node] = until
        object.__setattr__(self, "down", tuple(rows))

    def _known(self, node: object, where: str) -> None:
        if node not in self.names:
            known = choices(str(node), self.names) if len(self.names) < 20 else "no such node"
            raise InputError(f"{where} names the node {node!r}; {known}")

    @property
    def size(self) -> int:
        """Total number of processors."""
        return sum(self.capacities)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return tuple(self.names)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Processors of each node."""
        return tuple(self.capacities)

    @property
    def participants(self) -> tuple[str, ...]:
        """Always empty, because jobs do not belong to single places."""
        return ()

    @property
    def stocks(self) -> tuple[tuple[str, str, int], ...]:
        """Always empty, because jobs request processors only."""
        return ()

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the property sets; a job's `properties` is an index into these names."""
        return tuple(name for name, _ in self._sets)

    @property
    def members(self) -> Bool:
        """Whether each node is in each set, bool[sets, nodes]."""
        found = np.zeros((len(self._sets), len(self.names)), np.bool_)
        place = {name: i for i, name in enumerate(self.names)}
        for row, (_, nodes) in enumerate(self._sets):
            found[row, [place[node] for node in nodes]] = True
        return found

    @property
    def outages(self) -> Int64:
        """Outages by begin: node, begin, s, and end, s, int64[k, 3]."""
        place = {name: i for i, name in enumerate(self.names)}
        rows = [(place[node], first, until) for node, first, until in self.down]
        return np.array(rows, np.int64).reshape(-1, 3)

    @property
    def key(self) -> str:
        """Text of the nodes in a workload's digest, without names, which affect no schedule."""
        sets = (" ".join(map(str, np.flatnonzero(row))) for row in self.members)
        outages = " ".join(map(str, self.outages.ravel().tolist()))
        return "|".join(["nodes " + " ".join(map(str, self.capacities)), *sets, outages])

    @property
    def limit(self) -> str:
        """Text of error messages for the largest number of processors of a job."""
        return "its weight on each of enough nodes of its set"

    def admits(self, jobs: Columns) -> Bool:
        """Return whether each job could run alone with all nodes up, bool[n]."""
        known = (jobs.properties >= ANY) & (jobs.properties < len(self._sets)) & (jobs.weight > 0)
        weight = np.where(known, jobs.weight, 1)
        fits = known & (jobs.procs % weight == 0)
        asked = np.stack((np.where(known, jobs.properties, ANY), weight), axis=1)
        kinds, kind = np.unique(asked, axis=0, return_inverse=True)
        enough = [self.candidates(row, w).sum() for row, w in kinds.tolist()]
        there = np.array(enough, np.int64)[kind.reshape(-1)] if len(jobs) else weight
        admitted: Bool = fits & (jobs.procs // weight <= there)
        return admitted

    def check(self, jobs: Columns) -> None:
        """Accept all jobs, because every request is valid on nodes."""

    def candidates(self, properties: int, weight: int) -> Bool:
        """Return whether each node is in a set and has `weight` processors, bool[nodes]."""
        wide = np.array(self.capacities, np.int64) >= weight
        return wide if properties == ANY else wide & self.members[properties]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `core.machines.platform.platform_from_dict`."""
        plain = {
            "capacities": list(self.capacities),
            "names": list(self.names),
            "sets": {name: list(nodes) for name, nodes in self._sets},
            "down": [list(row) for row in self.down],
        }
        return {"name": self.name, "configuration": plain}

    @property
    def _sets(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        rows: Any = self.sets
        return tuple(rows)

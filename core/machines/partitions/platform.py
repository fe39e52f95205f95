"""A pool whose nodes belong to partitions, which may overlap, as a vector of resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from schedfarm.core.arrays import HORIZON, Int64
from schedfarm.core.checks import is_whole
from schedfarm.core.errors import InputError
from schedfarm.core.machines.partitions.windows import (
    plain_windows,
    region_rows,
    scaled_regions,
    scaled_rows,
    union_intervals,
)
from schedfarm.core.machines.resources.platform import PROCESSORS, UNITS, Resources
from schedfarm.core.machines.resources.windows import Intervals
from schedfarm.core.numerals import counted

if TYPE_CHECKING:
    from schedfarm.core.workload.columns import Columns

MOST = 64
"""Most unions of partitions; each is a resource that every pass compares."""

MANY = 40
"""Most names in a message."""


class Union(NamedTuple):
    """Hold some partitions that are connected by shared nodes: name, processors, regions.

    regions: bits of a number, bit k for the k-th region of the machine.
    """

    name: str
    processors: int
    regions: int


class Derived(NamedTuple):
    """Hold what follows from a declaration of partitions.

    unions: those that are resources. number: int64[k], numbers of jobs' partitions, ascending.
    within: bool[k, unions], whether a job of that partition takes processors of a union.
    """

    unions: tuple[Union, ...]
    number: Int64
    within: Int64


def connected_unions(sets: Iterable[int], most: int) -> list[int] | None:
    """Return the unions of sets connected by shared elements; None if there are more than `most`.

    Sets are bits of numbers. For the nodes of partitions, these unions decide which jobs fit.

    *Which jobs fit.* Let x(P) be the processors of the jobs of partition P, and c(U) those of a set
    of nodes U. The jobs can be placed on nodes of their partitions if and only if, for every set of
    partitions, the sum of their x is at most c of the union of their nodes. This is max-flow
    min-cut. Let up to x(P) flow from the source to P, any amount from P to each region of its
    nodes, and up to c(R) from region R to the sink. A finite cut keeps some partitions, with all
    their regions, on the side of the source: it is c of their union plus the sum of the other x. So
    all x flow if and only if each such sum is at least the sum of all x.

    *Connected unions are enough.* Let the partitions within U be two groups that share no
    node, with the unions V and W. Then c(U) is at least c(V) + c(W), and the condition of U follows
    from those of V and W.

    *None can be left out.* c is monotone and submodular, so that the x that fit are a polymatroid.
    Its facets are the closed, inseparable sets of partitions (Edmonds 1970): closed are all
    partitions within a union, inseparable are connected ones, since regions are not
    empty.

    Examples
    --------
    >>> connected_unions([0b011, 0b110, 0b1000], 9)
    [3, 6, 8, 7]
    >>> connected_unions([0b011, 0b110, 0b1100], 4) is None
    True
    """
    distinct = list(dict.fromkeys(sets))
    found = dict.fromkeys(distinct)
    ahead = list(distinct)
    while ahead:
        if len(found) > most:
            return None
        union = ahead.pop(0)
        for one in distinct:
            if one & union and (more := one | union) not in found:
                found[more] = None
                ahead.append(more)
    return list(found)


@dataclass(frozen=True)
class Partitions(Resources):
    """Describe a pool whose nodes belong to partitions; a job takes processors of its partition.

    Any processors of a partition's nodes will do, and running jobs count as if they could still be
    moved within their partitions: jobs run together if there is any placement of all of them.

    Parameters
    ----------
    processors : int
        Number of processors, at least those of all regions; the others are in no partition.
    capacities : mapping of str to int
        Amount of each of the other resources, as in `Resources`; may be empty.
    regions : mapping of str to int
        Processors of the nodes that belong to the same partitions, by the names of these, separated
        by commas.
    numbers : mapping of str to int
        Number in jobs' column ``partition`` of each partition. A list of partitions, separated by
        commas, may have a number, too: its jobs use nodes of any of them.
    windows : sequence of mapping, optional
        Intervals in which jobs cannot have some processors of regions (table ``regions``) or other
        resources, as in `Resources`; by default all regions and all of the others.

    Raises
    ------
    InputError
        If a region has no processors or is given twice, regions exceed the machine, a partition
        has no region or no number, numbers are not different whole numbers from 0, or more than 64
        unions of partitions would have to be simulated; also as `Resources`.

    Examples
    --------
    >>> machine = Partitions(12, {}, {"a": 2, "a,b": 4, "b": 4}, {"a": 1, "b": 2})
    >>> machine.names, machine.amounts
    (('processors', 'a', 'b', 'a+b'), (12, 6, 8, 10))
    >>> gap = {"from": 0, "until": 60, "regions": {"a,b": 3}}
    >>> Partitions(12, {}, machine.regions, machine.numbers, windows=[gap]).intervals.amount
    array([[3, 3, 3, 3]])
    """

    name: ClassVar[str] = "partitions"
    asks: ClassVar[tuple[str, ...]] = (*UNITS, "partition")

    regions: Mapping[str, int]
    numbers: Mapping[str, int]

    def __post_init__(self) -> None:
        self._take_processors()
        self._take_capacities()
        numbers = _table("numbers", self.numbers, 0, "number of the log")
        if len(set(numbers.values())) < len(numbers):
            raise InputError(f"numbers is {numbers}; two partitions have the same number")
        regions = _table("regions", self.regions, 1, "number of processors")
        known = [name for name in numbers if "," not in name]
        sizes: dict[str, int] = {}
        for label, size in regions.items():
            names = _names("regions", label, known)
            # One order of names, so that equal machines are equal values.
            sizes[",".join(names)] = size
        if len(sizes) < len(regions):
            raise InputError(f"regions is {regions}; two regions list the same partitions")
        if sum(sizes.values()) > self.processors:
            raise InputError(
                f"regions have {sum(sizes.values())} processors, and the machine has "
                f"{self.processors}; give 'processors' of all regions, or smaller ones"
            )
        covered = {name for label in sizes for name in label.split(",")}
        for label in numbers:
            for name in _names("numbers", label, known):
                if name not in covered:
                    raise InputError(f"partition {name!r} has no nodes; give it a region")
        object.__setattr__(self, "regions", tuple(sorted(sizes.items())))
        object.__setattr__(self, "numbers", tuple(sorted(numbers.items(), key=lambda one: one[1])))
        rows = region_rows(self.windows, dict(self._rows), dict(self.nodes))
        object.__setattr__(self, "windows", rows)
        derive(self)

    @property
    def unions(self) -> tuple[Union, ...]:
        """Unions of partitions whose processors limit jobs, in addition to the whole machine."""
        return derive(self).unions

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the resources: processors, others, and unions of partitions."""
        return (*super().names, *(union.name for union in self.unions))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the resources in messages."""
        return (*super().units, *(f"{PROCESSORS} of {union.name}" for union in self.unions))

    @property
    def amounts(self) -> tuple[int, ...]:
        """Capacity of each resource, in the order of the names."""
        return (*super().amounts, *(union.processors for union in self.unions))

    @property
    def intervals(self) -> Intervals:
        """Every interval of the windows."""
        regions = range(len(self.nodes))
        within = [[union.regions >> k & 1 for union in self.unions] for k in regions]
        shaped = np.array(within, np.int64).reshape(len(self.nodes), len(self.unions))
        return union_intervals(self.windows, dict(self._rows), dict(self.nodes), shaped)

    @property
    def shared(self) -> int:
        """Index of the first union in the names, which ends those of single requests."""
        return len(super().names)

    def requests(self, jobs: Columns) -> Int64:
        """Return the request of each job for each resource, int64[n, resources]."""
        found, derived = super().requests(jobs), derive(self)
        if not derived.unions:
            return found
        place = np.minimum(np.searchsorted(derived.number, jobs.partition), derived.number.size - 1)
        known = derived.number[place] == jobs.partition
        within = derived.within[place] * known[:, None]
        result: Int64 = np.concatenate((found, within * jobs.procs[:, None]), axis=1)
        return result

    def label(self, number: int) -> str:
        """Return the partition that has a number."""
        return next(label for label, one in self.labels if one == number)

    def check(self, jobs: Columns) -> None:
        """Refuse jobs of a partition that the machine does not have."""
        known = np.array([number for _, number in self.labels], np.int64)
        wrong = ~np.isin(jobs.partition, known)
        if wrong.any():
            first = int(np.argmax(wrong))
            listed = ", ".join(f"{name} ({number})" for name, number in self.labels[:MANY])
            raise InputError(
                f"{counted(int(wrong.sum()), 'job')}, job {jobs.job[first]} first, with partition "
                f"{jobs.partition[first]}, which the machine does not have; its partitions: "
                f"{listed}"
            )

    @property
    def labels(self) -> tuple[tuple[str, int], ...]:
        """Partitions, and lists of them, with their numbers, in the order of these."""
        return self.numbers  # type: ignore[return-value]

    @property
    def nodes(self) -> tuple[tuple[str, int], ...]:
        """Regions with their processors, by name."""
        return self.regions  # type: ignore[return-value]

    @property
    def key(self) -> str:
        """Text of the machine in a workload's digest."""
        rows = [
            *(f"region {label} {size}" for label, size in self.nodes),
            *(f"partition {label} {number}" for label, number in self.labels),
        ]
        return "|".join([super().key.replace("resources", self.name, 1), *rows])

    @property
    def limit(self) -> str:
        """Limit of a job's requests, for the message that refuses others."""
        parts = ", ".join(f"{union.processors} of {union.name}" for union in self.unions[:MANY])
        whole = super().limit if self.stocks else f"at most the machine's {self.processors}"
        return f"{whole}; of partitions, at most {parts}" if parts else whole

    def sized(self, processors: int) -> Partitions:
        """Return a machine with other processors; regions change with it, rounded down.

        A region of less than one processor keeps one. What rounding leaves is in no partition.
        Windows withhold the same parts of regions.

        Examples
        --------
        >>> Partitions(10, {}, {"a": 3, "a,b": 7}, {"a": 1, "b": 2}).sized(15).regions
        (('a', 4), ('a,b', 10))
        """
        sizes = scaled_regions(dict(self.nodes), self.processors, processors)
        return Partitions(
            processors,
            dict(self._rows),
            sizes,
            dict(self.labels),
            windows=scaled_rows(self.windows, dict(self.nodes), sizes),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plain form that `core.machines.platform.platform_from_dict` reads."""
        plain = super().to_dict()
        plain["configuration"] |= {"regions": dict(self.nodes), "numbers": dict(self.labels)}
        if self.windows:
            plain["configuration"]["windows"] = plain_windows(self.windows)
        return plain


@lru_cache(maxsize=64)
def derive(machine: Partitions) -> Derived:
    """Return the unions of a machine's partitions, and the partitions within each.

    The union of all nodes is left out, since all jobs take processors of the machine.
    """
    regions = [(label.split(","), size) for label, size in machine.nodes]
    parts = {label: _bits(regions, {*label.split(",")}) for label, _ in machine.labels}
    found = connected_unions(parts.values(), MOST)
    if found is None:
        raise InputError(
            f"the {counted(len(set(parts.values())), 'partition')} overlap in more than {MOST} "
            "unions, each of which would have to be simulated; leave some out with "
            "select.partitions, or give partitions with almost the same nodes the same ones"
        )
    sizes = {mask: _size(regions, mask) for mask in found}
    kept = [mask for mask in found if sizes[mask] < machine.processors]
    unions = tuple(Union(_name(parts, mask), sizes[mask], mask) for mask in kept)
    number = np.array([number for _, number in machine.labels], np.int64)
    within = [[mask & union.regions == mask for union in unions] for mask in parts.values()]
    return Derived(unions, number, np.array(within, np.int64).reshape(len(parts), len(unions)))


def _bits(regions: list[tuple[list[str], int]], names: set[str]) -> int:
    return sum(1 << k for k, (inside, _) in enumerate(regions) if names.intersection(inside))


def _size(regions: list[tuple[list[str], int]], mask: int) -> int:
    return sum(size for k, (_, size) in enumerate(regions) if mask >> k & 1)


def _name(parts: Mapping[str, int], union: int) -> str:
    """Return the names of the largest partitions in a union."""
    inside = {mask: label for label, mask in reversed(list(parts.items())) if mask & union == mask}
    largest = [
        label
        for mask, label in inside.items()
        if not any(mask & other == mask and mask != other for other in inside)
    ]
    return "+".join(sorted(largest))


def _table(what: str, given: object, least: int, unit: str) -> dict[str, int]:
    """Return a table of whole numbers."""
    table = dict(given) if isinstance(given, tuple) else given
    if not isinstance(table, Mapping) or not table:
        raise InputError(f"{what} is {given!r}; give a table with a {unit} for each")
    for label, value in table.items():
        if not is_whole(value) or not least <= value < HORIZON:
            raise InputError(
                f"{what} has {label!r} = {value!r}; give a {unit} from {least}, below 2^62"
            )
    return {str(label): int(value) for label, value in table.items()}


def _names(what: str, label: str, known: list[str]) -> list[str]:
    """Return the partitions that a label lists, in order."""
    names = sorted({name.strip() for name in label.split(",")})
    for name in names:
        if name not in known:
            listed = ", ".join(map(repr, known[:MANY]))
            raise InputError(f"{what} lists {label!r}, but {name!r} has no number; known: {listed}")
    return names

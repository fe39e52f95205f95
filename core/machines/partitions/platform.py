"""Platform of a pool with overlapping partitions, as a vector of resources."""

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
"""Largest number of unions of partitions; each union is a resource that every pass compares."""

MANY = 40
"""Largest number of names in a message."""


class Union(NamedTuple):
    """Hold partitions that are connected by shared nodes: name, processors, regions.

    regions: a number; bit k stands for the k-th region of the machine.
    """

    name: str
    processors: int
    regions: int


class Derived(NamedTuple):
    """Hold data that are derived from a declaration of partitions.

    unions: the unions that are resources. number: int64[k], numbers of jobs' partitions, ascending.
    within: bool[k, unions], whether jobs of each partition take processors of each union.
    """

    unions: tuple[Union, ...]
    number: Int64
    within: Int64


def connected_unions(sets: Iterable[int], most: int) -> list[int] | None:
    """Return the unions of sets connected by shared elements; None for more than `most`.

    Sets are given as the bits of numbers. For the nodes of partitions, these unions decide which
    jobs fit.

    *Which jobs fit.* Let x(P) be the processors that the jobs of partition P take, and c(U) the
    processors of a set of nodes U. The jobs can be placed on nodes of their partitions if and only
    if the following holds for every set of partitions: the sum of their x is at most c(U), where U
    is the union of their nodes. Proof by the max-flow min-cut theorem: let up to x(P) flow from the
    source to P, any amount from P to each region of its nodes, and up to c(R) from region R to the
    sink. A finite cut keeps some partitions, with all their regions, on the side of the source. Its
    capacity is c of their union, plus the sum of the other x. So all x flow if and only if each
    such capacity is at least the sum of all x.

    *Connected unions are enough.* Let the partitions within U be two groups without common nodes,
    with the unions V and W. Then c(U) is at least c(V) + c(W), and the condition for U follows from
    the conditions for V and W.

    *No connected union can be left out.* The function c is monotone and submodular, so the vectors
    x that fit form a polymatroid. The facets of a polymatroid are the closed, inseparable sets
    (Edmonds 1970). Here, a closed set contains all partitions within a union. An inseparable set is
    a connected set, since regions are not empty.

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
    """Describe a pool with partitions of nodes; a job takes processors of its partition.

    A job may take any processors of its partition's nodes. Running jobs count as if they could
    still be moved within their partitions: jobs can run together if there is any placement of all
    of them.

    Parameters
    ----------
    processors : int
        Number of processors, at least the sum over all regions; the rest is in no partition.
    capacities : mapping of str to int
        Amount of each of the other resources, as for `Resources`; may be empty.
    regions : mapping of str to int
        Processors of the nodes that belong to the same partitions, by the comma-separated names of
        these partitions.
    numbers : mapping of str to int
        Number of each partition in the column ``partition`` of jobs. A list of partitions,
        separated by commas, may also have a number; jobs with this number use nodes of any
        partition in the list.
    windows : sequence of mapping, optional
        Intervals in which jobs cannot use some processors of regions (table ``regions``) or other
        resources, as for `Resources`. By default a window withholds all regions and all other
        resources.

    Raises
    ------
    InputError
        If a region has no processors or is given twice; if regions exceed the machine; if a
        partition has no region or no number; if numbers are not distinct whole numbers from 0 on;
        or if more than 64 unions of partitions are needed. Also as `Resources`.

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
            # Names are sorted, so that equal machines are equal values.
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
        """Unions of partitions that limit jobs, in addition to the whole machine."""
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
        """Index of the first union in `names`; jobs request preceding resources individually."""
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
        """Return the name of the partition with a number."""
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
        """Partitions and lists of partitions with their numbers, sorted by number."""
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
        """Text of error messages for the limit of a job's requests."""
        parts = ", ".join(f"{union.processors} of {union.name}" for union in self.unions[:MANY])
        whole = super().limit if self.stocks else f"at most the machine's {self.processors}"
        return f"{whole}; of partitions, at most {parts}" if parts else whole

    def sized(self, processors: int) -> Partitions:
        """Return a machine with `processors` processors; regions change in proportion.

        Regions are rounded down, but keep at least one processor. Processors that rounding leaves
        over are in no partition. Windows withhold the same parts of regions.

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
        """Return plain values for `core.machines.platform.platform_from_dict`."""
        plain = super().to_dict()
        plain["configuration"] |= {"regions": dict(self.nodes), "numbers": dict(self.labels)}
        if self.windows:
            plain["configuration"]["windows"] = plain_windows(self.windows)
        return plain


@lru_cache(maxsize=64)
def derive(machine: Partitions) -> Derived:
    """Return the unions of a machine's partitions, and the partitions within each.

    The union of all nodes is left out, since the machine's processors already limit all jobs.
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
    """Return the partitions in a label, in sorted order."""
    names = sorted({name.strip() for name in label.split(",")})
    for name in names:
        if name not in known:
            listed = ", ".join(map(repr, known[:MANY]))
            raise InputError(f"{what} lists {label!r}, but {name!r} has no number; known: {listed}")
    return names

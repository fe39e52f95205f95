"""Platform of hosts with processors, GPUs and memory; a job takes shares of several hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.checks import is_whole, shown
from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts.members import (
    MANY,
    Label,
    Row,
    labels_of,
    plain as plain_partitions,
    rows_of as partitions_of,
    within,
)
from schedfarm.core.machines.hosts.windows import (
    HOSTS,
    intervals,
    plain,
    renumbered,
    rows_of,
    spans_of_hosts,
)
from schedfarm.core.machines.resources.platform import PROCESSORS, UNITS
from schedfarm.core.names import choices
from schedfarm.core.numerals import counted, grouped

if TYPE_CHECKING:
    from schedfarm.core.workload.columns import Columns

STOCKS = ("gpus", "memory")
"""Resources of a host other than processors; each is a column of jobs' requests."""

COUNT = "count"
"""Key of a group for the number of its hosts."""

MOST = 2**16
"""Largest number of hosts of a machine; each search examines all hosts."""

KEYS = (COUNT, PROCESSORS, *STOCKS)


@dataclass(frozen=True)
class Hosts:
    """Describe hosts in groups; a job takes equal shares of several hosts.

    The definition is in docs/semantics.md, hosts.

    Parameters
    ----------
    groups : sequence of mapping
        For each group of equal hosts, the number of hosts ``count``, and per host ``processors``,
        ``gpus`` (default 0) and ``memory`` (bytes; in all groups or in none). Hosts are numbered in
        this order, and a job takes the free hosts with the lowest numbers.
    exclusive : bool
        Whether a host runs one job at a time.
    windows : sequence of mapping
        Intervals in which some hosts run no jobs: ``from`` and ``until`` (s, or a duration);
        ``every`` and ``times`` for repeated intervals; and ``hosts``, the numbers of the hosts as a
        list or as a text such as ``"0-3,7"``, by default all hosts.
    partitions : mapping of str to object
        Hosts that the jobs of each partition may use, as in a window. By default all jobs use all
        hosts.
    numbers : mapping of str to int
        Number of each partition in the column ``partition`` of jobs. A list of partitions,
        separated by commas, may also have a number; jobs with this number use the hosts of any
        partition in the list.

    Raises
    ------
    InputError
        If there is no host or more than 65,536 hosts; if a key of a group is unknown or missing; if
        an amount, a window or a partition is wrong; or if the total of a resource is 2^62 or more.

    Examples
    --------
    >>> machine = Hosts([{"count": 2, "processors": 8}, {"count": 1, "processors": 4, "gpus": 2}])
    >>> machine.size, machine.names, machine.capacity.tolist()
    (20, ('processors', 'gpus'), [[8, 0], [8, 0], [4, 2]])
    >>> machine.to_dict()["configuration"]["groups"][1]
    {'count': 1, 'processors': 4, 'gpus': 2}
    >>> parts = Hosts(machine.groups, partitions={"a": "0-1", "b": "1-2"}, numbers={"a": 3, "b": 5})
    >>> parts.members.tolist(), parts.labels
    ([[True, True, False], [False, True, True]], (('a', 3), ('b', 5)))
    """

    name: ClassVar[str] = "hosts"
    part: ClassVar[str] = "host"
    keeps: ClassVar[tuple[str, ...]] = ()
    asks: ClassVar[tuple[str, ...]] = ("hosts", *STOCKS, "partition")
    dated: ClassVar[bool] = False

    groups: Sequence[Any]
    exclusive: bool = False
    windows: Sequence[Any] = ()
    partitions: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = self.groups
        if isinstance(given, str | Mapping) or not isinstance(given, Sequence) or not given:
            raise InputError(
                f"groups is {shown(given)}; give a list of tables such as "
                "{count = 60, processors = 64}"
            )
        if not isinstance(self.exclusive, bool):
            raise InputError(f"exclusive is {shown(self.exclusive)}; give true or false")
        rows = tuple(_row(f"groups[{g}]", group) for g, group in enumerate(given))
        total = sum(dict(row)[COUNT] for row in rows)
        if total > MOST:
            raise InputError(f"groups has {total} hosts; give at most {MOST}")
        for name in (PROCESSORS, *STOCKS):
            amount = sum(dict(row)[COUNT] * dict(row).get(name, 0) for row in rows)
            if amount >= HORIZON:
                raise InputError(f"groups has {amount} {name} in all; give less than 2^62")
        for g, row in enumerate(rows):
            if ("memory" in dict(row)) != ("memory" in dict(rows[0])):
                raise InputError(
                    f"groups[{g}]: memory is in some groups only; give it in all of them or in none"
                )
        object.__setattr__(self, "groups", rows)
        object.__setattr__(self, "windows", rows_of(self.windows, total))
        parts = partitions_of(self.partitions, total)
        object.__setattr__(self, "partitions", parts)
        object.__setattr__(self, "numbers", labels_of(self.numbers, parts))
        if not parts:
            # Without partitions, the column `partition` is no request.
            object.__setattr__(self, "asks", type(self).asks[:-1])

    @property
    def _tables(self) -> list[dict[str, int]]:
        return [dict(row) for row in self.groups]

    @property
    def size(self) -> int:
        """Total number of processors."""
        return sum(group[COUNT] * group[PROCESSORS] for group in self._tables)

    @property
    def places(self) -> tuple[str, ...]:
        """The one place of the machine: hosts of each job follow from the starts of all jobs."""
        return ("hosts",)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Processors of the one place."""
        return (self.size,)

    @property
    def participants(self) -> tuple[str, ...]:
        """Always empty, because jobs do not belong to single places."""
        return ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the declared resources; processors are first."""
        return (PROCESSORS, *(name for name in STOCKS if any(name in g for g in self._tables)))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the resources in messages."""
        return (PROCESSORS, *(UNITS[name] for name in self.names[1:]))

    @property
    def stocks(self) -> tuple[tuple[str, str, int], ...]:
        """Column, unit and total capacity of each resource other than processors."""
        return tuple(
            (name, UNITS[name], sum(group[COUNT] * group.get(name, 0) for group in self._tables))
            for name in self.names[1:]
        )

    @property
    def capacity(self) -> Int64:
        """Amount of each resource on each host, int64[hosts, resources]."""
        rows = [[group.get(name, 0) for name in self.names] for group in self._tables]
        counts = [group[COUNT] for group in self._tables]
        return np.repeat(np.array(rows, np.int64), counts, axis=0)

    @property
    def count(self) -> int:
        """Number of hosts."""
        return sum(group[COUNT] for group in self._tables)

    @property
    def parts(self) -> tuple[Row, ...]:
        """Partitions, sorted by name, each with the text of its hosts; "" means all hosts."""
        return self.partitions  # type: ignore[return-value]

    @property
    def labels(self) -> tuple[Label, ...]:
        """Partitions and lists of partitions with their numbers, sorted by number."""
        return self.numbers  # type: ignore[return-value]

    @property
    def members(self) -> Bool:
        """Whether each host belongs to each label, bool[labels, hosts]."""
        rows = [within(self.parts, label, self.count) for label, _ in self.labels]
        return np.array(rows, np.bool_).reshape(len(rows), self.count)

    def label(self, number: int) -> str:
        """Return the name of the partition with a number."""
        return next(label for label, one in self.labels if one == number)

    def label_of(self, jobs: Columns) -> Int64:
        """Return the index of each job's partition in `labels`, int64[n]; 0 without partitions."""
        known = np.array([number for _, number in self.labels], np.int64)
        place: Int64 = np.minimum(np.searchsorted(known, jobs.partition), max(known.size - 1, 0))
        return place

    def requests(self, jobs: Columns) -> tuple[Int64, Int64]:
        """Return the hosts and shares of each job; 0 hosts if the job could not even run alone.

        Returns
        -------
        count : int64[n]
            Number of hosts: the column `hosts`, or the least number with the job's shares.
        share : int64[n, resources]
            Amount of each resource on each of these hosts.
        """
        amounts = [jobs.procs, *(getattr(jobs, name) for name in self.names[1:])]
        asked = np.maximum(np.stack(amounts, axis=1), 0)
        rows = np.column_stack((self.label_of(jobs), jobs.hosts, asked))
        kinds, kind = np.unique(rows, axis=0, return_inverse=True)
        counts = self._counts
        found = [self._hosts_of(counts[row[0]], int(row[1]), row[2:]) for row in kinds]
        count = np.array(found, np.int64)[kind.reshape(-1)] if len(jobs) else jobs.procs
        share: Int64 = -(-asked // np.maximum(count, 1)[:, None])
        return count, share

    @property
    def _counts(self) -> Int64:
        """Number of hosts of each group that a label's jobs may use, int64[labels, groups]."""
        sizes = [group[COUNT] for group in self._tables]
        if not self.labels:
            return np.array([sizes], np.int64)
        firsts = np.cumsum([0, *sizes[:-1]])
        found: Int64 = np.add.reduceat(self.members.astype(np.int64), firsts, axis=1)
        return found

    def _hosts_of(self, counts: Int64, given: int, asked: Int64) -> int:
        """Return the number of hosts of a request; 0 if the machine cannot satisfy the request.

        counts: number of hosts of each group that the job may use.
        """
        tables = self._tables
        rows = np.array([[group.get(name, 0) for name in self.names] for group in tables], np.int64)
        if (asked > counts @ rows).any():
            return 0
        # With fewer hosts, the share would exceed the largest capacity. With more hosts than units
        # of a resource, shares do not become smaller.
        least = int((-(-asked // np.maximum(rows.max(axis=0), 1))).max())
        most = min(int(counts.sum()), max(int(asked.max()), 1))
        for k in range(max(least, 1), most + 1) if given < 0 else (given,):
            if k > 0 and counts[(rows >= -(-asked // k)).all(axis=1)].sum() >= k:
                return k
        return 0

    @property
    def key(self) -> str:
        """Text of the machine in a workload's digest."""
        parts = [" ".join(f"{name} {amount}" for name, amount in row) for row in self.groups]
        parts += [" ".join(["window", *map(str, row)]) for row in self.windows]
        parts += [f"partition {name} {hosts}" for name, hosts in self.parts]
        parts += [f"number {label} {number}" for label, number in self.labels]
        return "|".join(["exclusive hosts" if self.exclusive else "hosts", *parts])

    @property
    def intervals(self) -> list[tuple[int, int, range | list[int]]]:
        """Beginning and end of each interval of a window, s, and the numbers of its hosts."""
        return intervals(self.windows, self.count)

    @property
    def spans(self) -> tuple[Int64, Int64, Int64]:
        """Host, beginning, s, and end, s, of each span in which a host is withheld, int64[k]."""
        return spans_of_hosts(self.windows, self.count)

    @property
    def limit(self) -> str:
        """Text of error messages for the limit of a job's requests."""
        hosts = "hosts of its partition" if self.parts else "its number of hosts"
        return f"at most what {hosts} have, with an estimate of at least 1 s"

    def admits(self, jobs: Columns) -> Bool:
        """Return whether each job could run alone and has an estimate above 0, bool[n]."""
        admitted: Bool = (self.requests(jobs)[0] > 0) & (jobs.estimate > 0)
        return admitted

    def check(self, jobs: Columns) -> None:
        """Refuse jobs of a partition that the machine does not have."""
        wrong = ~np.isin(jobs.partition, [number for _, number in self.labels])
        if self.parts and wrong.any():
            first = int(np.argmax(wrong))
            listed = ", ".join(f"{name} ({number})" for name, number in self.labels[:MANY])
            raise InputError(
                f"{counted(int(wrong.sum()), 'job')}, job {jobs.job[first]} first, with partition "
                f"{jobs.partition[first]}, which the machine does not have; its partitions: "
                f"{listed}"
            )

    def sized(self, processors: int) -> Hosts:
        """Return a machine with about `processors` processors; the groups change in proportion.

        Each group keeps its part of the hosts, rounded down, but at least one host. Each new host
        stands for an old host, and has the partitions and windows of the old host
        (`core.machines.hosts.windows.standing_for`). A partition or a window keeps at least one
        host.

        Raises
        ------
        InputError
            If the machine would have too many hosts, or its windows too many hosts.

        Examples
        --------
        >>> machine = Hosts([{"count": 4, "processors": 8}], partitions={"a": "0", "b": "1-3"},
        ...                 numbers={"a": 1, "b": 2})
        >>> bigger, smaller = machine.sized(50), machine.sized(31)
        >>> bigger.size, dict(bigger.parts), smaller.size, dict(smaller.parts)
        (48, {'a': '0-1', 'b': '2-5'}, 24, {'a': '0', 'b': '1-2'})
        """
        sizes = [group[COUNT] for group in self._tables]
        after = [max(1, count * processors // self.size) for count in sizes]
        if sum(after) > MOST:
            raise InputError(
                f"{grouped(processors)} processors are {grouped(sum(after))} hosts; give at most "
                f"{grouped(MOST * self.size // self.count)}, which are {grouped(MOST)} hosts"
            )
        groups = [{**group, COUNT: count} for group, count in zip(self._tables, after, strict=True)]
        return Hosts(
            groups,
            self.exclusive,
            [
                {**one, HOSTS: renumbered(one[HOSTS], sizes, after)} if HOSTS in one else one
                for one in plain(self.windows)
            ],
            {name: renumbered(text, sizes, after) if text else None for name, text in self.parts},
            dict(self.labels),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `core.machines.platform.platform_from_dict`."""
        configuration: dict[str, Any] = {"groups": self._tables}
        if self.exclusive:
            configuration["exclusive"] = True
        if self.windows:
            configuration["windows"] = plain(self.windows)
        if self.parts:
            configuration["partitions"] = plain_partitions(self.parts, self.count)
            configuration["numbers"] = dict(self.labels)
        return {"name": self.name, "configuration": configuration}


def _row(where: str, group: object) -> tuple[tuple[str, int], ...]:
    """Return the keys and amounts of a group in a fixed order, for comparisons of groups."""
    if isinstance(group, tuple):
        # `dataclasses.replace` passes the checked values of this class in this form.
        group = dict(group)
    if not isinstance(group, Mapping):
        raise InputError(
            f"{where} is {shown(group)}; give a table such as {{count = 60, processors = 64}}"
        )
    for key in group:
        if key not in KEYS:
            raise InputError(f"{where} has {key!r}; {choices(str(key), KEYS)}")
    for key in (COUNT, PROCESSORS):
        if key not in group:
            raise InputError(f"{where} lacks {key}; give it, such as {key} = 64")
    for key, value in group.items():
        least = 0 if key in STOCKS else 1
        if not is_whole(value) or not least <= value < HORIZON:
            raise InputError(
                f"{where} has {key} = {shown(value)}; give a whole number from {least}, below 2^62"
            )
    return tuple((key, int(group[key])) for key in KEYS if key in group)

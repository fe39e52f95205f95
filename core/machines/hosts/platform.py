"""Hosts with processors, GPUs and memory; a job takes a share of each on several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.checks import is_whole, shown
from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts.windows import intervals, plain, rows_of, spans_of_hosts
from schedfarm.core.machines.resources.platform import PROCESSORS, UNITS
from schedfarm.core.names import choices

if TYPE_CHECKING:
    from schedfarm.core.workload.columns import Columns

STOCKS = ("gpus", "memory")
"""Resources of a host other than processors; each is a column of jobs' requests."""

COUNT = "count"
"""Key of a group for the number of its hosts."""

MOST = 2**16
"""Most hosts of a machine: each search goes through all of them."""

KEYS = (COUNT, PROCESSORS, *STOCKS)


@dataclass(frozen=True)
class Hosts:
    """Describe hosts in groups; a job takes equal shares of several hosts.

    The definition is in docs/semantics.md, hosts.

    Parameters
    ----------
    groups : sequence of mapping
        For each group of equal hosts their ``count``, and of one host ``processors``, ``gpus``
        (default 0) and ``memory`` (bytes; in all groups or in none). Hosts are numbered in this
        order, and a job takes free ones of the lowest numbers.
    exclusive : bool
        Whether a host runs one job at a time.
    windows : sequence of mapping
        Intervals in which some hosts run no jobs: ``from`` and ``until`` (s, or a duration),
        ``every`` and ``times`` if they are repeated, and ``hosts``, their numbers as a list or as a
        text such as ``"0-3,7"``; by default all.

    Raises
    ------
    InputError
        If there is no host or there are more than 65,536, a key of a group is unknown or missing,
        an amount or a window is wrong, or all hosts together have 2^62 or more of a resource.

    Examples
    --------
    >>> machine = Hosts([{"count": 2, "processors": 8}, {"count": 1, "processors": 4, "gpus": 2}])
    >>> machine.size, machine.names, machine.capacity.tolist()
    (20, ('processors', 'gpus'), [[8, 0], [8, 0], [4, 2]])
    >>> machine.to_dict()["configuration"]["groups"][1]
    {'count': 1, 'processors': 4, 'gpus': 2}
    """

    name: ClassVar[str] = "hosts"
    part: ClassVar[str] = "host"
    keeps: ClassVar[tuple[str, ...]] = ()
    asks: ClassVar[tuple[str, ...]] = ("hosts", *STOCKS)
    dated: ClassVar[bool] = False

    groups: Sequence[Any]
    exclusive: bool = False
    windows: Sequence[Any] = ()

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

    @property
    def _tables(self) -> list[dict[str, int]]:
        return [dict(row) for row in self.groups]

    @property
    def size(self) -> int:
        """Processors in all."""
        return sum(group[COUNT] * group[PROCESSORS] for group in self._tables)

    @property
    def places(self) -> tuple[str, ...]:
        """The one place: the hosts of a job follow from the starts of all."""
        return ("hosts",)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Processors of the one place."""
        return (self.size,)

    @property
    def participants(self) -> tuple[str, ...]:
        """Empty: jobs do not belong to single places."""
        return ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the declared resources, processors first."""
        return (PROCESSORS, *(name for name in STOCKS if any(name in g for g in self._tables)))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the resources in messages."""
        return (PROCESSORS, *(UNITS[name] for name in self.names[1:]))

    @property
    def stocks(self) -> tuple[tuple[str, str, int], ...]:
        """Column, unit and capacity of all hosts of each of the other resources."""
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

    def requests(self, jobs: Columns) -> tuple[Int64, Int64]:
        """Return what each job takes, with 0 hosts for a job that could not run if it were alone.

        Returns
        -------
        count : int64[n]
            Number of hosts: the column `hosts`, or the fewest that have its shares.
        share : int64[n, resources]
            Amount on each of them.
        """
        amounts = [jobs.procs, *(getattr(jobs, name) for name in self.names[1:])]
        asked = np.maximum(np.stack(amounts, axis=1), 0)
        rows = np.column_stack((jobs.hosts, asked))
        kinds, kind = np.unique(rows, axis=0, return_inverse=True)
        found = [self._hosts_of(int(row[0]), row[1:]) for row in kinds]
        count = np.array(found, np.int64)[kind.reshape(-1)] if len(jobs) else jobs.procs
        share: Int64 = -(-asked // np.maximum(count, 1)[:, None])
        return count, share

    def _hosts_of(self, given: int, asked: Int64) -> int:
        """Return the number of hosts of a request, 0 if they do not have its shares."""
        tables = self._tables
        counts = np.array([group[COUNT] for group in tables], np.int64)
        rows = np.array([[group.get(name, 0) for name in self.names] for group in tables], np.int64)
        if (asked > counts @ rows).any():
            return 0
        # With fewer hosts the share would exceed the largest capacity; with more of them than units
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
        return "|".join(["exclusive hosts" if self.exclusive else "hosts", *parts])

    @property
    def intervals(self) -> list[tuple[int, int, range | list[int]]]:
        """Beginning and end of each interval of a window, s, and the numbers of its hosts."""
        return intervals(self.windows, sum(group[COUNT] for group in self._tables))

    @property
    def spans(self) -> tuple[Int64, Int64, Int64]:
        """Host, beginning and end of each span in which a host is withheld, int64[k]."""
        return spans_of_hosts(self.windows, sum(group[COUNT] for group in self._tables))

    @property
    def limit(self) -> str:
        """Limit of a job's requests, for the message that refuses others."""
        return "at most what its number of hosts have, with an estimate of at least 1 s"

    def admits(self, jobs: Columns) -> Bool:
        """Return whether each job could run if it were alone, and takes time, bool[n]."""
        admitted: Bool = (self.requests(jobs)[0] > 0) & (jobs.estimate > 0)
        return admitted

    def check(self, jobs: Columns) -> None:
        """Accept all jobs: every request has a meaning here."""

    def to_dict(self) -> dict[str, Any]:
        """Return the plain form that `core.machines.platform.platform_from_dict` reads."""
        configuration: dict[str, Any] = {"groups": self._tables}
        if self.exclusive:
            configuration["exclusive"] = True
        if self.windows:
            configuration["windows"] = plain(self.windows)
        return {"name": self.name, "configuration": configuration}


def _row(where: str, group: object) -> tuple[tuple[str, int], ...]:
    """Return the keys and amounts of a group in a fixed order, so that equal groups are equal."""
    if isinstance(group, tuple):
        # The form of values of this class, as passed by `dataclasses.replace`.
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

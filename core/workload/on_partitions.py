"""Mapping of the jobs of a pool to a machine with partitions that may overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from schedfarm.core.arrays import HORIZON
from schedfarm.core.errors import InputError
from schedfarm.core.folded import listed
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.partitions.windows import (
    REGIONS,
    label_of,
    name_of,
    plain_windows,
    region_row,
    region_rows,
)
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.machines.resources.platform import UNITS, Resources
from schedfarm.core.workload.dated_windows import as_unix_times, at_epoch
from schedfarm.core.workload.node_windows import Withheld, rows_by_region
from schedfarm.core.workload.on_resources import windows_in_units
from schedfarm.core.workload.options import Options, option
from schedfarm.core.workload.partition_limits import (
    MAX_NODES,
    MAX_TIME,
    check_names,
    each,
    labels_of,
    table_of,
    time_limit,
    whole_from_1,
    within_limits,
)
from schedfarm.core.workload.select import keep_jobs, on_platform
from schedfarm.core.workload.workload import Workload

LARGER = "larger than their partition"
"""Reason to drop jobs."""


def _hosts(what: str, value: object) -> str:
    listed(value, what)
    return str(value)


_REGIONS = '{short = 64, "short,long" = 96}'
_NODES = "{short = 'n[01-10]', long = 'n[05-99]'}"


def _cpus(what: str, given: object) -> object:
    if isinstance(given, Mapping):
        return table_of(whole_from_1, "{'n[01-99]' = 16}")(what, given)
    return whole_from_1(what, given)


@dataclass(frozen=True)
class OnPartitions(Options):
    """Declare partitions by their nodes, or by the processors of their regions.

    Parameters
    ----------
    regions : mapping of str to int
        Processors of the nodes that belong to the same partitions, by the comma-separated names of
        these partitions.
    nodes : mapping of str to str
        Host list of the nodes of each partition, as in slurm.conf; instead of `regions`.
    cpus : int or mapping of str to int
        Processors of each node, or of the nodes of a host list; with `nodes`.
    max_time : mapping of str to str
        Largest estimate of the jobs of a partition; jobs above are dropped.
    max_nodes : mapping of str to int
        Largest number of nodes of the jobs of a partition, in the log; jobs above are dropped.
    windows : sequence of mapping
        Intervals in which jobs cannot use some nodes, as in `core.machines.resources.windows`. A
        window has ``regions``, a table of processors by region (or, with `nodes`, a host list
        ``nodes``), and amounts of other resources. By default it withholds all nodes and all other
        resources. Amounts of overlapping windows add up, but a node that several windows name is
        withheld only once.

    Examples
    --------
    >>> OnPartitions(nodes={"short": "n[1-3]", "long": "n[2-9]"}, cpus=4).sizes
    {'long': 24, 'long,short': 8, 'short': 4}
    >>> OnPartitions(nodes={"a": "n[1-3]", "b": "n[3-4]"}, cpus=8,
    ...              windows=[{"from": "1d", "until": "2d", "nodes": "n[2-3]"}]).region_windows
    [{'from': 86400, 'until': 172800, 'regions': {'a': 8, 'a,b': 8}}]
    """

    within = "partitions"

    regions: Any = option(None, table_of(whole_from_1, _REGIONS))
    nodes: Any = option(None, table_of(_hosts, _NODES))
    cpus: Any = option(None, lambda what, given: None if given is None else _cpus(what, given))
    max_time: Any = option(None, table_of(time_limit, MAX_TIME))
    max_nodes: Any = option(None, table_of(whole_from_1, MAX_NODES))
    windows: Any = option(
        (), lambda what, given: windows_in_units(what, () if given is None else given)
    )

    def _check_together(self) -> None:
        if bool(self.regions) == bool(self.nodes):
            raise InputError(
                f"partitions: give either regions, such as {_REGIONS}, or nodes, such as {_NODES}"
            )
        if (self.cpus is None) == bool(self.nodes):
            raise InputError("partitions: give cpus, the processors of each node, with nodes only")
        for label in self.regions:
            if any(not name.strip() for name in label.split(",")):
                raise InputError(f"partitions: regions: {label!r} has an empty name; leave it out")
        if len(self.sizes) < len(self.regions):
            raise InputError("partitions: regions lists the same partitions twice; add them up")
        limits = {"max_time": self.max_time, "max_nodes": self.max_nodes}
        check_names(self.within, limits, self.names)
        # This refuses wrong windows.
        _ = self.region_windows

    @cached_property
    def region_windows(self) -> list[dict[str, Any]]:
        """Windows with processors of regions in place of nodes; each node counts once at a time."""
        stocks = dict.fromkeys(UNITS, HORIZON - 1)
        found = []
        for k, given in enumerate(as_unix_times(self.windows)):
            what, hosts, table = f"partitions: windows[{k}]", frozenset[str](), given
            if isinstance(given, Mapping) and "nodes" in given:
                hosts = self._hosts_of(what, given)
                table = {key: value for key, value in given.items() if key != "nodes"}
            row = region_row(what, table, stocks, self.sizes)
            whole = not hosts and not row[-1]
            found.append(Withheld(row, frozenset(self._region_of) if whole else hosts, whole))
        names = {host: name_of(label) for host, label in self._region_of.items()}
        tables = plain_windows(rows_by_region(found, names, self._cpus_of))
        return plain_windows(region_rows(tables, stocks, self.sizes, "partitions: "))

    def _hosts_of(self, what: str, window: Mapping[str, Any]) -> frozenset[str]:
        """Return the nodes named by a window."""
        if not self.nodes:
            raise InputError(
                f"{what} has nodes, and the partitions are declared by regions; give regions, a "
                "table of processors, in place of nodes"
            )
        if REGIONS in window:
            raise InputError(f"{what} has nodes and regions; leave one of them out")
        hosts = frozenset(listed(window["nodes"], f"{what}: nodes"))
        if unknown := sorted(hosts - self._region_of.keys()):
            raise InputError(
                f"{what}: nodes is {window['nodes']!r}, and no partition has {unknown[0]!r}; leave "
                "it out"
            )
        return hosts

    def check_stocks(self, capacities: Mapping[str, int]) -> None:
        """Refuse windows that withhold more of a resource than the machine has."""
        for window in self.region_windows:
            for name in UNITS.keys() & window.keys():
                most = capacities.get(name)
                if most is None or window[name] > most:
                    has = "it is unlimited" if most is None else f"resources.{name} is {most}"
                    raise InputError(
                        f"partitions: a window withholds {name} = {window[name]}, and {has}; give "
                        f"a capacity resources.{name} of at least that"
                    )

    @cached_property
    def _region_of(self) -> dict[str, str]:
        """The region of each declared node."""
        of: dict[str, list[str]] = {}
        for name, hosts in self.nodes.items():
            for host in dict.fromkeys(listed(hosts, f"partitions: nodes: {name}")):
                of.setdefault(host, []).append(name)
        return {host: ",".join(sorted(names)) for host, names in of.items()}

    @cached_property
    def _cpus_of(self) -> dict[str, int]:
        """The processors of each declared node."""
        return self._processors(self._region_of)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Processors of each region, by the sorted names of its partitions."""
        if self.regions:
            return {label_of(label): size for label, size in self.regions.items()}
        found: dict[str, int] = {}
        for host, label in self._region_of.items():
            found[label] = found.get(label, 0) + self._cpus_of[host]
        return dict(sorted(found.items()))

    def _processors(self, hosts: Iterable[str]) -> dict[str, int]:
        """Return the processors of each node."""
        if not isinstance(self.cpus, Mapping):
            return dict.fromkeys(hosts, self.cpus)
        found = {
            host: count
            for several, count in self.cpus.items()
            for host in listed(several, f"partitions: cpus: {several}")
        }
        for host in hosts:
            if host not in found:
                raise InputError(
                    f"partitions: node {host!r} has no processors in cpus; give a number for it, "
                    "or one for all nodes"
                )
        return found

    @property
    def names(self) -> list[str]:
        """Names of the partitions."""
        return sorted({name for label in self.sizes for name in label.split(",")})

    @property
    def processors(self) -> int:
        """Total number of processors of all regions."""
        return sum(self.sizes.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the given options, from which `from_dict` makes equal options."""
        return {
            name: one for name, one in super().to_dict().items() if one not in (None, {}, (), [])
        }


def put_on_partitions(
    workload: Workload, how: OnPartitions, capacities: Mapping[str, int] | None = None
) -> Workload:
    """Put jobs of a pool on a machine with partitions; drop jobs that exceed their partition.

    Partitions without jobs are left out; their nodes then belong to other partitions only. If the
    remaining partitions do not limit any job more than the whole machine does, and there are no
    windows, the machine remains a pool, possibly with other resources.

    Parameters
    ----------
    workload : Workload
        Jobs with partitions, by names in the log, or by numbers in a log without names.
    how : OnPartitions
        The partitions and their limits.
    capacities : mapping of str to int, optional
        Amounts of other resources, as for `Resources`.

    Returns
    -------
    Workload
        The jobs that fit into their partitions and their limits.

    Raises
    ------
    InputError
        If the jobs are not on a pool; if a job has no partition or an undeclared partition; if
        `max_nodes` is given for a log without nodes; if the regions exceed the machine, or overlap
        too much; or if windows withhold more than the machine has.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0], run=[9, 9], estimate=[9, 9], procs=[2, 5],
    ...                           partition=[1, 2], processors=8)
    >>> how = OnPartitions(regions={"1": 2, "1,2": 2, "2": 2})
    >>> some = put_on_partitions(w, how)
    >>> some.procs.tolist(), dict(some.dropped)
    ([2], {'larger than their partition': 1})
    """
    if workload.platform.name != "pool":
        raise InputError(
            f"'partitions' divides a pool, and these jobs are on {workload.machine}; leave it out"
        )
    how = replace(how, windows=at_epoch("partitions: ", how.windows, workload.epoch))
    labels = labels_of(how.within, workload, how.names)
    jobs = within_limits(how.within, workload, labels, how.max_time, how.max_nodes)
    labels = labels_of(how.within, jobs, how.names)
    used = {name for label in labels.values() for name in label.split(",")}
    room = {
        number: sum(n for region, n in how.sizes.items() if _share(region, label))
        for number, label in labels.items()
    }
    jobs = keep_jobs(jobs, jobs.procs <= each(jobs, room), LARGER)
    if not len(jobs):
        raise InputError(f"partitions: no job of {workload.name!r} is within its partition")
    regions = _regions_of(used, how.sizes)
    windows = [one for given in how.region_windows if (one := _window_of(used, given))]
    numbers = {label: number for number, label in labels.items()}
    # A list of partitions needs all its partitions.
    more = sorted(used - numbers.keys())
    numbers |= {name: max(numbers.values()) + k for k, name in enumerate(more, 1)}
    others = dict(capacities or {})
    how.check_stocks(others)
    machine = Partitions(workload.processors, others, regions, numbers, windows=windows)
    platform: Platform = machine
    if not machine.unions and not windows:
        size = workload.processors
        platform = Resources(size, others) if others else Pool(size)
    return on_platform(jobs, platform)


def _regions_of(used: set[str], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the processors of regions, by their partitions that have jobs."""
    found: dict[str, int] = {}
    for region, size in sizes.items():
        if inside := ",".join(name for name in region.split(",") if name in used):
            found[inside] = found.get(inside, 0) + size
    return found


def _window_of(used: set[str], window: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a window without regions that have no jobs; None if no region is left."""
    if REGIONS not in window:
        return dict(window)
    regions = _regions_of(used, window[REGIONS])
    found = {key: value for key, value in window.items() if key != REGIONS}
    if regions:
        return found | {REGIONS: regions}
    return found if found.keys() & UNITS.keys() else None


def _share(region: str, label: str) -> bool:
    """Return whether a region belongs to one of the partitions of a label."""
    return not {*region.split(",")}.isdisjoint(label.split(","))

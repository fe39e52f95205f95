"""Mapping of the jobs of a pool to hosts that several jobs may share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from schedfarm.core.arrays import readonly
from schedfarm.core.checks import shown
from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts.platform import STOCKS, Hosts
from schedfarm.core.machines.hosts.windows import hosts_text
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.dated_windows import (
    as_unix_times,
    at_epoch,
    dates_as_text,
    is_dated,
)
from schedfarm.core.workload.on_resources import amount_of
from schedfarm.core.workload.options import Options, flag, option
from schedfarm.core.workload.partition_limits import (
    MAX_NODES,
    MAX_TIME,
    check_names,
    labels_of,
    table_of,
    time_limit,
    whole_from_1,
    within_limits,
)
from schedfarm.core.workload.select import on_platform
from schedfarm.core.workload.workload import Workload


def _groups(what: str, given: object) -> list[Any]:
    """Return groups with amounts as numbers; the machine checks the amounts."""
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence) or not given:
        raise InputError(
            f"{what} is {shown(given)}; give a list of tables such as "
            '{count = 60, processors = 64, memory = "256 GiB"}'
        )
    return [
        {
            key: amount_of(f"{what}[{g}]: {key}", key, value) if key in STOCKS else value
            for key, value in group.items()
        }
        if isinstance(group, Mapping)
        else group
        for g, group in enumerate(given)
    ]


def _windows(what: str, given: object) -> list[Any]:
    """Return windows with dates as text; the machine checks the rest."""
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        raise InputError(
            f'{what} is {shown(given)}; give a list of tables such as {{from = "5d", until = "6d"}}'
        )
    return [
        dates_as_text(f"{what}[{k}]", one) if isinstance(one, Mapping) else one
        for k, one in enumerate(given)
    ]


def _partitions(what: str, given: object) -> object:
    """Return the hosts of each partition by name; the machine checks the rest."""
    if not isinstance(given, Mapping):
        return {} if given is None else given
    found = {}
    for key, hosts in given.items():
        name = key.strip() if isinstance(key, str) else key
        if name in found:
            raise InputError(f"{what} has {name!r} twice; give its hosts once")
        found[name] = hosts
    return found


@dataclass(frozen=True)
class OnHosts(Options):
    """Declare the hosts of a machine, in groups of equal hosts.

    Parameters
    ----------
    groups : sequence of mapping
        Groups as for `core.machines.hosts.platform.Hosts`; amounts may have a unit.
    exclusive : bool
        Whether a host runs one job at a time.
    windows : sequence of mapping
        Intervals in which hosts run no jobs, as for `Hosts`; both ends may be dates.
    partitions : mapping of str to object
        Hosts of each partition, as for `Hosts`.
    max_time : mapping of str to str
        Largest estimate of the jobs of a partition; jobs above are dropped.
    max_nodes : mapping of str to int
        Largest number of nodes of the jobs of a partition, in the log; jobs above are dropped.

    Examples
    --------
    >>> how = OnHosts.from_dict({"groups": [{"count": 2, "processors": 8, "memory": "1 KiB"}]})
    >>> how.machine.size, how.to_dict()
    (16, {'groups': [{'count': 2, 'processors': 8, 'memory': 1024}]})
    """

    within = "hosts"

    groups: Any = option((), _groups)
    exclusive: bool = option(False, flag)
    windows: Any = option((), _windows)
    partitions: Any = option(None, _partitions)
    max_time: Any = option(None, table_of(time_limit, MAX_TIME))
    max_nodes: Any = option(None, table_of(whole_from_1, MAX_NODES))

    def _check_together(self) -> None:
        limits = {"max_time": self.max_time, "max_nodes": self.max_nodes}
        check_names(self.within, limits, dict(self.machine.parts))
        # This refuses wrong groups.
        _ = self.machine

    @cached_property
    def machine(self) -> Hosts:
        """The hosts; partitions are numbered in the order of their names."""
        given = self.partitions if isinstance(self.partitions, Mapping) else {}
        return self.hosts({str(name): k for k, name in enumerate(given)})

    def hosts(self, numbers: Mapping[str, int], epoch: int | None = None) -> Hosts:
        """Return the hosts, given the numbers of partitions in the log.

        epoch: Unix time at which the log begins, s; by default dates become Unix times.
        """
        windows = self.windows
        dated = as_unix_times(windows) if epoch is None else at_epoch("hosts: ", windows, epoch)
        try:
            return Hosts(self.groups, self.exclusive, dated, self.partitions, numbers)
        except InputError as error:
            raise InputError(f"hosts: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the given options, from which `from_dict` makes equal options."""
        plain: dict[str, Any] = self.machine.to_dict()["configuration"]
        plain.pop("numbers", None)
        limits = {"max_time": self.max_time, "max_nodes": self.max_nodes}
        plain |= {key: dict(table) for key, table in limits.items() if table}
        count = self.machine.count
        dated = [
            {**one, **({"hosts": text} if text else {})}
            for k, given in enumerate(self.windows)
            if is_dated(given)
            for text in (hosts_text(f"windows[{k}]", given.get("hosts"), count),)
            for one in ({key: value for key, value in given.items() if key != "hosts"},)
        ]
        if not dated:
            return plain
        others = [one for one in self.windows if not is_dated(one)]
        fixed = Hosts(self.groups, windows=others).to_dict()["configuration"].get("windows", [])
        return {**plain, "windows": [*fixed, *dated]}


def put_on_hosts(workload: Workload, how: OnHosts) -> Workload:
    """Put jobs of a pool on hosts, as many as their nodes in the log; drop jobs that do not fit.

    If the log has no number of nodes, a job takes as few hosts as possible. Partitions without jobs
    are left out. If each partition has all hosts, all partitions are left out.

    Raises
    ------
    InputError
        If the jobs are not on a pool; if a window has dates and the log's dates are unknown; if a
        job has no partition or an undeclared partition; or if `max_nodes` is given for a log
        without nodes.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0, 0], run=[9, 9, 9], estimate=[9, 9, 9],
    ...                           procs=[6, 6, 6], nodes=[2, 1, -1], partition=[1, 1, 2],
    ...                           processors=8)
    >>> some = put_on_hosts(w, OnHosts([{"count": 2, "processors": 4}]))
    >>> some.job.tolist(), some.hosts.tolist(), dict(some.dropped)
    ([1, 3], [2, -1], {'not admitted': 1})
    >>> how = OnHosts([{"count": 2, "processors": 4}], partitions={"1": None, "2": "0"})
    >>> put_on_hosts(w, how).job.tolist()
    [1]
    """
    if workload.platform.name != "pool":
        raise InputError(
            f"'hosts' is for jobs on a pool, and these jobs are on {workload.machine}; leave it out"
        )
    jobs, labels = workload, dict[int, str]()
    if how.partitions:
        known = sorted(how.partitions)
        labels = labels_of(how.within, workload, known)
        jobs = within_limits(how.within, workload, labels, how.max_time, how.max_nodes)
        labels = labels_of(how.within, jobs, known)
    used = {name for label in labels.values() for name in label.split(",")}
    kept = {name: hosts for name, hosts in how.partitions.items() if name in used}
    numbers = {label: number for number, label in labels.items()}
    machine = replace(how, partitions=kept, max_time=None, max_nodes=None).hosts(
        numbers, workload.epoch
    )
    if machine.members.all():
        machine = replace(machine, partitions={}, numbers={})
    hosts = readonly(np.where(jobs.nodes > 0, jobs.nodes, UNKNOWN))
    return on_platform(replace(jobs, hosts=hosts), machine)

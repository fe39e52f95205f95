"""Jobs of a log for a pool, on hosts that they share."""

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
from schedfarm.core.workload.select import on_platform
from schedfarm.core.workload.workload import Workload


def _groups(what: str, given: object) -> list[Any]:
    """Return groups with amounts as numbers; the machine checks them."""
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


@dataclass(frozen=True)
class OnHosts(Options):
    """Declare the hosts of a machine, in groups of equal ones.

    Parameters
    ----------
    groups : sequence of mapping
        As in `core.machines.hosts.platform.Hosts`; amounts may have a unit.
    exclusive : bool
        Whether a host runs one job at a time.
    windows : sequence of mapping
        Intervals in which hosts run no jobs, as there; both ends may be dates.

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

    def _check_together(self) -> None:
        # Refuses wrong groups.
        _ = self.machine

    @cached_property
    def machine(self) -> Hosts:
        """The hosts."""
        try:
            return Hosts(self.groups, self.exclusive, as_unix_times(self.windows))
        except InputError as error:
            raise InputError(f"hosts: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the groups, whether they are exclusive, and the windows, for `from_dict`."""
        plain: dict[str, Any] = self.machine.to_dict()["configuration"]
        count = len(self.machine.capacity)
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
    """Put jobs of a pool on hosts, as many as the log has nodes; drop those that do not fit there.

    Where a log has no number of nodes, a job takes as few hosts as possible.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0, 0], run=[9, 9, 9], estimate=[9, 9, 9],
    ...                           procs=[6, 6, 6], nodes=[2, 1, -1], processors=8)
    >>> some = put_on_hosts(w, OnHosts([{"count": 2, "processors": 4}]))
    >>> some.job.tolist(), some.hosts.tolist(), dict(some.dropped)
    ([1, 3], [2, -1], {'not admitted': 1})
    """
    if workload.platform.name != "pool":
        raise InputError(
            f"'hosts' is for jobs on a pool, and these jobs are on {workload.machine}; leave it out"
        )
    hosts = readonly(np.where(workload.nodes > 0, workload.nodes, UNKNOWN))
    windows = at_epoch("hosts: ", how.windows, workload.epoch)
    try:
        machine = Hosts(how.groups, how.exclusive, windows)
    except InputError as error:
        raise InputError(f"hosts: {error}") from None
    return on_platform(replace(workload, hosts=hosts), machine)

"""Machine of a trace: the platform, tables that change the platform, resizing, and placed jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.platform import Platform, of_size, platform_from_dict
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.workload.on_hosts import OnHosts, put_on_hosts
from schedfarm.core.workload.on_network import OnNetwork, put_on_network
from schedfarm.core.workload.on_nodes import OnNodes, put_on_nodes
from schedfarm.core.workload.on_partitions import OnPartitions, put_on_partitions
from schedfarm.core.workload.on_resources import OnResources, put_on_resources
from schedfarm.core.workload.options import Options
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.plain import Exclusion, check_exclusions, put
from schedfarm.farm.logs import registry

if TYPE_CHECKING:
    from schedfarm.farm.campaign.trace import Trace

TABLES: dict[str, type[Options]] = {
    "nodes": OnNodes,
    "resources": OnResources,
    "partitions": OnPartitions,
    "hosts": OnHosts,
    "network": OnNetwork,
}
"""Options of each key whose table changes the machine, or the requests of its jobs."""

MACHINE = ("processors", "platform", "nodes", "resources", "partitions", "hosts")
"""Keys of the machine itself."""

EXCLUSIONS = (
    Exclusion("processors", ("platform",), "= {value} is short for a platform that is a pool"),
    Exclusion("nodes", ("platform",), "makes nodes of the machine that the jobs come from"),
    Exclusion("resources", ("platform", "nodes"), "limits requests of jobs on a pool"),
    Exclusion("partitions", ("platform", "nodes"), "divides a pool"),
    Exclusion("hosts", MACHINE[:-1], "is the whole machine"),
    Exclusion(
        "resize",
        ("join", "nodes", "network"),
        "is for a pool or hosts",
        "; leave it or {other!r} out",
    ),
)
"""Keys that exclude others. A platform that is a pool counts as `processors`, its short form."""


def take_machine(trace: Trace) -> None:
    """Check the keys of the machine of a trace, and put them into their canonical form."""
    if trace.platform is not None and trace.processors is None:
        _take_platform(trace, trace.platform)
    check_exclusions(trace, EXCLUSIONS)
    for key, options in TABLES.items():
        if (given := getattr(trace, key)) is not None:
            put(trace, **{key: options.from_dict(given).to_dict()})
    _check_partitions(trace)
    _check_network(trace)
    _check_resize(trace)


def _take_platform(trace: Trace, given: Mapping[str, Any]) -> None:
    """Expand the clusters of a named log, and shorten a pool."""
    if set(given) == {"name"} and given["name"] == Grid.name:
        given = _clusters(trace.log).to_dict()
    machine = platform_from_dict(given)
    if machine == Pool(machine.size):
        put(trace, processors=machine.size, platform=None)
    else:
        put(trace, platform=given)


def _clusters(log: str | None) -> Grid:
    """Return the clusters of a named log."""
    entry = registry.find(log) if log else None
    if entry is None or entry.grid is None:
        known = ", ".join(one.short for one in registry.entries() if one.grid)
        raise InputError(
            f"platform 'grid' without a configuration needs a log with known clusters, "
            f"log = {known!r}; give the configuration, with clusters"
        )
    return entry.grid


def _check_partitions(trace: Trace) -> None:
    """Refuse partitions that contradict the processors or other resources of the trace."""
    if trace.partitions is None:
        return
    how, stocks = OnPartitions.from_dict(trace.partitions), trace.resources or {}
    if stocks.get("windows"):
        raise InputError(
            "'resources.windows' are for a machine without partitions; give the windows as "
            "'partitions.windows', which may withhold nodes and other resources"
        )
    if trace.processors is not None and trace.processors < how.processors:
        raise InputError(
            f"processors is {trace.processors}, and the partitions have {how.processors}; give "
            "at least that, or leave 'processors' out"
        )
    how.check_stocks(stocks)


def _check_network(trace: Trace) -> None:
    """Refuse link requests of a log's jobs on a machine without links; refuse links given twice."""
    if trace.network is None or trace.join is not None:
        return
    machine = trace.machine
    if machine is None or not machine.participants:
        raise InputError(
            "'network' gives the link requests of jobs; give it with 'join', or with a "
            "'platform' of name = 'network'"
        )
    if trace.network["links"]:
        raise InputError("network: the platform has the links already; leave 'links' out")


def _check_resize(trace: Trace) -> None:
    """Refuse `resize` for a machine of several places."""
    machine = trace.machine
    if trace.resize is not None and machine and of_size(machine, machine.size) is None:
        raise InputError(
            f"'resize' is for a pool or hosts, and the platform is of kind {machine.name!r}"
        )


def machine_of(trace: Trace) -> Platform | None:
    """Return the requested platform; None if the log's own size applies."""
    if trace.platform is not None:
        return platform_from_dict(trace.platform)
    if trace.processors is not None:
        return Pool(trace.processors)
    if trace.partitions is not None:
        return Pool(OnPartitions.from_dict(trace.partitions).processors)
    return None if trace.hosts is None else Pool(OnHosts.from_dict(trace.hosts).machine.size)


def runs_on(trace: Trace) -> Platform | None:
    """Return the platform of the cells of a trace; None if it is the log's own."""
    if trace.resize is not None:
        return of_size(trace.machine or Pool(trace.resize), trace.resize)
    return trace.machine if trace.nodes is None else OnNodes.from_dict(trace.nodes).platform


def placed(trace: Trace, jobs: Workload) -> Workload:
    """Return jobs on the nodes, network, resources, partitions or hosts of a trace."""
    resources = trace.resources and OnResources.from_dict(trace.resources)
    if trace.partitions is not None:
        how = OnPartitions.from_dict(trace.partitions)
        return put_on_partitions(jobs, how, resources.capacities if resources else None)
    if resources:
        return put_on_resources(jobs, resources)
    if trace.hosts is not None:
        return put_on_hosts(jobs, OnHosts.from_dict(trace.hosts))
    if trace.network is not None:
        return put_on_network(jobs, OnNetwork.from_dict(trace.network))
    if trace.nodes is None:
        return jobs
    if jobs.platform.asks:
        raise InputError(
            f"'nodes' puts jobs of a pool on nodes, and these are on {jobs.machine} already; "
            "leave it out"
        )
    return put_on_nodes(jobs, OnNodes.from_dict(trace.nodes))


def resized(jobs: Workload, size: int) -> Workload:
    """Return jobs on their machine at another size; refuse jobs that do not fit there.

    All sizes must have the same jobs.
    """
    platform, widest = of_size(jobs.platform, size), int(jobs.procs.max(initial=0))
    if platform is None:
        raise InputError(
            "only a pool or hosts can have another size, and the jobs are on a platform of kind "
            f"{jobs.platform.name!r}"
        )
    if widest > size:
        raise InputError(
            f"a job requests {widest} processors, and the machine is to have {size}; leave such "
            f"jobs out at all sizes, with select.widths = [1, {size}]"
        )
    if not (fits := platform.admits(jobs)).all():
        first = int(np.argmin(fits))
        raise InputError(
            f"job {jobs.job[first]} requests {jobs.procs[first]} processors, more than its "
            f"partition or its hosts have on {size}; leave such jobs out at all sizes, with "
            "select.widths"
        )
    return jobs.take(slice(None), platform=platform)

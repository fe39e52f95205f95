"""Traces: the sources of a campaign's jobs, a log or a model, and their sampling."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta

from schedfarm.core.arrays import MOST_JOBS, MOST_WEEKS
from schedfarm.core.errors import InputError, SizeUnknown
from schedfarm.core.format.geometry import AXES
from schedfarm.core.logs.clean import Clean
from schedfarm.core.logs.field_map import FieldMap, field_map, map_beside, map_table
from schedfarm.core.logs.formats import FORMATS
from schedfarm.core.logs.machine import END
from schedfarm.core.logs.read import format_of, read_log
from schedfarm.core.logs.rows import log_name
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.platform import Platform, of_size, platform_from_dict
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.metrics.declared import METRICS
from schedfarm.core.models import MODELS
from schedfarm.core.names import choices
from schedfarm.core.workload.on_hosts import OnHosts, put_on_hosts
from schedfarm.core.workload.on_network import OnNetwork, join_logs, put_on_network
from schedfarm.core.workload.on_nodes import OnNodes, put_on_nodes
from schedfarm.core.workload.on_partitions import OnPartitions, put_on_partitions
from schedfarm.core.workload.on_resources import OnResources, put_on_resources
from schedfarm.core.workload.options import Options
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.select import check_criteria, on_platform, select, select_jobs
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.plain import (
    Count,
    Switch,
    Table,
    check_keys,
    check_name,
    check_types,
    to_plain,
)
from schedfarm.farm.logs import registry
from schedfarm.farm.logs.fetch import locate
from schedfarm.farm.store.product import PRODUCTS

RESERVED = {*METRICS, *AXES, "zarr.json"} | {
    figure.name for row in PRODUCTS.values() for _, figure in row.sums
}
"""Names at the root of a store, apart from the groups of the traces."""

JobCount = Annotated[
    int, Meta(ge=1, le=MOST_JOBS, description=f"a whole number, at least 1 and at most {MOST_JOBS}")
]
WeekCount = Annotated[
    int,
    Meta(ge=1, le=MOST_WEEKS, description=f"a whole number, at least 1 and at most {MOST_WEEKS}"),
]
Name = Annotated[str, Meta(description="a name")]
File = Annotated[str, Meta(description="the path of a log")]
Log = Annotated[str, Meta(min_length=1, description="a name, such as 'KTH-SP2'")]
Model = Annotated[str, Meta(description=f"a model: {', '.join(MODELS)}")]
Rows = Annotated[tuple[int, int], Meta(description="[first, last), such as [0, 5000]")]
Logs = Annotated[
    tuple[str, ...],
    Meta(min_length=1, description="a list of logs, such as ['KTH-SP2', 'SDSC-SP2']"),
]
ColumnMap = Annotated[
    Mapping[str, Any] | str,
    Meta(description="a map of columns: a TOML file, a table with columns, or a ready map's name"),
]
Criteria = Annotated[Mapping[str, Any], Meta(description="a table of criteria")]


class MachineKey(NamedTuple):
    """A key whose table changes the machine: its options, its meaning, and the keys it excludes."""

    options: type[Options]
    purpose: str
    excludes: tuple[str, ...]


MACHINES = {
    "nodes": MachineKey(
        OnNodes, "makes nodes of the machine that the jobs come from", ("platform",)
    ),
    "resources": MachineKey(
        OnResources, "limits requests of jobs on a pool", ("platform", "nodes")
    ),
    "partitions": MachineKey(OnPartitions, "divides a pool", ("platform", "nodes")),
    "hosts": MachineKey(
        OnHosts,
        "is the whole machine",
        ("processors", "platform", "nodes", "resources", "partitions"),
    ),
}
"""Row of each key that changes the machine, in the order of the checks."""


@dataclass(frozen=True)
class Trace:
    """Name a source of jobs: a log, or a model that draws a new log for each resample.

    Parameters
    ----------
    name : str
        Label in tables and name of the group in the store; by default the name of the file or log.
    file : str, optional
        Path of a log, in any format that `core.read_log` knows.
    log : str, optional
        Name of a log in the registry, or of a log fetched by its URL. The name is kept in its full
        form. A trace has both `log` and `file` once the file has been found.
    model : str, optional
        Name of a model in `core.models.MODELS`.
    join : tuple of str, optional
        Logs by their names or paths, each of which becomes a cluster of a network; see
        `core.workload.on_network.join_logs`. Names are kept in their full form. One of `file`,
        `log`, `model` and `join` is needed.
    processors : int, optional
        Size of the machine; by default the size in the registry or the log's header. A model needs
        this key or `platform`.
    platform : mapping, optional
        The machine as a table of `name` and `configuration`; a pool is kept in its short form,
        `processors`. ``{"name": "grid"}`` without a configuration means the clusters of a named
        log; it is kept in full.
    nodes : mapping, optional
        Mapping of the jobs to nodes: options of `core.workload.on_nodes.OnNodes`, kept in full. The
        machine of the log, or of the model, is then the original machine of the jobs.
    resources : mapping, optional
        Amounts of the machine's resources other than processors: options of
        `core.workload.on_resources.OnResources`.
    partitions : mapping, optional
        Partitions of the machine's nodes, which may overlap, their limits and windows: options of
        `core.workload.on_partitions.OnPartitions`. Without `processors`, they are the machine.
    hosts : mapping, optional
        Hosts that jobs share, with their processors, GPUs and memory: options of
        `core.workload.on_hosts.OnHosts`. They are the machine.
    network : mapping, optional
        Origin and link requests of jobs of logs on a network: options of
        `core.workload.on_network.OnNetwork`, kept in full.
    rows : pair of int, optional
        Rows of the file, [first, last), before any filter.
    jobs : int, optional
        Number of jobs to keep, from the first that passes the filters; for a model, the number of
        jobs to draw.
    weeks : int, optional
        Weeks of each sample; by default those of the log.
    select : mapping, optional
        Selection of jobs of the log, or of each joined log: the arguments of
        `core.workload.select.select`.
    map : mapping or str, optional
        Map of the log's columns and units, see `core.logs.field_map`: a table, a ready map's name,
        or a TOML file, whose table is kept. By default it is the TOML file with the log's name, if
        that file is a map.
    clean : mapping, optional
        Cleaning of the log's rows: options of `core.logs.clean.Clean`. Options at their default are
        left out.
    names : bool
        Whether the store gets a file with the log's names of users, groups, queues and partitions,
        readable by its owner alone.
    parameters : mapping, optional
        Further parameters of the model.
    resize : int, optional
        Processors of the simulated pool, if samples and loads are made for a machine of another
        size. The pool must be at least as wide as the widest job. Hosts are resized to a whole
        number of hosts.
    found : tuple of str, optional
        Files of the joined logs, once they have been found; not a key of a campaign.
    base, at : optional
        For a trace expanded from an axis of a campaign: the trace as written, and its value on each
        axis; not keys of a campaign.

    Raises
    ------
    InputError
        If keys contradict each other or a value is out of range.
    """

    name: Name = ""
    file: File | None = None
    log: Log | None = None
    model: Model | None = None
    join: Logs | None = None
    processors: Count | None = None
    platform: Table | None = None
    nodes: Table | None = None
    resources: Table | None = None
    partitions: Table | None = None
    hosts: Table | None = None
    network: Table | None = None
    rows: Rows | None = None
    jobs: JobCount | None = None
    weeks: WeekCount | None = None
    select: Criteria = field(default_factory=dict)
    map: ColumnMap | None = None
    clean: Table = field(default_factory=dict)
    names: Switch = False
    parameters: Table = field(default_factory=dict)
    resize: Count | None = None
    found: tuple[str, ...] = field(default=(), compare=False, repr=False)
    base: Trace | None = field(default=None, compare=False, repr=False)
    at: Mapping[str, int | float | str | bool] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        if isinstance(self.file, os.PathLike):
            object.__setattr__(self, "file", os.fspath(self.file))
        given = self.log if self.log is not None else self.file
        if not self.name and isinstance(given, str):
            object.__setattr__(self, "name", log_name(given))
        self._check_name()
        with self._named():
            check_types(self)
            self._check_source()
            self._take_platform()
            self._take_machine()
            self._take_network()
            object.__setattr__(self, "select", _criteria(self.select))
            self._take_map()
            object.__setattr__(self, "clean", Clean.from_dict(self.clean).to_dict())
            self._check_model()
            self._check_resize()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Add the name of the trace to errors raised in the context."""
        try:
            yield
        except InputError as error:
            raise InputError(f"trace {self.name!r}: {error}") from None

    def _check_name(self) -> None:
        check_name("trace name", self.name)
        if self.name in RESERVED:
            raise InputError(
                f"trace name {self.name!r} is that of a summary array of the store; give another"
            )

    def _check_source(self) -> None:
        from_log = self.log is not None or self.file is not None
        if [from_log, self.model is not None, self.join is not None].count(True) != 1:
            raise InputError("give one of 'file', 'log', 'model' and 'join'")
        if self.log is not None:
            entry = registry.find(self.log)
            object.__setattr__(self, "log", entry.name if entry else log_name(self.log))
        if self.join is not None:
            self._take_join(self.join)
        if self.rows is not None and not 0 <= self.rows[0] < self.rows[1]:
            raise InputError(
                f"rows is {list(self.rows)}; it must be [first, last), such as [0, 5000]"
            )

    def _take_join(self, logs: tuple[str, ...]) -> None:
        for key in ("processors", "platform", "nodes", "resources", "partitions", "hosts", "rows"):
            if getattr(self, key) is not None:
                raise InputError(f"'join' makes a cluster of each log; leave {key!r} out")
        full = tuple(map(registry.full_name, logs))
        object.__setattr__(self, "join", full)

    def _take_network(self) -> None:
        if self.network is None and self.join is None:
            return
        how = OnNetwork.from_dict(self.network or {})
        if self.join is not None:
            names = [registry.short_name(log) for log in self.join]
            # The sizes of the clusters are in the logs, which are read later.
            how.network([1] * len(names), names)
        elif self.machine is None or not self.machine.participants:
            raise InputError(
                "'network' gives the link requests of jobs; give it with 'join', or with a "
                "'platform' of name = 'network'"
            )
        elif how.links:
            raise InputError("network: the platform has the links already; leave 'links' out")
        object.__setattr__(self, "network", how.to_dict())

    def _take_platform(self) -> None:
        if self.platform is None:
            return
        if self.processors is not None:
            raise InputError(
                f"'processors' = {self.processors} is short for a platform that is a pool; give "
                "it or 'platform', not both"
            )
        if set(self.platform) == {"name"} and self.platform["name"] == Grid.name:
            object.__setattr__(self, "platform", self._clusters().to_dict())
        machine = platform_from_dict(self.platform)
        if machine == Pool(machine.size):
            object.__setattr__(self, "processors", machine.size)
            object.__setattr__(self, "platform", None)

    def _take_machine(self) -> None:
        """Check the table that changes the machine, and put it into its canonical form."""
        for key, row in MACHINES.items():
            given = getattr(self, key)
            if given is None:
                continue
            for other in row.excludes:
                if getattr(self, other) is not None:
                    raise InputError(f"{key!r} {row.purpose}; give it or {other!r}, not both")
            how = row.options.from_dict(given)
            if isinstance(how, OnPartitions):
                self._check_partitions(how)
            object.__setattr__(self, key, how.to_dict())

    def _check_partitions(self, how: OnPartitions) -> None:
        """Refuse partitions that contradict the processors or other resources of the trace."""
        if self.resources is not None and self.resources.get("windows"):
            raise InputError(
                "'resources.windows' are for a machine without partitions; give the windows as "
                "'partitions.windows', which may withhold nodes and other resources"
            )
        if self.processors is not None and self.processors < how.processors:
            raise InputError(
                f"processors is {self.processors}, and the partitions have {how.processors}; give "
                "at least that, or leave 'processors' out"
            )
        how.check_stocks(self.resources or {})

    def _take_map(self) -> None:
        if self.map is None:
            return
        if self.file is None and self.log is None:
            raise InputError("'map' gives the columns of a log; give it with 'file' or 'log'")
        if isinstance(self.map, str) and self.map.endswith(END):
            object.__setattr__(self, "map", map_table(self.map))
        field_map(self.map, "map")

    def _clusters(self) -> Grid:
        """Return the clusters of the named log."""
        entry = registry.find(self.log) if self.log else None
        if entry is None or entry.grid is None:
            known = ", ".join(one.short for one in registry.entries() if one.grid)
            raise InputError(
                f"platform 'grid' without a configuration needs a log with known clusters, "
                f"log = {known!r}; give the configuration, with clusters"
            )
        return entry.grid

    def _check_model(self) -> None:
        if self.model is None:
            if self.parameters:
                raise InputError("'parameters' is for models only")
            return
        if self.model not in MODELS:
            raise InputError(f"unknown model {self.model!r}; {choices(self.model, MODELS)}")
        for key in (
            *("rows", "select", "clean", "names", "network"),
            *("resources", "partitions", "hosts"),
        ):
            if getattr(self, key):
                raise InputError(f"{key!r} is for logs only")
        if self.machine is None or (self.jobs is None) == (self.weeks is None):
            raise InputError(
                "a model needs 'processors' or 'platform', and either 'jobs' or 'weeks'"
            )
        if "partition" in self.machine.asks:
            raise InputError(
                f"model {self.model!r} draws jobs without a partition; leave the partitions of the "
                "platform out"
            )
        if self.machine.participants and not MODELS[self.model].clusters:
            known = " or ".join(repr(name) for name, row in MODELS.items() if row.clusters)
            raise InputError(
                f"model {self.model!r} draws the jobs of one pool, and on a platform of kind "
                f"{self.machine.name!r} each cluster has its own; give model = {known}"
            )
        _check_parameters(self.model, self.parameters)

    def _check_resize(self) -> None:
        """Refuse `resize` for a machine of several places, or if a model's jobs do not fit."""
        if self.resize is None:
            return
        machine = self.machine
        for key in ("join", "nodes", "network"):
            if getattr(self, key) is not None:
                raise InputError(f"'resize' is for a pool or hosts; leave it or {key!r} out")
        if machine is not None and of_size(machine, machine.size) is None:
            raise InputError(
                f"'resize' is for a pool or hosts, and the platform is of kind {machine.name!r}"
            )
        if self.model is not None and machine is not None and self.resize < machine.size:
            raise InputError(
                f"resize is {self.resize}, and model {self.model!r} draws jobs of up to "
                f"{machine.size} processors; give at least that, or a smaller 'processors'"
            )

    def resized(self, jobs: Workload) -> Workload:
        """Return sampled jobs on the resized machine; unchanged without `resize`.

        Raises `InputError` if a job does not fit there, since all sizes must have the same jobs.
        """
        if self.resize is None:
            return jobs
        with self._named():
            platform = of_size(jobs.platform, self.resize)
        if platform is None:
            raise InputError(
                f"trace {self.name!r}: only a pool or hosts can have another size, and the jobs "
                f"are on a platform of kind {jobs.platform.name!r}"
            )
        widest = int(jobs.procs.max(initial=0))
        if widest > self.resize:
            raise InputError(
                f"trace {self.name!r}: a job requests {widest} processors, and the machine is to "
                f"have {self.resize}; leave such jobs out at all sizes, with select.widths = "
                f"[1, {self.resize}]"
            )
        if not (fits := platform.admits(jobs)).all():
            first = int(np.argmin(fits))
            raise InputError(
                f"trace {self.name!r}: job {jobs.job[first]} requests {jobs.procs[first]} "
                f"processors, more than its partition or its hosts have on {self.resize}; leave "
                "such jobs out at all sizes, with select.widths"
            )
        return jobs.take(slice(None), platform=platform)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], folder: Path) -> Trace:
        """Build a trace from plain values; `file` is relative to `folder`.

        Raises
        ------
        InputError
            If a key is unknown or a value is wrong.
        """
        values = dict(check_keys(cls, given))
        if "file" in values and "log" in values:
            raise InputError(f"give either file = {values['file']!r} or log")
        if isinstance(values.get("file"), str):
            if "\0" in values["file"]:
                raise InputError(
                    f"file is {values['file']!r}; give the name of a file, without NUL"
                )
            values["file"] = str((folder / values["file"]).resolve())
        if isinstance(values.get("map"), str) and values["map"].endswith(END):
            values["map"] = str((folder / values["map"]).resolve())
        if isinstance(values.get("join"), list):
            values["join"] = [_resolved(log, folder) for log in values["join"]]
        return cls(**values)

    @property
    def machine(self) -> Platform | None:
        """The requested platform; None if the log's own size applies."""
        if self.platform is not None:
            return platform_from_dict(self.platform)
        if self.processors is None and self.partitions is not None:
            return Pool(OnPartitions.from_dict(self.partitions).processors)
        if self.hosts is not None:
            return Pool(OnHosts.from_dict(self.hosts).machine.size)
        return None if self.processors is None else Pool(self.processors)

    @property
    def runs_on(self) -> Platform | None:
        """The platform of the trace's cells; None if it is the log's own."""
        if self.resize is not None:
            return of_size(self.machine or Pool(self.resize), self.resize)
        return self.machine if self.nodes is None else OnNodes.from_dict(self.nodes).platform

    def to_dict(self) -> dict[str, Any]:
        """Return the given keys as plain values, without the path of a named log."""
        plain = {k: v for k, v in to_plain(self).items() if v not in (None, {}, False)}
        if self.log is not None:
            plain.pop("file", None)
        return plain

    def located(self, folder: Path | None = None) -> Trace:
        """Return the trace with the file of its log, fetched if necessary; a model is unchanged.

        Parameters
        ----------
        folder : Path, optional
            A folder of logs to look in first; nothing is written to it.

        Raises
        ------
        InputError
            If the log is unknown, has unexpected content, or cannot be fetched.
        """
        if self.join is not None and not self.found:
            files = (part.located(folder).file or "" for part in self._parts)
            return replace(self, found=tuple(files))
        if self.log is None or self.file is not None:
            return self
        return replace(self, file=str(locate(self.log, folder)))

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the trace's logs that have been found."""
        return self.found or (() if self.file is None else (self.file,))

    @property
    def _parts(self) -> list[Trace]:
        """The traces of the logs that are joined."""
        parts = []
        for place, log in enumerate(self.join or ()):
            path = registry.is_path(log)
            one = Trace(
                name=self.name,
                file=log if path else self.found[place] if self.found else None,
                log=None if path else log,
                select=self.select,
                clean=self.clean,
            )
            parts.append(one)
        return parts

    def read(self) -> Workload | None:
        """Return the log, or None for a model.

        Raises
        ------
        InputError
            If the log cannot be found or read.
        """
        if self.model is not None:
            return None
        if self.join is not None:
            return self._joined(self.join)
        entry, machine = registry.find(self.log) if self.log else None, self.machine
        processors = machine.size if machine else entry.processors if entry else None
        path, clean = self.located().file or "", Clean.from_dict(self.clean)
        self._check_origins(path)
        if not self.select and (machine is None or machine == Pool(machine.size)):
            log = read_log(
                path,
                processors=processors,
                rows=self.rows,
                jobs=self.jobs,
                clean=clean,
                columns=self.map,
            )
            return self.placed(_of_a_century(log))
        size = processors if machine is None else None
        log = read_log(
            path,
            processors=size,
            platform=machine,
            rows=self.rows,
            clean=clean,
            columns=self.map,
        )
        kept = select(log if machine is None else on_platform(log, machine), **self.select)
        kept = kept if self.jobs is None else select_jobs(kept, self.jobs)
        return self.placed(_of_a_century(kept))

    def _joined(self, join: tuple[str, ...]) -> Workload:
        """Return the jobs of several logs, each of which is a cluster of a network."""
        how, parts = OnNetwork.from_dict(self.network or {}), self._parts
        with self._named():
            try:
                logs = [log for part in parts if (log := part.read()) is not None]
            except SizeUnknown as error:
                # 'processors' is not for logs that are joined.
                raise InputError(error.of_log) from None
            jobs = join_logs(logs, [registry.short_name(log) for log in join], how)
        return jobs if self.jobs is None else select_jobs(jobs, self.jobs)

    def _check_origins(self, path: str) -> None:
        """Refuse a network if the origins of its jobs are declared nowhere, or twice."""
        machine = self.machine
        if machine is None or not machine.participants:
            return
        mapped = None if self.map is None else True
        sidecar = FORMATS[format_of(path, mapped=mapped)].sidecar
        declared = sidecar is not None and sidecar.platform == machine.name
        if declared and self.network is not None:
            raise InputError(
                f"trace {self.name!r}: {path} gives the origin and the link requests of each "
                "job; leave 'network' out"
            )
        if not declared and self.network is None:
            raise InputError(
                f"trace {self.name!r}: {path} gives neither origins nor link requests of jobs; "
                "give them in a table 'network', for example with origin = 'partition'; without a "
                "key all jobs come from the first cluster"
            )

    def placed(self, jobs: Workload) -> Workload:
        """Return the jobs on the nodes, network, resources, partitions or hosts of the trace.

        Raises
        ------
        InputError
            If the jobs are already on nodes or a network, or for the reasons of `put_on_network`
            and `put_on_nodes`.
        """
        with self._named():
            resources = self.resources and OnResources.from_dict(self.resources)
            if self.partitions is not None:
                how = OnPartitions.from_dict(self.partitions)
                return put_on_partitions(jobs, how, resources.capacities if resources else None)
            if resources:
                return put_on_resources(jobs, resources)
            if self.hosts is not None:
                return put_on_hosts(jobs, OnHosts.from_dict(self.hosts))
            if self.network is not None:
                return put_on_network(jobs, OnNetwork.from_dict(self.network))
            if self.nodes is None:
                return jobs
            if jobs.platform.asks:
                raise InputError(
                    "'nodes' puts jobs of a pool on nodes, and these are on "
                    f"{jobs.machine} already; leave it out"
                )
            return put_on_nodes(jobs, OnNodes.from_dict(self.nodes))

    def acknowledgement(self) -> str:
        """Return the acknowledgement of the log; empty if unknown, and for a model.

        Raises
        ------
        InputError
            If the log cannot be found or read.
        """
        if self.join is not None:
            each = (part.acknowledgement() for part in self._parts)
            return "; ".join(whom for whom in dict.fromkeys(each) if whom)
        entry = registry.find(self.log) if self.log else None
        if self.model is not None or entry:
            return entry.acknowledge if entry else ""
        path = self.located().file or ""
        if self.map is not None:
            fields: FieldMap | None = field_map(self.map, "map")
        elif os.path.isfile(path) and FORMATS[format_of(path)].maps:
            fields = map_beside(path)
        else:
            fields = None
        declared = fields.about.get("acknowledge", "") if fields else ""
        return declared or registry.acknowledgement(path)


def named(text: str, folder: Path | None = None, **keys: Any) -> Trace:
    """Return the trace of a file or, if there is none, a log name on the command line.

    folder: as for `Trace.located`. keys: further attributes of the trace.
    """
    if text.startswith(("http://", "https://")):
        raise InputError(
            f"{text} is an address; 'farm traces fetch {text}' fetches the log and prints its "
            "file; give that file"
        )
    is_path = os.path.exists(text) or os.path.basename(text) != text or text.endswith(registry.ENDS)
    if is_path and (os.path.exists(text) or not registry.find(text)):
        return Trace(file=text, **keys)
    return Trace(log=text, **keys).located(folder)


def _resolved(log: object, folder: Path) -> object:
    """Return a path in a list of logs relative to a campaign's folder; names are unchanged."""
    if not isinstance(log, str) or not registry.is_path(log):
        return log
    if "\0" in log:
        raise InputError(f"join holds {log!r}; give the name of a file, without NUL")
    return str((folder / log).resolve())


def span_weeks(workload: Workload) -> int:
    """Return the number of weeks from the first to the last submission."""
    return int(workload.submit[-1] - workload.submit[0]) // WEEK + 1


def _of_a_century(log: Workload) -> Workload:
    """Refuse a log longer than a century: one of its times must be wrong."""
    if span_weeks(log) <= MOST_WEEKS:
        return log
    after = int(np.argmax(np.diff(log.submit)))
    years = int(log.submit[after + 1] - log.submit[after]) / (WEEK * MOST_WEEKS / 100)
    raise InputError(
        f"log {log.name!r}: job {log.job[after + 1]} is submitted at {log.submit[after + 1]} s, "
        f"{years:,.0f} years after its predecessor, and a log lasts at most a century; leave out "
        "wrong rows, or check the units of its times"
    )


def _check_parameters(name: str, parameters: Mapping[str, Any]) -> None:
    known, each = MODELS[name].parameters, MODELS[name].each
    for key, value in parameters.items():
        if not isinstance(value, (str, int, float, *([list] if key in each else []))):
            several = ", or a list of one number for each cluster" if key in each else ""
            raise InputError(f"{key}={value!r}; it must be a number or a name{several}")
        if key not in known:
            raise InputError(f"unknown parameter {key!r} of model {name!r}; {choices(key, known)}")


def _criteria(criteria: Mapping[str, Any]) -> dict[str, Any]:
    try:
        check_criteria(criteria)
    except InputError as error:
        raise InputError(f"select: {error}") from None
    plain = {key: list(v) if isinstance(v, tuple) else v for key, v in criteria.items()}
    if "dates" in plain:
        plain["dates"] = [str(day) for day in plain["dates"]]
    return plain

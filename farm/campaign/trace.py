"""Traces: the keys of a campaign for a source of jobs, its machine, and its sampling."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from schedfarm.core.arrays import MOST_JOBS, MOST_WEEKS
from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import AXES
from schedfarm.core.logs.rows import log_name
from schedfarm.core.machines.platform import Platform
from schedfarm.core.metrics.declared import METRICS
from schedfarm.core.models import MODELS
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign import machine
from schedfarm.farm.campaign.plain import (
    Count,
    Switch,
    Table,
    check_keys,
    check_name,
    check_types,
    put,
    to_plain,
)
from schedfarm.farm.campaign.sources import Source, check_source, in_folder, source_of
from schedfarm.farm.logs import registry
from schedfarm.farm.store.product import PRODUCTS

RESERVED = {*METRICS, *AXES, "zarr.json"} | {
    figure.name for row in PRODUCTS.values() for _, figure in row.sums
}
"""Names at the root of a store, apart from the groups of the traces."""


def _up_to(most: int) -> Meta:
    return Meta(ge=1, le=most, description=f"a whole number, at least 1 and at most {most}")


JobCount = Annotated[int, _up_to(MOST_JOBS)]
WeekCount = Annotated[int, _up_to(MOST_WEEKS)]
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
            put(self, file=os.fspath(self.file))
        given = self.log if self.log is not None else self.file
        if not self.name and isinstance(given, str):
            put(self, name=log_name(given))
        check_name("trace name", self.name)
        if self.name in RESERVED:
            raise InputError(
                f"trace name {self.name!r} is that of a summary array of the store; give another"
            )
        with self.named_errors():
            check_types(self)
            check_source(self)
            machine.take_machine(self)
            self.source.take(self)

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Add the name of the trace to errors raised in the context."""
        try:
            yield
        except InputError as error:
            raise InputError(f"trace {self.name!r}: {error}") from None

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], folder: Path) -> Trace:
        """Build a trace from plain values; paths are relative to `folder`.

        Raises
        ------
        InputError
            If a key is unknown or a value is wrong.
        """
        values = check_keys(cls, given)
        if "file" in values and "log" in values:
            raise InputError(f"give either file = {values['file']!r} or log")
        return cls(**in_folder(values, folder))

    def to_dict(self) -> dict[str, Any]:
        """Return the given keys as plain values, without the path of a named log."""
        plain = {k: v for k, v in to_plain(self).items() if v not in (None, {}, False)}
        if self.log is not None:
            plain.pop("file", None)
        return plain

    @property
    def source(self) -> Source:
        """The row of the source of the jobs."""
        return source_of(self)

    @property
    def machine(self) -> Platform | None:
        """The requested platform; None if the log's own size applies."""
        return machine.machine_of(self)

    @property
    def runs_on(self) -> Platform | None:
        """The platform of the trace's cells; None if it is the log's own."""
        return machine.runs_on(self)

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the trace's logs that have been found."""
        return self.found or (() if self.file is None else (self.file,))

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
        return self.source.located(self, folder)

    def read(self) -> Workload | None:
        """Return the log, or None for a model.

        Raises
        ------
        InputError
            If the log cannot be found or read.
        """
        return self.source.read(self)

    def acknowledgement(self) -> str:
        """Return the acknowledgement of the log; empty if unknown, and for a model.

        Raises
        ------
        InputError
            If the log cannot be found or read.
        """
        return self.source.acknowledgement(self)

    def placed(self, jobs: Workload) -> Workload:
        """Return the jobs on the nodes, network, resources, partitions or hosts of the trace."""
        with self.named_errors():
            return machine.placed(self, jobs)

    def resized(self, jobs: Workload) -> Workload:
        """Return sampled jobs on the resized machine; unchanged without `resize`.

        Raises `InputError` if a job does not fit there, since all sizes must have the same jobs.
        """
        if self.resize is None:
            return jobs
        with self.named_errors():
            return machine.resized(jobs, self.resize)


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

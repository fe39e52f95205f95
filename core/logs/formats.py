"""Table of the formats of logs: the recognition, reading and writing of files.

The functions import the module of a format only when they are called. The modules of formats import
this table, and the table is needed wherever names of files are read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedfarm.core.errors import InputError

if TYPE_CHECKING:
    from schedfarm.core.logs.clean import Clean
    from schedfarm.core.logs.field_map import FieldMap
    from schedfarm.core.logs.machine import Machine
    from schedfarm.core.logs.rows import Parsed
    from schedfarm.core.logs.schedules import LoggedSchedule
    from schedfarm.core.machines.platform import Platform
    from schedfarm.core.schedule import Schedule
    from schedfarm.core.workload.workload import Workload

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Sidecar:
    """Declare the file next to a log that describes the machine.

    Parameters
    ----------
    platform : str
        Kind of platform.
    read : callable
        Function from the file's path to the machine.
    write : callable
        Function from a workload, a schedule or None, and notes, to the bytes of the log and of the
        file.
    """

    platform: str
    read: Callable[[Path], Machine[Any]]
    write: Callable[[Workload, Schedule | None, Mapping[str, str] | None], tuple[bytes, bytes]]


@dataclass(frozen=True)
class Format:
    """Declare a format of logs.

    Parameters
    ----------
    meaning : str
        The format's full name.
    ends : tuple of str
        Lower-case suffixes of its files, before a ``.gz``.
    opens : callable
        Function that returns whether the stripped first line of a file proves this format.
    fields : int or None
        Number of words in a row, for files without an identifying first line or name; None if the
        number varies.
    parse : callable
        Function from a path, a machine in place of the sidecar's, and a map of columns, to the
        file's rows.
    schedule : callable, optional
        Function from a path, processors and cleaning, to the schedule recorded in the log.
    unsized : str
        Error message for a log without the size of its machine.
    sized_by : str
        Remedy if only the log can give the size.
    sidecar : Sidecar, optional
        File that describes the machine, for formats with such a file.
    maps : bool
        Whether the format supports a map of columns.
    write : callable, optional
        Function from a workload on a pool or grid, to the content of a file.
    """

    meaning: str
    ends: tuple[str, ...]
    opens: Callable[[str], bool]
    fields: int | None
    parse: Callable[[Path, Platform | None, FieldMap | None], Parsed]
    schedule: Callable[[Path, int | None, Clean], LoggedSchedule] | None = None
    unsized: str = ""
    sized_by: str = "give the log as SWF, with MaxProcs in its header"
    sidecar: Sidecar | None = None
    maps: bool = False
    write: Callable[[Workload], bytes] | None = None


def _swf(path: Path, _: Platform | None, fields: FieldMap | None) -> Parsed:
    from schedfarm.core.logs.swf import parse_swf

    return parse_swf(path, fields)


def _swf_bytes(jobs: Workload) -> bytes:
    from schedfarm.core.logs.swf import swf_bytes

    return swf_bytes(jobs)


def _swf_schedule(path: Path, processors: int | None, clean: Clean) -> LoggedSchedule:
    from schedfarm.core.logs.schedules import read_swf_schedule

    return read_swf_schedule(path, processors, clean)


def _gwf(path: Path, _: Platform | None, _fields: FieldMap | None) -> Parsed:
    from schedfarm.core.logs.gwf import parse_gwf

    return parse_gwf(path)


def _sacct(path: Path, _: Platform | None, _fields: FieldMap | None) -> Parsed:
    from schedfarm.core.logs.sacct import parse_sacct

    return parse_sacct(path)


def _batsim(path: Path, _: Platform | None, _fields: FieldMap | None) -> Parsed:
    from schedfarm.core.logs.batsim import parse_batsim

    return parse_batsim(path)


def _batsim_bytes(jobs: Workload) -> bytes:
    from schedfarm.core.logs.batsim import batsim_bytes

    return batsim_bytes(jobs)


def _oar(path: Path, platform: Platform | None, _: FieldMap | None) -> Parsed:
    from schedfarm.core.logs.oar import parse_oar

    return parse_oar(path, platform)


def _oar_machine(path: Path) -> Machine[Any]:
    from schedfarm.core.logs.machine import read_machine

    return read_machine(path)


def _oar_bytes(
    jobs: Workload, schedule: Schedule | None, notes: Mapping[str, str] | None
) -> tuple[bytes, bytes]:
    from schedfarm.core.logs.oar import oar_bytes

    return oar_bytes(jobs, schedule, notes)


def _clusters(path: Path, platform: Platform | None, _: FieldMap | None) -> Parsed:
    from schedfarm.core.logs.clusters import parse_clusters

    return parse_clusters(path, platform)


def _clusters_machine(path: Path) -> Machine[Any]:
    from schedfarm.core.logs.clusters import read_network

    return read_network(path)


def _clusters_bytes(
    jobs: Workload, schedule: Schedule | None, notes: Mapping[str, str] | None
) -> tuple[bytes, bytes]:
    from schedfarm.core.logs.clusters import clusters_bytes

    return clusters_bytes(jobs, schedule, notes)


def _mapped(path: Path, _: Platform | None, fields: FieldMap | None) -> Parsed:
    from schedfarm.core.logs.mapped import parse_mapped

    return parse_mapped(path, fields)


def _table_schedule(path: Path, processors: int | None, clean: Clean) -> LoggedSchedule:
    from schedfarm.core.logs.table_schedules import read_table_schedule

    return read_table_schedule(path, processors, clean)


def _names(line: str, separator: str) -> set[str]:
    return {word.strip() for word in line.lower().split(separator)}


FORMATS: dict[str, Format] = {
    "swf": Format(
        meaning="Standard Workload Format",
        ends=(".swf",),
        opens=lambda line: line.startswith(";"),
        fields=18,
        parse=_swf,
        schedule=_swf_schedule,
        unsized="the header gives no number as MaxProcs or MaxNodes",
        sized_by="add MaxProcs to its header",
        maps=True,
        write=_swf_bytes,
    ),
    "gwf": Format(
        meaning="Grid Workloads Format",
        ends=(".gwf",),
        opens=lambda line: line.startswith("#"),
        fields=29,
        parse=_gwf,
        unsized="the Grid Workloads Format does not give the machine's size",
    ),
    "sacct": Format(
        meaning="output of Slurm's sacct --parsable2",
        ends=(".sacct",),
        opens=lambda line: not {"jobid", "jobidraw"}.isdisjoint(line.lower().split("|")),
        fields=None,
        parse=_sacct,
        unsized="sacct does not give the machine's size",
    ),
    "batsim": Format(
        meaning="Batsim's workload file",
        ends=(".json",),
        opens=lambda line: line.startswith("{"),
        fields=None,
        parse=_batsim,
        unsized="its nb_res is missing",
        sized_by="add nb_res to it",
        write=_batsim_bytes,
    ),
    "oar": Format(
        meaning="jobs on nodes as CSV, and the machine in a TOML file next to it",
        ends=(".csv",),
        opens=lambda line: {"job", "submit", "walltime"} <= _names(line, ","),
        fields=None,
        parse=_oar,
        schedule=_table_schedule,
        sidecar=Sidecar("nodes", _oar_machine, _oar_bytes),
    ),
    "clusters": Format(
        meaning="jobs on clusters with links as CSV, and the clusters in a TOML file next to it",
        ends=(".csv",),
        opens=lambda line: {"submit", "procs", "origin"} <= _names(line, ","),
        fields=None,
        parse=_clusters,
        schedule=_table_schedule,
        sidecar=Sidecar("network", _clusters_machine, _clusters_bytes),
    ),
    "mapped": Format(
        meaning="any table as Parquet or CSV, with a map of its columns",
        ends=(".parquet", ".csv"),
        opens=lambda line: line.startswith("PAR1"),
        fields=None,
        parse=_mapped,
        unsized="the map does not give the machine's size",
        sized_by="add processors = ... to the map",
        maps=True,
    ),
}
"""Every format by its name; the first is the default for unrecognised files."""


def sidecar_of(platform: str) -> Sidecar | None:
    """Return the sidecar for a kind of platform; None if SWF can hold the jobs.

    Examples
    --------
    >>> sidecar_of("network").platform, sidecar_of("pool")
    ('network', None)
    """
    rows = (known.sidecar for known in FORMATS.values())
    return next((row for row in rows if row is not None and row.platform == platform), None)


def writer_of(path: Path) -> Callable[[Workload], bytes]:
    """Return the function that writes jobs on a pool or grid, by the suffix of a file's name.

    Examples
    --------
    >>> writer_of("kth.swf.gz") is FORMATS["swf"].write
    True
    >>> writer_of("kth.gwf")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: kth.gwf: jobs that request processors only are written as
    .swf or .json, also with .gz; give such a name
    """
    written = [row for row in FORMATS.values() if row.write is not None]
    name = os.fspath(path)
    for row in written:
        if row.write is not None and name.lower().removesuffix(".gz").endswith(row.ends):
            return row.write
    ends = " or ".join(end for row in written for end in row.ends)
    raise InputError(
        f"{name}: jobs that request processors only are written as {ends}, also with .gz; give "
        "such a name"
    )


def file_ends() -> tuple[str, ...]:
    """Return the suffixes of log files, the most likely first.

    Examples
    --------
    >>> file_ends()[:3]
    ('.swf.gz', '.swf', '.gwf.gz')
    """
    ends = dict.fromkeys(end for known in FORMATS.values() for end in known.ends)
    return tuple(end + packed for end in ends for packed in (".gz", ""))

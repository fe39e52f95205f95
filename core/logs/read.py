"""Reading of logs of every format, from a file to a workload."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import AS_HERE, Clean
from schedfarm.core.logs.field_map import FieldMap, field_map, has_map_beside, map_beside
from schedfarm.core.logs.formats import FORMATS, Format
from schedfarm.core.logs.packed import check_is_file
from schedfarm.core.logs.rows import (
    Kept,
    Parsed,
    check_sizes,
    chosen_rows,
    kept_rows,
    needed_size,
    to_workload,
)
from schedfarm.core.machines.platform import Platform
from schedfarm.core.workload.workload import Workload

if TYPE_CHECKING:
    from schedfarm.core.logs.schedules import LoggedSchedule

_PEEK = 2**16
_GZIP_WINDOW = 31


def read_log(
    path: str | os.PathLike[str],
    *,
    processors: int | None = None,
    platform: Platform | None = None,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
    clean: Clean = AS_HERE,
    columns: Mapping[str, Any] | str | None = None,
) -> Workload:
    r"""Read a log of any format in `core.logs.formats.FORMATS`, plain or gzip.

    `format_of` finds the format. Rows that cannot be simulated are dropped and counted by reason
    (`core.logs.rows.REASONS`, and reasons of the format) in the workload's `dropped`. The workload
    has the name of the file without its suffixes.

    - **SWF**, the Standard Workload Format of the Parallel Workloads Archive.
    - **GWF**, the Grid Workloads Format. Users, groups, queues and partitions keep their numbers if
      all values of the field are numbers. Otherwise they are numbered from 1 in order of
      appearance, and the workload's `names` has the name of each number.
    - **sacct**, the output of ``sacct --parsable2``, with a first line that names the columns
      (`core.logs.sacct.ASK`). Submit times count from the earliest submit time of the file; all
      times are taken as UTC. Users, accounts (`group`), qualities of service (`queue`) and
      partitions are numbered as in GWF. Steps count as rows.
    - **Jobs on nodes** as CSV. A job requests `weight` processors (1 if empty) on each of `nodes`
      nodes of the set `properties`. It is killed after `walltime` s. `reserved` is the start of an
      advance reservation, `serial` the serial part of a moldable job's work, 0 to 1. The machine is
      in the file with the same name and the suffix ``.toml``.
    - **Jobs on clusters with links** as CSV. A job is submitted to the cluster `origin`, and
      requests `procs` processors for `estimate` s, by default its run time. `communication` is the
      part of the run time for communication. `bandwidth` is the traffic of each of its processors
      during communication, kbit/s. `alltoall` is the all-to-all part of this traffic. Each of these
      is 0 if empty. Jobs without a number are numbered by their row. The clusters are in the file
      with the same name and the suffix ``.toml``.
    - **Batsim**, a workload file in JSON, with profiles of known run times.

    Parameters
    ----------
    path : path
        The log.
    processors : int, optional
        Size of the machine. By default it is MaxProcs, or else MaxNodes, in the header of an SWF
        log, or `nb_res` of Batsim. GWF and sacct do not contain the size. A log of jobs on nodes or
        clusters needs no size.
    platform : Platform, optional
        The machine. It replaces the machine in a file next to the log, if both are of the same
        kind; for other logs only its size counts.
    rows : (int, int), optional
        Rows [first, last) of the file, by default all. Rows are counted from 0, before any row is
        dropped or sorted.
    jobs : int, optional
        Number of jobs to keep: the first by (submit, position) that can be simulated.
    clean : Clean
        Treatment of processors, estimates and run times.
    columns : mapping or str, optional
        Map of the log's columns: a table with ``columns``, or the name of a ready map. By default
        it is the map in the TOML file with the log's name.

    Returns
    -------
    Workload
        The jobs, sorted by (submit, position).

    Raises
    ------
    InputError
        If a file is missing, damaged or of another format; if a value, `rows` or `jobs` is out of
        range; if the size of the machine is unknown; or if no job is left.

    References
    ----------
    S. J. Chapin et al., Benchmarks and standards for the evaluation of parallel job schedulers,
    JSSPP 1999; https://www.cs.huji.ac.il/labs/parallel/workload/swf.html

    A. Iosup et al., The Grid Workloads Archive, Future Generation Computer Systems 24(7), 2008.

    https://slurm.schedmd.com/sacct.html

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.swf"
    ...     _ = path.write_text("; MaxProcs: 4\n"
    ...         "1 0 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    ...         "2 5 -1 -1 2 -1 -1 2 20 -1 5 7 -1 -1 -1 -1 -1 -1\n")
    ...     w = read_log(path)
    >>> w.name, len(w), dict(w.dropped)
    ('two', 1, {'no run': 1})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "june.sacct"
    ...     _ = path.write_text("JobID|User|Submit|Elapsed|Timelimit|ReqCPUS\n"
    ...         "9|ann|2024-06-01T00:00:00|01:00:00|1-00:00:00|4\n"
    ...         "9.batch||2024-06-01T00:00:00|01:00:00||4\n")
    ...     w = read_log(path, processors=8)
    >>> w.name, w.run.tolist(), w.estimate.tolist(), dict(w.dropped)
    ('june', [3600], [86400], {'step': 1})
    """
    source = os.fspath(path)
    fields = None if columns is None else field_map(columns, f"{source}: columns")
    form = FORMATS[format_of(path, mapped=None if fields is None else True)]
    if fields is not None and not form.maps:
        raise InputError(
            f"{source}: a map of columns is for SWF and for tables of unknown columns, and "
            f"this is {form.meaning}; leave it out"
        )
    # A format without maps may have TOML files of another kind next to its logs.
    if fields is None and form.maps:
        fields = map_beside(path)
    return read_as(
        path, form, processors, platform, rows=rows, jobs=jobs, clean=clean, fields=fields
    ).workload


def read_swf(
    path: str | os.PathLike[str],
    *,
    processors: int | None = None,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
    clean: Clean = AS_HERE,
) -> Workload:
    r"""Read a log as the Standard Workload Format, regardless of its name and first line.

    Parameters
    ----------
    path, processors, rows, jobs, clean
        As for `core.read_log`.

    Returns
    -------
    Workload
        The jobs, sorted by (submit, position).

    Raises
    ------
    InputError
        As `core.read_log`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "log.csv"
    ...     _ = path.write_text("1 0 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n")
    ...     read_swf(path, processors=4).estimate.tolist()
    [20]
    """
    form = FORMATS["swf"]
    return read_as(path, form, processors, rows=rows, jobs=jobs, clean=clean).workload


@dataclass(frozen=True, eq=False)
class Loaded:
    """Hold the stages of reading a log: all rows, the kept rows, and the workload."""

    parsed: Parsed
    kept: Kept
    workload: Workload


def read_as(
    path: str | os.PathLike[str],
    form: Format,
    processors: int | None = None,
    platform: Platform | None = None,
    *,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
    clean: Clean = AS_HERE,
    fields: FieldMap | None = None,
) -> Loaded:
    """Read a log of a format."""
    source = os.fspath(path)
    given = _given(source, form, processors, platform)
    if form.sidecar is None and platform is not None:
        processors = platform.size
    check_sizes(source, processors, jobs)
    parsed = form.parse(path, given, fields)
    columns = chosen_rows(parsed.all_columns(source, clean), source, rows)
    faults = chosen_rows(parsed.faults, source, rows) if parsed.faults else {}
    machine: int | Platform
    if parsed.platform is None:
        size = processors if processors is not None else parsed.processors
        machine = needed_size(source, size, form.unsized, columns, clean, add=form.sized_by)
    else:
        machine = parsed.platform
    size = machine if isinstance(machine, int) else machine.size
    kept = kept_rows(columns, source, size, jobs=jobs, faults=faults, clean=clean)
    return Loaded(parsed, kept, to_workload(kept, source, machine, parsed, clean))


def _given(
    source: str, form: Format, processors: int | None, platform: Platform | None
) -> Platform | None:
    """Return the machine that replaces the sidecar's machine; None if there is none."""
    if form.sidecar is None:
        return None
    if processors is not None:
        from schedfarm.core.logs.machine import machine_file
        from schedfarm.core.machines.platform import PLATFORMS

        parts = f"{PLATFORMS[form.sidecar.platform].form.part}s"
        raise InputError(
            f"{source}: processors={processors} is the size of a pool, and this log is of jobs on "
            f"{parts}; leave it out, the {parts} are in {machine_file(source)}"
        )
    same = platform is not None and platform.name == form.sidecar.platform
    return platform if same else None


def read_schedule(
    path: str | os.PathLike[str], processors: int | None = None, clean: Clean = AS_HERE
) -> LoggedSchedule:
    """Read the schedule that a log records.

    The schedule has only jobs with known starts, and the name of its policy is empty. A file in a
    format without schedules is read as SWF.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from schedfarm.core import Workload, simulate, write_swf
    >>> w = Workload.from_columns(submit=[0, 1], run=[5, 5], estimate=[6, 6], procs=[2, 2],
    ...                           processors=3)
    >>> with TemporaryDirectory() as folder:
    ...     write_swf(w, folder + "/two.swf", simulate(w, "fcfs+easy"))
    ...     read_schedule(folder + "/two.swf").start.tolist()
    [0, 5]
    """
    rows = (FORMATS[format_of(path)], *FORMATS.values())
    read = next(row.schedule for row in rows if row.schedule is not None)
    return read(path, processors, clean)


def format_of(path: str | os.PathLike[str], *, mapped: bool | None = None) -> str:
    """Return the key in `FORMATS` of a log's format, from its first line, name or first row.

    A first line that begins with ``;`` means SWF, and with ``#`` GWF. A first line with a column
    JobID between ``|`` means sacct. Otherwise the suffix ``.swf``, ``.gwf``, ``.sacct`` or
    ``.json`` (Batsim) decides, with or without ``.gz``, and then the number of fields of a row. The
    default is SWF. If there is a map of columns, by default in the TOML file with the log's name,
    formats with maps have precedence.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "log.txt"
    ...     _ = path.write_text("JobID|User")
    ...     format_of(path)
    'sacct'
    """
    source = os.fspath(path)
    first = next((line for line in _first_lines(source) if line.strip()), "").strip()
    file, words = source.lower().removesuffix(".gz"), len(first.split())
    opened = (name for name, known in FORMATS.items() if known.opens(first))
    named = [name for name, known in FORMATS.items() if file.endswith(known.ends)]
    if mapped if mapped is not None else has_map_beside(path):
        named.sort(key=lambda name: not FORMATS[name].maps)
    shaped = (name for name, known in FORMATS.items() if known.fields == words)
    return next(chain(opened, named, shaped, FORMATS))


def _first_lines(source: str) -> list[str]:
    check_is_file(source)
    try:
        with open(source, "rb") as file:
            begin = file.read(_PEEK)
    except OSError as error:
        raise InputError(f"{source}: cannot read the log ({error.strerror})") from None
    # After an error, the format's reader reads plain text or refuses damaged data.
    with contextlib.suppress(zlib.error):
        begin = zlib.decompressobj(_GZIP_WINDOW).decompress(begin, _PEEK)
    return begin.decode("utf-8-sig", errors="replace").splitlines()

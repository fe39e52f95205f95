"""Logs of the Standard Workload Format, version 2.2: read into a workload, written from one."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.files import write_whole
from schedfarm.core.logs import swf_cache, swf_text
from schedfarm.core.logs.clean import AS_HERE, Clean
from schedfarm.core.logs.packed import check_is_file, unpacked_parts
from schedfarm.core.logs.rows import (
    check_sizes,
    chosen_rows,
    kept_rows,
    needed_size,
    to_workload,
)
from schedfarm.core.logs.swf_text import Log
from schedfarm.core.workload.workload import Workload

if TYPE_CHECKING:
    from schedfarm.core.schedule import Schedule

USED = (
    "job",
    "submit",
    "wait",
    "run",
    "allocated",
    "requested",
    "request_time",
    "user",
    "group",
    "queue",
    "partition",
)
"""The fields of a row that a workload is made of."""

CACHED_FROM = 2**16
"""Files of fewer bytes are not cached: they parse in less time than the cache takes."""


def read_swf(
    path: str | os.PathLike[str],
    *,
    processors: int | None = None,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
    clean: Clean = AS_HERE,
) -> Workload:
    r"""Read a log of the Standard Workload Format, plain or gzip.

    Rows that cannot be simulated are dropped and counted by reason (`core.logs.rows.REASONS`) in
    the workload's `dropped`. The workload's name is the file's without the ends of logs' names.

    Parameters
    ----------
    path : path
        The log.
    processors : int, optional
        Size of the machine; by default the header's MaxProcs, else its MaxNodes.
    rows : (int, int), optional
        Only the data rows from the first number, counted from 0, up to but without the second,
        chosen before anything is dropped or sorted.
    jobs : int, optional
        Only the first jobs by (submit, position) of those that can be simulated.
    clean : Clean
        Which processors, estimates and run times count.

    Returns
    -------
    Workload
        The jobs, sorted by (submit, position).

    Raises
    ------
    InputError
        If the file is missing, damaged or not SWF, if no one gives the machine's size, if `rows`
        or `jobs` are out of range, or if no job is left.

    References
    ----------
    S. J. Chapin et al., Benchmarks and standards for the evaluation of parallel job schedulers,
    JSSPP 1999; https://www.cs.huji.ac.il/labs/parallel/workload/swf.html

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.swf"
    ...     _ = path.write_text("; MaxProcs: 4\n"
    ...         "1 0 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    ...         "2 5 -1 -1 2 -1 -1 2 20 -1 5 7 -1 -1 -1 -1 -1 -1\n")
    ...     w = read_swf(path)
    >>> w.name, len(w), dict(w.dropped)
    ('two', 1, {'no run': 1})
    """
    source = os.fspath(path)
    check_sizes(source, processors, jobs)
    log = _stored(path, USED)
    columns = chosen_rows(log.columns, source, rows)
    machine = machine_of(log, source, processors, columns, clean)
    kept = kept_rows(columns, source, machine, jobs=jobs, clean=clean)
    return to_workload(
        kept, source, machine, max_estimate=log.max_estimate, epoch=log.epoch, clean=clean
    )


def read_fields(path: str | os.PathLike[str], fields: tuple[str, ...] = swf_text.FIELDS) -> Log:
    """Read these fields of every row of a log, from the cache if it was read before.

    Parameters
    ----------
    path : path
        The log, plain or gzip.
    fields : tuple of str
        Names out of `core.logs.swf_text.FIELDS`.

    Returns
    -------
    Log
        The columns in the order of the rows, and the header's numbers.

    Raises
    ------
    InputError
        If the file is missing, damaged or not SWF.
    """
    log = _stored(path, fields)
    wide = {name: column.astype(np.int64, copy=False) for name, column in log.columns.items()}
    return replace(log, columns=wide)


def _stored(path: str | os.PathLike[str], fields: tuple[str, ...]) -> Log:
    """Return these fields, int32 where they may be; a workload widens its own copy."""
    source = os.fspath(path)
    check_is_file(path)
    try:
        with open(path, "rb") as file:
            log = _parsed(file, source, fields)
    except OSError as error:
        raise InputError(f"{source}: cannot read the log ({error.strerror})") from None
    return replace(log, columns={field: log.columns[field] for field in fields})


def _parsed(file: BufferedReader, source: str, fields: tuple[str, ...]) -> Log:
    before = os.fstat(file.fileno())
    if before.st_size < CACHED_FROM:
        return swf_text.parse(unpacked_parts(file, source), source)
    name = swf_cache.key(file)
    log = swf_cache.load(name, fields)
    if log is None:
        log, after = swf_text.parse(unpacked_parts(file, source), source), os.fstat(file.fileno())
        # A file that was written meanwhile is not the one of this name.
        if (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
            swf_cache.store(name, log)
    return log


def machine_of(
    log: Log,
    source: str,
    processors: int | None,
    columns: Mapping[str, Int64],
    clean: Clean = AS_HERE,
) -> int:
    """Return the size of a log's machine: the one given, else what the header says.

    Raises
    ------
    InputError
        If nobody says it, with the size that the chosen rows need at least.
    """
    size = processors if processors is not None else log.processors or None
    fault = "the header gives neither MaxProcs nor MaxNodes"
    add = "add MaxProcs to its header"
    return needed_size(source, size, fault, columns, clean, add=add)


def write_swf(
    workload: Workload,
    path: str | os.PathLike[str],
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write a workload, or a schedule of it, as a log of the Standard Workload Format.

    The same jobs give the same bytes. A killed job's run time is written as its estimate + 1 s,
    so that a reader sees it exceed the request; the platform's largest estimate is a header line
    ``MaxEstimate`` of ours. Hence `read_swf` gives an equal workload.

    Parameters
    ----------
    workload : Workload
        The jobs.
    path : path
        The file to make or replace; gzip if it ends in ``.gz``.
    schedule : Schedule, optional
        A schedule of this workload, for the column of wait times; without it they are unknown.
    notes : mapping of str to str, optional
        Further lines of the header, such as what the schedule was made by.

    Raises
    ------
    InputError
        If the file cannot be written, the schedule is of other jobs, or a killed job's run time
        is not its estimate.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[2], procs=[1], processors=2)
    >>> with TemporaryDirectory() as folder:
    ...     write_swf(w, folder + "/one.swf.gz")
    ...     read_swf(folder + "/one.swf.gz").digest() == w.digest()
    True
    """
    packed = os.fspath(path).lower().endswith(".gz")
    content = swf_bytes(workload, schedule, notes, packed=packed)
    target = Path(path)
    try:
        # A folder that is not there is misspelt more often than meant.
        target.parent.stat()
        write_whole(target, content)
    except OSError as error:
        raise InputError(f"{target}: cannot write the log ({error.strerror})") from None


def swf_bytes(
    workload: Workload,
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
    *,
    packed: bool = False,
) -> bytes:
    """Return the file that `write_swf` writes.

    Parameters
    ----------
    workload, schedule, notes
        As for `write_swf`.
    packed : bool
        Whether to compress it, as gzip.

    Raises
    ------
    InputError
        If the schedule is of other jobs, or a killed job's run time is not its estimate.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[2], procs=[1], processors=2)
    >>> swf_bytes(w, notes={"Policy": "saf+easy"}).splitlines()[-2:]
    [b'; Policy: saf+easy', b'1 0 -1 1 1 -1 -1 1 2 -1 1 -1 -1 -1 -1 -1 -1 -1']
    """
    if schedule is not None and schedule.workload.digest() != workload.digest():
        raise InputError(f"workload {workload.name!r}: the schedule is of other jobs")
    # Such a job exists in no log, and no log could say it.
    odd = workload.killed & ((workload.run != workload.estimate) | (workload.estimate == 0))
    if odd.any():
        job = int(workload.job[np.argmax(odd)])
        raise InputError(
            f"workload {workload.name!r}: job {job} is marked as killed; "
            "its run time must be its estimate, above 0 s"
        )
    text = _text(workload, schedule, notes or {}).encode()
    return gzip.compress(text, compresslevel=6, mtime=0) if packed else text


def _text(workload: Workload, schedule: Schedule | None, notes: Mapping[str, str]) -> str:
    wait = np.full(len(workload), -1) if schedule is None else schedule.wait
    columns = (
        workload.job,
        workload.submit,
        wait,
        workload.run + workload.killed,
        workload.procs,
        workload.procs,
        workload.estimate,
        np.where(workload.killed, 5, 1),
        workload.user,
    )
    name = " ".join(workload.name.split())
    start = f"; UnixStartTime: {workload.epoch}\n" if workload.epoch > 0 else ""
    header = (
        f"; Version: 2.2\n; Computer: {name}\n; MaxJobs: {len(workload)}\n"
        f"; MaxProcs: {workload.processors}\n; MaxEstimate: {workload.max_estimate}\n{start}"
        "; Note: written by schedfarm; times in s; a killed job runs 1 s beyond its request\n"
    )
    header += "".join(f"; {key}: {' '.join(note.split())}\n" for key, note in notes.items())
    row = "%d %d %d %d %d -1 -1 %d %d -1 %d %d -1 -1 -1 -1 -1 -1\n"
    lists = (column.tolist() for column in columns)
    return header + "".join([row % values for values in zip(*lists, strict=True)])

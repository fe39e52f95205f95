"""Reading and writing of logs of the Standard Workload Format, version 2.2."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from io import BufferedReader
from typing import TYPE_CHECKING

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.logs import swf_cache, swf_text
from schedfarm.core.logs.packed import check_is_file, unpacked_parts, write_log
from schedfarm.core.logs.rows import Kept, Parsed
from schedfarm.core.logs.swf_text import Log
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Workload

if TYPE_CHECKING:
    from schedfarm.core.logs.field_map import FieldMap
    from schedfarm.core.schedule import Schedule

USED = (
    "job",
    "submit",
    "wait",
    "run",
    "allocated",
    "requested",
    "request_time",
    "status",
    "user",
    "group",
    "queue",
    "partition",
)
"""Fields of a row that become columns of a workload."""

CANCELLED = 5
"""Status of a job that was cancelled, before or after its start."""

CACHED_FROM = 2**16
"""Least size of a cached file, bytes: smaller files are parsed faster than the cache is read."""


def parse_swf(path: str | os.PathLike[str], fields: FieldMap | None = None) -> Parsed:
    """Read the rows of a log, from the cache if possible; a map may declare further fields."""
    log = _stored(path, USED, fields)
    undeclared, wait = log.undeclared, log.columns["wait"]
    # The mask has one byte per row; waits are computed only if needed.
    waited = (log.columns.pop("status") == CANCELLED) & (log.columns["run"] <= 0)

    def ignored(kept: Kept) -> dict[str, int]:
        found = {
            f"with a value in {name}, which no map declares": int(rows.sum())
            for name, rows in ((name, kept[name]) for name in undeclared)
        }
        return {what: count for what, count in found.items() if count}

    return Parsed(
        {**log.columns, **log.further, **undeclared},
        processors=log.processors or None,
        max_estimate=log.max_estimate,
        epoch=log.epoch,
        names=log.names,
        ignored=ignored,
        left=lambda: np.where(waited & (wait >= 0), wait, UNKNOWN).astype(np.int64),
    )


def read_fields(path: str | os.PathLike[str], fields: tuple[str, ...] = swf_text.FIELDS) -> Log:
    """Read fields of every row of a log as int64, from the cache if possible."""
    log = _stored(path, fields)
    wide = {name: column.astype(np.int64, copy=False) for name, column in log.columns.items()}
    return replace(log, columns=wide)


def _stored(
    path: str | os.PathLike[str], fields: tuple[str, ...], declared: FieldMap | None = None
) -> Log:
    """Return some fields, as int32 if they fit; a workload widens its own copy."""
    source = os.fspath(path)
    check_is_file(path)
    try:
        with open(path, "rb") as file:
            log = _parsed(file, source, fields, declared)
    except OSError as error:
        raise InputError(f"{source}: cannot read the log ({error.strerror})") from None
    return replace(log, columns={field: log.columns[field] for field in fields})


def _parsed(
    file: BufferedReader, source: str, fields: tuple[str, ...], declared: FieldMap | None
) -> Log:
    if declared is None:
        try:
            return _of_18_fields(file, source, fields)
        except swf_text.Wide:
            pass
    text = b"".join(unpacked_parts(file, source)).removeprefix(b"\xef\xbb\xbf")
    if b"\0" in text:
        raise InputError(f"{source} is neither SWF text nor gzip; it holds binary data")
    from schedfarm.core.logs.swf_wide import wide_log

    return wide_log(text, source, declared)


def _of_18_fields(file: BufferedReader, source: str, fields: tuple[str, ...]) -> Log:
    before = os.fstat(file.fileno())
    if before.st_size < CACHED_FROM:
        return swf_text.parse(unpacked_parts(file, source), source)
    name = swf_cache.key(file)
    log = swf_cache.load(name, fields)
    if log is None:
        log, after = swf_text.parse(unpacked_parts(file, source), source), os.fstat(file.fileno())
        # If the file has been replaced meanwhile, this name is the digest of other content.
        if (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
            swf_cache.store(name, log)
    return log


def write_swf(
    workload: Workload,
    path: str | os.PathLike[str],
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write a workload, or its schedule, as a log of the Standard Workload Format.

    Equal jobs give equal bytes, and `read_log` gives an equal workload. The run time of a killed
    job is written as its estimate + 1 s, so that it exceeds the request. The platform's largest
    estimate is written as ``MaxEstimate``, an additional line of the header. A job that may leave
    the queue (in a schedule: a job that left) is written as cancelled after its wait, without a run
    time. To read such jobs, use ``Clean(cancelled="queue")``. Groups, queues and partitions are
    written as numbers, without their names.

    Parameters
    ----------
    workload : Workload
        The jobs.
    path : path
        The file to make or replace; gzip if it ends in ``.gz``.
    schedule : Schedule, optional
        A schedule of this workload, for the column of wait times; otherwise waits are unknown.
    notes : mapping of str to str, optional
        Further lines of the header, such as the policy of the schedule.

    Raises
    ------
    InputError
        If the file cannot be written, if the schedule has other jobs, or if the run time of a
        killed job differs from its estimate.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from schedfarm.core import read_log
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[2], procs=[1], processors=2)
    >>> with TemporaryDirectory() as folder:
    ...     write_swf(w, folder + "/one.swf.gz")
    ...     read_log(folder + "/one.swf.gz").digest() == w.digest()
    True
    """
    write_log(path, swf_bytes(workload, schedule, notes))


def swf_bytes(
    workload: Workload,
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> bytes:
    """Return the uncompressed content of the file that `write_swf` writes.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[2], procs=[1], processors=2)
    >>> swf_bytes(w, notes={"Policy": "saf+easy"}).splitlines()[-2:]
    [b'; Policy: saf+easy', b'1 0 -1 1 1 -1 -1 1 2 -1 1 -1 -1 -1 -1 -1 -1 -1']
    """
    if schedule is not None and schedule.workload.digest() != workload.digest():
        raise InputError(f"workload {workload.name!r}: the schedule is of other jobs")
    check_killed(workload)
    return _text(workload, schedule, notes or {}).encode()


def check_killed(workload: Workload) -> None:
    """Refuse a killed job whose run time differs from its estimate: logs cannot represent it."""
    odd = workload.killed & ((workload.run != workload.estimate) | (workload.estimate == 0))
    if odd.any():
        job = int(workload.job[np.argmax(odd)])
        raise InputError(
            f"workload {workload.name!r}: job {job} is marked as killed; "
            "its run time must equal its estimate and exceed 0 s"
        )


def _text(workload: Workload, schedule: Schedule | None, notes: Mapping[str, str]) -> str:
    wait = np.full(len(workload), -1) if schedule is None else schedule.wait
    gone = workload.leave >= 0 if schedule is None else schedule.withdrawn
    columns = (
        workload.job,
        workload.submit,
        np.where(gone, workload.leave, wait),
        np.where(gone, -1, workload.run + workload.killed),
        workload.procs,
        workload.procs,
        workload.estimate,
        np.where(workload.killed | gone, CANCELLED, 1),
        workload.user,
        workload.group,
        workload.queue,
        workload.partition,
    )
    name = " ".join(workload.name.split())
    start = f"; UnixStartTime: {workload.epoch}\n" if workload.epoch > 0 else ""
    header = (
        f"; Version: 2.2\n; Computer: {name}\n; MaxJobs: {len(workload)}\n"
        f"; MaxProcs: {workload.processors}\n; MaxEstimate: {workload.max_estimate}\n{start}"
        "; Note: written by schedfarm; times in s; a killed job runs 1 s beyond its request\n"
    )
    header += "".join(f"; {key}: {' '.join(note.split())}\n" for key, note in notes.items())
    row = "%d %d %d %d %d -1 -1 %d %d -1 %d %d %d -1 %d %d -1 -1\n"
    lists = (column.tolist() for column in columns)
    return header + "".join([row % values for values in zip(*lists, strict=True)])

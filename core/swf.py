"""Logs of the Standard Workload Format, version 2.2: read into a workload, written from one."""

from __future__ import annotations

import contextlib
import gzip
import os
import threading
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core import swf_cache, swf_text
from core.checks import is_whole, whole
from core.errors import InputError
from core.swf_text import Log
from core.workload import Int64, Workload

if TYPE_CHECKING:
    from core.schedule import Schedule

USED = ("job", "submit", "run", "allocated", "requested", "request_time", "user")
"""The fields of a row that a workload is made of."""

REASONS = {
    "no procs": "neither requested nor allocated processors are known",
    "too wide": "more processors than the machine has",
    "no run": "run time below 0: the job was cancelled before it started",
    "no submit": "submit time below 0",
}
"""Why a row cannot be simulated; a row with several reasons counts under the first of them."""

CACHED_FROM = 2**16
"""Files of fewer bytes are not cached: they parse in less time than the cache takes."""

_GZIP = b"\x1f\x8b"


def read_swf(
    path: str | os.PathLike[str],
    *,
    processors: int | None = None,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
) -> Workload:
    r"""Read a log of the Standard Workload Format, plain or gzip.

    Rows that cannot be simulated are dropped and counted by reason (`REASONS`) in the
    workload's `dropped`. The workload's name is the file's without ``.swf`` and ``.gz``.

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
    for what, value in (("processors", processors), ("jobs", jobs)):
        if value is not None:
            whole(f"{source}: {what}", value, least=1)
    log = read_log(path, USED)
    machine = _machine(log, source) if processors is None else int(processors)
    columns = log.columns if rows is None else _chosen_rows(log, source, rows)
    return _workload(columns, source, machine, log.max_estimate, jobs)


def read_log(path: str | os.PathLike[str], fields: tuple[str, ...] = swf_text.FIELDS) -> Log:
    """Read these fields of every row of a log, from the cache if it was read before.

    Parameters
    ----------
    path : path
        The log, plain or gzip.
    fields : tuple of str
        Names out of `core.swf_text.FIELDS`.

    Returns
    -------
    Log
        The columns in the order of the rows, and the header's numbers.

    Raises
    ------
    InputError
        If the file is missing, damaged or not SWF.
    """
    source = os.fspath(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{source}: cannot read the log ({error.strerror})") from None
    cached = len(content) >= CACHED_FROM
    name = swf_cache.key(content) if cached else ""
    log = swf_cache.load(name, fields) if cached else None
    if log is None:
        log = swf_text.parse(_unpacked(content, source), source)
        if cached:
            swf_cache.store(name, log)
    return log


def _unpacked(content: bytes, source: str) -> bytes:
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(
            f"{source}: the gzip data is truncated or damaged ({error}); fetch the log again"
        ) from None


def _machine(log: Log, source: str) -> int:
    if not log.processors:
        raise InputError(
            f"{source}: the header gives neither MaxProcs nor MaxNodes; "
            "give the machine's size as processors"
        )
    return log.processors


def _chosen_rows(log: Log, source: str, rows: tuple[int, int]) -> dict[str, Int64]:
    count = log.columns["submit"].size
    given = list(rows) if isinstance(rows, (tuple, list)) else []
    if len(given) != 2 or not all(map(is_whole, given)) or not 0 <= given[0] < given[1] <= count:
        raise InputError(
            f"{source}: rows={rows!r} is not a range of the log's {count} rows; "
            f"give two whole numbers with 0 <= first < last <= {count}"
        )
    return {name: column[given[0] : given[1]] for name, column in log.columns.items()}


def _workload(
    column: dict[str, Int64], source: str, machine: int, max_estimate: int, jobs: int | None
) -> Workload:
    procs = np.where(column["requested"] > 0, column["requested"], column["allocated"])
    keep, dropped = _fit(column, procs, machine)
    if not keep.size:
        listed = ", ".join(f"{count} {reason}" for reason, count in dropped.items())
        raise InputError(f"{source}: no job is left to simulate; rows dropped: {listed}")
    # Most logs are sorted; a stable sort of them costs one look at each row.
    order = keep[np.argsort(column["submit"][keep], kind="stable")][:jobs]
    run, asked = column["run"][order], column["request_time"][order]
    estimate = np.where(asked > 0, asked, run)
    try:
        return Workload(
            submit=column["submit"][order],
            run=np.minimum(run, estimate),
            estimate=estimate,
            procs=procs[order],
            user=column["user"][order],
            job=column["job"][order],
            killed=run > estimate,
            processors=machine,
            name=_name(source),
            max_estimate=max_estimate,
            dropped=dropped,
        )
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _fit(column: dict[str, Int64], procs: Int64, machine: int) -> tuple[Int64, dict[str, int]]:
    """Return which rows can be simulated, and how many cannot by reason."""
    faults = (procs <= 0, procs > machine, column["run"] < 0, column["submit"] < 0)
    keep = np.ones(procs.size, np.bool_)
    dropped = {}
    for reason, fault in zip(REASONS, faults, strict=True):
        count = int(np.count_nonzero(fault & keep))
        if count:
            dropped[reason] = count
            keep &= ~fault
    return np.flatnonzero(keep), dropped


def _name(source: str) -> str:
    # The archive's names hold dots, as in CTC-SP2-1996-3.1-cln: pathlib's suffixes would cut there.
    name = os.path.basename(source)
    for suffix in (".gz", ".swf"):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
    return name


def write_swf(
    workload: Workload, path: str | os.PathLike[str], schedule: Schedule | None = None
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
    text = _text(workload, schedule).encode()
    if os.fspath(path).lower().endswith(".gz"):
        text = gzip.compress(text, compresslevel=6, mtime=0)
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        temporary.write_bytes(text)
        os.replace(temporary, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise InputError(f"{target}: cannot write the log ({error.strerror})") from None


def _text(workload: Workload, schedule: Schedule | None) -> str:
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
    header = (
        f"; Version: 2.2\n; Computer: {name}\n; MaxJobs: {len(workload)}\n"
        f"; MaxProcs: {workload.processors}\n; MaxEstimate: {workload.max_estimate}\n"
        "; Note: written by schedfarm; times in s; a killed job runs 1 s beyond its request\n"
    )
    row = "%d %d %d %d %d -1 -1 %d %d -1 %d %d -1 -1 -1 -1 -1 -1\n"
    lists = (column.tolist() for column in columns)
    return header + "".join([row % values for values in zip(*lists, strict=True)])

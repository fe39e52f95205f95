"""What every reader of logs shares: bytes off the disk, rows chosen, rows dropped and counted."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from core.arrays import Bool, Int64
from core.checks import is_whole, whole
from core.errors import InputError
from core.logs.clean import AS_HERE, Clean
from core.logs.formats import FORMATS
from core.platform.pool import Pool
from core.workload.workload import Workload

REASONS = {
    "no procs": "the processors that the job takes are not known",
    "too wide": "more processors than the machine has",
    "no run": "run time below 0: the job was cancelled before it started",
    "run 0": "run time 0, left out by zero_run = drop",
    "no submit": "submit time below 0",
}
"""Why a row of any log cannot be simulated; it counts under the first of its reasons."""

_GZIP = b"\x1f\x8b"
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_SHOWN = 40


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return a file's bytes as they stand.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot read the log ({error.strerror})") from None


def unpacked(content: bytes, source: str) -> bytes:
    """Return a file's text, decompressed if its first bytes say gzip.

    Raises
    ------
    InputError
        If the compressed data are damaged.
    """
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(
            f"{source}: the gzip data is truncated or damaged ({error}); fetch the log again"
        ) from None


def text_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a text file, plain or gzip.

    Raises
    ------
    InputError
        If it cannot be read, is damaged, or holds binary data.
    """
    source = os.fspath(path)
    text = unpacked(read_bytes(path), source)
    if b"\0" in text:
        raise InputError(f"{source} is neither text nor gzip; it holds binary data")
    # Names of users and jobs may be in any encoding; only ASCII fields are understood.
    return text.decode("utf-8-sig", errors="replace").splitlines()


def whole_field(word: str, source: str, line: int) -> int:
    """Return a field as a whole number, decimals truncated.

    Raises
    ------
    InputError
        If it is not a number, or does not fit 64 bits.

    Examples
    --------
    >>> whole_field("12.9", "log", 1)
    12
    """
    if not _DECIMAL.fullmatch(word):
        raise InputError(f"{source}, line {line}: {word[:_SHOWN]!a} is not a number")
    value = int(Decimal(word))
    if not -(2**63) <= value < 2**63:
        raise InputError(f"{source}, line {line}: {word[:_SHOWN]} does not fit 64 bits")
    return value


def log_name(source: str) -> str:
    """Return the name of the log in a file.

    Examples
    --------
    >>> log_name("logs/KTH-SP2.swf.gz")
    'KTH-SP2'
    """
    # The archive's names hold dots, as in CTC-SP2-1996-3.1-cln: pathlib's suffixes would cut there.
    name = os.path.basename(source)
    for suffix in (".gz", *(end for known in FORMATS.values() for end in known.ends)):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
    return name


def check_sizes(source: str, processors: int | None, jobs: int | None) -> None:
    """Refuse a machine or a number of jobs that is no whole number above 0.

    Raises
    ------
    InputError
        Naming the log and the argument.
    """
    for what, value in (("processors", processors), ("jobs", jobs)):
        if value is not None:
            whole(f"{source}: {what}", value, least=1)


def chosen_rows(
    columns: Mapping[str, Int64], source: str, rows: tuple[int, int] | None
) -> dict[str, Int64]:
    """Return the rows [first, last) of every column; all of them where `rows` is None.

    Raises
    ------
    InputError
        If `rows` is not a range of the log's rows.
    """
    if rows is None:
        return dict(columns)
    count = columns["submit"].size
    given = list(rows) if isinstance(rows, (tuple, list)) else []
    if len(given) != 2 or not all(map(is_whole, given)) or not 0 <= given[0] < given[1] <= count:
        raise InputError(
            f"{source}: rows={rows!r} is not a range of the log's {count} rows; "
            f"give two whole numbers with 0 <= first < last <= {count}"
        )
    return {name: column[given[0] : given[1]] for name, column in columns.items()}


def to_workload(
    column: Mapping[str, Int64],
    source: str,
    machine: int,
    *,
    max_estimate: int = -1,
    jobs: int | None = None,
    epoch: int = -1,
    faults: Mapping[str, Bool] | None = None,
    clean: Clean = AS_HERE,
) -> Workload:
    """Make a workload of a log's rows by the rules that hold for every format.

    Parameters
    ----------
    column : mapping of str to int64[n]
        `job`, `submit`, `run`, `allocated`, `requested`, `request_time`, `user`, in row order.
    source : str
        What to call the file in errors.
    machine : int
        Processors.
    max_estimate : int
        Largest estimate that the platform allows, s; -1 for that of the jobs.
    jobs : int, optional
        Only the first jobs by (submit, position) of those that can be simulated.
    epoch : int
        Unix time of instant 0, s; -1 where unknown.
    faults : mapping of str to bool[n], optional
        Reasons of the format's own for which rows are dropped, before those of `REASONS`.
    clean : Clean
        Which processors, estimates and run times count.

    Returns
    -------
    Workload
        Sorted by (submit, position).

    Raises
    ------
    InputError
        If no job is left, one stands there twice, or times run past the clock.
    """
    procs = processors_of(column, clean)
    reasons = {**(faults or {}), **faults_of(column, procs, machine, clean)}
    keep, dropped = sound_rows(reasons)
    if not keep.size:
        listed = ", ".join(f"{number} {reason}" for reason, number in dropped.items())
        raise InputError(f"{source}: no job is left to simulate; rows dropped: {listed}")
    order = by_submit(column, keep)[:jobs]
    _check_once(column, order, source)
    unasked = clean.unasked(column["request_time"][order])
    try:
        return Workload(
            **job_columns(column, procs, order, clean, log_name(source)),
            platform=Pool(machine),
            name=log_name(source),
            max_estimate=clean.limit(max_estimate),
            dropped=dropped,
            unasked=(int(np.count_nonzero(unasked)), unasked.size),
            epoch=epoch,
        )
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _check_once(column: Mapping[str, Int64], order: Int64, source: str) -> None:
    """Refuse rows that are of one job. A resample may hold a job again, at another instant."""
    named = [name for name in ("job", "submit", "user", "task") if name in column]
    job, submit, user, *task = (column[name][order] for name in named)
    # In most logs job numbers ascend: one look at each row.
    if (job[1:] > job[:-1]).all():
        return
    place = np.lexsort((*task, user, submit, job))
    same = np.ones(max(0, place.size - 1), np.bool_)
    for values in (job, submit, user, *task):
        same &= values[place[1:]] == values[place[:-1]]
    again = place[1:][same & (job[place[1:]] > 0)]
    if again.size:
        k = int(again.min())
        raise InputError(
            f"{source}: job {job[k]} of user {user[k]}, submitted at {submit[k]} s, stands in two "
            f"rows ({again.size} rows of the log repeat others); keep one row of each job"
        )


def processors_of(column: Mapping[str, Int64], clean: Clean = AS_HERE) -> Int64:
    """Return the processors that each row's job takes; 0 or less where they are not known."""
    return clean.procs(column["requested"], column["allocated"])


def faults_of(
    column: Mapping[str, Int64], procs: Int64, machine: int, clean: Clean = AS_HERE
) -> dict[str, Bool]:
    """Return which rows have each fault of `REASONS`, bool[n] each."""
    run = column["run"]
    left_out = clean.leaves_out(run)
    found = (procs <= 0, procs > machine, run < 0, left_out, column["submit"] < 0)
    return dict(zip(REASONS, found, strict=True))


def sound_rows(faults: Mapping[str, Bool]) -> tuple[Int64, dict[str, int]]:
    """Return the rows without a fault, and how many have one, by the first of its reasons."""
    bad, dropped = np.zeros(next(iter(faults.values())).size, np.bool_), {}
    for reason, fault in faults.items():
        found = int(np.count_nonzero(fault & ~bad))
        if found:
            dropped[reason] = found
            bad |= fault
    return np.flatnonzero(~bad), dropped


def by_submit(column: Mapping[str, Int64], keep: Int64) -> Int64:
    """Return rows in (submit, position) order."""
    # Most logs are sorted; a stable sort of them costs one look at each row.
    order: Int64 = keep[np.argsort(column["submit"][keep], kind="stable")]
    return order


def job_columns(
    column: Mapping[str, Int64],
    procs: Int64,
    order: Int64,
    clean: Clean = AS_HERE,
    name: str = "log",
) -> dict[str, Any]:
    """Return the columns of a workload of these rows."""
    asked = column["request_time"][order]
    run, estimate, killed = clean.times(column["run"][order], asked, name)
    return {
        "submit": column["submit"][order],
        "run": run,
        "estimate": estimate,
        "procs": procs[order],
        "user": column["user"][order],
        "job": column["job"][order],
        "killed": killed,
    }


def number_users(words: Sequence[str]) -> Int64:
    """Return users as numbers: as they stand if all are, else from 1 in order of appearance.

    An empty word, and any number below 0, is an unknown user, -1.

    Examples
    --------
    >>> number_users(["7", "-1", "3"]).tolist()
    [7, -1, 3]
    >>> number_users(["eve", "", "bob", "eve", "-1"]).tolist()
    [1, -1, 2, 1, -1]
    """
    numbers = {word: _number(word) for word in dict.fromkeys(words)}
    if None in numbers.values():
        named = [word for word, number in numbers.items() if number is None or number >= 0]
        numbers = {**dict.fromkeys(numbers, -1), **{word: n for n, word in enumerate(named, 1)}}
    return np.array([numbers[word] for word in words], np.int64)


def _number(word: str) -> int | None:
    if not word:
        return -1
    digits = word.removeprefix("-")
    # 18 digits always fit 64 bits.
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        return None
    return max(int(word), -1)

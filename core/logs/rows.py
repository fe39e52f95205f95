"""Rows of logs of any format: choice of rows, counts of dropped rows, and the workload."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.checks import is_whole, printable, whole
from schedfarm.core.errors import InputError, SizeUnknown
from schedfarm.core.logs.clean import AS_HERE, Clean
from schedfarm.core.logs.formats import FORMATS
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.load import most_in_use
from schedfarm.core.workload.workload import Names, Workload

REASONS = {
    "no wait": "its wait is unknown, left out by no_wait = drop",
    "reserved": "it ran in a reservation, left out by reserved = drop",
    "no procs": "the processors of the job are unknown",
    "too wide": "more processors than the machine has",
    "no run": "run time below 0: the job was cancelled before it started",
    "run 0": "run time 0, left out by zero_run = drop",
    "no submit": "submit time below 0",
}
"""Reasons to drop a row of any log; a row counts only for the first of its reasons."""

CANCELLED = "cancelled"
"""Reason to drop a job that was cancelled before its start, in formats with this information."""

SAID = (
    *("group", "queue", "partition", "nodes", "priority", "soft"),
    *("gpus", "memory", "licences", "watts"),
)
"""Optional columns, which a workload has if the log has them."""

LONGEST_INT64 = 18
"""Number of digits that always fits 64 bits."""

SHOWN = 40
"""Largest number of characters of a wrong word in an error message."""

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)

S = TypeVar("S", np.int64, np.bool_)


def whole_field(word: str, where: str) -> int:
    """Return a field as a whole number, without decimals.

    Examples
    --------
    >>> whole_field("12.9", "log, line 1")
    12
    """
    if word.isdigit() and word.isascii() and len(word) <= LONGEST_INT64:
        return int(word)
    if not _DECIMAL.fullmatch(word):
        raise InputError(f"{where}: {word[:SHOWN]!a} is not a number")
    # Only a short word is converted: int() takes minutes for 10^7 digits.
    value = Decimal(word)
    if not -(2**63) <= value < 2**63:
        raise InputError(f"{where}: {word[:SHOWN]} does not fit 64 bits")
    return int(value)


def check_products(
    each: Int64, by: Int64, known: Bool, what: str, source: str, lines: Int64 | None
) -> None:
    """Refuse a quantity per node or processor with a total above `HORIZON`.

    lines: the line of each row. Without lines, messages give the row's number.
    """
    large = np.flatnonzero(known & (each > HORIZON // np.maximum(by, 1)))
    if large.size:
        k = int(large[0])
        where = f"row {k + 1}" if lines is None else f"line {lines[k]}"
        raise InputError(
            f"{source}, {where}: {what} is {each[k]}, and {by[k]} times that is more "
            "than 2^62; give a smaller value, or correct its unit"
        )


def log_name(source: str) -> str:
    """Return the name of the log in a file.

    Examples
    --------
    >>> log_name("logs/KTH-SP2.swf.gz")
    'KTH-SP2'
    """
    # Names in the archive contain dots, as in CTC-SP2-1996-3.1-cln, which pathlib takes for
    # suffixes.
    name = os.path.basename(source)
    for suffix in (".gz", *(end for known in FORMATS.values() for end in known.ends)):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
    return name


def check_sizes(source: str, processors: int | None, jobs: int | None) -> None:
    """Refuse a size of a machine or a number of jobs that is not a whole number above 0."""
    for what, value in (("processors", processors), ("jobs", jobs)):
        if value is not None:
            whole(f"{source}: {what}", value, least=1)


@dataclass(frozen=True, eq=False)
class Parsed:
    """Hold the content of a file, before any row is chosen.

    Parameters
    ----------
    columns : mapping of str to int64[n]
        Columns as for `kept_rows`.
    platform : Platform, optional
        The machine, for formats that describe it.
    processors : int, optional
        Size of a pool, if the file gives it.
    max_estimate : int
        Largest estimate on the machine, s; -1 for the largest estimate of the jobs.
    epoch : int
        Unix time of instant 0, s; -1 if unknown.
    names : mapping of str to mapping of int to str
        Names of the numbers of columns.
    faults : mapping of str to bool[n]
        Masks of rows to drop, by reasons of the format; these reasons precede `REASONS`.
    ignored : callable
        Function from the kept rows to the numbers of jobs with properties that no simulation
        considers.
    left : callable, optional
        Function that returns the wait of each row's job until its cancellation before a start,
        int64[n], s; -1 for other rows. None for formats without this information.
    table : Any
        The rows as they were read, for the columns of a schedule.
    """

    columns: Mapping[str, Int64]
    platform: Platform | None = None
    processors: int | None = None
    max_estimate: int = -1
    epoch: int = -1
    names: Names = field(default_factory=dict)
    faults: Mapping[str, Bool] = field(default_factory=dict)
    ignored: Callable[[Kept], Mapping[str, int]] = lambda _: {}
    left: Callable[[], Int64] | None = None
    table: Any = None

    def all_columns(self, source: str, clean: Clean) -> Mapping[str, Int64]:
        """Return the columns, including `left` if the cleaning needs it."""
        if not clean.queues_cancelled:
            return self.columns
        if self.left is None:
            raise InputError(
                f"{source}: clean: cancelled = 'queue' needs the instant at which a job was "
                "cancelled, which SWF, sacct and maps with start and end give; leave it out"
            )
        return {**self.columns, "left": self.left()}


def needed_size(
    source: str,
    processors: int | None,
    fault: str,
    column: Mapping[str, Int64],
    clean: Clean = AS_HERE,
    *,
    add: str = "give the log as SWF, with MaxProcs in its header",
) -> int:
    """Return the size of a machine; for None, raise an error with the least possible size."""
    if processors is None:
        raise SizeUnknown(
            f"{source}: {fault}",
            f"give it as processors (--processors){_at_least(column, clean)}",
            add,
        )
    return int(processors)


def _at_least(column: Mapping[str, Int64], clean: Clean) -> str:
    """Return the end of a sentence with the least possible size for a log's jobs."""
    procs = clean.procs(column["requested"], column["allocated"])
    ran = (procs > 0) & (column["run"] >= 0) & (column["submit"] >= 0)
    widest = int(procs[ran].max(initial=0))
    if not widest:
        return ""
    told = f": its widest job takes {widest}"
    known = ran & (column["wait"] >= 0) if "wait" in column else np.zeros_like(ran)
    if not known.any():
        return told
    # A cached log may have int32 columns, in which sums would overflow.
    submit, wait, run = (column[name][known].astype(np.int64) for name in ("submit", "wait", "run"))
    most = most_in_use(submit + wait, run, procs[known])
    return f"{told}, and by its own times up to {most} are in use at once"


def chosen_rows(
    columns: Mapping[str, npt.NDArray[S]], source: str, rows: tuple[int, int] | None
) -> dict[str, npt.NDArray[S]]:
    """Return the rows [first, last) of every column; all rows if `rows` is None."""
    if rows is None:
        return dict(columns)
    count = next(iter(columns.values())).size
    given = list(rows) if isinstance(rows, (tuple, list)) else []
    if len(given) != 2 or not all(map(is_whole, given)) or not 0 <= given[0] < given[1] <= count:
        raise InputError(
            f"{source}: rows={rows!r} is not a range of the log's {count} rows; "
            f"give two whole numbers with 0 <= first < last <= {count}"
        )
    return {name: column[given[0] : given[1]] for name, column in columns.items()}


@dataclass(frozen=True, eq=False)
class Kept:
    """Hold the rows of a log that become jobs.

    Parameters
    ----------
    column : mapping of str to int64[n]
        Columns of all rows, with arrivals as the cleaning defines them.
    place : int64[k]
        Indices of the kept rows, in (submit, position) order.
    procs : int64[n]
        Processors of each row's job.
    dropped : mapping of str to int
        Number of dropped rows, by reason.
    """

    column: Mapping[str, Int64]
    place: Int64
    procs: Int64
    dropped: Mapping[str, int]

    def __getitem__(self, name: str) -> Int64:
        return _fixed(self.column[name][self.place])


def kept_rows(
    column: Mapping[str, Int64],
    source: str,
    machine: int,
    *,
    jobs: int | None = None,
    faults: Mapping[str, Bool] | None = None,
    clean: Clean = AS_HERE,
) -> Kept:
    """Choose the rows of a log that can be simulated on a machine of `machine` processors.

    The columns, in row order, are `job`, `submit`, `run`, `allocated`, `requested`, `request_time`
    and `user`. The columns `wait`, `eligible`, `reservation` and those of `SAID` are optional.
    `left` is needed if cancelled jobs wait in the queue, and `task` if jobs share a number. Reasons
    in `faults` precede those of `REASONS`.
    """
    column = _arriving(column, source, clean)
    if clean.drops_reserved and "reservation" not in column:
        raise InputError(
            f"{source}: clean: reserved = 'drop' needs a column Reservation, which sacct prints "
            "if --format names it"
        )
    if "left" in column:
        column, faults = _queueing(column, faults or {}, clean)
    procs = clean.procs(column["requested"], column["allocated"])
    place, dropped = _sound({**(faults or {}), **_faults(column, procs, machine, clean)})
    if not place.size:
        listed = ", ".join(f"{number} {reason}" for reason, number in dropped.items())
        raise InputError(f"{source}: no job is left to simulate; rows dropped: {listed}")
    # Most logs are sorted, and a stable sort then reads each row once.
    place = place[np.argsort(column["submit"][place], kind="stable")][:jobs]
    kept = Kept(column, place, procs, dropped)
    _check_once(kept, source)
    return kept


def to_workload(
    kept: Kept, source: str, machine: int | Platform, parsed: Parsed, clean: Clean
) -> Workload:
    """Make a workload from the kept rows of a log, on a pool or another platform."""
    asked, name = kept["request_time"], log_name(source)
    run, estimate, killed = clean.times(kept["run"], asked, name)
    platform = Pool(machine) if isinstance(machine, int) else machine
    said = {key: kept[key] for key in (*SAID, "leave", *platform.asks) if key in kept.column}
    if "wait" in kept.column:
        said["logged_wait"] = kept["wait"]
    try:
        return Workload(
            submit=kept["submit"],
            run=_fixed(run),
            estimate=_fixed(estimate),
            procs=_fixed(kept.procs[kept.place]),
            user=kept["user"],
            job=kept["job"],
            killed=killed,
            **said,
            platform=platform,
            name=name,
            max_estimate=clean.limit(parsed.max_estimate),
            dropped=kept.dropped,
            unasked=(int(np.count_nonzero(clean.unasked(asked))), asked.size),
            ignored=parsed.ignored(kept),
            epoch=parsed.epoch,
            names=parsed.names,
        )
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _fixed(values: Int64) -> Int64:
    """Return read-only values, which a workload uses without a copy: 80 MB at 10^7 jobs."""
    wide = values.astype(np.int64, copy=False)
    wide.flags.writeable = False
    return wide


def _arriving(column: Mapping[str, Int64], source: str, clean: Clean) -> Mapping[str, Int64]:
    """Return the columns with arrivals as the cleaning defines them, and waits since then."""
    if clean.submit == "submitted":
        return column
    if "eligible" not in column:
        raise InputError(
            f"{source}: clean: submit = {clean.submit!r} needs a column Eligible, which sacct "
            "prints if --format names it"
        )
    submit = clean.submits(column["submit"], column["eligible"])
    moved = {"submit": submit}
    if "wait" in column:
        wait = column["wait"] - (submit - column["submit"])
        moved["wait"] = np.where((column["wait"] < 0) | (wait < 0), UNKNOWN, wait)
    if "left" in column:
        # A job that was cancelled before its eligible time never waited.
        left = column["left"] - (submit - column["submit"])
        moved["left"] = np.where((column["left"] < 0) | (left < 0), UNKNOWN, left)
    return {**column, **moved}


def _queueing(
    column: Mapping[str, Int64], faults: Mapping[str, Bool], clean: Clean
) -> tuple[Mapping[str, Int64], Mapping[str, Bool]]:
    """Return columns and faults in which cancelled jobs wait until `leave` and have no run time."""
    queued = clean.queued(column["left"], column["request_time"])
    leave = np.where(queued, column["left"], UNKNOWN)
    found = {**column, "run": np.where(queued, 0, column["run"]), "leave": leave}
    if "wait" in column:
        found["wait"] = np.where(queued, UNKNOWN, column["wait"])
    others = {name: bad & ~queued if name == CANCELLED else bad for name, bad in faults.items()}
    return found, others


def _check_once(kept: Kept, source: str) -> None:
    """Refuse two rows of one job; in resamples, a job may occur again at another instant."""
    named = [name for name in ("job", "submit", "user", "task") if name in kept.column]
    job, submit, user, *task = (kept[name] for name in named)
    # In most logs job numbers ascend, which is quick to check.
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
            f"{source}: job {job[k]} of user {user[k]}, submitted at {submit[k]} s, is in two "
            f"rows ({again.size} rows of the log repeat others); keep one row of each job"
        )


def _faults(
    column: Mapping[str, Int64], procs: Int64, machine: int, clean: Clean
) -> dict[str, Bool]:
    """Return the mask of rows with each fault of `REASONS`, bool[n] each."""
    run, unknown = column["run"], np.full(procs.size, UNKNOWN)
    stays = column["leave"] < 0 if "leave" in column else np.True_
    found = (
        clean.lacks_wait(column.get("wait", unknown)) & stays,
        clean.was_reserved(column.get("reservation", unknown)),
        procs <= 0,
        procs > machine,
        run < 0,
        clean.leaves_out(run) & stays,
        column["submit"] < 0,
    )
    return dict(zip(REASONS, found, strict=True))


def _sound(faults: Mapping[str, Bool]) -> tuple[Int64, dict[str, int]]:
    """Return the rows without a fault, and the numbers of other rows by their first reason."""
    bad, dropped = np.zeros(next(iter(faults.values())).size, np.bool_), {}
    for reason, fault in faults.items():
        found = int(np.count_nonzero(fault & ~bad))
        if found:
            dropped[reason] = found
            bad |= fault
    return np.flatnonzero(~bad), dropped


def number_words(words: Sequence[str]) -> tuple[Int64, dict[int, str]]:
    """Return words as numbers, and the name of each number.

    If all words are numbers, the numbers are kept; otherwise words are numbered from 1 in order of
    appearance. Empty words and numbers below 0 become -1, unknown.

    Examples
    --------
    >>> numbers, names = number_words(["7", "-1", "3"])
    >>> numbers.tolist(), names
    ([7, -1, 3], {})
    >>> numbers, names = number_words(["eve", "", "bob", "eve", "-1"])
    >>> numbers.tolist(), names
    ([1, -1, 2, 1, -1], {1: 'eve', 2: 'bob'})
    """
    numbers, names = {word: _number(word) for word in dict.fromkeys(words)}, {}
    if None in numbers.values():
        named = [word for word, number in numbers.items() if number is None or number >= 0]
        numbers = {**dict.fromkeys(numbers, -1), **{word: n for n, word in enumerate(named, 1)}}
        names = {n: printable(word) for n, word in enumerate(named, 1)}
    return np.array([numbers[word] for word in words], np.int64), names


def _number(word: str) -> int | None:
    if not word:
        return -1
    digits = word.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_INT64):
        return None
    return max(int(word), -1)

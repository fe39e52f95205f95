"""Slurm's accounting from `sacct --parsable2` (https://slurm.schedmd.com/sacct.html)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.rows import (
    CANCELLED,
    LONGEST_INT64,
    REASONS as ROW_REASONS,
    SHOWN,
    Kept,
    Parsed,
    check_products,
    whole_field,
)
from schedfarm.core.logs.sizes import size_word
from schedfarm.core.logs.text_table import Layout, Source, first_line, log_text, read_rows
from schedfarm.core.logs.times import clock_word, count_from_earliest
from schedfarm.core.logs.tokens import (
    Converter,
    Values,
    Words,
    instants,
    leading_numbers,
    spans,
    split_at,
    whole_numbers,
    with_byte,
)
from schedfarm.core.workload.columns import UNKNOWN

REASONS = {
    "step": "a step of a job, such as 123.batch: its job has a row of its own",
    "unfinished": "pending, running or suspended when sacct was called: its run time is unknown",
    "requeued": "an earlier run of a job that was requeued: its last run has a row of its own",
    CANCELLED: "cancelled while it waited: it never started",
    **ROW_REASONS,
}
"""Reasons why a row cannot be simulated; a row counts only for the first of its reasons."""

NEEDED = (
    ("jobid", "jobidraw"),
    ("user",),
    ("submit",),
    ("elapsed", "elapsedraw", "end"),
    ("timelimit", "timelimitraw"),
    ("reqcpus", "alloccpus", "ncpus"),
)
"""Required columns of the header, in lower or upper case, at least one of each group."""

ASK = (
    "JobIDRaw,User,Account,Partition,QOS,Submit,Eligible,Start,End,Elapsed,Timelimit,ReqCPUS,"
    "AllocCPUS,NNodes,ReqTRES,AllocTRES,ReqMem,Priority,Reason,Reservation,Restarts,State"
)
"""Columns to request from sacct by --format."""

UNFINISHED = frozenset(
    {
        "PENDING",
        "RUNNING",
        "SUSPENDED",
        "REQUEUED",
        "RESIZING",
        "CONFIGURING",
        "COMPLETING",
        "REQUEUE_HOLD",
        "REQUEUE_FED",
        "STOPPED",
        "SIGNALING",
        "STAGE_OUT",
    }
)
"""States of jobs that have not ended."""

WORDS = {"user": "user", "group": "account", "queue": "qos", "partition": "partition"}
"""Columns with names as values, by the name of the column in a workload."""

REQUESTED = ("reqtres", "alloctres")
"""Columns of resources, first the requested resources: a job that never started has only these."""

OPTIONAL = {
    "wait": ("start",),
    "eligible": ("eligible",),
    "nodes": ("nnodes", "allocnodes"),
    "gpus": REQUESTED,
    "memory": (*REQUESTED, "reqmem"),
    "priority": ("priority",),
    "reservation": ("reservation",),
    "dependency": ("dependency",),
    "restarts": ("restarts", "restartcnt"),
    "limited": ("reason",),
}
"""Optional columns of a workload, and the columns of sacct for each; one of these is enough."""

IGNORED = {
    "outside the largest partition": "partition",
    "outside the most frequent quality of service": "queue",
    "of another priority than the most frequent": "priority",
    "with GPUs": "gpus",
    "in a reservation": "reservation",
    "with a dependency": "dependency",
    "that were restarted": "restarts",
    "that waited for a limit": "limited",
}
"""Attributes that few simulations consider, and their columns; a job is counted if its value
differs from the most frequent value."""

COUNTED = frozenset({"gpus", "reservation", "dependency", "restarts", "limited"})
"""Columns of `IGNORED` in which a job is counted if its value is above 0."""

LIMITS = ("QOS", "Assoc", "Max", "JobArrayTaskLimit")
"""Prefixes of Slurm's reasons that name a limit, such as QOSMaxJobsPerUserLimit."""

NO_VALUE = frozenset({"", "unknown", "none", "n/a", "invalid"})
"""Lower-case words that mean an unknown value."""

_NO_LIMIT = NO_VALUE | {"unlimited", "partition_limit"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
"""Instant as sacct writes it."""

_JOB = re.compile(r"\d{1,18}", re.ASCII)
_EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)
_DIGITS = 15
"""Largest number of digits of a time, in units of up to a minute."""

_UNFINISHED, _CANCELLED = 1, 2


def parse_sacct(path: str | os.PathLike[str]) -> Parsed:
    """Read the output of ``sacct --parsable2``.

    The first line names the columns; `ASK` lists the columns that are used. Submit times count from
    the earliest submit time of the file; all times are taken as UTC. Users, accounts (`group`),
    qualities of service (`queue`) and partitions are numbered from 1 in order of appearance, unless
    all values of a column are numbers, such as UIDs.
    """
    source = os.fspath(path)
    first, line, rest = first_line(log_text(path))
    header = _header(first, source)
    columns, names = read_rows(rest, source, _layout(header), line + 1)
    if not columns["job"].size:
        raise InputError(f"{source} holds no data row; sacct prints one line for each job")
    columns["step"] = columns.pop("skip")
    lines = columns.pop("line")
    _find_runs(columns, header)
    columns["requeued"] = _requeued(columns)
    _find_memory(columns, source, lines)
    epoch = count_from_earliest(columns)
    for name, needed in OPTIONAL.items():
        if set(needed).isdisjoint(header):
            del columns[name]
    marked = ("step", "unfinished", "requeued", CANCELLED)
    faults = {reason: columns[reason] > 0 for reason in marked}
    left = columns.pop("left")
    return Parsed(
        columns, epoch=epoch, names=names, faults=faults, ignored=_ignored, left=lambda: left
    )


def _ignored(kept: Kept) -> dict[str, int]:
    """Return the number of jobs with an unusual value of each column of `IGNORED`."""
    found = {}
    for label, name in IGNORED.items():
        if name not in kept.column:
            continue
        values, counts = np.unique(kept[name], return_counts=True)
        usual = counts[values <= 0].sum() if name in COUNTED else counts.max()
        if usual < counts.sum():
            found[label] = int(counts.sum() - usual)
    return found


def _header(text: str, source: str) -> list[str]:
    if not text.strip():
        raise InputError(
            f"{source} is empty; sacct prints a line with the names of the columns, "
            "and a line for each job"
        )
    header = [name.strip().lower() for name in text.split("|")]
    for group in NEEDED:
        if not any(name in header for name in group):
            raise InputError(
                f"{source}: the first line names no column {group[0]!r}; "
                f"use sacct --parsable2 --format={ASK}, without --noheader"
            )
    if "end" in header and "start" not in header and "elapsed" not in header:
        raise InputError(f"{source}: 'End' without 'Start' or 'Elapsed' gives no run time")
    return header


def _layout(header: Sequence[str]) -> Layout:
    """Return the layout of a file with these columns in its first line."""

    def every(*sources: Source) -> tuple[Source, ...]:
        return tuple(source for source in sources if source.field in header)

    def first(convert: Converter, *names: str) -> tuple[Source, ...]:
        return every(*(Source(name, convert) for name in names))[:1]

    def split(text: str, where: str) -> list[str]:
        words = text.split("|")
        if len(words) != len(header):
            raise InputError(
                f"{where}: the row has {len(words)} fields and the first line names "
                f"{len(header)}; do not print columns that contain '|', such as JobName"
            )
        return list(map(str.strip, words))

    ids = "jobid" if "jobid" in header else "jobidraw"
    return Layout(
        fields=header,
        columns={
            "submit": first(_INSTANT, "submit"),
            "eligible": first(_INSTANT, "eligible"),
            "start": first(_INSTANT, "start"),
            "end": first(_INSTANT, "end"),
            "state": first(_STATE, "state"),
            "run": every(
                Source("elapsed", _times(NO_VALUE)), Source("elapsedraw", _units(1, NO_VALUE))
            ),
            # Tasks of an array share the number in JobID; only JobIDRaw distinguishes them.
            "job": (
                *every(Source("jobidraw", Converter(_job, _jobs)))[: ids == "jobid"],
                Source(ids, Converter(_last_job(ids), _jobs)),
            ),
            "allocated": first(_COUNT, "alloccpus", "ncpus"),
            "requested": first(_COUNT, "reqcpus"),
            "request_time": every(
                Source("timelimit", _times(_NO_LIMIT)),
                Source("timelimitraw", _units(60, _NO_LIMIT)),
            ),
            "nodes": first(_COUNT, "nnodes", "allocnodes"),
            "priority": first(_COUNT, "priority"),
            "gpus": every(*(Source(name, _GPUS) for name in REQUESTED)),
            "memory": every(*(Source(name, _MEMORY) for name in REQUESTED)),
            "per node": first(_PER_NODE, "reqmem"),
            "per cpu": first(_PER_CPU, "reqmem"),
            "whole": first(_WHOLE_JOB, "reqmem"),
            "reservation": first(_IS_SAID, "reservation"),
            "dependency": first(_IS_SAID, "dependency"),
            "restarts": first(_COUNT, "restarts", "restartcnt"),
            "limited": first(_IS_LIMIT, "reason"),
            # Without JobIDRaw, all tasks of an array have the same number.
            "task": (Source(ids, _tasks()),),
        },
        words={name: field for name, field in WORDS.items() if field in header},
        split=split,
        tokens=lambda chunk, fields: split_at(chunk, b"|", fields),
        skip=Source(ids, _IS_STEP),
    )


def _find_runs(columns: dict[str, Int64], header: Sequence[str]) -> None:
    """Set run times, the masks of unfinished and cancelled jobs, and the cancelled jobs' waits."""
    start, end, state = columns["start"], columns.pop("end"), columns.pop("state")
    both = (start >= 0) & (end >= 0)
    run = np.where((columns["run"] < 0) & both, end - start, columns["run"])
    never_started = (start < 0) & ("start" in header)
    cancelled = (state == _CANCELLED) & (run <= 0)
    running = (start >= 0) & (end < 0) & ("end" in header)
    columns["run"] = np.where(never_started | cancelled, UNKNOWN, run)
    waited = (state == _CANCELLED) & (columns["run"] < 0)
    columns[CANCELLED] = waited.astype(np.int64)
    known = waited & (columns["submit"] >= 0) & (end >= columns["submit"])
    columns["left"] = np.where(known, end - columns["submit"], UNKNOWN)
    columns["unfinished"] = ((state == _UNFINISHED) | running).astype(np.int64)


def _find_memory(columns: dict[str, Int64], source: str, lines: Int64) -> None:
    """Set the memory of whole jobs, B, from the resources or from ReqMem per node or CPU."""
    found, procs = columns["memory"], columns["requested"]
    procs = np.where(procs > 0, procs, columns["allocated"])
    for name, count in (("whole", None), ("per node", columns["nodes"]), ("per cpu", procs)):
        each = columns.pop(name)
        known = (found < 0) & (each >= 0) & (True if count is None else count > 0)
        if count is not None:
            check_products(each, count, known, f"ReqMem {name}, B,", source, lines)
        found = np.where(known, each if count is None else each * count, found)
    columns["memory"] = found


def _requeued(columns: Mapping[str, Int64]) -> Int64:
    """Return 1 for each row if a later row has the same task and submit, and another start."""
    task, submit, start = (columns[name] for name in ("task", "submit", "start"))
    place = np.lexsort((np.arange(task.size), submit, task))
    same = (np.diff(task[place]) == 0) & (np.diff(submit[place]) == 0)
    earlier = place[:-1][same & (np.diff(start[place]) != 0)]
    requeued = np.zeros(task.size, np.int64)
    requeued[earlier] = 1
    return requeued


def _instant(word: str, where: str) -> int:
    """Return an instant in s, by a calendar without summer time; -1 if unknown."""
    if word.lower() in NO_VALUE:
        return UNKNOWN
    try:
        if not TIME.fullmatch(word):
            raise ValueError
        return (datetime.fromisoformat(word) - _EPOCH) // _SECOND
    except ValueError:
        raise InputError(
            f"{where}: {word[:SHOWN]!a} is not a time such as 2024-01-02T03:04:05; "
            "leave SLURM_TIME_FORMAT unset"
        ) from None


def _times(unknown: frozenset[str]) -> Converter:
    """Return the converter of durations such as [[D-]H:]M:S."""

    def word(word: str, where: str) -> int:
        if word.lower() in unknown:
            return UNKNOWN
        return clock_word(word, where)

    return Converter(word, spans)


def _units(unit: int, unknown: frozenset[str]) -> Converter:
    """Return the converter of durations in a unit of some seconds."""

    def word(word: str, where: str) -> int:
        if word.lower() in unknown:
            return UNKNOWN
        if not (word.isascii() and word.isdigit() and len(word) <= _DIGITS):
            raise InputError(f"{where}: {word[:SHOWN]!a} is not a whole number")
        return int(word) * unit

    def fast(words: Words) -> Values:
        number, digits = leading_numbers(words)
        return number * unit, (digits > 0) & (digits == words.length) & (digits <= _DIGITS)

    return Converter(word, fast)


def _count(word: str, where: str) -> int:
    return UNKNOWN if word.lower() in NO_VALUE else whole_field(word, where)


def _state(word: str, _where: str) -> int:
    state = word.split(" ")[0].upper()
    return _CANCELLED if state == "CANCELLED" else _UNFINISHED if state in UNFINISHED else 0


def _job(word: str, _where: str) -> int:
    found = _JOB.match(word)
    return int(found[0]) if found else UNKNOWN


def _last_job(field: str) -> Callable[[str, str], int]:
    """Return the converter of the last possible column for a job's number.

    The converter refuses words without a number.
    """
    name = {"jobid": "JobID", "jobidraw": "JobIDRaw"}[field]

    def word(word: str, where: str) -> int:
        number = _job(word, where)
        if number == UNKNOWN:
            raise InputError(
                f"{where}: {name} {word[:SHOWN]!a} does not begin with a number, as 123_4 does"
            )
        return number

    return word


def _jobs(words: Words) -> Values:
    number, digits = leading_numbers(words)
    return number, digits > 0


def _tasks() -> Converter:
    """Return a converter that gives equal numbers to equal words only."""
    seen: dict[str, int] = {}

    def word(word: str, _: str) -> int:
        plain = word.isascii() and word.isdigit() and len(word) <= LONGEST_INT64
        if plain and not word.startswith("0"):
            return int(word)
        # These numbers are below UNKNOWN, and so below every plain number.
        return seen.setdefault(word, -2 - len(seen))

    def fast(words: Words) -> Values:
        number, digits = leading_numbers(words)
        return number, (digits == words.length) & (digits > 0) & (words.byte(0) != ord("0"))

    return Converter(word, fast)


def _certain(found: Bool) -> Values:
    return np.where(found, 1, UNKNOWN), np.ones(found.size, np.bool_)


_INSTANT = Converter(_instant, instants)
_COUNT = Converter(_count, whole_numbers)
_STATE = Converter(_state)
_IS_STEP = Converter(
    lambda word, _: 1 if "." in word else UNKNOWN, lambda words: _certain(with_byte(words, b"."))
)


def _resources(read: Callable[[dict[str, str], str], int]) -> Converter:
    """Return the converter of resources such as cpu=4,mem=8G,gres/gpu:a100=2."""

    def word(word: str, where: str) -> int:
        if word.lower() in NO_VALUE:
            return UNKNOWN
        parts = (part.partition("=") for part in word.split(","))
        return read({name: value for name, _, value in parts}, where)

    return Converter(word)


def _gpus(resources: dict[str, str], where: str) -> int:
    """Return the number of GPUs: the listed total, else the sum over types, else 0."""
    total = resources.get("gres/gpu")
    listed = [value for name, value in resources.items() if name.startswith("gres/gpu:")]
    values = [_count(value, where) for value in ([total] if total is not None else listed)]
    if any(value < 0 for value in values):
        raise InputError(f"{where}: {min(values)} GPUs; give at least 0")
    if sum(values) > HORIZON:
        raise InputError(f"{where}: {sum(values)} GPUs; give at most 2^62")
    return sum(values)


def _memory_of(resources: dict[str, str], where: str) -> int:
    return size_word(resources["mem"], where) if "mem" in resources else UNKNOWN


def _reqmem(end: str) -> Converter:
    """Return the converter of ReqMem with a suffix: n per node, c per processor, empty per job."""

    def word(word: str, where: str) -> int:
        # 0 requests all memory of the nodes, which the accounting does not record.
        if word.lower() in NO_VALUE or word.rstrip("ncKMGTP?") in ("0", ""):
            return UNKNOWN
        own = word[-1] if re.search(r"[\dKMGTP][nc]$", word) else ""
        size = size_word(word.removesuffix(own) if own else word, where)
        return size if own == end else UNKNOWN

    return Converter(word)


_IS_SAID = Converter(lambda word, _: UNKNOWN if word.lower() in {*NO_VALUE, "(null)"} else 1)
_IS_LIMIT = Converter(lambda word, _: 1 if word.startswith(LIMITS) else UNKNOWN)
_GPUS, _MEMORY = _resources(_gpus), _resources(_memory_of)
_WHOLE_JOB, _PER_NODE, _PER_CPU = map(_reqmem, ("", "n", "c"))

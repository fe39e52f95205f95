"""Slurm's accounting, as `sacct --parsable2` prints it, read into a workload."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import AS_HERE, Clean
from schedfarm.core.logs.packed import text_lines
from schedfarm.core.logs.rows import (
    REASONS as ROW_REASONS,
    Kept,
    check_sizes,
    chosen_rows,
    kept_rows,
    needed_size,
    number_words,
    to_workload,
    whole_field,
)
from schedfarm.core.workload.workload import Names, Workload

REASONS = {
    "step": "a step of a job, such as 123.batch: its job has a row of its own",
    "unfinished": "pending, running or suspended when sacct was asked: its run time is not known",
    "requeued": "an earlier run of a job that was requeued: its last run has a row of its own",
    **ROW_REASONS,
}
"""Why a row cannot be simulated; it counts under the first of its reasons."""

NEEDED = (
    ("jobid", "jobidraw"),
    ("user",),
    ("submit",),
    ("elapsed", "elapsedraw", "end"),
    ("timelimit", "timelimitraw"),
    ("reqcpus", "alloccpus", "ncpus"),
)
"""Columns that the header must name, in any case of letters; of each group one is enough."""

ASK = (
    "JobIDRaw,User,Account,Partition,QOS,Submit,Eligible,Start,End,Elapsed,Timelimit,ReqCPUS,"
    "AllocCPUS,NNodes,AllocTRES,Priority,State"
)
"""What to ask sacct for with --format."""

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
"""States of a job that has not ended."""

WORDS = {"user": "user", "group": "account", "queue": "qos", "partition": "partition"}
"""Which of its columns hold names, by what a workload calls them."""

OPTIONAL = {"wait": ("start",), "eligible": ("eligible",), "nodes": ("nnodes", "allocnodes")}
"""Of what a workload may have, which columns tell it; of each group one is enough."""

IGNORED = {
    "outside the largest partition": "partition",
    "outside the most frequent quality of service": "queue",
    "of another priority than the most frequent": "priority",
    "with GPUs": "gpu",
}
"""What no simulation considers, and the column that holds it: jobs with another value than most."""

_NUMBERS = (
    "job",
    "submit",
    "eligible",
    "start",
    "run",
    "allocated",
    "requested",
    "request_time",
    "nodes",
    "priority",
    "gpu",
    "unfinished",
    "step",
)
_STEP = (*(-1,) * (len(_NUMBERS) - 2), 0, 1)
_UNKNOWN = frozenset({"", "unknown", "none", "n/a", "invalid"})
_NO_LIMIT = _UNKNOWN | {"unlimited", "partition_limit"}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
_SPAN = re.compile(r"(?:(?:(\d{1,9})-)?(\d{1,9}):)?(\d{1,9}):(\d\d)(?:\.\d+)?", re.ASCII)
_GPU = re.compile(r"gres/gpu(:[^=,]*)?=[1-9]", re.ASCII)
_EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)


def read_sacct(
    path: str | os.PathLike[str],
    *,
    processors: int | None = None,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
    clean: Clean = AS_HERE,
) -> Workload:
    r"""Read what ``sacct --parsable2`` printed, plain or gzip.

    The first line names the columns; `ASK` lists those that matter. The rules are those of
    `read_swf`, with reasons of its own (`REASONS`) for rows that are dropped. Submit times count
    from the earliest one of the file, and its clock is taken for that of UTC. Users, accounts
    (`group`), qualities of service (`queue`) and partitions are numbered from 1 in order of
    appearance, unless every one is a number, as with UIDs; the workload's `names` says which is
    which.

    Parameters
    ----------
    path : path
        The file.
    processors : int
        Size of the machine; sacct does not give it.
    rows : (int, int), optional
        Only the data rows from the first number, counted from 0, up to but without the second,
        chosen before anything is dropped or sorted; steps count as rows.
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
        If the file is missing, damaged or not of that form, if `processors` is missing, if
        `rows` or `jobs` are out of range, or if no job is left.

    References
    ----------
    https://slurm.schedmd.com/sacct.html

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "june.sacct"
    ...     _ = path.write_text("JobID|User|Submit|Elapsed|Timelimit|ReqCPUS\n"
    ...         "9|ann|2024-06-01T00:00:00|01:00:00|1-00:00:00|4\n"
    ...         "9.batch||2024-06-01T00:00:00|01:00:00||4\n")
    ...     w = read_sacct(path, processors=8)
    >>> w.name, w.run.tolist(), w.estimate.tolist(), dict(w.dropped)
    ('june', [3600], [86400], {'step': 1})
    """
    source = os.fspath(path)
    check_sizes(source, processors, jobs)
    columns, names, epoch = _columns(path)
    columns = chosen_rows(columns, source, rows)
    whole = {name: column[columns["step"] == 0] for name, column in columns.items()}
    fault = "sacct does not give the machine's size"
    machine = needed_size(source, processors, fault, whole, clean)
    faults = {reason: columns[reason] > 0 for reason in ("step", "unfinished", "requeued")}
    kept = kept_rows(columns, source, machine, jobs=jobs, faults=faults, clean=clean)
    ignored = _ignored(kept)
    return to_workload(
        kept, source, machine, epoch=epoch, clean=clean, names=names, ignored=ignored
    )


def _ignored(kept: Kept) -> dict[str, int]:
    """Return how many jobs have another value of a column of `IGNORED` than most, or any GPU."""
    found = {}
    for what, name in IGNORED.items():
        if name not in kept.column:
            continue
        values, counts = np.unique(kept[name], return_counts=True)
        usual = counts[values <= 0].sum() if name == "gpu" else counts.max()
        if usual < counts.sum():
            found[what] = int(counts.sum() - usual)
    return found


def _columns(path: str | os.PathLike[str]) -> tuple[dict[str, Int64], Names, int]:
    """Return the columns, instants counted from the earliest submit, names, its Unix time."""
    source = os.fspath(path)
    lines = ((n, text) for n, text in enumerate(text_lines(path), 1) if text.strip())
    header = _header(next(lines, (1, ""))[1], source)
    ids = "jobid" if "jobid" in header else "jobidraw"
    table, tasks = [], []
    said: dict[str, list[str]] = {name: [] for name, at in WORDS.items() if at in header}
    for line, text in lines:
        words = text.split("|")
        if len(words) != len(header):
            raise InputError(
                f"{source}, line {line}: the row has {len(words)} fields and the first line names "
                f"{len(header)}; ask sacct for no column that holds a '|', such as JobName"
            )
        row = dict(zip(header, map(str.strip, words), strict=True))
        table.append(_STEP if "." in row[ids] else _numbers(row, source, line))
        tasks.append(row[ids])
        for name, column in said.items():
            column.append(row[WORDS[name]])
    if not table:
        raise InputError(f"{source} holds no data row; sacct prints one line for each job")
    matrix = np.array(table, np.int64)
    columns = {name: np.ascontiguousarray(matrix[:, k]) for k, name in enumerate(_NUMBERS)}
    # The number of an array is one for all its tasks, where JobIDRaw is not there.
    columns["task"] = np.unique(tasks, return_inverse=True)[1].astype(np.int64)
    columns["requeued"] = _requeued(columns)
    first = _from_earliest(columns)
    for name, needed in OPTIONAL.items():
        if set(needed).isdisjoint(header):
            del columns[name]
    named = {name: number_words(words) for name, words in said.items()}
    columns.update({name: numbers for name, (numbers, _) in named.items()})
    return columns, {name: names for name, (_, names) in named.items() if names}, first


def _requeued(columns: Mapping[str, Int64]) -> Int64:
    """Return 1 for each row that a later one of the same task and submit has another start than."""
    task, submit, start = (columns[name] for name in ("task", "submit", "start"))
    place = np.lexsort((np.arange(task.size), submit, task))
    same = (np.diff(task[place]) == 0) & (np.diff(submit[place]) == 0)
    earlier = place[:-1][same & (np.diff(start[place]) != 0)]
    requeued = np.zeros(task.size, np.int64)
    requeued[earlier] = 1
    return requeued


def _from_earliest(columns: dict[str, Int64]) -> int:
    """Count instants from the earliest submit, add the waits, return that submit's Unix time."""
    submit, start = columns["submit"], columns["start"]
    known = submit[submit >= 0]
    first = int(known.min()) if known.size else -1
    columns["wait"] = np.where((submit >= 0) & (start >= submit), start - submit, -1)
    for name in ("submit", "eligible"):
        columns[name] = np.where(columns[name] >= 0, columns[name] - first, -1)
    return first


def _header(text: str, source: str) -> list[str]:
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


def _numbers(row: Mapping[str, str], source: str, line: int) -> tuple[int, ...]:
    """Return one job's row in the order of `_NUMBERS`."""
    where = f"{source}, line {line}"
    submit, eligible, start, end = (
        _instant(row.get(k, ""), where) for k in ("submit", "eligible", "start", "end")
    )
    state = row.get("state", "").split(" ")[0].upper()
    run = _run(row, start, end, where)
    never_started = "start" in row and start < 0
    cancelled = state == "CANCELLED" and run <= 0
    running = "end" in row and end < 0 and start >= 0
    return (
        _job(row, where),
        submit,
        eligible,
        start,
        -1 if never_started or cancelled else run,
        _count(row.get("alloccpus", row.get("ncpus", "")), source, line),
        _count(row.get("reqcpus", ""), source, line),
        _limit(row, where),
        _count(row.get("nnodes", row.get("allocnodes", "")), source, line),
        _count(row.get("priority", ""), source, line),
        int(any(_GPU.search(row.get(name, "")) for name in ("alloctres", "reqtres"))),
        int(state in UNFINISHED or running),
        0,
    )


def _job(row: Mapping[str, str], where: str) -> int:
    # Tasks of an array share the number in JobID; only JobIDRaw tells them apart.
    for word in (row.get("jobidraw", ""), row.get("jobid", "")):
        match = re.match(r"\d{1,18}", word, re.ASCII)
        if match:
            return int(match[0])
    name = "JobID" if "jobid" in row else "JobIDRaw"
    word = row[name.lower()][:40]
    raise InputError(f"{where}: {name} {word!a} does not begin with a number, as 123_4 does")


def _run(row: Mapping[str, str], start: int, end: int, where: str) -> int:
    for name, unit in (("elapsed", 0), ("elapsedraw", 1)):
        if row.get(name, "").lower() not in _UNKNOWN:
            return _span(row[name], where, unit)
    return end - start if start >= 0 and end >= 0 else -1


def _limit(row: Mapping[str, str], where: str) -> int:
    for name, unit in (("timelimit", 0), ("timelimitraw", 60)):
        if row.get(name, "").lower() not in _NO_LIMIT:
            return _span(row[name], where, unit)
    return -1


def _count(word: str, source: str, line: int) -> int:
    return -1 if word.lower() in _UNKNOWN else whole_field(word, source, line)


def _instant(word: str, where: str) -> int:
    """Return an instant in s, of a calendar that knows no summer time; -1 where unknown."""
    if word.lower() in _UNKNOWN:
        return -1
    try:
        if not _TIME.fullmatch(word):
            raise ValueError
        return (datetime.fromisoformat(word) - _EPOCH) // _SECOND
    except ValueError:
        raise InputError(
            f"{where}: {word[:40]!a} is not a time such as 2024-01-02T03:04:05; "
            "leave SLURM_TIME_FORMAT unset"
        ) from None


def _span(word: str, where: str, unit: int) -> int:
    """Return a length of time in s, given in units of so many s, or as [[D-]H:]M:S for unit 0."""
    if unit and word.isascii() and word.isdigit() and len(word) <= 15:
        return int(word) * unit
    match = _SPAN.fullmatch(word)
    if unit or not match:
        right = "a whole number" if unit else "a time such as 1-02:03:04"
        raise InputError(f"{where}: {word[:40]!a} is not {right}")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds

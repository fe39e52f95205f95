"""Logs of the Grid Workloads Format, as the Grid Workloads Archive publishes them."""

from __future__ import annotations

import os

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import AS_HERE, Clean
from schedfarm.core.logs.packed import text_lines
from schedfarm.core.logs.rows import (
    check_sizes,
    chosen_rows,
    kept_rows,
    needed_size,
    number_words,
    to_workload,
    whole_field,
)
from schedfarm.core.workload.workload import Names, Workload

FIELDS = (
    "JobID",
    "SubmitTime",
    "WaitTime",
    "RunTime",
    "NProcs",
    "AverageCPUTimeUsed",
    "UsedMemory",
    "ReqNProcs",
    "ReqTime",
    "ReqMemory",
    "Status",
    "UserID",
    "GroupID",
    "ExecutableID",
    "QueueID",
    "PartitionID",
    "OrigSiteID",
    "LastRunSiteID",
    "JobStructure",
    "JobStructureParams",
    "UsedNetwork",
    "UsedLocalDiskSpace",
    "UsedResources",
    "ReqPlatform",
    "ReqNetwork",
    "ReqLocalDiskSpace",
    "ReqResources",
    "VOID",
    "ProjectID",
)
"""The 29 fields of a row, in the order of the format."""

NUMBERS = {
    "job": FIELDS.index("JobID"),
    "submit": FIELDS.index("SubmitTime"),
    "wait": FIELDS.index("WaitTime"),
    "run": FIELDS.index("RunTime"),
    "allocated": FIELDS.index("NProcs"),
    "requested": FIELDS.index("ReqNProcs"),
    "request_time": FIELDS.index("ReqTime"),
}
"""Where the numbers stand of which a workload is made."""

WORDS = {
    "user": FIELDS.index("UserID"),
    "group": FIELDS.index("GroupID"),
    "queue": FIELDS.index("QueueID"),
    "partition": FIELDS.index("PartitionID"),
}
"""Where names may stand that become numbers."""


def read_gwf(
    path: str | os.PathLike[str],
    *,
    processors: int | None = None,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
    clean: Clean = AS_HERE,
) -> Workload:
    r"""Read a log of the Grid Workloads Format, plain or gzip.

    The rules are those of `read_swf`. Users, groups, queues and partitions keep their numbers where
    every one is a number; else, as with ``user12``, they are numbered from 1 in the order in which
    the file names them, and the workload's `names` says which is which.

    Parameters
    ----------
    path : path
        The log.
    processors : int
        Size of the machine; the format does not give it.
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
        If the file is missing, damaged or not GWF, if `processors` is missing, if `rows` or
        `jobs` are out of range, or if no job is left.

    References
    ----------
    A. Iosup et al., The Grid Workloads Archive, Future Generation Computer Systems 24(7), 2008.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "one.gwf"
    ...     _ = path.write_text("# JobID SubmitTime ...\n"
    ...         "7 100 5 60 2 -1 -1 4 90 -1 1 user12" + 17 * " -1")
    ...     w = read_gwf(path, processors=8)
    >>> w.name, w.job.tolist(), w.procs.tolist(), w.estimate.tolist(), w.user.tolist()
    ('one', [7], [4], [90], [1])
    """
    source = os.fspath(path)
    check_sizes(source, processors, jobs)
    columns, names = _columns(path)
    columns = chosen_rows(columns, source, rows)
    fault = "the Grid Workloads Format does not give the machine's size"
    machine = needed_size(source, processors, fault, columns, clean)
    kept = kept_rows(columns, source, machine, jobs=jobs, clean=clean)
    return to_workload(kept, source, machine, clean=clean, names=names)


def _columns(path: str | os.PathLike[str]) -> tuple[dict[str, Int64], Names]:
    source, table = os.fspath(path), []
    said: dict[str, list[str]] = {name: [] for name in WORDS}
    for line, text in enumerate(text_lines(path), 1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        words = _words(text, source, line)
        table.append([whole_field(words[k], source, line) for k in NUMBERS.values()])
        for name, place in WORDS.items():
            said[name].append(words[place])
    if not table:
        raise InputError(f"{source} holds no data row; a log has one row of 29 fields for each job")
    matrix = np.array(table, np.int64)
    columns = {name: np.ascontiguousarray(matrix[:, k]) for k, name in enumerate(NUMBERS)}
    named = {name: number_words(words) for name, words in said.items()}
    columns.update({name: numbers for name, (numbers, _) in named.items()})
    return columns, {name: table for name, (_, table) in named.items() if table}


def _words(text: str, source: str, line: int) -> list[str]:
    words = text.split()
    if len(words) != len(FIELDS) and "\t" in text:
        # A field may be empty, or hold blanks, where tabs part the fields.
        words = [word.strip() for word in text.split("\t")]
    if len(words) == len(FIELDS) + 1 and not words[-1]:
        words.pop()
    if len(words) != len(FIELDS):
        raise InputError(
            f"{source}, line {line}: the row has {len(words)} fields; "
            f"a row of the Grid Workloads Format has {len(FIELDS)}"
        )
    return words

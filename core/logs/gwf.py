"""Logs in the Grid Workloads Format, the format of the Grid Workloads Archive.

A. Iosup et al., The Grid Workloads Archive, Future Generation Computer Systems 24(7), 2008.
"""

from __future__ import annotations

import os

from schedfarm.core.errors import InputError
from schedfarm.core.logs.rows import Parsed, whole_field
from schedfarm.core.logs.text_table import Layout, Source, log_text, read_rows
from schedfarm.core.logs.tokens import Converter, split_blanks, whole_numbers

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

_NUMBER = Converter(whole_field, whole_numbers)


def _split(text: str, where: str) -> list[str] | None:
    """Return the fields of a line; None for a comment."""
    if text.lstrip().startswith("#"):
        return None
    words = text.split()
    if len(words) != len(FIELDS) and "\t" in text:
        # If tabs separate the fields, a field may be empty or contain blanks.
        words = [word.strip() for word in text.split("\t")]
    if len(words) == len(FIELDS) + 1 and not words[-1]:
        words.pop()
    if len(words) != len(FIELDS):
        raise InputError(
            f"{where}: the row has {len(words)} fields; "
            f"a row of the Grid Workloads Format has {len(FIELDS)}"
        )
    return words


LAYOUT = Layout(
    fields=FIELDS,
    columns={
        "job": (Source("JobID", _NUMBER),),
        "submit": (Source("SubmitTime", _NUMBER),),
        "wait": (Source("WaitTime", _NUMBER),),
        "run": (Source("RunTime", _NUMBER),),
        "allocated": (Source("NProcs", _NUMBER),),
        "requested": (Source("ReqNProcs", _NUMBER),),
        "request_time": (Source("ReqTime", _NUMBER),),
    },
    words={"user": "UserID", "group": "GroupID", "queue": "QueueID", "partition": "PartitionID"},
    split=_split,
    tokens=split_blanks,
    comment=b"#",
)
"""Columns of a workload, and the fields for each."""


def parse_gwf(path: str | os.PathLike[str]) -> Parsed:
    """Read the rows of a log.

    Users, groups, queues and partitions keep their numbers if all values of the field are numbers.
    Otherwise, for example with ``user12``, the values are numbered from 1 in order of appearance.
    """
    source = os.fspath(path)
    columns, names = read_rows(log_text(path), source, LAYOUT)
    if not columns["job"].size:
        raise InputError(f"{source} holds no data row; a log has one row of 29 fields for each job")
    del columns["line"], columns["skip"]
    return Parsed(columns, names=names)

"""Stand-in until the columns are merged."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """Stand in."""

    unit: str
    meaning: str
    dtype: str = "int64"
    stored: str | None = None


COLUMNS = {
    "submit": Column("s", "submission instant"),
    "run": Column("s", "run time"),
    "estimate": Column("s", "requested time"),
    "procs": Column("1", "requested processors"),
    "user": Column("1", "user"),
    "job": Column("1", "job number in the log", stored="number"),
    "killed": Column("1", "job is killed at its estimate", "bool"),
}

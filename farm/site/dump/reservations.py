"""`sacctmgr show reservation`, or `scontrol show reservations`: nodes withheld from the queue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.core.folded import listed
from schedfarm.core.logs.sacct import TIME
from schedfarm.farm.site.dump.facts import is_whole, text_of
from schedfarm.farm.site.dump.tables import rows_of

NONE = "No reservations in the system"

NEEDED = ("name", "timestart", "timeend", "flags")
"""Required columns of sacctmgr's table, in addition to the column of nodes."""

NODES = ("nodename", "nodenames")
"""Names of the column of nodes; Slurm 22.05 prints the first one."""

OPEN = frozenset({"unknown", "none", ""})
"""Texts for the end of a reservation that has not ended."""

LONGEST = 100 * 366 * 86_400
"""Assumed length of a reservation that has not ended, s."""

REPEATED = frozenset({"HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"})
"""Flags of repeated reservations, of which scontrol prints only the next occurrence."""

LOOSE = frozenset({"TIME_FLOAT", "ANY_NODES"})
"""Flags of reservations without fixed times, and of reservations of licences alone."""

_WITHOUT = frozenset({"", "(null)", "N/A"})


@dataclass(frozen=True)
class Reservation:
    """Hold a reservation's name, begin and end (Unix time), nodes, and line.

    Times are local but count as UTC, like those of sacct. nodes: number of nodes, 0 if unknown.
    hosts: names of the nodes, empty if unknown. maintenance: whether it has the flag MAINT.
    repeated: whether past occurrences are missing. loose: whether other jobs may use its nodes.
    """

    name: str
    start: int
    end: int
    nodes: int
    where: str
    hosts: frozenset[str] = frozenset()
    maintenance: bool = False
    repeated: bool = False
    loose: bool = False


def read_reservations(path: Path) -> list[Reservation]:
    """Read the reservations of a file; without reservations the list is empty."""
    first = text_of(path).lstrip().partition("\n")[0]
    # Only the table of sacctmgr has names of columns.
    return [*(_of_table(path) if "|" in first else _of_records(path))]


def _of_table(path: Path) -> Iterator[Reservation]:
    """Yield the rows of `sacctmgr show reservation`, including past reservations."""
    for row in rows_of(path, NEEDED):
        if row.fields.keys().isdisjoint(NODES):
            raise InputError(
                f"{path}: the first line names no column {NODES[0]!r}; print the file with its "
                "header, as the script of `farm site --script` does"
            )
        record = {
            "Name": row.get("name"),
            "StartTime": row.get("timestart"),
            "EndTime": row.get("timeend"),
            "Flags": row.get("flags"),
            "Nodes": row.get(NODES[0]) or row.get(NODES[1]),
        }
        yield replace(_reservation(record, row.where), repeated=False)


def _of_records(path: Path) -> Iterator[Reservation]:
    """Yield the records of `scontrol show reservations`: current and future reservations."""
    record: dict[str, str] = {}
    begun = 0
    lines = [*text_of(path).splitlines(), "ReservationName="]
    for number, line in enumerate(lines, 1):
        pairs = dict(re.findall(r"(\w+)=(\S*)", line))
        if "ReservationName" in pairs:
            if record:
                yield _reservation(record, f"{path.name}:{begun}")
            record, begun = {"Name": pairs["ReservationName"]}, number
        elif line.strip() and not record and NONE not in line:
            raise InputError(
                f"{path.name}:{number}: {line.strip()[:40]!r} is before any ReservationName="
            )
        record.update(pairs)


def _reservation(record: dict[str, str], where: str) -> Reservation:
    start = _instant(record, "StartTime", where)
    is_open = record.get("EndTime", "").lower() in OPEN
    end = start + LONGEST if is_open else _instant(record, "EndTime", where)
    text, count = record.get("Nodes", ""), record.get("NodeCnt", "")
    hosts = frozenset() if text in _WITHOUT else frozenset(listed(text, f"{where}: its nodes"))
    nodes = len(hosts) or (int(count) if is_whole(count) else 0)
    flags = {*record.get("Flags", "").upper().split(",")}
    return Reservation(
        record["Name"], start, end, nodes, where, hosts,
        maintenance="MAINT" in flags, repeated=bool(flags & REPEATED), loose=bool(flags & LOOSE),
    )  # fmt: skip


def _instant(record: dict[str, str], key: str, where: str) -> int:
    text = record.get(key, "")
    try:
        if TIME.fullmatch(text):
            return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError:
        pass
    raise InputError(f"{where}: {key}={text!r} is not a time such as 2024-01-02T03:04:05")

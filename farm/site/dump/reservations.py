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
"""Columns of sacctmgr's table without which it is refused, in addition to that of nodes."""

NODES = ("nodename", "nodenames")
"""Names of that column; Slurm 22.05 prints the first one."""

OPEN = frozenset({"unknown", "none", ""})
"""Ends of a reservation that has not ended."""

LONGEST = 100 * 366 * 86_400
"""Time until the end of such a reservation, s."""

REPEATED = frozenset({"HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"})
"""Flags of a reservation of which scontrol prints the next occurrence only."""

LOOSE = frozenset({"TIME_FLOAT", "ANY_NODES"})
"""Flags of a reservation that withholds its nodes at no fixed time, or holds licences alone."""

_WITHOUT = frozenset({"", "(null)", "N/A"})


@dataclass(frozen=True)
class Reservation:
    """Hold a reservation's name, its begin and end, Unix time, its nodes, and its line.

    Times are local and count as UTC, as those of sacct do. nodes: their number, 0 if it is unknown.
    hosts: their names, empty if they are unknown. maintenance: whether it has the flag MAINT.
    repeated: whether occurrences of the past are missing. loose: whether other jobs may use its
    nodes.
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
    """Read the reservations; the list is empty if there are none."""
    first = text_of(path).lstrip().partition("\n")[0]
    # Only the table names its columns.
    return [*(_of_table(path) if "|" in first else _of_records(path))]


def _of_table(path: Path) -> Iterator[Reservation]:
    """Yield the rows of `sacctmgr show reservation`, which has past ones."""
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
    """Yield the records of `scontrol show reservations`, which has current and future ones."""
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

"""`scontrol show reservations`: nodes that were withheld from the queue."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.core.logs.sacct import TIME
from schedfarm.farm.site.dump.facts import is_whole, text_of

NONE = "No reservations in the system"


@dataclass(frozen=True)
class Reservation:
    """Hold a reservation's name, its begin and end, Unix time, its nodes, and its line.

    Times are local and count as UTC, as those of sacct do. nodes: their number, 0 if it is unknown.
    """

    name: str
    start: int
    end: int
    nodes: int
    where: str


def read_reservations(path: Path) -> list[Reservation]:
    """Read the reservations; the list is empty if there are none."""
    found: list[Reservation] = []
    record: dict[str, str] = {}
    begun = 0
    lines = [*text_of(path).splitlines(), "ReservationName="]
    for number, line in enumerate(lines, 1):
        pairs = dict(re.findall(r"(\w+)=(\S*)", line))
        if "ReservationName" in pairs:
            if record:
                found.append(_reservation(record, f"{path.name}:{begun}"))
            record, begun = {}, number
        elif line.strip() and not record and NONE not in line:
            raise InputError(
                f"{path.name}:{number}: {line.strip()[:40]!r} is before any ReservationName="
            )
        record.update(pairs)
    return found


def _reservation(record: dict[str, str], where: str) -> Reservation:
    start, end = (_instant(record, key, where) for key in ("StartTime", "EndTime"))
    count = record.get("NodeCnt", "")
    nodes = int(count) if is_whole(count) else 0
    return Reservation(record["ReservationName"], start, end, nodes, where)


def _instant(record: dict[str, str], key: str, where: str) -> int:
    text = record.get(key, "")
    try:
        if TIME.fullmatch(text):
            return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError:
        pass
    raise InputError(f"{where}: {key}={text!r} is not a time such as 2024-01-02T03:04:05")

"""`scontrol show reservations`: nodes that were withheld from the queue."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.core.logs.sacct import TIME
from schedfarm.farm.site.dump.facts import text_of

NONE = "No reservations in the system"


@dataclass(frozen=True)
class Reservation:
    """Hold a reservation's name, its begin and end as written, its nodes, and its line."""

    name: str
    start: str
    end: str
    nodes: str
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
    for key in ("StartTime", "EndTime"):
        if not TIME.fullmatch(record.get(key, "")):
            raise InputError(
                f"{where}: {key}={record.get(key, '')!r} is not a time such as 2024-01-02T03:04:05"
            )
    return Reservation(
        record["ReservationName"], record["StartTime"], record["EndTime"],
        record.get("Nodes", ""), where,
    )  # fmt: skip

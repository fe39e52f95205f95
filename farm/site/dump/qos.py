"""`sacctmgr show qos`: priorities and limits of qualities of service."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.farm.site.dump.columns import Limits, Others, columns_of
from schedfarm.farm.site.dump.facts import Fact, whole
from schedfarm.farm.site.dump.tables import rows_of

READ = ("name", "priority", "preempt")
"""Columns with a reader of their own, which are neither limits nor ignored."""


@dataclass(frozen=True)
class Qos:
    """Hold the priority of a QOS, its limits, whether it preempts, and its other columns."""

    priority: Fact[int]
    limits: Limits = field(default_factory=dict)
    preempts: bool = False
    others: Others = field(default_factory=dict)


def read_qos(path: Path) -> dict[str, Qos]:
    """Read the qualities of service by name."""
    found: dict[str, Qos] = {}
    for row in rows_of(path, ("name", "priority")):
        name, where = row.get("name"), f"{row.where}, Priority"
        if name in found:
            raise InputError(f"{row.where}: QOS {name!r} is listed twice; print the table again")
        priority = whole(where, row.get("priority") or "0")
        limits, others = columns_of(row, READ)
        found[name] = Qos(Fact(priority, where), limits, bool(row.get("preempt")), others)
    return found

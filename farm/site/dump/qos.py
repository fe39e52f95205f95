"""`sacctmgr show qos`: priorities and limits of qualities of service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.farm.site.dump.facts import Fact, limit, tres, whole
from schedfarm.farm.site.dump.tables import Row, rows_of

COUNTS = ("grpjobs", "grpsubmit", "maxjobspu", "maxjobspa", "maxsubmitpu", "maxsubmitpa")
"""Limits that are numbers of jobs."""

AMOUNTS = ("grptres", "grptresrunmins", "maxtres", "maxtrespu", "maxtrespa", "maxtresrunminspu")
"""Limits that are amounts of resources."""


@dataclass(frozen=True)
class Qos:
    """Hold the priority of a QOS, and its limits by column: a number, or amounts by resource."""

    priority: Fact[int]
    limits: Mapping[str, Fact[int] | Fact[dict[str, int]]] = field(default_factory=dict)
    preempts: bool = False


def limits_of(row: Row) -> dict[str, Fact[int] | Fact[dict[str, int]]]:
    """Return the limits of a row of a QOS or association, by column."""
    found: dict[str, Fact[int] | Fact[dict[str, int]]] = {}
    for name in COUNTS:
        where = f"{row.where}, {name}"
        if (number := limit(where, row.get(name))) is not None:
            found[name] = Fact(number, where)
    for name in AMOUNTS:
        where = f"{row.where}, {name}"
        if amounts := tres(where, row.get(name)):
            found[name] = Fact(amounts, where)
    return found


def read_qos(path: Path) -> dict[str, Qos]:
    """Read the qualities of service by name."""
    found: dict[str, Qos] = {}
    for row in rows_of(path, ("name", "priority")):
        name, where = row.get("name"), f"{row.where}, Priority"
        if name in found:
            raise InputError(f"{row.where}: QOS {name!r} stands there twice; print the table again")
        priority = whole(where, row.get("priority") or "0")
        found[name] = Qos(Fact(priority, where), limits_of(row), bool(row.get("preempt")))
    return found

"""Columns of sacctmgr's tables: limits, as numbers of jobs or amounts of resources, and others."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from schedfarm.core.policy.limits import meaning_of
from schedfarm.farm.site.dump.facts import Fact, limit, tres
from schedfarm.farm.site.dump.tables import Row

Limits = Mapping[str, Fact[int] | Fact[dict[str, int]]]
"""Limits by column: a number of jobs, or amounts of resources by name."""

Others = Mapping[str, Fact[str]]
"""Columns that are not limits of a policy, with their text."""


def columns_of(row: Row, read: Collection[str]) -> tuple[Limits, Others]:
    """Return the limits of a row, and its other non-empty columns, except those in `read`."""
    limits: dict[str, Fact[int] | Fact[dict[str, int]]] = {}
    others: dict[str, Fact[str]] = {}
    for name in row.fields:
        text, where = row.get(name), f"{row.where}, {name}"
        if not text or name in read:
            continue
        meaning = meaning_of(name)
        if meaning is None:
            others[name] = Fact(text, where)
        elif meaning.of_jobs:
            if (number := limit(where, text)) is not None:
                limits[name] = Fact(number, where)
        elif amounts := tres(where, text):
            limits[name] = Fact(amounts, where)
    return limits, others

"""The limits of QOS, accounts and users in a dump, as a policy and a site's file have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedfarm.core.policy.limits import MEANINGS, TRES, is_limit, read_limits
from schedfarm.farm.site.dump.facts import Fact
from schedfarm.farm.site.notes import Note

if TYPE_CHECKING:
    from schedfarm.farm.site.model import Numbers, Site

Limits = Mapping[str, Fact[int] | Fact[dict[str, int]]]
"""Limits by column of the dump."""


@dataclass(frozen=True)
class Limited:
    """Hold a limit: what has it, with the log's numbers and with names, the key, value and source.

    kind: as in a policy. tres: the resource, empty for a number of jobs. axis: its name as an axis
    of a campaign, which no other limit of the site has.
    """

    kind: str
    number: str
    name: str
    key: str
    tres: str
    value: int
    source: str
    axis: str = ""

    @property
    def equals(self) -> str:
        """The value as sacctmgr writes it."""
        return f"{self.tres}={self.value}" if self.tres else str(self.value)

    def text(self, *, axis: bool = False) -> str:
        """Return the limit as in a policy; its value may be that of its axis."""
        value = f"{{{self.axis}}}" if axis else str(self.value)
        tres = f"{self.tres}=" if self.tres else ""
        return f"{self.kind}.{self.number}.{self.key}={tres}{value}"


def limits_of(site: Site, number: Numbers) -> tuple[list[Limited], list[Note]]:
    """Return the limits that are simulated, and notes on the others.

    Limits of a QOS or user without jobs are neither.
    """
    found: list[Limited] = []
    notes: list[Note] = []
    for kind, name, numbered, limits in _holders(site, number):
        for column, fact in limits.items():
            amounts = fact.value if isinstance(fact.value, dict) else {"": fact.value}
            for tres, value in amounts.items():
                key = _key(kind, column, tres)
                if key is None:
                    # The campaign's file has the notes, and no names of users.
                    holder = "a user" if kind == "user" else f"{kind} {name}"
                    of = f"{column} of {holder}" + f" ({tres})" * bool(tres)
                    notes.append(Note(of, fact.source, "its jobs wait less"))
                else:
                    found.append(Limited(kind, numbered, name, key, tres, value, fact.source))
    return _with_axes(found), notes


def _with_axes(limits: Iterable[Limited]) -> list[Limited]:
    """Return the limits with names of axes: those of users have the log's numbers.

    A store has the names of its axes, and anyone may read it.
    """
    found: dict[str, Limited] = {}
    for one in limits:
        name = one.number if one.kind == "user" else one.name
        words = "_".join(filter(None, (one.kind, name, one.key, one.tres)))
        first = axis = re.sub(r"[^A-Za-z0-9_]+", "_", words)
        count = 1
        while axis in found:
            count += 1
            axis = f"{first}_{count}"
        found[axis] = replace(one, axis=axis)
    return [*found.values()]


def _holders(site: Site, number: Numbers) -> Iterator[tuple[str, str, str, Limits]]:
    """Yield what has limits: kind, name, name with the log's numbers, and limits by column."""
    used = {column: {*site.names.get(column, {}).values()} for column in ("queue", "user")}
    for name, qos in site.qos.items():
        if qos.limits and name in used["queue"]:
            yield "qos", name, number("queue", name), qos.limits
    tree = site.associations
    for name, account in tree.accounts.items():
        if account.limits and site.order is not None:
            yield "account", name, number("group", name), account.limits
    for (user, name), row in tree.users.items():
        if row.limits and user in used["user"] and name in tree.accounts:
            numbers = f"{number('user', user)}@{number('group', name)}"
            yield "user", f"{user}@{name}", numbers, row.limits


def _key(kind: str, column: str, tres: str) -> str | None:
    """Return the name of a limit in a policy; None of one that is not simulated."""
    if not is_limit(column) or (tres and tres not in TRES):
        return None
    number = "1@1" if kind == "user" else "1"
    spelt = {row.short.lower(): row.name for row in MEANINGS.values() if row.short}
    by_name = {name.lower(): name for name in MEANINGS}
    key = spelt.get(column) or by_name[column]
    if kind not in MEANINGS[key].kinds:
        return None
    (one,) = read_limits(f"({kind}.{number}.{key}={f'{tres}=1' if tres else 1})")
    return one.what

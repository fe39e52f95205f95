"""The limits of QOS, accounts and users in a dump, in the form of policies and site files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedfarm.core.policy.limits import TRES, meaning_of, read_limits
from schedfarm.core.policy.policy import Policy
from schedfarm.farm.site.dump.columns import Limits
from schedfarm.farm.site.notes import Note

if TYPE_CHECKING:
    from schedfarm.farm.site.model import Numbers, Site


@dataclass(frozen=True)
class Limited:
    """Hold a limit: its holder by number and by name, its key, value and source.

    kind: kind of holder in a policy. tres: the resource, empty for a number of jobs. axis: name of
    the limit as an axis of a campaign, unique within the site.
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
        """The value in sacctmgr's form."""
        return f"{self.tres}={self.value}" if self.tres else str(self.value)

    def text(self, *, axis: bool = False) -> str:
        """Return the limit in the form of a policy; with `axis`, its value is a placeholder."""
        value = f"{{{self.axis}}}" if axis else str(self.value)
        tres = f"{self.tres}=" if self.tres else ""
        holder = ".".join(filter(None, (self.kind, self.number)))
        return f"{holder}.{self.key}={tres}{value}"


def limits_of(site: Site, number: Numbers) -> tuple[list[Limited], list[Note]]:
    """Return the simulated limits, and notes on the others.

    Limits of a QOS or user without jobs are omitted.
    """
    found: list[Limited] = []
    notes: list[Note] = []
    for kind, name, numbered, limits in _holders(site, number):
        if numbered is None:
            holder = "users of the root" if kind == "user" else f"account {name}"
            effect = "its jobs wait less: such limits need the accounts of priority/multifactor"
            notes.append(Note(f"limits of {holder}", next(iter(limits.values())).source, effect))
            continue
        for column, fact in limits.items():
            amounts = fact.value if isinstance(fact.value, dict) else {"": fact.value}
            for tres, value in amounts.items():
                key = _key(kind, column, tres)
                if key is None:
                    of = f"{column} of {_holder(kind, name)}" + f" ({tres})" * bool(tres)
                    notes.append(Note(of, fact.source, "its jobs wait less"))
                else:
                    found.append(Limited(kind, numbered, name, key, tres, value, fact.source))
    return _with_axes(found), notes


def _holder(kind: str, name: str) -> str:
    """Return the holder of a limit for notes in the campaign's file, without names of users."""
    return "a user" if kind == "user" else f"{kind} {name}".strip()


def _with_axes(limits: Iterable[Limited]) -> list[Limited]:
    """Return the limits with names of axes; names for users contain the log's numbers.

    Stores keep the names of axes, and a store may be public.
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


def possible(site: Site, limits: Sequence[Limited]) -> tuple[list[Limited], list[Note]]:
    """Return the limits that the jobs of the site fit, and notes on the others.

    A limit that was lowered within the period may be below the requests of earlier jobs, which
    would wait forever.
    """
    from schedfarm.core.engine.limiting import faults_of

    kept, notes = [*limits], list[Note]()
    while kept:
        policy = Policy.parse(replace(site, limits=tuple(kept)).policy())
        faults = {fault.limit: fault.why for fault in faults_of(site.jobs, policy)}
        if not faults:
            break
        read = {one: read_limits(f"({one.text()})")[0] for one in kept}
        for one in [one for one in kept if read[one] in faults]:
            kept.remove(one)
            what = f"{one.key} {one.equals} of {_holder(one.kind, one.name)}"
            notes.append(Note(what, one.source, f"{faults[read[one]]}, and other jobs wait less"))
    return kept, notes


def _holders(site: Site, number: Numbers) -> Iterator[tuple[str, str, str | None, Limits]]:
    """Yield the holders of limits: kind, name, the log's number as text, and limits by column.

    The number is None if the simulation lacks the association.
    """
    used = {column: {*site.names.get(column, {}).values()} for column in ("queue", "user")}
    for name, qos in site.qos.items():
        if qos.limits and name in used["queue"]:
            yield "qos", name, number("queue", name), qos.limits
    tree = site.associations
    if tree.root and tree.root.limits:
        yield "root", "", "", tree.root.limits
    for name, account in tree.accounts.items():
        if account.limits:
            numbered = None if site.order is None else number("group", name)
            yield "account", name, numbered, account.limits
    for (user, name), row in tree.users.items():
        if row.limits and user in used["user"]:
            at = f"{number('user', user)}@{number('group', name)}"
            yield "user", f"{user}@{name}", at if name in tree.accounts else None, row.limits


def _key(kind: str, column: str, tres: str) -> str | None:
    """Return the name of a limit in a policy; None for a limit that is not simulated."""
    meaning = meaning_of(column)
    if meaning is None or kind not in meaning.kinds or (tres and tres not in TRES):
        return None
    return meaning.name

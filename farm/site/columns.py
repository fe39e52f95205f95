"""Columns of sacctmgr that are not simulated: one row each, with the effect on accuracy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from schedfarm.core.numerals import counted
from schedfarm.farm.site.dump.facts import UNLIMITED, Fact
from schedfarm.farm.site.notes import Note

if TYPE_CHECKING:
    from schedfarm.farm.site.model import Site

_ANY = ".*"
_ONCE = r"1(\.0+)?"
_NO_TIME = "0|00:00:00"
_SINGLE = "a job that exceeds it waits at the site, and starts here"
_USED_UP = "jobs are held at the site when it is used up, and start here"
_ACCRUED = "the ages of all waiting jobs grow here"

IGNORED = {
    "GrpTRESMins": ("", _USED_UP),
    "GrpWall": ("", _USED_UP),
    "MaxTRES": ("", _SINGLE),
    "MaxTRESPerNode": ("", _SINGLE),
    "MaxTRESMins": ("", _SINGLE),
    "MaxWall": ("", _SINGLE),
    "MinTRES": ("", "a smaller job waits at the site, and starts here"),
    "GrpJobsAccrue": ("", _ACCRUED),
    "MaxJobsAccrue": ("", _ACCRUED),
    "MaxJobsAccruePA": ("", _ACCRUED),
    "MaxJobsAccruePU": ("", _ACCRUED),
    "UsageFactor": (_ONCE, "usage counts once here, so that fair shares differ"),
    "UsageThres": ("", "jobs of users below it wait at the site, and start here"),
    "LimitFactor": (_ONCE, "limits of associations are not multiplied"),
    "Flags": ("", "the rules of these flags do not apply here, so that its waits differ"),
    "PreemptMode": ("cluster|off", "preempted jobs wait longer at the site"),
    "GraceTime": (_NO_TIME, "preempted jobs wait longer at the site"),
    "PreemptExemptTime": (_NO_TIME, "preempted jobs wait longer at the site"),
    "Priority": ("0", "priorities of associations are 0 here"),
    "Partition": ("", "its shares and limits apply in all partitions here"),
    **dict.fromkeys(
        ("QOS", "DefQOS", "DefaultQOS", "Descr", "Description", "Org", "Comment", "ID"), (_ANY, "")
    ),
}
"""By column: a pattern of lower-case values without effect, and the effect of other values."""

_UNKNOWN = ("", "it has no effect here, so that its jobs may wait longer or less")

_BY_COLUMN = {name.lower(): (name, *row) for name, row in IGNORED.items()}


def unread(site: Site) -> Iterator[Note]:
    """Yield a note for each unsimulated column of QOS and associations that have jobs."""
    found: dict[tuple[str, str], list[tuple[str, Fact[str]]]] = {}
    for kind, name, others in _holders(site):
        for column, fact in others.items():
            _, harmless, _ = _BY_COLUMN.get(column, (column, *_UNKNOWN))
            value = fact.value.lower()
            if value not in UNLIMITED and not re.fullmatch(harmless, value):
                found.setdefault((kind, column), []).append((name, fact))
    for (kind, column), rows in found.items():
        spelt, _, effect = _BY_COLUMN.get(column, (column, *_UNKNOWN))
        names = ", ".join(name for name, _ in rows[:3]) + ", ..." * (len(rows) > 3)
        # The notes are in the campaign's file, which must not have names of users.
        of = counted(len(rows), "user") if kind == "user" else f"{kind} {names}".strip()
        yield Note(f"{spelt}={rows[0][1].value} of {of}", rows[0][1].source, effect)


def _holders(site: Site) -> Iterator[tuple[str, str, Mapping[str, Fact[str]]]]:
    """Yield the kind, the name and the columns of each QOS, account and user, and of the root."""
    used = {column: {*site.names.get(column, {}).values()} for column in ("queue", "user")}
    tree = site.associations
    if tree.root:
        yield "root", "", tree.root.others
    for name, qos in site.qos.items():
        if name in used["queue"]:
            yield "qos", name, qos.others
    for name, account in tree.accounts.items():
        yield "account", name, account.others
    for (user, _), row in tree.users.items():
        if user in used["user"]:
            yield "user", user, row.others

"""Slurm's limits of associations and QOS: their names, and the text of a policy's `limits`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.names import choices, split_outside

TRES = {"cpu": "procs", "gres/gpu": "gpus", "mem": "memory", "license": "licences"}
"""Slurm's names of resources, and the columns of jobs that request them."""

_MEGABYTES = {"": 1, "m": 1, "g": 2**10, "t": 2**20}
"""Units of memory; Slurm's numbers without a unit are megabytes."""

_ENTRY = re.compile(r"(?P<who>.+)\.(?P<what>[A-Za-z]+)")
_WORD = re.compile(r"[\w.\-]+")
_WHOLE = re.compile(r"[0-9]{1,18}")
_MOST = 10**18
"""Bound of every value, from the largest number of digits."""


@dataclass(frozen=True)
class Meaning:
    """Declare a limit.

    name: the name in sacctmgr. kinds: the possible holders of the limit. counts: running ``jobs``,
    the resources of running jobs (``tres``), resources x remaining time limits (``minutes``), or
    waiting and running jobs (``submitted``). each: ``user`` or ``account`` if the limit applies
    separately to the jobs of each user or account; empty if it applies to all jobs together. short:
    the name in listings of sacctmgr.
    """

    name: str
    kinds: tuple[str, ...]
    counts: str
    each: str = ""
    short: str = ""

    @property
    def of_jobs(self) -> bool:
        """Whether the limit is a number of jobs, not amounts of resources."""
        return self.counts in ("jobs", "submitted")


_HIERARCHY = ("user", "account", "root")

_ROWS = (
    Meaning("MaxJobs", _HIERARCHY, "jobs", "user"),
    Meaning("MaxSubmitJobs", _HIERARCHY, "submitted", "user", "MaxSubmit"),
    Meaning("MaxJobsPerUser", ("qos",), "jobs", "user", "MaxJobsPU"),
    Meaning("MaxJobsPerAccount", ("qos",), "jobs", "account", "MaxJobsPA"),
    Meaning("MaxSubmitJobsPerUser", ("qos",), "submitted", "user", "MaxSubmitPU"),
    Meaning("MaxSubmitJobsPerAccount", ("qos",), "submitted", "account", "MaxSubmitPA"),
    Meaning("MaxTRESPerUser", ("qos",), "tres", "user", "MaxTRESPU"),
    Meaning("MaxTRESPerAccount", ("qos",), "tres", "account", "MaxTRESPA"),
    Meaning("MaxTRESRunMinsPerUser", ("qos",), "minutes", "user", "MaxTRESRunMinsPU"),
    Meaning("MaxTRESRunMinsPerAccount", ("qos",), "minutes", "account", "MaxTRESRunMinsPA"),
    Meaning("GrpJobs", ("qos", *_HIERARCHY), "jobs"),
    Meaning("GrpTRES", ("qos", *_HIERARCHY), "tres"),
    Meaning("GrpTRESRunMins", ("qos", *_HIERARCHY), "minutes"),
    Meaning("GrpSubmitJobs", ("qos", *_HIERARCHY), "submitted", short="GrpSubmit"),
)

MEANINGS: dict[str, Meaning] = {row.name: row for row in _ROWS}
"""Every limit by its name, in the order of a policy's name."""

KINDS = ("root", "account", "user", "qos")
"""Holders of limits, in the order of a policy's name."""

_SPELT = {
    spelling.lower(): row.name for row in _ROWS for spelling in (row.name, row.short) if spelling
}

COLUMNS = {"account": "group", "user": "user", "qos": "queue"}
"""Columns of jobs that identify the holders of their limits."""


@dataclass(frozen=True)
class Limit:
    """Hold one limit: the kind and name of its holder, such as ``qos`` and ``high``, and its value.

    tres: the limited column of jobs; empty for a number of jobs. value: number of jobs, or amount
    of the resource in its unit (MB of memory); for running TRES-minutes, amount x minutes.
    """

    kind: str
    name: str
    what: str
    tres: str
    value: int

    @property
    def row(self) -> Meaning:
        """Row of `MEANINGS` for the limit."""
        return MEANINGS[self.what]

    @property
    def text(self) -> str:
        """Canonical text of the limit."""
        return f"{self.says}={self.value}"

    @property
    def says(self) -> str:
        """Text without the value, as the name of the limit in a sentence."""
        tres = next((f"={name}" for name, column in TRES.items() if column == self.tres), "")
        return f"{self.kind}{f'.{self.name}' if self.name else ''}.{self.what}{tres}"

    @property
    def names(self) -> list[str]:
        """Names of the limit's holder; for a user also the name of the account."""
        return self.name.split("@") if self.name else []

    @property
    def rank(self) -> tuple[int, str, int, str]:
        """Sort key for a policy's name."""
        return KINDS.index(self.kind), self.name, [*MEANINGS].index(self.what), self.tres


@lru_cache(maxsize=2**12)
def read_limits(text: str) -> tuple[Limit, ...]:
    """Read the limits of a policy.

    Examples
    --------
    >>> for limit in read_limits("(qos.high.maxjobspu=8, root.GrpTRES=cpu=512)"):
    ...     print(limit.text)
    root.GrpTRES=cpu=512
    qos.high.MaxJobsPerUser=8
    >>> read_limits("(qos.high.MaxJobs=8)")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: limits: 'qos.high.MaxJobs=8': a qos has no limit 'MaxJobs';
    did you mean 'MaxJobsPerUser'? known: ...
    """
    if not (text.startswith("(") and text.endswith(")")):
        raise InputError(
            f"limits={text!r}; give a list in parentheses, such as (qos.high.MaxJobsPerUser=8)"
        )
    found: dict[tuple[int, str, int, str], Limit] = {}
    for part in (part.strip() for part in split_outside(text[1:-1], ",") if part.strip()):
        limit = _entry(part)
        if limit.rank in found:
            raise InputError(f"limits: {limit.says!r} is given twice; give it once")
        found[limit.rank] = limit
    if not found:
        raise InputError("limits=() is empty; leave it out")
    return tuple(found[rank] for rank in sorted(found))


def canonical_limits(name: str, text: str) -> str:
    """Return the canonical text of a policy's limits."""
    return f"({', '.join(limit.text for limit in read_limits(text))})"


def _entry(text: str) -> Limit:
    key, equals, value = (one.strip() for one in text.partition("="))
    found = _ENTRY.fullmatch(key)
    if not equals or found is None:
        raise InputError(
            f"limits: {text!r} is not of the form qos.NAME.LIMIT=VALUE, account.NAME.LIMIT=VALUE, "
            "user.NAME@ACCOUNT.LIMIT=VALUE or root.LIMIT=VALUE"
        )
    kind, _, name = found["who"].partition(".")
    try:
        return _limit(kind, name, found["what"], value)
    except InputError as error:
        raise InputError(f"limits: {text!r}: {error}") from error


def _limit(kind: str, name: str, given: str, value: str) -> Limit:
    if kind not in KINDS:
        raise InputError(f"{kind!r} has no limits; {choices(kind, KINDS)}")
    what = _SPELT.get(given.lower(), given)
    known = [row.name for row in _ROWS if kind in row.kinds]
    if what not in known:
        raise InputError(f"a {kind} has no limit {given!r}; {choices(given, known)}")
    user, at, account = name.partition("@")
    words = (user, account) if kind == "user" else (name,)
    if (kind == "user") != bool(at) or (kind == "root") != (not name):
        form = {"root": "root", "user": "user.NAME@ACCOUNT"}.get(kind, f"{kind}.NAME")
        raise InputError(f"write {form}.{what}=")
    if kind != "root" and not all(map(_WORD.fullmatch, words)):
        raise InputError(
            f"{name!r} is not a name; names have letters, digits, '_', '.' and '-' only"
        )
    if MEANINGS[what].of_jobs:
        return Limit(kind, name, what, "", _whole(value))
    tres, equals, amount = (one.strip() for one in value.partition("="))
    if tres.lower() not in TRES:
        raise InputError(f"resource {tres!r} is unknown; {choices(tres, TRES)}, as in cpu=512")
    if not equals:
        raise InputError(f"give an amount, such as {tres}=512")
    column = TRES[tres.lower()]
    return Limit(kind, name, what, column, (_memory if column == "memory" else _whole)(amount))


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise InputError(f"{text!r} is not a limit; give a whole number from 0")
    return int(text)


def _memory(text: str) -> int:
    unit = text[-1:].lower() if text[-1:].isalpha() else ""
    number = text.removesuffix(text[-1:]) if unit else text
    if unit not in _MEGABYTES or not _WHOLE.fullmatch(number):
        raise InputError(f"{text!r} is not an amount of memory; give one such as 512G")
    # The value is in MB in the canonical text, which must be valid again.
    if (found := int(number) * _MEGABYTES[unit]) >= _MOST:
        raise InputError(f"{text!r} is {found} MB of memory; give less than 10^18 MB")
    return found


def meaning_of(name: str) -> Meaning | None:
    """Return the limit with a long or short name of sacctmgr, in any case, or None."""
    return MEANINGS.get(_SPELT.get(name.lower(), ""))


def is_limit(name: str) -> bool:
    """Return whether a key of a site's file is a limit."""
    return name.lower() in _SPELT


def entries_of(kind: str, name: str, row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the limits among the keys of an entry of a site's file, as a policy's text.

    Examples
    --------
    >>> list(entries_of("qos", "high", {"priority": 9, "GrpTRES": "cpu=8,gres/gpu=2"}))
    ['qos.high.GrpTRES=cpu=8', 'qos.high.GrpTRES=gres/gpu=2']
    """
    who = f"{kind}.{name}" if name else kind
    for key, value in row.items():
        if is_limit(key):
            for part in str(value).split(","):
                yield f"{who}.{key}={part.strip()}"

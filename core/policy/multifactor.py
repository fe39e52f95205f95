"""Slurm's multifactor priority: the arguments in an order's name, and their canonical text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from schedfarm.core.durations import duration, seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices, split_outside

NAME = "multifactor"
"""Name of the order, with or without arguments."""

MOST = 4294967295
"""Largest weight, and largest priority."""

TIER = 2**32
"""Difference of priorities between neighbouring tiers, which exceeds the largest priority."""

USUAL_TIER = 1
"""Tier of unlisted partitions, which is Slurm's default."""

WEIGHTS = ("age", "fairshare", "size", "partition", "qos", "cpu")
"""Arguments that are weights of a factor, in the order of the sum in semantics.md."""

_WORD = re.compile(r"[\w.\-]+")
_WHOLE = re.compile(r"\d{1,10}")
_NUMBER = re.compile(r"-1|0|[1-9][0-9]*")


@dataclass(frozen=True)
class Account:
    """Hold the parent of an account, empty for the root, and its shares."""

    parent: str
    shares: int


@dataclass(frozen=True)
class Multifactor:
    """Hold the arguments of the order: weights, periods in s, and the tables of a site.

    accounts: accounts by name, each after its parent. users: shares by (user, account).
    qos_priorities: priority of each QOS. partitions, tiers: PriorityJobFactor and PriorityTier of
    each partition.
    """

    age: int = 0
    fairshare: int = 0
    size: int = 0
    partition: int = 0
    qos: int = 0
    cpu: int = 0
    max_age: int = 604800
    calc: int = 300
    halflife: int = 604800
    algorithm: str = "tree"
    damping: int = 1
    favor_small: bool = False
    relative_to_time: bool = False
    accounts: Mapping[str, Account] = field(default_factory=dict)
    users: Mapping[tuple[str, str], int] = field(default_factory=dict)
    qos_priorities: Mapping[str, int] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    tiers: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, one in self.accounts.items():
            above = list(self.accounts)[: list(self.accounts).index(name)]
            if one.parent and one.parent not in above:
                raise InputError(
                    f"account {name!r} is below {one.parent!r}, which is not listed before it; "
                    f"list {one.parent!r} first"
                )
        for user, account in self.users:
            if account not in self.accounts:
                known = f"; {choices(account, self.accounts)}" if self.accounts else ""
                raise InputError(
                    f"user {user!r} has shares of account {account!r}, which is not listed; list "
                    f"it in accounts{known}"
                )

    @property
    def name(self) -> str:
        """Canonical name of the order."""
        parts = ", ".join(self._parts())
        return f"{NAME}({parts})" if parts else NAME

    def check_names(self, names: Mapping[str, Mapping[int, str]]) -> None:
        """Refuse listed names that are missing in a column's names; numbers are allowed.

        An account with child accounts may be missing in the log, so its name is not refused.
        """
        for argument, column, listed in self._listed():
            name = next((one for one in listed if not _NUMBER.fullmatch(one)), None)
            if name is not None and not names.get(column):
                raise InputError(
                    f"order {NAME!r}: {argument} lists {name!r}, but there are no names in the "
                    f"log's column {column!r}; list numbers of the log, which a campaign always "
                    "needs, since its stores hold no names"
                )

    def _listed(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield each argument that is a table, with its column and its names."""
        above = {one.parent for one in self.accounts.values()}
        yield "accounts", "group", [name for name in self.accounts if name not in above]
        yield "users", "group", [account for _, account in self.users]
        yield "users", "user", [user for user, _ in self.users]
        yield "qos_priority", "queue", [*self.qos_priorities]
        yield "partitions", "partition", [*self.partitions]
        yield "tiers", "partition", [*self.tiers]

    def _parts(self) -> Iterator[str]:
        for one in fields(self):
            value, key = getattr(self, one.name), _WRITTEN.get(one.name, one.name)
            if not isinstance(value, Mapping):
                if value != one.default:
                    yield f"{key}={_text(key, value)}"
            elif value:
                yield f"{key}=({', '.join(map(_entry, value.items()))})"


_WRITTEN = {"qos_priorities": "qos_priority"}
"""Keys of arguments with other names than their fields."""


def _text(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return duration(value) if key in ("max_age", "calc", "halflife") else str(value)


def _entry(item: tuple[Any, Any]) -> str:
    name, value = item
    if isinstance(value, Account):
        return f"{name}={value.parent}/{value.shares}" if value.parent else f"{name}={value.shares}"
    return f"{'@'.join(name)}={value}" if isinstance(name, tuple) else f"{name}={value}"


def _whole(what: str, text: str, most: int = MOST) -> int:
    if not _WHOLE.fullmatch(text) or int(text) > most:
        raise InputError(f"{what}={text!r}; give a whole number from 0 to {most}")
    return int(text)


def _period(what: str, text: str) -> int:
    seconds = seconds_of(text)
    if not seconds or seconds >= 2**40:
        raise InputError(f"{what}={text!r}; give a whole number from 1 and a unit, such as 5m")
    return seconds


def _half(what: str, text: str) -> int:
    return 0 if seconds_of(text) == 0 else _period(what, text)


def _damping(what: str, text: str) -> int:
    if not (found := _whole(what, text, 65535)):
        raise InputError(f"{what}=0; give a whole number from 1")
    return found


def _algorithm(what: str, text: str) -> str:
    if text not in ("tree", "classic"):
        raise InputError(f"{what}={text!r}; {choices(text, ('tree', 'classic'))}")
    return text


def _yes(what: str, text: str) -> bool:
    if text not in ("yes", "no"):
        raise InputError(f"{what}={text!r}; give yes or no")
    return text == "yes"


def _word(what: str, text: str) -> str:
    if not _WORD.fullmatch(text):
        raise InputError(
            f"{what}: {text!r} is not a name; names have letters, digits, '_', '.' and '-' only"
        )
    return text


def _table(what: str, text: str, key: Callable[..., Any], value: Callable[..., Any]) -> Any:
    if not (text.startswith("(") and text.endswith(")")):
        raise InputError(
            f"{what}={text!r}; give a list in parentheses, such as ({_EXAMPLES[what]})"
        )
    found: dict[Any, Any] = {}
    for part in (part.strip() for part in text[1:-1].split(",") if part.strip()):
        name, equals, given = (one.strip() for one in part.partition("="))
        if not equals:
            raise InputError(f"{what}: {part!r} has no value; write it as in {_EXAMPLES[what]}")
        if key(what, name) in found:
            raise InputError(f"{what}: {name!r} is listed twice; list it once")
        found[key(what, name)] = value(f"{what}: {name}", given)
    return found


def _account(what: str, text: str) -> Account:
    parent, slash, shares = text.rpartition("/")
    return Account(_word(what, parent) if slash else "", _whole(what, shares, 2**31 - 1))


def _association(what: str, text: str) -> tuple[str, str]:
    user, at, account = text.partition("@")
    if not at:
        raise InputError(f"{what}: {text!r} has no account; write USER@ACCOUNT=SHARES")
    return _word(what, user), _word(what, account)


def _factor(what: str, text: str) -> int:
    return _whole(what, text, 65533)


_EXAMPLES = {
    "accounts": "physics=60, optics=physics/10",
    "users": "ann@physics=2",
    "qos_priority": "high=100, normal=10",
    "partitions": "debug=10, batch=5",
    "tiers": "debug=2",
}

_READ: dict[str, Callable[[str, str], Any]] = {
    **dict.fromkeys(WEIGHTS, _whole),
    "max_age": _period,
    "calc": _period,
    "halflife": _half,
    "algorithm": _algorithm,
    "damping": _damping,
    "favor_small": _yes,
    "relative_to_time": _yes,
    "accounts": lambda what, text: _table(what, text, _word, _account),
    "users": lambda what, text: _table(what, text, _association, _whole),
    "qos_priority": lambda what, text: _table(what, text, _word, _whole),
    "partitions": lambda what, text: _table(what, text, _word, _factor),
    "tiers": lambda what, text: _table(what, text, _word, _factor),
}
"""Reader of each argument's text."""


def is_multifactor(name: str) -> bool:
    """Return whether an order's name is that of Slurm's priority, with or without arguments.

    Examples
    --------
    >>> is_multifactor("multifactor(age=1)"), is_multifactor("multifactor"), is_multifactor("fcfs")
    (True, True, False)
    """
    name = name.strip().lower()
    return name == NAME or name.startswith(NAME + "(")


@lru_cache(maxsize=2**12)
def read_multifactor(name: str) -> Multifactor:
    """Read the arguments in the name of an order.

    Examples
    --------
    >>> read_multifactor("multifactor(qos=5,accounts=(a=3,b=a/2),calc=300s)").name
    'multifactor(qos=5, accounts=(a=3, b=a/2))'
    >>> read_multifactor("multifactor(aeg=1000)")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: order 'multifactor': argument 'aeg' is unknown; did you mean
    'age'? known: age, ...
    """
    inside = name.strip()[len(NAME) + 1 :]
    if name.strip().lower() == NAME:
        return Multifactor()
    try:
        if not inside.endswith(")"):
            raise InputError(f"{name.strip()!r} does not end with ')'; close the parentheses")
        return _arguments(inside[:-1])
    except InputError as error:
        raise InputError(f"order {NAME!r}: {error}") from error


def _arguments(text: str) -> Multifactor:
    given: dict[str, Any] = {}
    for part in split_outside(text, ","):
        key, equals, value = (one.strip() for one in part.partition("="))
        if not key and not equals and not text.strip():
            continue
        if key not in _READ:
            raise InputError(f"argument {key!r} is unknown; {choices(key, _READ)}")
        if not equals:
            raise InputError(f"argument {key!r} has no value; give {key}=...")
        if key in given:
            raise InputError(f"argument {key!r} is given twice; give it once")
        given[key] = _READ[key](key, value)
    backwards = {key: name for name, key in _WRITTEN.items()}
    return Multifactor(**{backwards.get(key, key): value for key, value in given.items()})


_TABLES = {
    "accounts": ("accounts", ("shares", "parent")),
    "users": ("users", ("shares",)),
    "qos": ("qos_priority", ("priority",)),
    "partitions": ("partitions", ("factor", "tier")),
}
"""Tables of a file in addition to ``priority``: the argument, and the keys of each entry."""


def order_of_table(table: Mapping[str, Any]) -> str:
    """Return the order that is described by the tables of a site's file.

    Examples
    --------
    >>> order_of_table({"priority": {"age": 1000, "calc": "1m", "favor_small": True},
    ...                 "accounts": {"a": {"shares": 3}, "b": {"shares": 1, "parent": "a"}}})
    'multifactor(age=1000, calc=1m, favor_small=yes, accounts=(a=3, b=a/1))'
    >>> order_of_table({"qos": {"high": {"prio": 5}}})
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: [qos.high] has an unknown key 'prio'; did you mean
    'priority'? known: priority
    """
    parts: list[str] = []
    for name, entries in table.items():
        if name != "priority" and name not in _TABLES:
            raise InputError(f"[{name}] is unknown; {choices(name, ('priority', *_TABLES))}")
        if not isinstance(entries, Mapping):
            raise InputError(f"{name}={entries!r} is not a table; write [{name}]")
    for key, value in table.get("priority", {}).items():
        simple = sorted({*_READ} - {"tiers", *(argument for argument, _ in _TABLES.values())})
        if key not in simple:
            raise InputError(f"[priority] has an unknown key {key!r}; {choices(key, simple)}")
        written = ("no", "yes")[value] if isinstance(value, bool) else value
        parts.append(f"{key}={written}")
    for name, (argument, known) in _TABLES.items():
        if name in table:
            rows = (_row(name, one, row, known) for one, row in table[name].items())
            parts.append(f"{argument}=({', '.join(rows)})")
    tiers = {
        name: row["tier"] for name, row in table.get("partitions", {}).items() if "tier" in row
    }
    if tiers:
        parts.append(f"tiers=({', '.join(map(_entry, tiers.items()))})")
    return read_multifactor(f"{NAME}({', '.join(parts)})").name


def _row(table: str, name: str, row: Any, known: tuple[str, ...]) -> str:
    """Return an entry of a table as it is written in an order."""
    where = f"[{table}.{name}]"
    if not isinstance(row, Mapping):
        raise InputError(f"{where} is {row!r}; give a table such as {known[0]} = 1")
    for key in row:
        if key not in known:
            raise InputError(f"{where} has an unknown key {key!r}; {choices(key, known)}")
    if known[0] not in row:
        raise InputError(f"{where} has no {known[0]}; give {known[0]} = 1, for example")
    parent = row.get("parent", "")
    return f"{name}={parent}/{row[known[0]]}" if parent else f"{name}={row[known[0]]}"

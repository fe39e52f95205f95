"""Maps from the columns of any table, or the further fields of SWF, to the columns of a workload.

A map is a TOML table. ``[columns]`` gives the log's column, and its unit, for each column of a
workload. ``[drop]`` gives values of a log's column; rows with these values are left out.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.logs.machine import machine_file
from schedfarm.core.names import choices, nearest

INSTANT, SPAN, AMOUNT, POWER, COUNT, WORD = (
    "instant", "length of time", "memory", "power", "count", "name",
)  # fmt: skip

QUANTITIES = (AMOUNT, POWER, COUNT)
"""Kinds of columns that may have values per node or processor."""

SECONDS = {"ns": (1, 10**9), "us": (1, 10**6), "ms": (1, 1000), "s": (1, 1)}
"""Units of time up to the second, as fractions of a second."""

UNITS: dict[str, dict[str, tuple[int, int]]] = {
    INSTANT: {**SECONDS, "datetime": (1, 1)},
    SPAN: {
        **SECONDS,
        "min": (60, 1),
        "h": (3600, 1),
        "d": (86_400, 1),
        "clock": (1, 1),
    },
    AMOUNT: {
        "B": (1, 1),
        **{f"{p}B": (1000**k, 1) for k, p in enumerate(("k", "M", "G", "T"), 1)},
        **{f"{p}iB": (1024**k, 1) for k, p in enumerate(("K", "M", "G", "T"), 1)},
        "slurm": (1, 1),
    },
    POWER: {"W": (1, 1), "kW": (1000, 1), "MW": (10**6, 1)},
    COUNT: {},
    WORD: {},
}
"""Units of each kind of column: numerator and denominator of the factor to seconds, bytes or watts.

`datetime` is text such as 2024-01-02 03:04:05, `clock` text such as 1-02:03:04, and `slurm` text
such as 4000M.
"""


class Target(NamedTuple):
    """Declare a column that a map can give: its kind, its name in a parsed log, and its meaning."""

    kind: str
    parsed: str
    meaning: str


TARGETS = {
    "job": Target(WORD, "job", "number of the job; words are numbered by their row"),
    "submit": Target(INSTANT, "submit", "submission"),
    "eligible": Target(INSTANT, "eligible", "instant at which a scheduler could first start it"),
    "start": Target(INSTANT, "start", "start"),
    "end": Target(INSTANT, "end", "end"),
    "wait": Target(SPAN, "wait", "wait; else start - submit"),
    "run": Target(SPAN, "run", "run time; where unknown end - start"),
    "estimate": Target(SPAN, "request_time", "requested time"),
    "soft": Target(SPAN, "soft", "run time that the log's scheduler predicted"),
    "procs": Target(COUNT, "requested", "requested processors"),
    "allocated": Target(COUNT, "allocated", "allocated processors"),
    "nodes": Target(COUNT, "nodes", "nodes"),
    "gpus": Target(COUNT, "gpus", "GPUs"),
    "memory": Target(AMOUNT, "memory", "memory"),
    "licences": Target(COUNT, "licences", "licences"),
    "watts": Target(POWER, "watts", "mean power"),
    "priority": Target(COUNT, "priority", "priority in the log"),
    "user": Target(WORD, "user", "user"),
    "group": Target(WORD, "group", "group or account"),
    "queue": Target(WORD, "queue", "queue or quality of service"),
    "partition": Target(WORD, "partition", "partition"),
}
"""Columns that a map can give."""

EACH = {"node": ("nodes",), "processor": ("requested", "allocated")}
"""Values of `per`, and the columns to multiply by; the first of these columns with a value above 0
is used."""

UNKNOWN_WORDS = ("", "nan", "nat", "none", "null", "n/a", "unknown")
"""Words, in small letters, that always mean an unknown value."""

KEYS = ("columns", "drop", "unknown", "processors", "epoch", "about")
"""Keys of a map."""

ABOUT = ("title", "doi", "licence", "acknowledge", "documentation", "note")
"""Keys of the table `about`, which describes the data."""

_MORE = {"per", "times", "match"}
_ALIKE = 0.8


@dataclass(frozen=True)
class Field:
    """Declare the source of one column.

    Parameters
    ----------
    names : tuple of str
        Columns of the log, or numbers of fields of SWF; the first present one counts.
    unit : str
        A key of `UNITS[kind]`; empty for counts and names.
    times : int
        Factor of a count, such as the processors of a node.
    per : str
        A key of `EACH`; empty for a quantity of the whole job.
    match : str
        Regular expression with one group; the value is the sum of this group over all matches.
    """

    names: tuple[str, ...]
    unit: str = ""
    times: int = 1
    per: str = ""
    match: str = ""


@dataclass(frozen=True)
class FieldMap:
    """Hold a checked map, as described in the module.

    Parameters
    ----------
    columns : mapping of str to Field
        Source of each column, by keys of `TARGETS`.
    drop : mapping of str to tuple of str
        Words in columns of the log; rows with these words are left out.
    unknown : tuple of str
        Words that mean an unknown value, in addition to `UNKNOWN_WORDS`.
    processors : int, optional
        Size of the machine.
    epoch : int
        Unix time of instant 0, if instants are numbers: -1 if unknown, 0 for Unix times.
    about : mapping of str to str
        Title, DOI, licence, acknowledgement and documentation of the data.
    """

    columns: Mapping[str, Field]
    drop: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    processors: int | None = None
    epoch: int = 0
    about: Mapping[str, str] = field(default_factory=dict)


def field_map(given: object, where: str) -> FieldMap:
    """Return the checked map of a TOML table or of the name of a ready map.

    Examples
    --------
    >>> field_map({"columns": {"submit": {"column": "t", "unit": "ms"}}}, "map").columns
    {'submit': Field(names=('t',), unit='ms', times=1, per='', match='')}
    """
    if isinstance(given, str):
        return ready_map(given)
    if not isinstance(given, Mapping) or not isinstance(given.get("columns"), Mapping):
        raise InputError(
            f"{where}: a map of columns is a table with [columns], or the name of a ready map; "
            f"{choices('', ready_names())}"
        )
    _known(given, KEYS, where)
    columns = {
        str(name): _field(str(name), one, f"{where}: columns")
        for name, one in given["columns"].items()
    }
    if not columns:
        raise InputError(f"{where}: [columns] is empty; give at least one of {', '.join(TARGETS)}")
    drop = _table(given.get("drop", {}), f"{where}: drop")
    about = _table(given.get("about", {}), f"{where}: about")
    _known(about, ABOUT, f"{where}: about")
    size = given.get("processors")
    return FieldMap(
        columns,
        {name: _words(words, f"{where}: drop: {name}") for name, words in drop.items()},
        _words(given.get("unknown", []), f"{where}: unknown"),
        None if size is None else whole(f"{where}: processors", size, least=1),
        whole(f"{where}: epoch", given.get("epoch", 0), least=-1),
        {name: _text(word, f"{where}: about: {name}") for name, word in about.items()},
    )


def _field(name: str, given: object, where: str) -> Field:
    if name not in TARGETS:
        raise InputError(f"{where}: unknown column {name!r}; {choices(name, TARGETS)}")
    what, kind = f"{where}: {name}", TARGETS[name].kind
    table = {"column": given} if isinstance(given, (str, list)) else given
    if not isinstance(table, Mapping) or ("column" in table) == ("field" in table):
        raise InputError(
            f"{what} is {given!r}; give the log's column, or a table of column or field, and unit"
        )
    _known(table, ("column", "field", "unit", *sorted(_MORE)), what)
    return Field(
        _sources(table, what),
        _unit(table.get("unit", ""), kind, what),
        _factor(table, kind, what),
        _per(table, name, kind, what),
        _pattern(table.get("match", ""), kind, what),
    )


def _sources(table: Mapping[str, Any], what: str) -> tuple[str, ...]:
    if "field" in table:
        return (f"field {whole(f'{what}: field', table['field'], least=1)}",)
    names = table["column"]
    return _words([names] if isinstance(names, str) else names, f"{what}: column", least=1)


def _unit(unit: object, kind: str, what: str) -> str:
    known = UNITS[kind]
    if unit == "" and not known:
        return ""
    if unit == "":
        raise InputError(f"{what} has no unit, and it is a {kind}; give one of {', '.join(known)}")
    if not known:
        raise InputError(f"{what}: unit is {unit!r}, and a {kind} has none; leave it out")
    if unit not in list(known):
        raise InputError(f"{what}: unit is {unit!r}; {choices(unit, known)}")
    return str(unit)


def _factor(table: Mapping[str, Any], kind: str, what: str) -> int:
    if "times" in table and kind != COUNT:
        raise InputError(f"{what}: 'times' is the factor of a count, and this is a {kind}")
    return whole(f"{what}: times", table.get("times", 1), least=1, most=10**6)


def _per(table: Mapping[str, Any], name: str, kind: str, what: str) -> str:
    per = table.get("per", "")
    if per == "":
        return ""
    known = [key for key, columns in EACH.items() if TARGETS[name].parsed not in columns]
    if kind not in QUANTITIES or per not in known:
        raise InputError(
            f"{what}: per is {per!r}; counts, memory and power may have {' or '.join(known)}"
        )
    return str(per)


def _pattern(pattern: object, kind: str, what: str) -> str:
    if pattern == "":
        return ""
    if kind not in (*QUANTITIES, SPAN):
        raise InputError(f"{what}: 'match' finds numbers in a text, and this is a {kind}")
    try:
        groups = re.compile(_text(pattern, f"{what}: match")).groups
    except re.error as error:
        raise InputError(f"{what}: match is not a regular expression ({error})") from None
    if groups != 1:
        raise InputError(f"{what}: match has {groups} groups; give one, around the value")
    return str(pattern)


def _known(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"{where}: unknown key {key!r}; {choices(key, known)}")


def _table(given: object, where: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"{where} is {given!r}; give a table")
    return given


def _words(given: object, where: str, least: int = 0) -> tuple[str, ...]:
    sound = isinstance(given, list) and len(given) >= least
    if not isinstance(given, list) or not sound or not all(isinstance(w, str) for w in given):
        raise InputError(f"{where} is {given!r}; give a list of texts")
    return tuple(given)


def _text(given: object, where: str) -> str:
    if not isinstance(given, str):
        raise InputError(f"{where} is {given!r}; give a text")
    return given


_READY = Path(__file__).with_name("maps")


def ready_names() -> list[str]:
    """Return the names of the ready maps."""
    return sorted(path.stem for path in _READY.glob("*.toml"))


@cache
def ready_map(name: str) -> FieldMap:
    """Return a ready map by its name.

    Examples
    --------
    >>> ready_map("pm100").columns["run"].unit
    's'
    """
    if name not in ready_names():
        raise InputError(f"there is no ready map {name!r}; {choices(name, ready_names())}")
    return map_file(_READY / f"{name}.toml")


def map_file(path: str | os.PathLike[str]) -> FieldMap:
    """Return the map in a TOML file; the line ``map = "NAME"`` stands for a ready map."""
    return field_map(map_table(path), os.fspath(path))


def map_table(path: str | os.PathLike[str]) -> object:
    """Return the unchecked map in a TOML file, or the name of the file's ready map."""
    source = os.fspath(path)
    try:
        with open(source, "rb") as file:
            plain = tomllib.load(file)
    except OSError as error:
        raise InputError(f"{source}: cannot read the map ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: not TOML ({error})") from None
    others = [key for key in plain if key != "map"]
    if "map" in plain and others:
        raise InputError(
            f"{source}: 'map' names a ready map and must be the only key; remove {others[0]!r}"
        )
    return plain.get("map", plain)


def map_beside(log: str | os.PathLike[str]) -> FieldMap | None:
    """Return the map in the TOML file with a log's name; None if this file has no map."""
    return map_file(machine_file(log)) if has_map_beside(log) else None


def has_map_beside(log: str | os.PathLike[str]) -> bool:
    """Return whether the TOML file with a log's name has a map, valid or not.

    A file with other keys belongs to another program or to another format of logs.
    """
    try:
        with open(machine_file(log), "rb") as file:
            plain = tomllib.load(file)
    except PermissionError:
        return True
    except OSError:
        return False
    except ValueError:
        return True
    misspelt = any(nearest(key, ("columns", "map"), _ALIKE) for key in plain)
    return misspelt or bool(plain) and set(plain) <= set(KEYS)

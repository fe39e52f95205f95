"""Conversion between declared classes and the plain values of a file: their keys and types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec import Meta

from schedfarm.core.arrays import HORIZON
from schedfarm.core.checks import shown
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices

LONGEST_NAME = 100
"""Names become file names, which file systems limit to 255 bytes including suffixes."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

Text = Annotated[str, Meta(description="a text")]
Seconds = Annotated[
    int, Meta(ge=1, le=HORIZON, description="a whole number of seconds, at least 1")
]
Switch = Annotated[bool, Meta(description="true or false")]
Count = Annotated[
    int, Meta(ge=1, le=HORIZON, description="a whole number, at least 1 and below 2^62")
]
Table = Annotated[Mapping[str, Any], Meta(description="a table of keys and values")]


def check_keys(kind: type, given: object) -> Mapping[str, Any]:
    """Return a mapping if its keys suit a declared class; refuse unknown and missing keys."""
    if not isinstance(given, Mapping):
        raise InputError(f"{given!r} is not a table of keys and values")
    known = {f.name: f for f in keys(kind)}
    for key in given:
        if key not in known:
            raise InputError(f"unknown key {key!r}; {choices(key, known)}")
    for key, f in known.items():
        needed = f.default is MISSING and f.default_factory is MISSING
        if needed and key not in given:
            raise InputError(f"key {key!r} is missing; it must be {_right(_hints(kind)[key])}")
    return given


def keys(kind: type) -> tuple[Field[Any], ...]:
    """Return the fields of a class that are keys of a file: the fields with `compare`."""
    return tuple(f for f in fields(kind) if f.compare)


def check_types(value: Any) -> None:
    """Convert each key of a declared value to its declared type, such as a tuple.

    Raises `InputError` with the description of the type if a value does not suit it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Machine:
    ...     size: Count
    >>> check_types(Machine("many"))
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: size is 'many'; it must be a whole number, at least 1 and
    below 2^62
    """
    kind: type = type(value)
    hints = _hints(kind)
    for key in (f.name for f in keys(kind)):
        given = getattr(value, key)
        try:
            object.__setattr__(value, key, msgspec.convert(given, hints[key]))
        except msgspec.ValidationError:
            right = _right(hints[key])
            raise InputError(f"{key} is {shown(given)}; it must be {right}") from None


class Exclusion(NamedTuple):
    """Declare keys that a key excludes, with reason and remedy; ``{value}`` is the key's value."""

    key: str
    others: tuple[str, ...]
    reason: str
    remedy: str = "; give it or {other!r}, not both"


def check_exclusions(value: Any, rows: Iterable[Exclusion]) -> None:
    """Refuse keys of a declared value that exclude each other; keys at defaults exclude nothing."""
    each = ((f, getattr(value, f.name)) for f in keys(type(value)))
    given = {f.name: one for f, one in each if one != _default(f)}
    for key, others, reason, remedy in rows:
        for other in others:
            if key in given and other in given:
                said = (reason + remedy).format(value=given[key], other=other)
                raise InputError(f"{key!r} {said}")


def _default(key: Field[Any]) -> object:
    return key.default if key.default_factory is MISSING else key.default_factory()


def put(value: Any, **canonical: object) -> None:
    """Set keys of a frozen value to their canonical form, while it is made."""
    for key, one in canonical.items():
        object.__setattr__(value, key, one)


def check_name(what: str, name: object) -> None:
    """Refuse a name that is not a valid file name everywhere.

    Examples
    --------
    >>> check_name("name", "a/b")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: name 'a/b': use letters, digits, '.', '_' and '-'
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{what} {name!r}: use letters, digits, '.', '_' and '-'")
    check_length(what, name)


def check_length(what: str, name: str) -> None:
    """Refuse a name that is too long for a file name."""
    if len(name.encode()) > LONGEST_NAME:
        raise InputError(
            f"{what} {name[:20] + '...'!r} has {len(name)} characters; use at most {LONGEST_NAME}"
        )


def to_plain(value: Any) -> dict[str, Any]:
    """Return a declared value as a mapping of its keys, with tuples as lists."""
    plain = ((f.name, msgspec.to_builtins(getattr(value, f.name))) for f in keys(type(value)))
    return {key: list(one) if isinstance(one, tuple) else one for key, one in plain}


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _right(hint: Any) -> str:
    return next(_descriptions(hint))


def _descriptions(hint: Any) -> Iterator[str]:
    """Yield the descriptions of a type, the outermost first."""
    for meta in getattr(hint, "__metadata__", ()):
        if isinstance(meta, Meta) and meta.description:
            yield meta.description
    for part in get_args(hint):
        yield from _descriptions(part)

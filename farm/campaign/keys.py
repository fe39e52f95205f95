"""Refuse what a table of keys and values may not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from core.errors import InputError


def check_keys(what: str, given: Mapping[str, Any], kind: type) -> None:
    """Refuse keys that a dataclass has no field for, and missing ones that it needs.

    Raises
    ------
    InputError
        Naming the first such key and the known ones.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"{what}: {given!r} is not a table of keys and values")
    known = {f.name: f for f in fields(kind)}
    for key in given:
        if key not in known:
            raise InputError(f"{what}: unknown key {key!r}; known: {', '.join(known)}")
    for key, f in known.items():
        needed = f.default is MISSING and f.default_factory is MISSING
        if needed and key not in given:
            raise InputError(f"{what}: key {key!r} is missing")

"""Partitions of hosts: the hosts that a job of each partition may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool
from schedfarm.core.checks import is_whole, shown
from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts.windows import hosts_text, numbers

Row = tuple[str, str]
"""Name of a partition, and the canonical text of its hosts; "" means all hosts."""

Label = tuple[str, int]
"""Name of a partition, or of several separated by commas, and its number in the column
`partition`."""

MANY = 40
"""Largest number of names in a message."""


def _is_row(given: object) -> bool:
    """Return whether a value is a tuple of pairs."""
    return isinstance(given, tuple) and all(isinstance(x, tuple) and len(x) == 2 for x in given)


def rows_of(given: object, count: int) -> tuple[Row, ...]:
    """Return the partitions of a machine with `count` hosts, in order of their names.

    Raises
    ------
    InputError
        If the value is not a table, or a name or a list of hosts is wrong.

    Examples
    --------
    >>> rows_of({"long": "0-3", "debug": [3, 2]}, 4)
    (('debug', '2-3'), ('long', ''))
    """
    # `dataclasses.replace` passes the checked values of the machine, which are rows.
    table = {name: text or None for name, text in given} if _is_row(given) else given  # type: ignore[attr-defined]
    if not isinstance(table, Mapping):
        raise InputError(
            f"partitions is {shown(given)}; give a table with the hosts of each, such as "
            '{batch = "0-59", debug = "60-63"}'
        )
    for name in table:
        if not isinstance(name, str) or not name.strip() or "," in name:
            raise InputError(
                f"partitions has the name {name!r}; give each partition one name, without commas"
            )
    rows = ((name.strip(), hosts_text(f"partitions: {name}", table[name], count)) for name in table)
    return tuple(sorted(rows))


def labels_of(given: object, rows: tuple[Row, ...]) -> tuple[Label, ...]:
    """Return the labels of partitions and of lists of partitions, in order of their numbers.

    Raises
    ------
    InputError
        If a partition is unknown, or if numbers are not distinct whole numbers from 0 on.

    Examples
    --------
    >>> labels_of({"long": 2, "debug, long": 1}, (("debug", "2-3"), ("long", "")))
    (('debug,long', 1), ('long', 2))
    """
    table = dict(given) if _is_row(given) else given  # type: ignore[call-overload]
    if not isinstance(table, Mapping) or bool(table) != bool(rows):
        raise InputError(
            f"numbers is {shown(given)}; give a table with the number of each partition in the "
            "log, if there are partitions"
        )
    known = [name for name, _ in rows]
    found: dict[str, int] = {}
    for label, number in table.items():
        names = sorted({name.strip() for name in str(label).split(",")})
        for name in names:
            if name not in known:
                listed = ", ".join(map(repr, known[:MANY]))
                raise InputError(f"numbers has {label!r}; partitions are: {listed}")
        if not is_whole(number) or not 0 <= number < HORIZON:
            raise InputError(
                f"numbers has {label!r} = {shown(number)}; give a number of the log from 0, below "
                "2^62"
            )
        found[",".join(names)] = int(number)
    if len(found) < len(table) or len(set(found.values())) < len(found):
        raise InputError(f"numbers is {shown(given)}; give each partition a number of its own")
    return tuple(sorted(found.items(), key=lambda one: one[1]))


def within(rows: tuple[Row, ...], label: str, count: int) -> Bool:
    """Return whether each host is in one of the partitions of a label, bool[hosts].

    Examples
    --------
    >>> within((("a", "0"), ("b", "2-3")), "a,b", 4).tolist()
    [True, False, True, True]
    """
    found = np.zeros(count, np.bool_)
    for name in label.split(","):
        found[numbers(dict(rows)[name], count)] = True
    return found


def plain(rows: tuple[Row, ...], count: int) -> dict[str, Any]:
    """Return the table of partitions for which `rows_of` returns these rows.

    Examples
    --------
    >>> plain((("debug", "2-3"), ("long", "")), 4)
    {'debug': '2-3', 'long': '0-3'}
    """
    return {name: text or f"0-{count - 1}" for name, text in rows}

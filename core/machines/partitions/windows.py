"""Windows of a machine with partitions, which withhold processors of regions and other resources.

A window has a separate table for regions, since a partition may have the name of a resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.machines.resources.windows import (
    TIMES,
    Intervals,
    Row,
    intervals,
    plain,
    row_of,
    rows_of,
    table_of,
)
from schedfarm.core.names import choices

REGIONS = "regions"
"""Key of a window's table of processors by region."""

_OF = "processors of "
"""Prefix of the name of a region's processors in a row."""

MANY = 40
"""Largest number of names in a message."""


def name_of(label: str) -> str:
    """Return the name of a region's processors in rows."""
    return _OF + label


def amounts_of(stocks: Mapping[str, int], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the amounts that windows may withhold, by name: other resources, then regions."""
    return {**stocks, **{name_of(label): size for label, size in sizes.items()}}


def region_rows(
    given: object, stocks: Mapping[str, int], sizes: Mapping[str, int], where: str = ""
) -> tuple[Row, ...]:
    """Return the rows of windows, as `core.machines.resources.windows.rows_of` does.

    Examples
    --------
    >>> gap = {"from": 0, "until": 60, "regions": {"b, a": 2}}
    >>> region_rows([gap], {}, {"a": 3, "a,b": 4})
    ((0, 60, 0, 1, (('processors of a,b', 2),)),)
    """
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InputError(
            f"{where}windows is {given!r}; give a list of tables, such as "
            f'[{{from = "5d", until = "6d", regions = {{"{next(iter(sizes))}" = 1}}}}]'
        )
    amounts = amounts_of(stocks, sizes)
    tables = [
        _flat(f"{where}windows[{k}]", table_of(one, amounts), stocks, sizes)
        for k, one in enumerate(given)
    ]
    return rows_of(tables, amounts, where)


def region_row(
    what: str, given: object, stocks: Mapping[str, int], sizes: Mapping[str, int]
) -> Row:
    """Return the row of a table with regions; `what` is its name in messages."""
    return row_of(what, _flat(what, given, stocks, sizes), amounts_of(stocks, sizes))


def label_of(names: str) -> str:
    """Return the canonical label of a region, from its partitions' names in any order.

    Examples
    --------
    >>> label_of("b, a")
    'a,b'
    """
    return ",".join(sorted({name.strip() for name in names.split(",")}))


def _flat(what: str, window: object, stocks: Mapping[str, int], sizes: Mapping[str, int]) -> object:
    """Return a window with its regions as amounts."""
    if not isinstance(window, Mapping):
        return window
    found = {key: value for key, value in window.items() if key != REGIONS}
    if "processors" in found:
        raise InputError(
            f"{what} withholds processors of no region; give a table of them, such as "
            f'regions = {{"{next(iter(sizes))}" = 1}}'
        )
    known = (*TIMES, REGIONS, *stocks)
    for key in found:
        if key not in known and not str(key).startswith(_OF):
            raise InputError(f"{what} has {key!r}; {choices(str(key), known)}")
    regions = window.get(REGIONS, {})
    if not isinstance(regions, Mapping) or (REGIONS in window and not regions):
        raise InputError(
            f"{what} has regions = {regions!r}; give a table with processors of a region, such as "
            f'{{"{next(iter(sizes))}" = 1}}'
        )
    for given, amount in regions.items():
        label = label_of(str(given))
        if label not in sizes:
            listed = ", ".join(map(repr, list(sizes)[:MANY]))
            raise InputError(f"{what} withholds processors of {given!r}; regions are: {listed}")
        if name_of(label) in found:
            raise InputError(f"{what} has region {label!r} twice; add its processors up")
        found[name_of(label)] = amount
    return found


def plain_windows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the tables of windows for which `region_rows` returns these rows.

    Examples
    --------
    >>> plain_windows([(0, 60, 0, 1, (("gpus", 1), ("processors of a,b", 2)))])
    [{'from': 0, 'until': 60, 'gpus': 1, 'regions': {'a,b': 2}}]
    """
    found = []
    for window in plain(rows):
        regions = {name: n for name, n in window.items() if name.startswith(_OF)}
        rest = {name: value for name, value in window.items() if name not in regions}
        table = {name.removeprefix(_OF): n for name, n in regions.items()}
        found.append(rest | ({REGIONS: table} if table else {}))
    return found


def scaled_regions(regions: Mapping[str, int], old: int, new: int) -> dict[str, int]:
    """Return the regions of a resized machine, rounded down, but at least 1 each.

    Examples
    --------
    >>> scaled_regions({"a": 1, "b": 7}, 10, 5)
    {'a': 1, 'b': 3}
    """
    return {label: max(size * new // old, 1) for label, size in regions.items()}


def scaled_rows(
    rows: Iterable[Row], old: Mapping[str, int], new: Mapping[str, int]
) -> tuple[Row, ...]:
    """Return the rows for resized regions; windows withhold the same parts of regions.

    Withheld processors are rounded down; less than one processor is not withheld.

    Examples
    --------
    >>> scaled_rows([(0, 60, 0, 1, (("processors of a", 2),))], {"a": 4}, {"a": 6})
    ((0, 60, 0, 1, (('processors of a', 3),)),)
    >>> scaled_rows([(0, 60, 0, 1, (("processors of a", 2),))], {"a": 4}, {"a": 1})
    ()
    """
    before, after = amounts_of({}, old), amounts_of({}, new)
    found: list[Row] = []
    for begin, end, every, times, given in rows:
        scaled = (
            (name, amount * after[name] // before[name] if name in before else amount)
            for name, amount in given
        )
        kept = tuple((name, amount) for name, amount in scaled if amount)
        # A row without amounts withholds the whole machine.
        if kept or not given:
            found.append((begin, end, every, times, kept))
    return tuple(found)


def union_intervals(
    rows: Iterable[Row], stocks: Mapping[str, int], sizes: Mapping[str, int], within: Int64
) -> Intervals:
    """Return every interval with the amounts of processors, other resources, and unions.

    within: int64[regions, unions], whether a region is in a union; regions are in the order of
    `sizes`.

    Examples
    --------
    >>> rows = [(5, 9, 0, 1, (("gpus", 1), ("processors of a", 2)))]
    >>> within = np.array([[1, 0], [1, 1]])
    >>> union_intervals(rows, {"gpus": 2}, {"a": 4, "a,b": 3}, within).amount.tolist()
    [[2, 1, 2, 0]]
    """
    found = intervals(rows, amounts_of(stocks, sizes))
    regions = found.amount[:, len(stocks) :]
    amount: Int64 = np.column_stack(
        (regions.sum(axis=1), found.amount[:, : len(stocks)], regions @ within)
    )
    return found._replace(amount=amount)

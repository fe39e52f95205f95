"""Windows of a machine with partitions: they withhold processors of regions, and other resources.

A window names regions in a table of their own, since a partition may be called as a resource is.
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
    rows_of,
)
from schedfarm.core.names import choices

REGIONS = "regions"
"""Key of a window's table of processors by region."""

_OF = "processors of "
"""Begin of the name of a region's processors in a row."""


def amounts_of(stocks: Mapping[str, int], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return what windows may withhold, by its name in rows: other resources, then regions."""
    return {**stocks, **{_OF + label: size for label, size in sizes.items()}}


def region_rows(
    given: object, stocks: Mapping[str, int], sizes: Mapping[str, int], where: str = ""
) -> tuple[Row, ...]:
    """Return the rows of given windows, as `core.machines.resources.windows.rows_of`.

    Examples
    --------
    >>> gap = {"from": 0, "until": 60, "regions": {"b, a": 2}}
    >>> region_rows([gap], {}, {"a": 3, "a,b": 4})
    ((0, 60, 0, 1, (('processors of a,b', 2),)),)
    """
    if isinstance(given, Sequence) and not isinstance(given, str):
        known = (*TIMES, REGIONS, *stocks)
        given = [_flat(f"{where}windows[{k}]", one, sizes, known) for k, one in enumerate(given)]
    return rows_of(given, amounts_of(stocks, sizes), where)


def _flat(what: str, window: object, sizes: Mapping[str, int], known: Sequence[str]) -> object:
    """Return a window with its regions as amounts."""
    if not isinstance(window, Mapping):
        return window
    for key in window:
        if key not in known:
            raise InputError(f"{what} has {key!r}; {choices(str(key), known)}")
    if REGIONS not in window:
        return window
    regions = window[REGIONS]
    if not isinstance(regions, Mapping) or not regions:
        raise InputError(
            f"{what} has regions = {regions!r}; give a table with processors of a region, such as "
            f'{{"{next(iter(sizes))}" = 1}}'
        )
    found = {key: value for key, value in window.items() if key != REGIONS}
    for label, amount in regions.items():
        name = ",".join(sorted({part.strip() for part in str(label).split(",")}))
        if name not in sizes:
            listed = ", ".join(map(repr, sizes))
            raise InputError(f"{what} withholds processors of {label!r}; regions are: {listed}")
        if _OF + name in found:
            raise InputError(f"{what} has region {name!r} twice; add its processors up")
        found[_OF + name] = amount
    return found


def plain_windows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the tables of rows, from which `region_rows` returns equal ones.

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


def scaled_rows(
    rows: Iterable[Row], old: Mapping[str, int], new: Mapping[str, int]
) -> tuple[Row, ...]:
    """Return rows of a machine whose regions have other sizes: each keeps its withheld part.

    Parts are rounded down; a part of less than one processor is not withheld.

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

    within: int64[regions, unions], whether a region is in a union, with regions in order of sizes.

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

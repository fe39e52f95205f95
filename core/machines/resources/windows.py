"""Windows of a machine: intervals, possibly repeated, in which jobs cannot use some resources."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.arrays import HORIZON, Int64
from schedfarm.core.checks import is_whole
from schedfarm.core.durations import duration, seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices

MOST_TIMES = 10_000
"""Largest total number of intervals: one a day for 27 years."""

TIMES = ("from", "until", "every", "times")
"""Keys of a window, in addition to the keys of its amounts."""

Row = tuple[int, int, int, int, tuple[tuple[str, int], ...]]
"""Begin and end of the first interval, s, period, s, number of intervals, and amounts by name."""


class Intervals(NamedTuple):
    """Hold all intervals of windows: begins and ends, s, and amounts, int64[k, resources]."""

    begin: Int64
    end: Int64
    amount: Int64


def rows_of(given: object, capacities: Mapping[str, int], where: str = "") -> tuple[Row, ...]:
    """Return the rows of windows of a machine with some capacities, in order of time.

    Error messages begin with `where`.

    Raises
    ------
    InputError
        If a key or value is wrong, or if windows withhold more than the capacity.

    Examples
    --------
    >>> rows_of([{"from": "1d", "until": 90_000, "processors": 3}], {"processors": 4, "gpus": 2})
    ((86400, 90000, 0, 1, (('processors', 3),)),)
    """
    if isinstance(given, Mapping | str) or not isinstance(given, Sequence):
        raise InputError(
            f"{where}windows is {given!r}; give a list of tables, such as "
            '[{from = "5d", until = "6d", processors = 16}]'
        )
    # `dataclasses.replace` passes the checked values of the machine, which are rows.
    rows = [
        row_of(f"{where}windows[{k}]", table_of(one, capacities), capacities)
        for k, one in enumerate(given)
    ]
    if sum(times for _, _, _, times, _ in rows) > MOST_TIMES:
        raise InputError(
            f"{where}windows has more than {MOST_TIMES:,} intervals in all; give fewer times"
        )
    found = tuple(sorted(rows))
    _check_together(found, capacities, where)
    return found


def table_of(one: object, names: Container[str]) -> object:
    """Return the table of a row with amounts of these names; return other values unchanged."""
    if not isinstance(one, tuple) or len(one) != 5 or not isinstance(one[-1], tuple):
        return one
    return plain_row(one) if all(name in names for name, _ in one[-1]) else one


def row_of(
    what: str, given: object, capacities: Mapping[str, int], others: tuple[str, ...] = ()
) -> Row:
    """Return the row of a table; `what` is its name in messages, `others` its further keys."""
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is {given!r}; give a table with from and until")
    for key in given:
        if key not in (*TIMES, *others) and key not in capacities:
            known = (*TIMES, *others, *capacities)
            raise InputError(f"{what} has {key!r}; {choices(str(key), known)}")
    begin, end = (_instant(what, key, given.get(key)) for key in ("from", "until"))
    if end <= begin:
        raise InputError(f"{what} is from {begin} s until {end} s; until must be later than from")
    every, times = given.get("every"), given.get("times")
    if (every is None) != (times is None):
        raise InputError(
            f"{what} has {'times' if every is None else 'every'} alone; give both, such as "
            'every = "1w" and times = 52'
        )
    period = 0 if every is None else _instant(what, "every", every)
    count = 1 if times is None else times
    if not is_whole(count) or not 1 <= count <= MOST_TIMES:
        raise InputError(f"{what} has times = {count!r}; give a whole number, 1 to {MOST_TIMES:,}")
    if every is not None and period < end - begin:
        raise InputError(
            f"{what} lasts {duration(end - begin)}, longer than its period of {duration(period)}"
        )
    if end + period * int(count) >= HORIZON:
        raise InputError(f"{what} ends beyond 2^62 s; give an earlier time")
    amounts = tuple(
        (name, _amount(what, name, given[name], most))
        for name, most in capacities.items()
        if name in given
    )
    return begin, end, period, int(count), amounts


def _instant(what: str, key: str, given: Any) -> int:
    found: Any = seconds_of(given) if isinstance(given, str) else given
    if not is_whole(found) or not 0 <= found < HORIZON:
        raise InputError(
            f"{what} has {key} = {given!r}; give seconds from the log's beginning, or a "
            'duration such as "5d"'
        )
    return int(found)


def _amount(what: str, name: str, given: Any, most: int) -> int:
    if not is_whole(given) or not 1 <= given <= most:
        upto = "" if most >= HORIZON - 1 else f" and at most the machine's {most}"
        raise InputError(
            f"{what} withholds {name} = {given!r}; give a whole number, at least 1{upto}"
        )
    return int(given)


def intervals(rows: Iterable[Row], capacities: Mapping[str, int]) -> Intervals:
    """Return every interval; a window without amounts withholds the whole machine.

    Examples
    --------
    >>> found = intervals([(5, 9, 10, 2, ())], {"processors": 4, "gpus": 2})
    >>> found.begin.tolist(), found.end.tolist(), found.amount.tolist()
    ([5, 15], [9, 19], [[4, 2], [4, 2]])
    """
    begins: list[int] = []
    ends: list[int] = []
    amounts: list[list[int]] = []
    for begin, end, every, times, given in rows:
        named = dict(given) or capacities
        begins += [begin + k * every for k in range(times)]
        ends += [end + k * every for k in range(times)]
        amounts += [[named.get(name, 0) for name in capacities]] * times
    shaped = np.array(amounts, np.int64).reshape(-1, len(capacities))
    return Intervals(np.array(begins, np.int64), np.array(ends, np.int64), shaped)


def _check_together(rows: Sequence[Row], capacities: Mapping[str, int], where: str) -> None:
    found = intervals(rows, capacities)
    instants = np.concatenate((found.end, found.begin))
    # Ends come first, so that a window may begin at the end of another window.
    order = np.argsort(instants, kind="stable")
    for r, (name, most) in enumerate(capacities.items()):
        change = np.concatenate((-found.amount[:, r], found.amount[:, r]))
        level = np.cumsum(change[order])
        over = np.flatnonzero(level > most)
        if over.size:
            raise InputError(
                f"{where}windows: from {instants[order][int(over[0])]} s on, they withhold more "
                f"{name} in total than the machine has; give smaller or separate windows"
            )


def plain_row(row: Row) -> dict[str, Any]:
    """Return the table of a row."""
    begin, end, every, times, amounts = row
    repeated = {"every": every, "times": times} if every else {}
    return {"from": begin, "until": end, **repeated, **dict(amounts)}


def plain(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the tables of windows for which `rows_of` returns these rows.

    Examples
    --------
    >>> plain([(5, 9, 10, 2, ())])
    [{'from': 5, 'until': 9, 'every': 10, 'times': 2}]
    """
    return [plain_row(row) for row in rows]

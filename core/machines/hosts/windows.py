"""Windows of hosts: intervals, possibly repeated, in which some hosts run no jobs."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import is_whole, shown
from schedfarm.core.errors import InputError
from schedfarm.core.machines.resources.windows import MOST_TIMES, TIMES, row_of

HOSTS = "hosts"
"""Key of a window for the numbers of its hosts."""

MOST_CLOSED = 10**7
"""Largest total, over all intervals, of the numbers of withheld hosts."""

_RANGE = re.compile(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*", re.ASCII)

Row = tuple[int, int, int, int, str]
"""Beginning and end of the first interval, s, period, s, number of intervals, and hosts ("" for
all)."""


def rows_of(given: object, count: int) -> tuple[Row, ...]:
    """Return the rows of the windows of a machine with `count` hosts, in order of time.

    Raises
    ------
    InputError
        If a key or value is wrong, or there are too many intervals.

    Examples
    --------
    >>> rows_of([{"from": "1d", "until": 90_000, "hosts": [3, 0, 1]}], 4)
    ((86400, 90000, 0, 1, '0-1,3'),)
    """
    if isinstance(given, Mapping | str) or not isinstance(given, Sequence):
        raise InputError(
            f"windows is {shown(given)}; give a list of tables, such as "
            '[{from = "5d", until = "6d", hosts = "0-15"}]'
        )
    # `dataclasses.replace` passes the checked values of the machine, which are rows.
    tables = [plain([one])[0] if isinstance(one, tuple) else one for one in given]
    rows = tuple(sorted(_row(f"windows[{k}]", one, count) for k, one in enumerate(tables)))
    if sum(row[3] for row in rows) > MOST_TIMES:
        raise InputError(f"windows has more than {MOST_TIMES:,} intervals in all; give fewer times")
    if sum(row[3] * len(numbers(row[4], count)) for row in rows) > MOST_CLOSED:
        raise InputError(
            f"windows withholds hosts more than {MOST_CLOSED:,} times in all; give fewer times"
        )
    return rows


def _row(what: str, given: object, count: int) -> Row:
    """Return the row that a given table describes; messages call the table `what`."""
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is {shown(given)}; give a table with from and until")
    begin, end, every, times, _ = row_of(what, given, {}, (HOSTS,))
    return begin, end, every, times, hosts_text(what, given.get(HOSTS), count)


def hosts_text(what: str, given: object, count: int) -> str:
    """Return the canonical text of numbers of hosts; "" means all hosts."""
    if given is None:
        return ""
    if isinstance(given, str):
        parts = [_RANGE.fullmatch(part) for part in given.split(",")]
        spans = [(int(part[1]), int(part[2] or part[1])) for part in parts if part]
        wrong = None in parts or any(first > last for first, last in spans)
    else:
        listed = given if isinstance(given, Sequence) else [given]
        wrong = not listed or not all(map(is_whole, listed))
        spans = [] if wrong else [(one, one) for one in map(int, listed)]
    if wrong or any(not 0 <= first <= last < count for first, last in spans):
        raise InputError(
            f"{what} has hosts = {shown(given)}; give numbers of hosts from 0 to {count - 1}, "
            'such as "0-3,7"'
        )
    found = sorted({one for first, last in spans for one in range(first, last + 1)})
    ends = [0, *(k for k, (a, b) in enumerate(pairwise(found), 1) if b > a + 1), len(found)]
    runs = [(found[a], found[b - 1]) for a, b in pairwise(ends)]
    whole = len(found) == count
    return "" if whole else ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def numbers(text: str, count: int) -> range | list[int]:
    """Return the numbers of hosts in a canonical text.

    Examples
    --------
    >>> numbers("0-1,3", 5), numbers("", 2)
    ([0, 1, 3], range(0, 2))
    """
    if not text:
        return range(count)
    spans = (map(int, part.split("-")) for part in text.split(","))
    return [one for first, *last in spans for one in range(first, (last or [first])[0] + 1)]


def standing_for(was: int, now: int) -> list[int]:
    """Return the old host that each host of a resized group replaces.

    A smaller group keeps evenly spread hosts, which include the hosts of every still smaller group.
    In a larger group, each old host has the same number of successors, and some evenly spread old
    hosts have one more. So if a group grows, no part of it shrinks.

    Examples
    --------
    >>> standing_for(8, 3), standing_for(8, 4), standing_for(2, 5)
    ([0, 2, 4], [0, 2, 4, 6], [0, 0, 0, 1, 1])
    """
    rounds, more = divmod(now, was)
    # The order of reversed bits of the numbers spreads the hosts evenly.
    width = max((was - 1).bit_length(), 1)
    again = {*sorted(range(was), key=lambda k: f"{k:0{width}b}"[::-1])[:more]}
    return [k for k in range(was) for _ in range(rounds + (k in again))]


def renumbered(text: str, before: Sequence[int], after: Sequence[int]) -> list[int]:
    """Return the hosts that stand for some old hosts after a change of the groups' sizes.

    If no host stands for any of these old hosts, the next host is returned, so that the result has
    at least one host. before, after: number of hosts of each group.

    Examples
    --------
    >>> renumbered("0-1,4", [4, 4], [2, 8]), renumbered("1", [4], [2])
    ([0, 2, 3], [1])
    """
    old = set(numbers(text, sum(before)))
    found, nearest, first, base = [], -1, 0, 0
    for was, now in zip(before, after, strict=True):
        kept = standing_for(was, now)
        found += [base + i for i, k in enumerate(kept) if first + k in old]
        mine = next((k for k in range(was) if first + k in old), None)
        if nearest < 0 and mine is not None:
            nearest = base + min(bisect_left(kept, mine), now - 1)
        first, base = first + was, base + now
    return found or [nearest]


def intervals(rows: Iterable[Row], count: int) -> list[tuple[int, int, range | list[int]]]:
    """Return every interval with the numbers of its hosts.

    Examples
    --------
    >>> intervals([(5, 9, 10, 2, "1")], 3)
    [(5, 9, [1]), (15, 19, [1])]
    """
    return [
        (begin + k * every, end + k * every, hosts)
        for begin, end, every, times, text in rows
        for hosts in (numbers(text, count),)
        for k in range(times)
    ]


def spans_of_hosts(rows: Iterable[Row], count: int) -> tuple[Int64, Int64, Int64]:
    """Return the host, beginning and end of each span in which a host is withheld, int64[k].

    Intervals of a host that overlap or touch form one span. Spans are in order of host and time.

    Examples
    --------
    >>> [column.tolist() for column in spans_of_hosts([(5, 9, 0, 1, ""), (9, 12, 0, 1, "1")], 2)]
    [[0, 1], [5, 5], [9, 12]]
    """
    found = intervals(rows, count)
    host = np.concatenate([np.zeros(0, np.int64), *(np.array(one[2], np.int64) for one in found)])
    sizes = [len(one[2]) for one in found]
    begin, end = (np.repeat(np.array([one[k] for one in found], np.int64), sizes) for k in (0, 1))
    order = np.lexsort((begin, host))
    host, begin, end = host[order], begin[order], end[order]
    # The latest end so far of each host is computed from ranks, since sums of ends and hosts'
    # numbers could overflow.
    known, rank = np.unique(end, return_inverse=True)
    most = known.size
    last = known[np.maximum.accumulate(host * most + rank.ravel()) - host * most]
    fresh = np.ones(host.size, np.bool_)
    fresh[1:] = (host[1:] != host[:-1]) | (begin[1:] > last[:-1])
    ends = np.append(fresh[1:], True)[: host.size]
    return host[fresh], begin[fresh], last[ends]


def plain(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the tables of windows for which `rows_of` returns these rows.

    Examples
    --------
    >>> plain([(5, 9, 10, 2, "0-3")])
    [{'from': 5, 'until': 9, 'every': 10, 'times': 2, 'hosts': '0-3'}]
    """
    return [
        {
            **dict(zip(TIMES[:2], (begin, end), strict=True)),
            **({"every": every, "times": times} if every else {}),
            **({HOSTS: text} if text else {}),
        }
        for begin, end, every, times, text in rows
    ]

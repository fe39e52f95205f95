"""Steps for the spans in which windows withhold hosts from jobs.

A host has one more resource; each job takes 1 of it, and a window takes all of it. Kernels are
compiled for one of two types of table, `Constant` or `Closings`. This module implements the steps
of `core.engine.changes` for `Closings`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.changes import (
    Constant,
    TableState,
    change_at,
    next_change,
    pass_change,
)
from schedfarm.core.engine.jit import NEVER, generic
from schedfarm.core.engine.record import Record, record


class Closings(NamedTuple):
    """Hold the instants at which windows begin or end, s, and the affected hosts.

    instant: int64[k], ascending. first: int64[k + 1], place of an instant's hosts in the next three
    columns. host: int64[m], number of the host. amount: int64[m], change of its last resource.
    then: int64[m], beginning of its next span, s, or NEVER. closes: int64[hosts], beginning of the
    next span of each host from now on, s. lasting: int64[kinds + 1], the estimate of each kind of
    job, s.
    """

    instant: Int64
    first: Int64
    host: Int64
    amount: Int64
    then: Int64
    closes: Int64
    lasting: Int64
    state: Record[TableState]


def closings_of(
    spans: tuple[Int64, Int64, Int64], instants: Int64, hosts: int, amount: int, lasting: Int64
) -> Closings:
    """Return the closings of idle hosts.

    spans: host, beginning and end of each span, in order of host and time; the spans of a host do
    not touch. instants: all beginnings and ends of windows. amount: the amount of the last resource
    on each host. lasting: the estimate of each kind of job, s.

    Examples
    --------
    >>> spans = np.array([[0, 0, 1], [5, 20, 5], [9, 30, 12]])
    >>> found = closings_of(tuple(spans), np.array([5, 9, 12, 20, 30]), 3, 8, np.zeros(1, int))
    >>> found.first.tolist(), found.host.tolist(), found.amount.tolist()
    ([0, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 0], [-8, -8, 8, 8, -8, 8])
    >>> found.closes.tolist() == [5, 5, NEVER], found.then.tolist()[0]
    (True, 20)
    """
    host, begin, end = spans
    following = np.full(host.size, NEVER, np.int64)
    same = host[1:] == host[:-1]
    following[:-1][same] = begin[1:][same]
    closes = np.full(hosts, NEVER, np.int64)
    closes[host[::-1]] = begin[::-1]
    when = np.concatenate((end, begin))
    order = np.argsort(when, kind="stable")
    steps = np.repeat(np.array([amount, -amount], np.int64), host.size)
    return Closings(
        instants,
        np.append(np.searchsorted(when[order], instants), when.size).astype(np.int64),
        np.tile(host, 2)[order],
        steps[order],
        np.tile(following, 2)[order],
        closes,
        lasting,
        record(TableState),
    )


@generic
def is_open(table: Constant | Closings, h: int, kind: int, now: int) -> bool:
    """Return whether a job that starts now ends before the next span of a host."""
    raise NotImplementedError


@generic
def exact_length(table: Constant | Closings, kind: int, length: int) -> int:
    """Return the length of a reservation before its end is rounded up.

    A window may begin between its end and its rounded end.
    """
    raise NotImplementedError


@generic
def first_of(table: Constant | Closings, k: int) -> int:
    """Return the place of the first host of change k."""
    raise NotImplementedError


@generic
def host_of(table: Constant | Closings, q: int) -> int:
    """Return the host at a place."""
    raise NotImplementedError


@generic
def amount_of(table: Constant | Closings, q: int) -> int:
    """Return the change of the last resource of the host at a place."""
    raise NotImplementedError


@generic
def set_next(table: Constant | Closings, q: int) -> None:
    """Go to the next span of the host at a place."""
    raise NotImplementedError


@is_open.of(Constant)
def always_open(table: Constant, h: int, kind: int, now: int) -> bool:
    """Return True."""
    return True


@exact_length.of(Constant)
def same_length(table: Constant, kind: int, length: int) -> int:
    """Return the rounded length: without windows, hosts change only at rounded instants."""
    return length


@first_of.of(Constant)
def first_of_none(table: Constant, k: int) -> int:
    """Return 0."""
    return 0


@host_of.of(Constant)
def no_host(table: Constant, q: int) -> int:
    """Return 0."""
    return 0


@amount_of.of(Constant)
def no_amount(table: Constant, q: int) -> int:
    """Return 0."""
    return 0


@set_next.of(Constant)
def set_nothing(table: Constant, q: int) -> None:
    """Do nothing."""


@next_change.of(Closings)
def next_change_of(table: Closings) -> int:
    """Return the first change that has not passed."""
    return int(table.state[0].next)


@change_at.of(Closings)
def instant_of(table: Closings, k: int) -> int:
    """Return the instant of change `k`, s; NEVER after the last change."""
    return int(table.instant[k]) if k < table.instant.size else NEVER


@pass_change.of(Closings)
def pass_one(table: Closings) -> None:
    """Count the change as passed."""
    table.state[0].next += 1


@is_open.of(Closings)
def is_open_until(table: Closings, h: int, kind: int, now: int) -> bool:
    """Compare the end of a job that starts now with the beginning of the host's next span."""
    return bool(now + table.lasting[kind] <= table.closes[h])


@exact_length.of(Closings)
def length_of(table: Closings, kind: int, length: int) -> int:
    """Return the estimate of a kind, if it is below the rounded length."""
    return min(length, int(table.lasting[kind]))


@first_of.of(Closings)
def first_of_change(table: Closings, k: int) -> int:
    """Return the place of the first host of change `k`."""
    return int(table.first[k])


@host_of.of(Closings)
def host_at(table: Closings, q: int) -> int:
    """Return the host at place `q`."""
    return int(table.host[q])


@amount_of.of(Closings)
def amount_at(table: Closings, q: int) -> int:
    """Return the change of the last resource of the host at place `q`."""
    return int(table.amount[q])


@set_next.of(Closings)
def set_next_of(table: Closings, q: int) -> None:
    """When a span of a host begins, record the beginning of its next span."""
    if table.amount[q] < 0:
        table.closes[table.host[q]] = table.then[q]

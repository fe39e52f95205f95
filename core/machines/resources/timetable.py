"""Windows of a machine, in which some of its resources are withheld from jobs.

The steps are those of `core.engine.changes`, and further steps.
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


class Timetable(NamedTuple):
    """Hold the instants at which capacities change, s, ascending, int64[k].

    amount: int64[k, resources], added by each change; negative at the begin of a window. spare:
    int64[k, resources], capacity after each change minus the requests of running jobs with later
    predicted ends. lasting: int64[kinds + 1], the estimate of each kind of job, s.
    """

    instant: Int64
    amount: Int64
    spare: Int64
    lasting: Int64
    state: Record[TableState]


def timetable_of(
    amounts: Int64, begin: Int64, end: Int64, withheld: Int64, lasting: Int64
) -> Timetable:
    """Return the timetable of an idle machine with windows that withhold int64[k, resources].

    Examples
    --------
    >>> found = timetable_of(np.array([8, 2]), np.array([5, 9]), np.array([9, 12]),
    ...                      np.array([[3, 0], [8, 2]]), np.array([0, 7]))
    >>> found.instant.tolist(), found.amount.tolist(), found.spare.tolist()
    ([5, 9, 12], [[-3, 0], [-5, -2], [8, 2]], [[5, 2], [0, 0], [8, 2]])
    """
    instant, which = np.unique(np.concatenate((begin, end)), return_inverse=True)
    amount = np.zeros((instant.size, amounts.size), np.int64)
    np.add.at(amount, which.ravel(), np.concatenate((-withheld, withheld)))
    spare = amounts + np.cumsum(amount, axis=0)
    return Timetable(instant, amount, spare, lasting, record(TableState))


@generic
def change_of(table: Constant | Timetable, k: int, r: int) -> int:
    """Return the amount that change k adds to a resource."""
    raise NotImplementedError


@generic
def promise(table: Constant | Timetable, request: Int64, kind: int, until: int, by: int) -> None:
    """Take `by` times a request from `spare` at the changes before an instant, s."""
    raise NotImplementedError


@generic
def has_spare(table: Constant | Timetable, request: Int64, kind: int, now: int) -> bool:
    """Return whether a request is in `spare` at all changes before a job's predicted end.

    The job starts now. A request of 0 is always possible.
    """
    raise NotImplementedError


@change_of.of(Constant)
def change_of_none(table: Constant, k: int, r: int) -> int:
    """Return 0."""
    return 0


@promise.of(Constant)
def promise_nothing(table: Constant, request: Int64, kind: int, until: int, by: int) -> None:
    """Do nothing."""


@has_spare.of(Constant)
def always_has_spare(table: Constant, request: Int64, kind: int, now: int) -> bool:
    """Return True."""
    return True


@next_change.of(Timetable)
def next_change_of(table: Timetable) -> int:
    """Return the first change that has not passed."""
    return int(table.state[0].next)


@change_at.of(Timetable)
def instant_of(table: Timetable, k: int) -> int:
    """Return the instant of change `k`, s; NEVER after the last change."""
    return int(table.instant[k]) if k < table.instant.size else NEVER


@change_of.of(Timetable)
def amount_of(table: Timetable, k: int, r: int) -> int:
    """Return the amount that change `k` adds to resource `r`."""
    return int(table.amount[k, r])


@pass_change.of(Timetable)
def pass_one(table: Timetable) -> None:
    """Count the change as passed."""
    table.state[0].next += 1


@promise.of(Timetable)
def promise_until(table: Timetable, request: Int64, kind: int, until: int, by: int) -> None:
    """Take the request from each change that has not passed."""
    k = table.state[0].next
    while k < table.instant.size and table.instant[k] < until:
        for r in range(table.spare.shape[1]):
            table.spare[k, r] -= by * request[kind, r]
        k += 1


@has_spare.of(Timetable)
def has_spare_until(table: Timetable, request: Int64, kind: int, now: int) -> bool:
    """Compare the request with each change."""
    k, until, enough = table.state[0].next, now + table.lasting[kind], True
    while enough and k < table.instant.size and table.instant[k] < until:
        for r in range(table.spare.shape[1]):
            enough &= request[kind, r] == 0 or request[kind, r] <= table.spare[k, r]
        k += 1
    return enough

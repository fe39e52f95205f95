"""Bounded slowdowns, and partition of values by a condition."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Bool, Float64, Int64, fixed
from schedfarm.core.engine.jit import kernel


def slowdowns_of(response: Int64, run: Int64, tau: float, procs: Int64 | None = None) -> Float64:
    """Return max(response / (procs x max(run, tau)), 1) of each job, float64[n].

    response, run: int64[n], s. tau: s, above 0. procs: int64[n], by default 1 each. It takes 0.3 of
    the time of `core.metrics.slowdown.slowdowns` in numpy on KTH.
    """
    found = np.empty(response.size)
    parts = np.empty(0, np.int64) if procs is None else procs
    find_slowdowns(fixed(response), fixed(run), fixed(parts), tau, found)
    return found


def apart(values: Float64, which: Bool) -> tuple[Float64, Float64]:
    """Return the values for which a condition holds, and the others, both in order.

    numpy's boolean indexing takes 3.7 times as long if the condition is unpredictable.
    """
    there, others = np.empty(values.size), np.empty(values.size)
    count = np.zeros(1, np.int64)
    part(values, which, there, others, count)
    return there[: count[0]], others[: values.size - count[0]]


@kernel
def find_slowdowns(response: Int64, run: Int64, procs: Int64, tau: float, found: Float64) -> None:
    """Fill in the result of `slowdowns_of`; procs: int64[n], or int64[0] for 1 each."""
    # numpy's division instead of Python's, whose check for 0 keeps the compiler
    # from vectorising it.
    if procs.size:
        for j in range(found.size):
            whole = float(procs[j]) * max(float(run[j]), tau)
            found[j] = max(np.divide(float(response[j]), whole), 1.0)
    else:
        for j in range(found.size):
            found[j] = max(np.divide(float(response[j]), max(float(run[j]), tau)), 1.0)


@kernel
def part(values: Float64, which: Bool, there: Float64, others: Float64, count: Int64) -> None:
    """Fill in the result of `apart`, and the number of values in `there`."""
    found = left = 0
    for j in range(values.size):
        # One of the two is overwritten by the next value.
        there[found] = values[j]
        others[left] = values[j]
        found += which[j]
        left += not which[j]
    count[0] = found

"""The clock and the queue that the kernels with reservations share: next event, release, order.

The clock's state is `clock`, int64[4], with the places below; a heap of (end, job) in the arrays
`ends` and `ended`; and `queue`, the waiting jobs. SEMANTICS: at one instant first every
completion, then every arrival, then one pass; or, per event, one arrival or one completion
(arrivals first), then a pass.
"""

from __future__ import annotations

from core.kernels._jit import NEVER, kernel
from core.workload import Int64

ARRIVED, RUNNING, FREE, QUEUED = 0, 1, 2, 3
"""Places in `clock`: jobs that arrived, jobs that run, processors free, jobs that wait."""

RANKED, LARGEST_RATIO, SMALLEST_RATIO = 0, 1, 2
"""How a queue is ordered: by a rank of each job, or by wait / estimate, exactly."""

SMALL = 2**31
"""Products of two numbers below this fit int64."""


@kernel
def push(ends: Int64, ended: Int64, clock: Int64, end: int, job: int) -> None:
    """Put a job that starts on the heap of completions."""
    i = clock[RUNNING]
    clock[RUNNING] += 1
    while i > 0:
        up = (i - 1) >> 1
        if ends[up] < end or (ends[up] == end and ended[up] < job):
            break
        ends[i], ended[i] = ends[up], ended[up]
        i = up
    ends[i], ended[i] = end, job


@kernel
def pop(ends: Int64, ended: Int64, clock: Int64) -> int:
    """Take the next job to complete off the heap; ties by (submit, position)."""
    done = ended[0]
    size = clock[RUNNING] - 1
    clock[RUNNING] = size
    end, job = ends[size], ended[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            ends[other] < ends[child]
            or (ends[other] == ends[child] and ended[other] < ended[child])
        ):
            child = other
        if end < ends[child] or (end == ends[child] and job < ended[child]):
            break
        ends[i], ended[i] = ends[child], ended[child]
        i = child
    ends[i], ended[i] = end, job
    return int(done)


@kernel
def begin(
    j: int, now: int, ends: Int64, ended: Int64, clock: Int64, run: Int64, procs: Int64
) -> None:
    """Start job j: it takes its processors until it completes."""
    clock[FREE] -= procs[j]
    push(ends, ended, clock, now + run[j], j)


@kernel
def next_instant(submit: Int64, ends: Int64, clock: Int64) -> int:
    """Return when the next arrival or completion is, s; `NEVER` after the last."""
    arrival = submit[clock[ARRIVED]] if clock[ARRIVED] < submit.size else NEVER
    return int(min(arrival, ends[0]) if clock[RUNNING] > 0 else arrival)


@kernel
def compare_ratios(a: int, b: int, c: int, d: int) -> int:
    """Return the sign of a / b - c / d, exactly, for a, c >= 0 and b, d > 0.

    Products may exceed int64, so large terms are compared as continued fractions.
    """
    while max(a, b) >= SMALL or max(c, d) >= SMALL:
        p, q = a // b, c // d
        if p != q:
            return 1 if p > q else -1
        a, c = a - p * b, c - q * d
        if a == 0 or c == 0:
            return int(a > 0) - int(c > 0)
        a, b, c, d = d, c, b, a
    return int(a * d > c * b) - int(a * d < c * b)


@kernel
def before(
    a: int,
    b: int,
    now: int,
    theta: int,
    kind: int,
    rank: Int64,
    submit: Int64,
    estimate: Int64,
) -> bool:
    """Tell whether job a goes before job b: starving jobs first, ties by (submit, position)."""
    starves = now - submit[a] > theta
    if starves != (now - submit[b] > theta):
        return bool(starves)
    if starves:
        return a < b
    if kind == RANKED:
        return bool(rank[a] < rank[b])
    sign = compare_ratios(
        now - submit[a], max(estimate[a], 1), now - submit[b], max(estimate[b], 1)
    )
    if sign == 0:
        return a < b
    return (sign > 0) == (kind == LARGEST_RATIO)

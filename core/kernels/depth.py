"""Backfilling with the first K waiting jobs reserved: easy is depth(1), conservative depth(n).

Every pass makes its reservations from scratch on the availability profile of the running jobs,
in queue order (SEMANTICS: backfilling). Source: Srinivasan, Kettimuthu, Subramani and
Sadayappan (2002), Selective reservation strategies for backfill job scheduling, section 2, and
Chiang, Arpaci-Dusseau and Vernon (2002) for the depth in between.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.kernels._jit import NEVER, kernel
from core.kernels.profile import clear, earliest_fit, reserve
from core.kernels.reserve_clock import (
    ARRIVED,
    FREE,
    QUEUED,
    RUNNING,
    before,
    begin,
    next_instant,
    pop,
)
from core.schedule import NO_PROMISE
from core.workload import Int64

WAITING = -1
"""Start of a job that has not started."""

UNSEEN = -2
"""Promise of a job that no pass has seen yet."""

Bool = npt.NDArray[np.bool_]


@kernel
def pass_events(
    submit: Int64,
    procs: Int64,
    ends: Int64,
    ended: Int64,
    clock: Int64,
    queue: Int64,
    now: int,
    per_event: bool,
) -> None:
    """Release what completes now, then admit what arrives now; one event, arrivals first, if so."""
    n = submit.size
    if per_event and clock[ARRIVED] < n and submit[clock[ARRIVED]] == now:
        queue[clock[QUEUED]] = clock[ARRIVED]
        clock[QUEUED] += 1
        clock[ARRIVED] += 1
        return
    while clock[RUNNING] > 0 and ends[0] == now:
        clock[FREE] += procs[pop(ends, ended, clock)]
        if per_event:
            return
    while clock[ARRIVED] < n and submit[clock[ARRIVED]] == now:
        queue[clock[QUEUED]] = clock[ARRIVED]
        clock[QUEUED] += 1
        clock[ARRIVED] += 1


@kernel
def sort_jobs(
    jobs: Int64,
    first: int,
    last: int,
    now: int,
    theta: int,
    kind: int,
    rank: Int64,
    submit: Int64,
    estimate: Int64,
) -> None:
    """Sort jobs[first:last] into queue order by insertion: the last pass left them almost so."""
    for i in range(first + 1, last):
        j = jobs[i]
        k = i
        while k > first and before(j, jobs[k - 1], now, theta, kind, rank, submit, estimate):
            jobs[k] = jobs[k - 1]
            k -= 1
        jobs[k] = j


@kernel
def profile_of_running(
    times: Int64,
    free: Int64,
    mark: Int64,
    now: int,
    processors: int,
    ended: Int64,
    clock: Int64,
    start: Int64,
    estimate: Int64,
    procs: Int64,
) -> None:
    """Lay out the processors that the running jobs leave free, by their predicted ends."""
    clear(times, free, mark, now, processors)
    for i in range(clock[RUNNING]):
        j = ended[i]
        reserve(times, free, mark, now, start[j] + estimate[j] - now, procs[j])


@kernel
def walk(
    jobs: Int64,
    first: int,
    last: int,
    held: int,
    depth: int,
    now: int,
    times: Int64,
    free: Int64,
    mark: Int64,
    ends: Int64,
    ended: Int64,
    clock: Int64,
    run: Int64,
    estimate: Int64,
    procs: Int64,
    start: Int64,
    backfilled: Bool,
    promised: Int64,
) -> int:
    """Start which of jobs[first:last] can start now; reserve for others while held < depth.

    Returns the place after the job with the last reservation, from where only backfilling is
    left, or `last`. A walk that begins with held == depth goes to the end.
    """
    blocked = held > 0
    for i in range(first, last):
        j = jobs[i]
        at = earliest_fit(times, free, mark, procs[j], estimate[j], now)
        starts = at == now and procs[j] <= clock[FREE]
        if promised[j] == UNSEEN:
            promised[j] = at if starts or held < depth else NO_PROMISE
        if starts:
            start[j], backfilled[j] = now, blocked
            reserve(times, free, mark, now, estimate[j], procs[j])
            begin(j, now, ends, ended, clock, run, procs)
            continue
        blocked = True
        if held < depth:
            # One second stands for easy's shadow time, which guards a head without estimate too.
            length = max(estimate[j], 1) if depth == 1 else estimate[j]
            reserve(times, free, mark, at, length, procs[j])
            held += 1
            if held == depth:
                return i + 1
    return last


@kernel
def depth_pass(
    now: int,
    depth: int,
    theta: int,
    kind: int,
    rank: Int64,
    back_kind: int,
    back_rank: Int64,
    processors: int,
    per_event: bool,
    submit: Int64,
    run: Int64,
    estimate: Int64,
    procs: Int64,
    ends: Int64,
    ended: Int64,
    clock: Int64,
    queue: Int64,
    order: Int64,
    times: Int64,
    free: Int64,
    mark: Int64,
    start: Int64,
    backfilled: Bool,
    promised: Int64,
) -> None:
    """Make one scheduling pass at this instant over the queue."""
    size = clock[QUEUED]
    sort_jobs(queue, 0, size, now, theta, kind, rank, submit, estimate)
    profile_of_running(times, free, mark, now, processors, ended, clock, start, estimate, procs)
    place = walk(
        queue, 0, size, 0, depth, now, times, free, mark, ends, ended, clock, run, estimate,
        procs, start, backfilled, promised,
    )  # fmt: skip
    order[place:size] = queue[place:size]
    sort_jobs(order, place, size, now, theta, back_kind, back_rank, submit, estimate)
    walk(
        order, place, size, depth, depth, now, times, free, mark, ends, ended, clock, run,
        estimate, procs, start, backfilled, promised,
    )  # fmt: skip
    kept = 0
    for i in range(size):
        queue[kept] = queue[i]
        kept += start[queue[i]] == WAITING
    clock[QUEUED] = kept


@kernel
def run_depth(
    depth: int,
    theta: int,
    kind: int,
    rank: Int64,
    back_kind: int,
    back_rank: Int64,
    processors: int,
    per_event: bool,
    submit: Int64,
    run: Int64,
    estimate: Int64,
    procs: Int64,
    ends: Int64,
    ended: Int64,
    clock: Int64,
    queue: Int64,
    order: Int64,
    times: Int64,
    free: Int64,
    mark: Int64,
    start: Int64,
    backfilled: Bool,
    promised: Int64,
) -> None:
    """Run every event and its pass, to the last completion."""
    while True:
        now = next_instant(submit, ends, clock)
        if now == NEVER:
            return
        pass_events(submit, procs, ends, ended, clock, queue, now, per_event)
        depth_pass(
            now, depth, theta, kind, rank, back_kind, back_rank, processors, per_event, submit,
            run, estimate, procs, ends, ended, clock, queue, order, times, free, mark, start,
            backfilled, promised,
        )  # fmt: skip

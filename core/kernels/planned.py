"""Classical conservative backfilling: a reservation at arrival, kept, moved only earlier.

Source: Mu'alem and Feitelson (2001), section 2.2; the walk by start is the compression of
Klusacek and Rudova (2012), Performance and fairness for users in parallel job scheduling,
section 3; the walk by arrival is that of the pyss simulators.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.kernels._jit import NEVER, kernel
from core.kernels.profile import advance, clear, earliest_fit, lift, reserve
from core.kernels.reserve_clock import ARRIVED, FREE, QUEUED, RUNNING, begin, next_instant, pop
from core.workload import Int64

Bool = npt.NDArray[np.bool_]


@kernel
def complete(
    now: int,
    per_event: bool,
    ends: Int64,
    ended: Int64,
    clock: Int64,
    estimate: Int64,
    procs: Int64,
    start: Int64,
    times: Int64,
    free: Int64,
    mark: Int64,
) -> bool:
    """Release what completes now; give back what was predicted beyond; tell if anything was."""
    early = False
    while clock[RUNNING] > 0 and ends[0] == now:
        j = pop(ends, ended, clock)
        clock[FREE] += procs[j]
        left = start[j] + estimate[j] - now
        if left > 0:
            lift(times, free, mark, now, left, procs[j])
            early = True
        if per_event:
            break
    return early


@kernel
def compress(
    now: int,
    waiting: int,
    plan: Int64,
    planned: Int64,
    by_start: bool,
    estimate: Int64,
    procs: Int64,
    times: Int64,
    free: Int64,
    mark: Int64,
) -> None:
    """Lift each reservation out and put it into its earliest gap, in order of start or arrival."""
    if by_start:
        for i in range(1, waiting):
            j, k = plan[i], i
            while k > 0 and (
                planned[plan[k - 1]] > planned[j]
                or (planned[plan[k - 1]] == planned[j] and plan[k - 1] > j)
            ):
                plan[k] = plan[k - 1]
                k -= 1
            plan[k] = j
    for i in range(waiting):
        j = plan[i]
        lift(times, free, mark, planned[j], estimate[j], procs[j])
        planned[j] = earliest_fit(times, free, mark, procs[j], estimate[j], now)
        reserve(times, free, mark, planned[j], estimate[j], procs[j])


@kernel
def admit(
    now: int,
    per_event: bool,
    submit: Int64,
    estimate: Int64,
    procs: Int64,
    clock: Int64,
    queue: Int64,
    plan: Int64,
    planned: Int64,
    times: Int64,
    free: Int64,
    mark: Int64,
) -> None:
    """Reserve the earliest gap for what arrives now."""
    while clock[ARRIVED] < submit.size and submit[clock[ARRIVED]] == now:
        j = clock[ARRIVED]
        planned[j] = earliest_fit(times, free, mark, procs[j], estimate[j], now)
        reserve(times, free, mark, planned[j], estimate[j], procs[j])
        queue[clock[QUEUED]] = j
        plan[clock[QUEUED]] = j
        clock[QUEUED] += 1
        clock[ARRIVED] += 1
        if per_event:
            return


@kernel
def start_due(
    now: int,
    queue: Int64,
    plan: Int64,
    planned: Int64,
    run: Int64,
    procs: Int64,
    ends: Int64,
    ended: Int64,
    clock: Int64,
    start: Int64,
    backfilled: Bool,
) -> None:
    """Start the jobs whose reservation has come, in order of arrival."""
    size, kept = clock[QUEUED], 0
    for i in range(size):
        j = queue[i]
        if planned[j] <= now and procs[j] <= clock[FREE]:
            start[j], backfilled[j] = now, kept > 0
            begin(j, now, ends, ended, clock, run, procs)
        else:
            queue[kept] = j
            kept += 1
    if kept == size:
        return
    clock[QUEUED], kept = kept, 0
    for i in range(size):
        plan[kept] = plan[i]
        kept += start[plan[i]] < 0


@kernel
def run_planned(
    per_event: bool,
    by_start: bool,
    processors: int,
    submit: Int64,
    run: Int64,
    estimate: Int64,
    procs: Int64,
    ends: Int64,
    ended: Int64,
    clock: Int64,
    queue: Int64,
    plan: Int64,
    times: Int64,
    free: Int64,
    mark: Int64,
    start: Int64,
    backfilled: Bool,
    planned: Int64,
    promised: Int64,
) -> None:
    """Run every event and its pass, to the last completion."""
    clear(times, free, mark, 0, processors)
    while True:
        now = next_instant(submit, ends, clock)
        if now == NEVER:
            return
        advance(times, free, mark, now)
        arrived = clock[ARRIVED]
        arrives = arrived < submit.size and submit[arrived] == now
        if not (per_event and arrives) and complete(
            now, per_event, ends, ended, clock, estimate, procs, start, times, free, mark
        ):
            compress(
                now, clock[QUEUED], plan, planned, by_start, estimate, procs, times, free, mark
            )
        if arrives:
            admit(
                now, per_event, submit, estimate, procs, clock, queue, plan, planned,
                times, free, mark,
            )  # fmt: skip
            promised[arrived : clock[ARRIVED]] = planned[arrived : clock[ARRIVED]]
        start_due(
            now, queue, plan, planned, run, procs, ends, ended, clock, start, backfilled
        )  # fmt: skip

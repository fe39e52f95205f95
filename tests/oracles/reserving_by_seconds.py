"""The rules `conservative` and `depth(K)` by their text alone, with one number a second.

It is for workloads of a dozen jobs that are over by `SPAN`, in orders that fractions decide.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

SPAN = 400
"""Seconds after the last event that a plan may take."""

Key = Callable[[int, int], object]


def key_of(w: Workload, order: str) -> Key:
    """Return the sort key of a job at an instant, smallest first."""
    sign = -1 if order[0] == "l" else 1
    size = {"pf": w.estimate, "qf": w.procs, "af": w.estimate * w.procs}
    if order[1:] == "xf":
        return lambda j, now: sign * Fraction(now - int(w.submit[j]), max(int(w.estimate[j]), 1))
    if order == "fcfs":
        return lambda j, now: j
    if order == "lcfs":
        return lambda j, now: -int(w.submit[j])
    return lambda j, now: sign * int(size[order[1:]][j])


def simulate_reserving(w: Workload, policy: Policy) -> tuple[Schedule, Int64]:
    """Return the schedule of a workload, and the start promised to each job, s."""
    start, backfilled, promised = _columns(w, policy)
    schedule = Schedule(w, policy.name, np.array(start, np.int64), np.array(backfilled, np.bool_))
    return schedule, np.array(promised, np.int64)


def _columns(w: Workload, policy: Policy) -> tuple[list[int], list[bool], list[int]]:  # noqa: C901
    """Simulate by the letter of the semantics, second by second, in one piece to be read so."""
    n, theta = len(w), policy.threshold_seconds(w.max_estimate)
    depth = policy.depth if policy.depth > 0 else n + 1
    submit, run = w.submit.tolist(), w.run.tolist()
    estimate, procs = w.estimate.tolist(), w.procs.tolist()
    leaves = [s + p if p >= 0 else -1 for s, p in zip(submit, w.leave.tolist(), strict=True)]
    start, backfilled, promised = [-1] * n, [False] * n, [-2] * n
    running: list[int] = []
    queue: list[int] = []
    arrived = 0

    def ranked(jobs: list[int], order: str, now: int) -> list[int]:
        key = key_of(w, order)
        starving = [j for j in jobs if theta is not None and now - submit[j] > theta]
        return sorted(starving) + sorted(set(jobs) - set(starving), key=lambda j: (key(j, now), j))

    def one_pass(now: int) -> None:  # noqa: C901
        seconds = [w.processors] * SPAN
        gone = now if policy.events == "per-event" else -1
        physical = w.processors - sum(procs[j] for j in running if start[j] + estimate[j] > gone)

        def take(at: int, length: int, need: int) -> None:
            for t in range(at, at + length):
                seconds[t - now] -= need

        def first(need: int, length: int) -> int:
            t = 0
            while min(seconds[t : t + max(length, 1)]) < need:
                t += 1
            return now + t

        for j in running:
            take(now, start[j] + estimate[j] - now, procs[j])
        todo, held = ranked(queue, policy.order, now), 0
        stay: list[int] = []
        points: list[tuple[int, int]] = []
        while todo:
            j = todo.pop(0)
            at = first(procs[j], estimate[j])
            # Behind the reserved jobs one that takes no time delays nobody (as under easy).
            now_fits = at == now or (held == depth and estimate[j] == 0)
            if promised[j] == -2:
                promised[j] = at if held < depth else NO_PROMISE
            if now_fits and procs[j] <= physical:
                start[j], backfilled[j] = now, bool(stay)
                physical -= procs[j] if now + estimate[j] > gone else 0
                take(now, estimate[j], procs[j])
                running.append(j)
                queue.remove(j)
                continue
            stay.append(j)
            if held < depth:
                take(at, estimate[j], procs[j])
                points += [(at, procs[j])] * (estimate[j] == 0)
                held += 1
                if held == depth:
                    for instant, need in points:
                        take(instant, 1, need)
                    todo = ranked(todo, policy.backfill or policy.order, now)

    while arrived < n or running or queue:
        events = [start[j] + run[j] for j in running] + submit[arrived : arrived + 1]
        now = min(events + [leaves[j] for j in queue if leaves[j] >= 0])
        if policy.events == "per-event":
            if arrived < n and submit[arrived] == now:
                queue.append(arrived)
                arrived += 1
            else:
                running.remove(next(j for j in running if start[j] + run[j] == now))
        else:
            running = [j for j in running if start[j] + run[j] > now]
            while arrived < n and submit[arrived] == now:
                queue.append(arrived)
                arrived += 1
        queue = [j for j in queue if leaves[j] != now]
        one_pass(now)
    return start, backfilled, [max(one, NO_PROMISE) for one in promised]

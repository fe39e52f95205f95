"""The door of the simulator: a workload and a policy in, a schedule out."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.policy import Policy
from core.schedule import NO_PROMISE, Schedule
from core.workload import Int64, Workload


def simulate(workload: Workload, policy: Policy | str) -> Schedule:
    """Run the jobs of a workload through a scheduler and return when each starts.

    Parameters
    ----------
    workload : Workload
        The jobs and their machine.
    policy : Policy or str
        What the scheduler does, or its name.

    Returns
    -------
    Schedule
        Start of each job, s, whether it was backfilled, and the start promised at its arrival.

    Raises
    ------
    InputError
        If the policy is unknown, or its order's function cannot be used.

    Examples
    --------
    >>> from core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[10, 10, 5], estimate=[10, 10, 5],
    ...                           procs=[2, 4, 2], processors=4)
    >>> simulate(w, "fcfs+easy").start.tolist()
    [0, 10, 2]
    """
    chosen = Policy.parse(policy) if isinstance(policy, str) else policy
    if chosen.rule not in ("none", "aggressive", "easy"):
        from core.kernels.conservative import schedule_reserved

        start, backfilled, promised = schedule_reserved(workload, chosen)
    else:
        start, backfilled = _schedule_plain(workload, chosen)
        promised = np.full(len(workload), NO_PROMISE, np.int64)
    return Schedule(workload, chosen.name, start, backfilled, promised)


def _schedule_plain(workload: Workload, policy: Policy) -> tuple[Int64, npt.NDArray[np.bool_]]:
    keys = {
        "fcfs": np.arange(len(workload)),
        "spf": workload.estimate,
        "sqf": workload.procs,
        "saf": workload.estimate * workload.procs,
    }
    if policy.order not in keys or policy.backfill or policy.events != "instant":
        raise InputError(f"policy {policy.name!r} is not simulated yet; orders: {', '.join(keys)}")
    theta = policy.threshold_seconds(workload.max_estimate)
    key = keys[policy.order].tolist()
    submit, run = workload.submit.tolist(), workload.run.tolist()
    estimate, procs = workload.estimate.tolist(), workload.procs.tolist()
    n, free, arrived = len(workload), workload.processors, 0
    start = np.zeros(n, np.int64)
    backfilled = np.zeros(n, np.bool_)
    ends: list[tuple[int, int]] = []
    waiting: list[int] = []
    running: set[int] = set()
    while arrived < n or ends:
        now = min(
            ends[0][0] if ends else submit[arrived], submit[arrived] if arrived < n else ends[0][0]
        )
        while ends and ends[0][0] == now:
            j = heapq.heappop(ends)[1]
            free += procs[j]
            running.remove(j)
        while arrived < n and submit[arrived] == now:
            waiting.append(arrived)
            arrived += 1
        waiting.sort(
            key=lambda j: (
                (0, 0, j) if theta is not None and now - submit[j] > theta else (1, key[j], j)
            )
        )
        blocked, shadow, extra, rest = False, 0, 0, []
        for j in waiting:
            fits = procs[j] <= free
            if blocked and fits and policy.rule == "easy" and now + estimate[j] > shadow:
                fits = procs[j] <= extra
                extra -= procs[j] if fits else 0
            if fits and not (blocked and policy.rule == "none"):
                start[j], backfilled[j] = now, blocked
                free -= procs[j]
                heapq.heappush(ends, (now + run[j], j))
                running.add(j)
                continue
            rest.append(j)
            if not blocked and policy.rule == "easy":
                level, releases = (
                    free,
                    sorted((int(start[i]) + estimate[i], procs[i]) for i in running),
                )
                for end, width in releases:
                    if level >= procs[j] and end > shadow:
                        break
                    level, shadow = level + width, end
                extra = level - procs[j]
            blocked = True
        waiting = rest
    return start, backfilled

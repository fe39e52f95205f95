"""Programs that simulate one workload: the kernels, the reference, and two by seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.promises import promises
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.multifactor import is_multifactor
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.loop import promises_reference, simulate_reference
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.columns import COLUMNS
from schedfarm.core.workload.workload import Workload
from tests.oracles.planned_by_seconds import promises_planned, simulate_planned
from tests.oracles.reserving_by_seconds import SPAN, simulate_reserving
from tests.support.strategies import FIXED

Answers = dict[str, object]
"""All that a program says of a workload, by name."""

Program = Callable[[Workload, Policy], Answers]


def segments(schedule: Schedule) -> list[tuple[int, int, int]]:
    """Return the parts of all jobs: job, place, processors."""
    parts = schedule.segments
    if parts is None:
        return []
    return list(zip(parts.job.tolist(), parts.place.tolist(), parts.procs.tolist(), strict=True))


def answers(schedule: Schedule, promised: Int64) -> Answers:
    """Return a schedule and its promises as plain values."""
    columns = ("start", "backfilled", "end", "state", "place")
    found: Answers = {name: getattr(schedule, name).tolist() for name in columns}
    return found | {
        "segments": segments(schedule),
        "counts": dict(schedule.counts),
        "promises": promised.tolist(),
        "policy": schedule.policy,
    }


def kernel(work: Workload, policy: Policy) -> Answers:
    """Simulate by the kernels, compiled or not, as this process runs them."""
    return answers(simulate(work, policy), promises(work, policy))


def reference(work: Workload, policy: Policy) -> Answers:
    """Simulate by the reference."""
    promised = np.full(len(work), -1, np.int64)
    if policy.row.promise is not None:
        promised = promises_reference(work, policy)
    return answers(simulate_reference(work, policy), promised)


def by_seconds(work: Workload, policy: Policy) -> Answers | None:
    """Simulate second by second, where a program for the rule exists and the time is short."""
    span = int(work.submit.max(initial=0) + work.estimate.sum())
    if work.platform.name != "pool" or span >= SPAN or policy.refresh or policy.halflife:
        return None
    if policy.limits is not None:
        return None
    called = ":" in policy.order or is_multifactor(policy.order)
    if policy.rule == "planned" and not called:
        return answers(simulate_planned(work, policy), promises_planned(work, policy))
    promises_anew = policy.row.promise is not None and not policy.row.keeps_plan
    if promises_anew and {policy.order, policy.backfill} <= BY_SECONDS:
        return answers(*simulate_reserving(work, policy))
    return None


BY_SECONDS = {None, *FIXED, "lxf", "sxf"}
"""Orders of `reserving_by_seconds`."""


def moved(schedule: Schedule, job: int, shift: int) -> Schedule:
    """Return a schedule in which one job starts, and ends, some seconds later."""
    columns = {name: getattr(schedule, name).copy() for name in ("start", "end")}
    for column in columns.values():
        column[job] += shift
    return replace(
        schedule,
        start=columns["start"],
        given=schedule.given | ({"end": columns["end"]} if "end" in schedule.given else {}),
    )


def described(work: Workload) -> str:
    """Return a platform and its jobs, a line each, without columns that hold their defaults."""
    count = len(work)
    told = [str(work.platform), f"max_estimate={work.max_estimate}, epoch={work.epoch}"]
    for job in range(count):
        columns = {
            name: getattr(work, name)
            for name, row in COLUMNS.items()
            if row.default is None or (getattr(work, name) != row.default(count)).any()
        }
        told.append(", ".join(f"{name}={column[job]}" for name, column in columns.items()))
    return "\n".join(told)

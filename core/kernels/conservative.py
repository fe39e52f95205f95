"""The door to the rules with an availability profile: depth(K), conservative and planned."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.kernels._jit import NEVER
from core.kernels.depth import UNSEEN, WAITING, run_depth
from core.kernels.planned import run_planned
from core.kernels.reserve_clock import FREE, LARGEST_RATIO, RANKED, SMALLEST_RATIO
from core.policy import Policy
from core.workload import Int64, Workload


def schedule_reserved(
    workload: Workload, policy: Policy
) -> tuple[Int64, npt.NDArray[np.bool_], Int64]:
    """Simulate a workload under a rule with reservations."""
    if policy.backfill and policy.depth < 0:
        raise InputError(
            f"policy {policy.name!r}: under {policy.rule!r} every waiting job holds a reservation, "
            "so there is nothing to backfill in another order; leave out backfill="
        )
    if policy.rule == "planned":
        return _planned(workload, policy)
    n = len(workload)
    kind, rank = _order(workload, policy.order)
    back_kind, back_rank = _order(workload, policy.backfill or policy.order)
    theta = policy.threshold_seconds(workload.max_estimate)
    start = np.full(n, WAITING, np.int64)
    backfilled = np.zeros(n, np.bool_)
    promised = np.full(n, UNSEEN, np.int64)
    clock = np.zeros(4, np.int64)
    clock[FREE] = workload.processors
    steps = 2 * n + 2
    run_depth(
        policy.depth if policy.depth >= 0 else n + 1, NEVER if theta is None else theta,
        kind, rank, back_kind, back_rank, workload.processors, policy.events == "per-event",
        workload.submit, workload.run, workload.estimate, workload.procs,
        np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64), clock,
        np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.zeros(steps, np.int64), np.zeros(steps, np.int64), np.zeros(2, np.int64),
        start, backfilled, promised,
    )  # fmt: skip
    return start, backfilled, promised


def _planned(workload: Workload, policy: Policy) -> tuple[Int64, npt.NDArray[np.bool_], Int64]:
    n = len(workload)
    start = np.full(n, WAITING, np.int64)
    backfilled = np.zeros(n, np.bool_)
    promised = np.zeros(n, np.int64)
    clock = np.zeros(4, np.int64)
    clock[FREE] = workload.processors
    steps = 4 * n + 8
    run_planned(
        policy.events == "per-event", policy.walk == "start", workload.processors,
        workload.submit, workload.run, workload.estimate, workload.procs,
        np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64), clock,
        np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.zeros(steps, np.int64), np.zeros(steps, np.int64), np.zeros(2, np.int64),
        start, backfilled, np.zeros(n, np.int64), promised,
    )  # fmt: skip
    return start, backfilled, promised


def _order(workload: Workload, order: str) -> tuple[int, Int64]:
    n = len(workload)
    area = workload.estimate * workload.procs
    if order in ("lxf", "sxf"):
        return LARGEST_RATIO if order == "lxf" else SMALLEST_RATIO, np.zeros(n, np.int64)
    keys = {
        "fcfs": workload.submit, "lcfs": -workload.submit,
        "spf": workload.estimate, "lpf": -workload.estimate,
        "sqf": workload.procs, "lqf": -workload.procs,
        "saf": area, "laf": -area,
    }  # fmt: skip
    rank = np.empty(n, np.int64)
    rank[np.argsort(keys[order], kind="stable")] = np.arange(n)
    return RANKED, rank

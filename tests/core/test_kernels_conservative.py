"""Depth and conservative backfilling against a brute force with one number a second."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from core.arrays import NO_PROMISE
from core.policy.policy import Policy
from core.simulation.pool import schedule_reserving
from core.workload.workload import Workload

SPAN = 400
NAMES = {"FCFS": "fcfs", "SJF": "spf", "SAF": "saf", "SQF": "sqf", "LXF": "lxf"}
Key = Callable[[int, int], object]


def tiny(seed: int, *, positive: bool = False) -> Workload:
    """Return up to 14 jobs with ties, run 0, estimate 0 and full-width jobs."""
    rng = np.random.default_rng(seed)
    n, machine = int(rng.integers(1, 15)), int(rng.integers(1, 6))
    estimate = rng.choice([0, 1, 2, 3, 5, 8, 9], n)
    estimate = np.maximum(estimate, 1) if positive else estimate
    run = np.where(rng.random(n) < 0.4, estimate, rng.integers(0, estimate + 1))
    return Workload.from_columns(
        submit=np.cumsum(rng.choice([0, 0, 1, 2, 4], n)),
        run=run,
        estimate=estimate,
        procs=np.where(rng.random(n) < 0.15, machine, rng.integers(1, machine + 1, n)),
        processors=machine,
    )


def key_of(w: Workload, order: str) -> Key:
    """Return what the queue is sorted by, smallest first."""
    sign = -1 if order[0] == "l" else 1
    size = {"cf": w.submit, "pf": w.estimate, "qf": w.procs, "af": w.estimate * w.procs}
    if order[1:] == "xf":
        return lambda j, now: sign * Fraction(now - int(w.submit[j]), max(int(w.estimate[j]), 1))
    if order == "fcfs":
        return lambda j, now: j
    if order == "lcfs":
        return lambda j, now: -int(w.submit[j])
    return lambda j, now: sign * int(size[order[1:]][j])


def brute(w: Workload, policy: Policy) -> tuple[list[int], list[bool], list[int]]:  # noqa: C901
    """Simulate by the letter of the semantics, second by second, in one piece to be read so."""
    n, theta = len(w), policy.threshold_seconds(w.max_estimate)
    depth = policy.depth if policy.depth > 0 else n + 1
    submit, run = w.submit.tolist(), w.run.tolist()
    estimate, procs = w.estimate.tolist(), w.procs.tolist()
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

    while arrived < n or running:
        events = [start[j] + run[j] for j in running] + submit[arrived : arrived + 1]
        now = min(events)
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
        one_pass(now)
    return start, backfilled, promised


def agrees(w: Workload, policy: Policy) -> bool:
    """Tell whether starts, backfilled and promised all equal the brute force's."""
    ours = [column.tolist() for column in schedule_reserving(w, policy)]
    return ours == [*brute(w, policy)]


@pytest.mark.parametrize("rule", ["conservative", "depth(1)", "depth(2)", "depth(3)"])
@pytest.mark.parametrize(
    "order", ["fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf", "lxf", "sxf"]
)
def test_every_order_and_depth_agrees_with_brute_force(order: str, rule: str) -> None:
    """Reservations are made anew in queue order at each pass, starving jobs first."""
    for seed in range(40):
        for theta in (None, "6s"):
            assert agrees(tiny(seed), Policy(order, rule, theta)), (seed, theta)


@pytest.mark.parametrize("order", ["fcfs", "spf", "lxf"])
def test_a_pass_after_each_event_agrees_with_brute_force(order: str) -> None:
    """Per event, submissions come before completions, and who is predicted to end has gone."""
    for seed in range(60):
        for rule in ("conservative", "depth(1)", "depth(2)"):
            assert agrees(tiny(seed), Policy(order, rule, events="per-event")), (seed, rule)


@pytest.mark.parametrize("back", ["spf", "saf", "lxf"])
def test_a_backfill_order_takes_over_after_the_reserved_jobs(back: str) -> None:
    """The jobs behind the K reserved ones are examined in the backfill order."""
    for seed in range(60):
        for rule in ("depth(1)", "depth(2)"):
            assert agrees(tiny(seed), Policy("fcfs", rule, "9s", back)), (seed, rule)


def test_a_depth_beyond_the_queue_is_conservative() -> None:
    """When every waiting job holds a reservation, the rules are the same."""
    for seed in range(40):
        w = tiny(seed)
        deep = schedule_reserving(w, Policy("saf", "depth(99)"))
        every = schedule_reserving(w, Policy("saf", "conservative"))
        assert [x.tolist() for x in deep] == [x.tolist() for x in every]


def test_a_job_inserted_in_the_middle_lets_a_later_one_start() -> None:
    """The wide short job that arrives at 2 goes before the long one and pushes it past 4."""
    w = Workload.from_columns(
        submit=[0, 1, 1, 2],
        run=[4, 8, 9, 3],
        estimate=[4, 8, 9, 3],
        procs=[2, 3, 1, 4],
        processors=4,
    )
    assert agrees(w, Policy("spf", "conservative"))


def test_a_job_without_estimate_reserves_nothing() -> None:
    """A later job takes the gap at 3; the job without estimate finds the next at 8."""
    w = Workload.from_columns(
        submit=[0, 1, 1], run=[3, 0, 7], estimate=[3, 0, 7], procs=[2, 3, 1], processors=3
    )
    start, backfilled, promised = schedule_reserving(w, Policy("fcfs", "conservative"))
    assert start.tolist() == [0, 8, 1]
    assert backfilled.tolist() == [False, False, True]
    assert promised.tolist() == [0, 3, 1]


def test_the_golden_micro_instances_agree(golden: Path) -> None:
    """Another program's starts; its easy is depth(1)."""
    rules = {"conservative": "conservative", "easy": "depth(1)"}
    for case in json.loads(gzip.decompress((golden / "micro.json.gz").read_bytes())):
        jobs = np.array(case["jobs_submit_run_est_procs"])
        w = Workload.from_columns(
            submit=jobs[:, 0],
            run=jobs[:, 1],
            estimate=jobs[:, 2],
            procs=jobs[:, 3],
            processors=case["machine"],
        )
        by_submit = np.argsort(jobs[:, 0], kind="stable")
        for run in case["expected"]:
            if run["backfill"] not in rules:
                continue
            theta = None if run["theta"] is None else f"{run['theta']}s"
            policy = Policy(NAMES[run["order"]], rules[run["backfill"]], theta)
            start = schedule_reserving(w, policy)[0]
            assert start.tolist() == np.array(run["start"])[by_submit].tolist(), policy.name

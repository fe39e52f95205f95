"""Classical conservative backfilling against a brute force with one number a second."""

from __future__ import annotations

import numpy as np
import pytest

from core import simulate
from core.policy.policy import Policy
from core.simulation.pool import schedule_planned, schedule_reserving
from core.simulation.promises import promises
from core.workload.workload import Workload

SPAN = 400

QUEUES = {
    "fcfs": lambda w: w.submit.tolist(),
    "spf": lambda w: w.estimate.tolist(),
    "lpf": lambda w: (-w.estimate).tolist(),
}
"""A number of each job, smallest first."""


def tiny(seed: int) -> Workload:
    """Return up to 14 jobs with ties, run 0, estimate 0 and full-width jobs."""
    rng = np.random.default_rng(seed)
    n, machine = int(rng.integers(1, 15)), int(rng.integers(1, 6))
    estimate = rng.choice([0, 1, 2, 3, 5, 8, 9], n)
    return Workload.from_columns(
        submit=np.cumsum(rng.choice([0, 0, 1, 2, 4], n)),
        run=np.where(rng.random(n) < 0.4, estimate, rng.integers(0, estimate + 1)),
        estimate=estimate,
        procs=np.where(rng.random(n) < 0.15, machine, rng.integers(1, machine + 1, n)),
        processors=machine,
    )


def brute(w: Workload, policy: Policy) -> tuple[list[int], list[bool], list[int]]:  # noqa: C901
    """Simulate by the letter: the plan is one number a second, moved by lifting and placing."""
    n = len(w)
    submit, run = w.submit.tolist(), w.run.tolist()
    estimate, procs = w.estimate.tolist(), w.procs.tolist()
    seconds = [w.processors] * SPAN
    plan: dict[int, int] = {}
    start, backfilled, promised = [-1] * n, [False] * n, [-2] * n
    running: list[int] = []
    arrived, now = 0, 0

    def take(at: int, until: int, need: int) -> None:
        for t in range(at, until):
            seconds[t] -= need

    def place(j: int) -> None:
        t = now
        while min(seconds[t : t + max(estimate[j], 1)]) < procs[j]:
            t += 1
        plan[j] = t
        take(t, t + estimate[j], procs[j])

    while arrived < n or running or plan:
        ends = [start[j] + run[j] for j in running]
        now = min(ends + submit[arrived : arrived + 1] + [t for t in plan.values() if t > now])
        one = policy.events == "per-event"
        arrives = list(range(arrived, n if not one else min(arrived + 1, n)))
        arrives = [j for j in arrives if submit[j] == now]
        # The running jobs are listed as they started.
        done = [j for j in running if start[j] + run[j] == now]
        done = done if not one else [] if arrives else done[:1]
        for j in done:
            running.remove(j)
            take(now, start[j] + estimate[j], -procs[j])
        if any(one or run[j] < estimate[j] for j in done):
            key = {"start": plan, "arrival": [0] * n, "queue": QUEUES[policy.order](w)}[policy.walk]
            by = [(key[j], j) for j in plan]
            for _, j in sorted(by):
                before = plan[j]
                take(before, before + estimate[j], -procs[j])
                place(j)
                plan[j] = min(before, plan[j])
        for j in arrives:
            place(j)
            promised[j] = plan[j]
            arrived += 1
        queue = sorted((QUEUES[policy.order](w)[j], j) for j in plan)
        for turn in queue:
            j = turn[1]
            taken = sum(procs[i] for i in running if not one or start[i] + estimate[i] > now)
            if plan[j] <= now and taken + procs[j] <= w.processors:
                del plan[j]
                start[j] = now
                backfilled[j] = any(i in plan for key, i in queue if (key, i) < turn)
                running.append(j)
    return start, backfilled, promised


@pytest.mark.parametrize(
    ("order", "walk"),
    [("fcfs", "start"), ("fcfs", "arrival"), ("fcfs", "queue"), ("spf", "queue"), ("lpf", "queue")],
)
@pytest.mark.parametrize("events", ["instant", "per-event"])
def test_random_instances_agree_with_brute_force(order: str, walk: str, events: str) -> None:
    """A reservation is kept until an early completion lets it move."""
    policy = Policy(order, "planned", walk=walk, events=events)
    for seed in range(150):
        w = tiny(seed)
        ours = [column.tolist() for column in schedule_planned(w, policy)]
        assert ours == [*brute(w, policy)], seed


def test_no_job_with_an_estimate_starts_after_its_promise() -> None:
    """Compression moves a reservation only earlier."""
    for seed in range(150):
        w = tiny(seed)
        start, _, promised = schedule_planned(w, Policy("fcfs", "planned"))
        assert (start <= promised)[w.estimate > 0].all(), seed


def test_exact_estimates_make_planned_and_conservative_equal() -> None:
    """In FCFS order without early completions no plan ever changes."""
    for seed in range(100):
        w = tiny(seed)
        exact = Workload.from_columns(
            submit=w.submit,
            run=np.maximum(w.estimate, 1),
            estimate=np.maximum(w.estimate, 1),
            procs=w.procs,
            processors=w.processors,
        )
        planned = schedule_planned(exact, Policy("fcfs", "planned"))
        anew = schedule_reserving(exact, Policy("fcfs", "conservative"))
        assert [x.tolist() for x in planned] == [x.tolist() for x in anew], seed


def test_the_walk_by_start_and_the_walk_by_arrival_differ() -> None:
    """Job 0 ends at 1: by start job 3, planned at 4, moves first; by arrival job 1, at 5, does."""
    w = Workload.from_columns(
        submit=[0, 0, 0, 0],
        run=[1, 4, 4, 4],
        estimate=[5, 4, 4, 4],
        procs=[3, 3, 1, 1],
        processors=4,
    )
    by_start = schedule_planned(w, Policy("fcfs", "planned"))
    by_arrival = schedule_planned(w, Policy("fcfs", "planned", walk="arrival"))
    assert by_start[0].tolist() == [0, 4, 0, 1]
    assert by_arrival[0].tolist() == [0, 1, 0, 4]
    assert by_start[2].tolist() == by_arrival[2].tolist() == [0, 5, 0, 4]


@pytest.mark.parametrize("walk", ["start", "arrival", "queue"])
def test_a_later_job_may_take_the_place_of_one_that_reserves_nothing(walk: str) -> None:
    w = Workload.from_columns(
        submit=[0, 3, 3], run=[5, 0, 5], estimate=[5, 0, 5], procs=[1, 3, 2], processors=3
    )
    policy = f"fcfs+planned,walk={walk}"
    assert promises(w, policy).tolist() == [0, 5, 3]
    assert simulate(w, policy).start.tolist() == [0, 8, 3]

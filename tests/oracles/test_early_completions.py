"""Reservations that outlive early completions, in workloads with long queues."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from schedfarm.core.audit import audit
from schedfarm.core.engine import snapshots
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.pool.simulation import POOL
from schedfarm.core.models.lublin import lublin
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.fair_start import fair_start_reference
from schedfarm.core.workload.load import scale_load
from schedfarm.core.workload.workload import Workload
from tests.oracles.compare import check
from tests.oracles.early_completions import cases, kept_in_short_queues, workload
from tests.oracles.fair_starts import KINDS

POLICIES = ["fcfs+conservative", "lxf+conservative", "fcfs+depth(100)"]


@pytest.mark.parametrize("steps", [snapshots.STEPS, 40])
def test_random_early_completions(steps: int) -> None:
    """Kernel, reference and audit agree; `python -m tests.oracles.early_completions` tries more.

    With 40 steps a snapshot often lacks space for the next reservation.
    """
    with kept_in_short_queues(steps=steps):
        for work, policy in cases(12, seed=4):
            check(work, policy)


@pytest.mark.parametrize("kind", KINDS)
def test_fair_starts(kind: str) -> None:
    """Clones have snapshots of their own."""
    dice, policy = random.Random(6), Policy.parse("fcfs+conservative")
    for _ in range(4):
        work = workload(dice)
        everyone = np.arange(len(work))
        with kept_in_short_queues():
            found = fair_start_times(work, policy, kind).tolist()
        assert found == fair_start_reference(work, policy, kind == "relaxed", everyone, everyone)


@pytest.mark.parametrize("apart", [1, 5, 32])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_distance_of_snapshots_changes_no_start(policy: str, apart: int) -> None:
    work = scale_load(lublin(64, jobs=400, seed=3), 1.4)
    with kept_in_short_queues(10**6):
        expected = simulate(work, policy)
    with kept_in_short_queues(apart):
        found = simulate(work, policy)
    np.testing.assert_array_equal(found.start, expected.start)
    np.testing.assert_array_equal(found.backfilled, expected.backfilled)


@pytest.mark.parametrize("policy", POLICIES)
def test_snapshots_are_used(policy: str) -> None:
    """Otherwise the tests above would not see them."""
    work = scale_load(lublin(64, jobs=400, seed=3), 1.4)
    with kept_in_short_queues():
        plan = POOL.schedule_reserving(work, Policy.parse(policy)).plan
    assert plan.snapshots.state[0].checks > 50


def accurate(jobs: int, seconds: int, seed: int) -> Workload:
    """Return jobs on 8 processors that all end as predicted, so that one layout lasts long."""
    dice = random.Random(seed)
    rows = sorted(
        (dice.randrange(seconds), dice.randrange(1, 40), dice.choice((1, 1, 1, 2, 3, 6)))
        for _ in range(jobs)
    )
    submit, run, procs = np.array(rows, np.int64).T
    return Workload.from_columns(submit=submit, run=run, estimate=run, procs=procs, processors=8)


@pytest.mark.parametrize("machine", ["pool", "grid"])
@pytest.mark.parametrize("policy", ["fcfs+conservative", "fcfs+depth(9)"])
def test_steps_that_are_moved_to_the_front(policy: str, machine: str) -> None:
    """A search does not begin at the step that a moved one had before.

    Where profiles drop more than `FAR` steps in one layout, a job's search would begin behind all.
    """
    for seed in range(2):
        work = accurate(1500, 8100, seed)
        if machine == "grid":
            work = replace(work, platform=Grid([8], ["a"]))
        verdict = audit(simulate(work, policy), policy)
        assert verdict.ok, verdict.why

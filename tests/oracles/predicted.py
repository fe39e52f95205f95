"""Compare kernel and reference on random small workloads whose run times are predicted.

    python -m tests.oracles.predicted --cases 10000 --seed 1

Each case is a workload and a policy with `predict=`. Both programs give the same schedule; the
predictions that follow from it and the promised starts are those of the reference; and
`predict=perfect` gives the schedule of the same jobs with their run times as estimates. Prints the
first case that fails, and then exits with 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from schedfarm.core.arrays import NO_PROMISE
from schedfarm.core.engine.predicted import predictions
from schedfarm.core.engine.promises import promises
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.loop import simulation_of
from schedfarm.core.reference.predictions import Predictions
from schedfarm.core.workload.workload import Workload
from tests.oracles.programs import described

OWN = "tests.oracles.predicted:longest"

ORDERS = (
    "fcfs",
    "fcfs",
    "lcfs",
    "spf",
    "lpf",
    "sqf",
    "lqf",
    "saf",
    "laf",
    "f2",
    "f3",
    "f4",
    "(estimate * procs - submit)",
)
"""Orders whose floats are the same in both programs."""

PREDICT = ("last2", "last2", "mean(1)", "mean(3)", "soft", "perfect", OWN)

RULES = ("none", "aggressive", "easy", "easy", "depth(1)", "depth(2)", "depth(3)", "conservative")

UNITS = (1, 20, 60, 3600, 2**33)
"""Factors of all times: corrections are in minutes and hours."""


def longest(job: Mapping[str, int], completed: Mapping[str, Any]) -> float:
    """Predict a third more than the user's longest completed run; refuse to see the future."""
    assert "run" not in job
    assert (completed["start"] + completed["run"] <= job["submit"]).all()
    assert (np.diff(completed["start"] + completed["run"]) >= 0).all()
    return float(completed["run"][completed["user"] == job["user"]].max(initial=0)) * 4 / 3


class _Noting(Predictions):
    """Note the predictions made at submission."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.made = [-1] * len(workload)

    def predict_at_submission(self, job: Job, completed: list[Job]) -> None:
        super().predict_at_submission(job, completed)
        self.made[job.position] = job.prediction


def drawn(random: np.random.Generator) -> tuple[Workload, Policy]:
    """Draw a workload of a few users on a small machine, and a policy."""
    n, processors, unit = random.integers(1, 15), random.integers(1, 7), random.choice(UNITS)
    span = int(random.integers(1, 60))
    estimate = random.integers(0, random.choice([2, 9, 40]), n)
    shorter = random.choice([0.0, 0.1, 0.5, 0.9, 1.0], n)
    run = (estimate * unit * shorter).astype(np.int64)
    work = Workload.from_columns(
        submit=np.sort(random.integers(0, span, n)) * unit,
        run=run,
        estimate=estimate * unit,
        procs=random.integers(1, processors + 1, n),
        user=random.integers(-1, 2, n),
        processors=int(processors),
    )
    rule = str(random.choice(RULES))
    options = {
        "threshold": f"{int(random.integers(0, 30) * unit)}s" if random.random() < 0.3 else None,
        "backfill": str(random.choice(ORDERS)) if random.random() < 0.5 else None,
        "correct": str(random.choice(["steps", "steps", "double", "estimate"])),
    }
    order, predict = str(random.choice(ORDERS)), str(random.choice(PREDICT))
    if rule == "conservative":
        options["backfill"] = None
    given = {name: value for name, value in options.items() if value is not None}
    return work, Policy(order, rule, predict=predict, **given)


def check(work: Workload, policy: Policy) -> None:
    """Assert everything about one case."""
    where = f"{policy.name}\n{described(work)}"
    simulation = simulation_of(work, policy)
    simulation.predictions = noting = _Noting(work, policy)
    simulation.run()
    schedule = simulate(work, policy)
    assert schedule.start.tolist() == [job.start for job in simulation.jobs], where
    assert schedule.backfilled.tolist() == [job.backfilled for job in simulation.jobs], where
    assert predictions(schedule).tolist() == noting.made, where
    promised = [NO_PROMISE if job.promise < 0 else job.promise for job in simulation.jobs]
    assert promises(work, policy).tolist() == promised, where
    assert all(run <= limit for run, limit in zip(noting.made, work.estimate, strict=True)), where
    if policy.predict == "perfect":
        # A threshold may be a multiple of the largest estimate, which stays that of the platform.
        exact = replace(work, estimate=work.run, max_estimate=work.max_estimate)
        plain = replace(policy, predict=None, correct="steps")
        assert schedule.start.tolist() == simulate(exact, plain).start.tolist(), where


def check_many(cases: int, seed: int) -> None:
    """Check random cases."""
    random = np.random.default_rng(seed)
    for _ in range(cases):
        check(*drawn(random))


def main() -> int:
    """Check as the command line says; return 1 if a case fails."""
    parser = argparse.ArgumentParser(
        description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.perf_counter()
    try:
        check_many(given.cases, given.seed)
    except AssertionError as error:
        sys.stdout.write(f"{error}\n")
        return 1
    spent = time.perf_counter() - began
    sys.stdout.write(f"{given.cases} cases of seed {given.seed} agree, {spent:.0f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

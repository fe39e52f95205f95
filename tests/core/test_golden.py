"""Both simulators against the schedules of an independent program."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.logs.swf import read_swf
from core.metrics.slowdown import bounded_slowdown, pp_bounded_slowdown
from core.policy.policy import Policy
from core.reference.pool import simulate_reference
from core.schedule import Schedule
from core.simulation.simulate import simulate
from core.workload.workload import Workload

ORDERS = {"FCFS": "fcfs", "SJF": "spf", "SAF": "saf", "SQF": "sqf", "LXF": "lxf"}
LOGGED = [
    *(
        ("KTH-SP2", order, rule)
        for order in ORDERS
        for rule in ("none", "bf", "easy", "conservative")
    ),
    *(("CTC-SP2", order, rule) for order in ("FCFS", "SJF") for rule in ("none", "conservative")),
    *(("CTC-SP2", order, rule) for order in ("FCFS", "SJF", "LXF") for rule in ("bf", "easy")),
]
"""Trace, order and rule of every run on a log; some come with several thresholds or lengths."""

RULES = {"none": "none", "bf": "aggressive", "easy": "easy", "conservative": "conservative"}


@cache
def micro(golden: Path) -> list[tuple[Workload, dict[str, Any]]]:
    instances = json.loads(gzip.decompress((golden / "micro.json.gz").read_bytes()))
    found = []
    for instance in instances:
        columns = zip(*instance["jobs_submit_run_est_procs"], strict=True)
        names = ("submit", "run", "estimate", "procs")
        given = dict(zip(names, columns, strict=True))
        work = Workload.from_columns(**given, processors=instance["machine"])
        found += [(work, expected) for expected in instance["expected"]]
    return found


def policy_of(run: dict[str, Any]) -> Policy:
    threshold = None if run["theta"] is None else f"{run['theta']}s"
    return Policy(ORDERS[run["order"]], RULES[run["backfill"]], threshold=threshold)


@pytest.mark.parametrize("simulator", [simulate, simulate_reference])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ORDERS)
def test_starts_of_the_tiny_instances(
    golden: Path, order: str, rule: str, simulator: Callable[[Workload, Policy], Schedule]
) -> None:
    """Every start of the 30 instances, with and without the starvation threshold."""
    runs = [
        (work, run)
        for work, run in micro(golden)
        if (run["order"], run["backfill"]) == (order, rule)
    ]
    assert len(runs) == 60
    assert {run["theta"] for _, run in runs} == {None, 15}
    for work, run in runs:
        assert simulator(work, policy_of(run)).start.tolist() == run["start"]


def test_columns_of_the_logs(golden: Path, traces: Path) -> None:
    """A parser's mistake shows here, before a scheduler's."""
    expected = json.loads((golden / "schedules.json").read_text())["traces"]
    for trace in expected.values():
        work = read_swf(traces / trace["file"])
        columns = {"submit": work.submit, "run": work.run, "est": work.estimate}
        for name, column in {**columns, "procs": work.procs}.items():
            assert int(column.sum()) == trace[f"sum_{name}"]
            digest = hashlib.sha256(column.astype("<i8").tobytes()).hexdigest()
            assert digest == trace[f"sha256_{name}"]
        assert (work.processors, len(work)) == (trace["machine"], trace["kept_jobs"])


def logged_runs(golden: Path) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = json.loads((golden / "schedules.json").read_text())["runs"]
    return runs


def test_every_run_is_met(golden: Path) -> None:
    """The list of runs above leaves none out, and names none that is not there."""
    found = {(run["trace"], run["order"], run["backfill"]) for run in logged_runs(golden)}
    assert found == set(LOGGED)


@pytest.mark.parametrize(("trace", "order", "rule"), LOGGED)
def test_schedules_of_the_logs(
    golden: Path, traces: Path, trace: str, order: str, rule: str
) -> None:
    """Hash of the starts and means of every run on the real logs, with thresholds too."""
    runs = [
        run
        for run in logged_runs(golden)
        if (run["trace"], run["order"], run["backfill"]) == (trace, order, rule)
    ]
    for run in runs:
        work = read_swf(traces / run["file"], processors=run["machine"], jobs=run["first"])
        schedule = simulate(work, policy_of(run))
        assert len(work) == run["count"]
        assert schedule.digest() == run["sha256_starts"]
        assert int(schedule.wait.sum()) == run["sum_wait"]
        assert int(schedule.wait.max()) == run["max_wait"]
        assert int(schedule.end.max()) == run["last_end"]
        means = (
            np.mean(schedule.wait),
            np.mean(bounded_slowdown(schedule)),
            np.mean(pp_bounded_slowdown(schedule)),
        )
        expected = (run["mean_wait"], run["mean_bsld"], run["mean_ppbsld"])
        assert means == pytest.approx(expected, rel=1e-9, abs=0)

"""Both simulators against schedules that are known to be right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.metrics.slowdown import bounded_slowdown, pp_bounded_slowdown
from core.policy.policy import Policy
from core.reference.simulation import simulate_reference
from core.schedule import Schedule
from core.simulation.simulate import simulate
from core.workload.workload import Workload
from tests.golden import ORDERS, RULES, digest, drawn, logged, micro, modelled, policy_of, read_log

LOGGED = [
    *(("KTH-SP2", order, rule) for order in ORDERS for rule in RULES),
    *(("CTC-SP2", order, rule) for order in ("FCFS", "SJF") for rule in ("none", "conservative")),
    *(("CTC-SP2", order, rule) for order in ("FCFS", "SJF", "LXF") for rule in ("bf", "easy")),
]
"""Trace, order and rule of every run on a log; some come with several thresholds or lengths."""


@pytest.mark.parametrize("simulator", [simulate, simulate_reference])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ORDERS)
def test_starts_of_the_tiny_instances(
    order: str, rule: str, simulator: Callable[[Workload, Policy], Schedule]
) -> None:
    """Every start of the 30 instances, with and without the starvation threshold."""
    runs = micro(order, rule)
    assert len(runs) == 60
    assert {run["theta"] for _, run in runs} == {None, 15}
    for work, run in runs:
        assert simulator(work, policy_of(run)).start.tolist() == run["start"]


@pytest.mark.parametrize("name", modelled()["workloads"])
def test_columns_of_the_models(name: str) -> None:
    """The models draw what they drew: a change of numpy's streams shows here."""
    work, known = drawn(name), modelled()["workloads"][name]
    columns = ("submit", "run", "estimate", "procs", "user")
    assert {column: digest(getattr(work, column)) for column in columns} == known["sha256"]
    assert (len(work), work.max_estimate) == (known["jobs"], known["max_estimate"])


@pytest.mark.parametrize("run", modelled()["runs"], ids=lambda r: f"{r['workload']}:{r['policy']}")
def test_schedules_of_the_models(run: dict[str, object]) -> None:
    """Hash of the starts under every order and rule, on machines of 64 and 256 processors."""
    schedule = simulate(drawn(str(run["workload"])), str(run["policy"]))
    found = {
        "sum_wait": int(schedule.wait.sum()),
        "max_wait": int(schedule.wait.max()),
        "last_end": int(schedule.end.max()),
        "backfilled": int(schedule.backfilled.sum()),
        "sha256_starts": digest(schedule.start),
    }
    assert {**run, **found} == run


def test_columns_of_the_logs(traces: Path) -> None:
    """A parser's mistake shows here, before a scheduler's."""
    for trace in logged()["traces"].values():
        work = read_log(traces, trace["file"])
        columns = {"submit": work.submit, "run": work.run, "est": work.estimate}
        for name, column in {**columns, "procs": work.procs}.items():
            assert int(column.sum()) == trace[f"sum_{name}"]
            assert digest(column) == trace[f"sha256_{name}"]
        assert (work.processors, len(work)) == (trace["machine"], trace["kept_jobs"])


def test_every_run_is_met() -> None:
    """The list of runs above leaves none out, and names none that is not there."""
    found = {(run["trace"], run["order"], run["backfill"]) for run in logged()["runs"]}
    assert found == set(LOGGED)


@pytest.mark.parametrize(("trace", "order", "rule"), LOGGED)
def test_schedules_of_the_logs(traces: Path, trace: str, order: str, rule: str) -> None:
    """Hash of the starts and means of every run on the real logs, with thresholds too."""
    runs = [
        run
        for run in logged()["runs"]
        if (run["trace"], run["order"], run["backfill"]) == (trace, order, rule)
    ]
    for run in runs:
        work = read_log(traces, run["file"], processors=run["machine"], jobs=run["first"])
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

"""Both simulators against schedules that are known to be right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.metrics.slowdown import bounded_slowdown, pp_bounded_slowdown
from schedfarm.core.reference.loop import simulate_reference
from tests.support.golden import (
    ORDERS,
    RULES,
    digest,
    drawn,
    logged,
    micro,
    modelled,
    policy_of,
    read_log,
)

LOGGED = [
    *(("KTH-SP2", order, rule) for order in ORDERS for rule in RULES),
    *(("CTC-SP2", order, rule) for order in ("FCFS", "SJF") for rule in ("none", "conservative")),
    *(("CTC-SP2", order, rule) for order in ("FCFS", "SJF", "LXF") for rule in ("bf", "easy")),
]
"""Trace, order and rule of every run on a log; some come with several thresholds or lengths."""


@pytest.mark.parametrize("rule", RULES)
def test_starts_of_the_tiny_instances(rule: str) -> None:
    """Every start of the 30 instances, with and without the starvation threshold."""
    for order in ORDERS:
        runs = micro(order, rule)
        assert len(runs) == 60
        assert {run["theta"] for _, run in runs} == {None, 15}
        for work, run in runs:
            policy = policy_of(run)
            assert simulate(work, policy).start.tolist() == run["start"], policy.name
            assert simulate_reference(work, policy).start.tolist() == run["start"], policy.name
            if rule == "easy":
                one = replace(policy, rule="depth(1)")
                assert simulate(work, one).start.tolist() == run["start"], one.name


@pytest.mark.parametrize("name", modelled()["workloads"])
def test_columns_of_the_models(name: str) -> None:
    """The models draw what they drew: a change of numpy's streams shows here."""
    work, known = drawn(name), modelled()["workloads"][name]
    columns = ("submit", "run", "estimate", "procs", "user")
    assert {column: digest(getattr(work, column)) for column in columns} == known["sha256"]
    assert (len(work), work.max_estimate) == (known["jobs"], known["max_estimate"])


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="thousands of jobs take minutes without it")
@pytest.mark.parametrize("name", sorted({run["workload"] for run in modelled()["runs"]}))
def test_schedules_of_the_models(name: str) -> None:
    """Hash of the starts under every order and rule, on machines of 64 and 256 processors."""
    for run in (run for run in modelled()["runs"] if run["workload"] == name):
        schedule = simulate(drawn(name), str(run["policy"]))
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


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="whole logs take minutes without the JIT")
@pytest.mark.parametrize(("trace", "rule"), sorted({(trace, rule) for trace, _, rule in LOGGED}))
def test_schedules_of_the_logs(traces: Path, trace: str, rule: str) -> None:
    """Hash of the starts and means of every run on the real logs, with thresholds too."""
    for run in logged()["runs"]:
        if (run["trace"], run["backfill"]) != (trace, rule):
            continue
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

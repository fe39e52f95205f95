"""Fair start times against those that are known to be right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.reference.fair_start import fair_start_reference
from core.simulation.fair_start import fair_start_times
from tests.golden import ORDERS, RULES, digest, drawn, logged, micro, modelled, policy_of, read_log

KINDS = ("strict", "relaxed")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ORDERS)
def test_the_tiny_instances(order: str, rule: str, kind: str) -> None:
    """Every fair start of the 30 instances, with and without the starvation threshold."""
    runs = micro(order, rule)
    assert len(runs) == 60
    for work, run in runs:
        assert fair_start_times(work, policy_of(run), kind).tolist() == run[f"fst_{kind}"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ORDERS)
def test_the_tiny_instances_by_the_reference(order: str, rule: str, kind: str) -> None:
    """The reference agrees too; on a third of the instances, for it is slow."""
    for work, run in micro(order, rule)[::3]:
        everyone = np.arange(len(work))
        fst = fair_start_reference(work, policy_of(run), kind == "relaxed", everyone, everyone)
        assert fst == run[f"fst_{kind}"]


@pytest.mark.parametrize(
    "run", modelled()["fair_starts"], ids=lambda r: f"{r['kind']}:{r['policy']}"
)
def test_the_models(run: dict[str, object]) -> None:
    """Hash of the fair starts of the first jobs of a workload that a model draws."""
    work = drawn(str(run["workload"]))
    fst = fair_start_times(
        work, str(run["policy"]), str(run["kind"]), jobs=range(int(run["first"]))
    )
    assert digest(fst) == run["sha256"]


def test_the_logs(traces: Path) -> None:
    """Hash of the fair starts of every run on a log that has them."""
    met = 0
    for run in logged()["runs"]:
        if run["fst"]:
            work = read_log(traces, run["file"], processors=run["machine"], jobs=run["first"])
            fst = fair_start_times(work, policy_of(run), run["fst"])
            assert digest(fst) == run["sha256_fst"]
            met += 1
    assert met == 12

"""Fair start times against those that are known to be right."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numba
import pytest

from schedfarm.core.engine.fair_start import fair_start_times
from tests.oracles.fair_starts import check_golden
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

KINDS = ("strict", "relaxed")


@pytest.mark.parametrize("rule", RULES)
def test_the_tiny_instances(rule: str) -> None:
    """Every fair start of a third of the instances, with and without the starvation threshold."""
    assert try_instances(rule, slice(0, None, 3)) == 20 * len(ORDERS)


def try_instances(rule: str, some: slice) -> int:
    """Compare the fair starts of some of the 60 runs of each order; return their number."""
    runs = [pair for order in ORDERS for pair in micro(order, rule)[some]]
    for (work, run), kind in product(runs, KINDS):
        found = fair_start_times(work, policy_of(run), kind).tolist()
        assert found == run[f"fst_{kind}"], policy_of(run).name
    return len(runs)


@pytest.mark.parametrize("rule", RULES)
def test_the_tiny_instances_by_the_reference(rule: str) -> None:
    """The reference agrees too, on a tenth of the instances, since it is slow."""
    check_golden(rule, slice(0, None, 10))


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


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="logs take long without the JIT")
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

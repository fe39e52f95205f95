"""Fair start times against those of an independent program."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.logs.swf import read_swf
from core.policy.policy import Policy
from core.reference.fair_start import fair_start_reference
from core.simulation.fair_start import fair_start_times
from core.workload.workload import Workload

ORDERS = {"FCFS": "fcfs", "SJF": "spf", "SAF": "saf", "SQF": "sqf", "LXF": "lxf"}
RULES = {"none": "none", "bf": "aggressive", "easy": "easy", "conservative": "conservative"}
KINDS = ("strict", "relaxed")


def policy_of(run: dict[str, Any]) -> Policy:
    threshold = None if run["theta"] is None else f"{run['theta']}s"
    return Policy(ORDERS[run["order"]], RULES[run["backfill"]], threshold=threshold)


@cache
def micro(golden: Path) -> list[tuple[Workload, dict[str, Any]]]:
    found = []
    for instance in json.loads(gzip.decompress((golden / "micro.json.gz").read_bytes())):
        columns = zip(*instance["jobs_submit_run_est_procs"], strict=True)
        names = ("submit", "run", "estimate", "procs")
        work = Workload.from_columns(
            **dict(zip(names, columns, strict=True)), processors=instance["machine"]
        )
        found += [(work, expected) for expected in instance["expected"]]
    return found


def runs_of(golden: Path, order: str, rule: str) -> list[tuple[Workload, dict[str, Any]]]:
    return [(w, r) for w, r in micro(golden) if (r["order"], r["backfill"]) == (order, rule)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ORDERS)
def test_the_tiny_instances(golden: Path, order: str, rule: str, kind: str) -> None:
    """Every fair start of the 30 instances, with and without the starvation threshold."""
    runs = runs_of(golden, order, rule)
    assert len(runs) == 60
    for work, run in runs:
        assert fair_start_times(work, policy_of(run), kind).tolist() == run[f"fst_{kind}"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_the_tiny_instances_by_the_reference(golden: Path, rule: str, kind: str) -> None:
    """The reference agrees too; on a third of the instances, for it is slow."""
    for work, run in runs_of(golden, "SJF", rule)[::3] + runs_of(golden, "LXF", rule)[::3]:
        everyone = np.arange(len(work))
        fst = fair_start_reference(work, policy_of(run), kind == "relaxed", everyone, everyone)
        assert fst == run[f"fst_{kind}"]


def test_the_logs(golden: Path, traces: Path) -> None:
    """Hash of the fair starts and mean unfairness of every run on a log that has them."""
    runs = json.loads((golden / "schedules.json").read_text())["runs"]
    met = 0
    for run in runs:
        if run["fst"]:
            work = read_swf(traces / run["file"], processors=run["machine"], jobs=run["first"])
            fst = fair_start_times(work, policy_of(run), run["fst"])
            assert hashlib.sha256(fst.astype("<i8").tobytes()).hexdigest() == run["sha256_fst"]
            met += 1
    assert met == 12

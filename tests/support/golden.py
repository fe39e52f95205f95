"""Readers of the schedules in tests/data/golden."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedfarm.core.logs.read import read_swf
from schedfarm.core.models.downey import downey
from schedfarm.core.models.jann import jann
from schedfarm.core.models.lublin import lublin
from schedfarm.core.models.poisson import poisson
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.support.paths import DATA

FOLDER = DATA / "golden"

ORDERS = {"FCFS": "fcfs", "SJF": "spf", "SAF": "saf", "SQF": "sqf", "LXF": "lxf"}
RULES = {"none": "none", "bf": "aggressive", "easy": "easy", "conservative": "conservative"}
"""Our names of the independent program's orders and rules."""

MODELS = {"lublin": lublin, "downey": downey, "jann": jann, "poisson": poisson}

Run = dict[str, Any]
"""Known values of one schedule."""


def digest(column: np.ndarray) -> str:
    """SHA-256 of a column as int64, little endian."""
    return hashlib.sha256(column.astype("<i8").tobytes()).hexdigest()


def policy_of(run: Run) -> Policy:
    """Return the policy of one of the independent program's runs."""
    threshold = None if run["theta"] is None else f"{run['theta']}s"
    return Policy(ORDERS[run["order"]], RULES[run["backfill"]], threshold=threshold)


@cache
def _micro() -> list[tuple[Workload, Run]]:
    instances = json.loads(gzip.decompress((FOLDER / "micro.json.gz").read_bytes()))
    found = []
    for instance in instances:
        columns = zip(*instance["jobs_submit_run_est_procs"], strict=True)
        names = ("submit", "run", "estimate", "procs")
        given = dict(zip(names, columns, strict=True))
        work = Workload.from_columns(**given, processors=instance["machine"])
        found += [(work, expected) for expected in instance["expected"]]
    return found


def micro(order: str, rule: str) -> list[tuple[Workload, Run]]:
    """Return the tiny instances with their known schedules under an order and a rule."""
    return [(w, run) for w, run in _micro() if (run["order"], run["backfill"]) == (order, rule)]


@cache
def logged() -> dict[str, Any]:
    """Return the known values of the public logs: ``traces`` and ``runs``."""
    found: dict[str, Any] = json.loads((FOLDER / "schedules.json").read_text(encoding="utf-8"))
    return found


def read_log(traces: Path, name: str, **options: int | None) -> Workload:
    """Read a log, or skip the test if the log is missing."""
    if not (traces / name).is_file():
        pytest.skip(f"the log {name} is not in the folder of logs")
    return read_swf(traces / name, **options)


@cache
def modelled() -> dict[str, Any]:
    """Return the known values of the models' workloads: ``workloads``, ``runs``,
    ``fair_starts``."""
    found: dict[str, Any] = json.loads((FOLDER / "models.json").read_text(encoding="utf-8"))
    return found


@cache
def drawn(name: str) -> Workload:
    """Draw one of the models' workloads again."""
    known = modelled()["workloads"][name]
    return MODELS[known["model"]](**known["parameters"])

"""Explanations of the golden instances, and on machines that no default test compiles."""

from __future__ import annotations

import math
from dataclasses import replace

import numba
import pytest

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.explanation import explain
from schedfarm.core.machines.grid.platform import Grid
from tests.oracles.explained import check
from tests.oracles.test_explained import on_network, try_windows, try_with
from tests.support.golden import ORDERS, RULES, micro, policy_of
from tests.support.strategies import crowd

SMALL = 13
"""Jobs of a golden instance up to which a set is searched exhaustively."""

MACHINES = [
    *(("pool", rule) for rule in ("depth", "planned", "tabu")),
    ("nodes", "demt"),
    *(("grid", rule) for rule in ("easy", "conservative", "planned")),
    ("nodes", "conservative"),
    ("network", "ics"),
]
"""Machines and rules beside those of the default tier."""


@pytest.mark.parametrize(("platform", "rule"), MACHINES)
def test_sets_on_other_machines(platform: str, rule: str) -> None:
    try_with(rule, platform)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="hundreds of jobs take minutes without it")
@pytest.mark.parametrize("rule", ["easy", "conservative", "planned", "depth(2)"])
def test_windows_on_a_grid(rule: str) -> None:
    work = crowd(5, 300)
    grid = Grid([16, 5], ["a", "b"])
    try_windows(replace(work, submit=work.submit * 15, platform=grid), rule)


@pytest.mark.parametrize("rule", RULES)
def test_sets_of_the_golden_instances(rule: str) -> None:
    """Of every waiting job, the set is the smallest, in kernel and reference."""
    for order in ORDERS:
        for work, run in micro(order, rule):
            if len(work) <= SMALL:
                check(work, policy_of(run))


def test_a_job_on_several_clusters_names_its_parts() -> None:
    rows = [(0, 9, 9, 2), (1, 5, 5, 4), (1, 5, 5, 6)]
    found = explain(simulate(on_network(rows, [0, 1, 0]), "fcfs+ics"), 2, effort=math.inf)
    assert "on north (4 processors), south (2 processors): waited" in found.text()
    assert found.facts()["held"][0]["in_use"]["north"]["of"] == 4

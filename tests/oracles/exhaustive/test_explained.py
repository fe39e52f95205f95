"""Explanations on machines whose kernels no other default test compiles."""

from __future__ import annotations

from dataclasses import replace

import numba
import pytest

from schedfarm.core.machines.grid.platform import Grid
from tests.oracles.test_explained import try_windows, try_with
from tests.support.strategies import crowd

MACHINES = [
    ("pool", "tabu"),
    ("nodes", "demt"),
    *(("grid", rule) for rule in ("easy", "conservative", "planned")),
    ("nodes", "conservative"),
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

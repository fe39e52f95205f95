"""Explanations on machines whose kernels no other default test compiles."""

from __future__ import annotations

import pytest

from tests.oracles.test_explained import try_with

MACHINES = [
    *(("grid", rule) for rule in ("easy", "conservative", "planned")),
    ("nodes", "conservative"),
]
"""Machines and rules beside those of the default tier."""


@pytest.mark.parametrize(("platform", "rule"), MACHINES)
def test_sets_on_other_machines(platform: str, rule: str) -> None:
    try_with(rule, platform)

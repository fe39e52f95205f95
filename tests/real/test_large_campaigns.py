"""Campaigns with very many policies or blocks are planned in seconds."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from tests.support.harness import farm

MODEL = (
    'loads = ["original"]\n[[traces]]\nname = "m"\nmodel = "lublin"\nprocessors = 64\njobs = 50\n'
)

POLICIES = ", ".join(f'"fcfs+depth({k})"' for k in range(1, 60_001))

CPU_SECONDS = 30.0
"""Allowed for planning 60,000 policies (8 s on an idle core of 2026) or 100,000 blocks (8 s)."""


@pytest.mark.parametrize(
    ("keys", "cells"),
    [
        (f"resamples = 2\npolicies = [{POLICIES}]\n", "120 000"),
        ('resamples = 100000\npolicies = ["fcfs+easy"]\nblock_seconds = 1e-300\n', "100 000"),
    ],
    ids=["policies", "blocks"],
)
def test_a_large_campaign_is_planned_in_seconds(tmp_path: Path, keys: str, cells: str) -> None:
    (tmp_path / "many.toml").write_text(f'name = "many"\n{keys}{MODEL}')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = farm(tmp_path, "plan", "many.toml")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert f"cells to simulate  {cells}\n" in done.stdout
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert took < CPU_SECONDS

"""`farm run` on this machine's cluster, whose coordinator is this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedfarm.farm import Campaign, run
from tests.support.command_line import Farm
from tests.support.harness import assert_same_results
from tests.support.refusals import GOOD, write


def test_a_run_on_worker_processes(
    farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its store is that of a run without any; it prints bands, and as JSON its counts alone."""
    monkeypatch.chdir(tmp_path)
    write(GOOD, Path("c.toml"))
    assert run(Campaign.from_toml("c.toml"), "serial.farm").done == 8
    printed = farm("run", "c.toml", "--workers", 1).stdout
    assert printed.startswith("8 cells: 0 done before, 8 simulated now, 0 failed; store tiny.farm")
    assert "Mean bounded slowdown: least, median and largest of samples 1 to 2 of 2" in printed
    assert_same_results(Path("tiny.farm"), Path("serial.farm"))
    quiet = farm("run", "c.toml", "--store", "other", "--workers", 1, "--quiet", "--json")
    assert quiet.stderr == ""
    assert json.loads(quiet.stdout) == {
        "cells": 8,
        "before": 0,
        "done": 8,
        "failed": 0,
        "interrupted": False,
        "store": "other",
        "cautions": {"m": {}},
    }

"""A metric that fails on the workers of a local cluster, as the command line shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedfarm import farm
from tests.support.harness import farm as farm_process
from tests.support.learning import BEHAVIOUR, CELLS, grown, learner
from tests.support.made import MadeStores


def test_a_metric_that_fails__is_told_by_the_command_line(
    made_store: MadeStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit status 1 and the reason, once; the store stays sound, and none of its cells failed."""
    campaign = learner(made_store)
    larger = grown(campaign, tmp_path, "mine:longest")
    made_store.copy(campaign, tmp_path / "learn.farm")
    (tmp_path / "larger.toml").write_text(larger.to_toml())
    monkeypatch.setenv(BEHAVIOUR, "fail")
    ended = farm_process(tmp_path, "run", "larger.toml", "--workers", "1")
    assert ended.returncode == 1, ended
    said = f"{CELLS} cells: {CELLS} done before, 0 simulated now, {CELLS // 2} failed"
    assert said in ended.stdout
    assert ended.stderr.count("metric 'mine:longest': ArithmeticError: not this machine") == 1
    assert farm.status(tmp_path / "learn.farm").failed == 0
    sound = farm_process(tmp_path, "verify", "learn.farm")
    assert sound.returncode == 0, sound

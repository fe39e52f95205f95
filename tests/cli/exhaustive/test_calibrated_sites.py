"""Sites with known parameters: their intervals hold them, and other rules are noticed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from schedfarm.farm.site.example import Truth, write_dump
from schedfarm.farm.site.judgement import AGREEMENT
from tests.oracles.calibrated import NAMES, UNOFFERED, judged, known_site
from tests.support.command_line import Farm


def test_intervals_contain_the_truth() -> None:
    """The larger run is ``python -m tests.oracles.calibrated``."""
    held = [known_site(seed, jobs=3000).held for seed in (1, 2)]
    assert [sum(one[name] for one in held) for name in NAMES] == [2, 2, 2]


def test_a_site_of_the_configured_rule_is_matched() -> None:
    """Of the first site the fit finds a processor too few, of the second the right number."""
    near, exact = (judged("", seed, jobs=3000) for seed in (2, 3))
    assert near.matched
    assert exact.matched
    assert (exact.error.value, exact.agreement.value) == (0.0, 1.0)


@pytest.mark.parametrize("kind", UNOFFERED)
def test_a_site_of_another_rule_is_not_matched(kind: str) -> None:
    found = judged(UNOFFERED[kind], 2, jobs=3000)
    assert not found.matched
    assert found.agreement.value < AGREEMENT - 0.1


def test_a_dump_is_calibrated_and_judged(
    tmp_path: Path, farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fit finds the processors of a site that uses fewer than sinfo lists."""
    monkeypatch.setattr("schedfarm.farm.cli.counting.LINE_SECONDS", 0.0)
    truth = Truth(jobs=2000, weeks=5, nodes=8, load=0.75)
    write_dump(tmp_path / "dump", truth)
    said = farm("site", tmp_path / "dump", "--out", tmp_path / "dump", "--trials", 30, "--json")
    assert "NaN" not in said.stdout
    assert "/30 simulations" in said.stderr
    facts = json.loads(said.stdout)
    assert all(group["jobs"] for group in facts["judgement"]["groups"])
    (found,) = facts["fitted"]
    assert found["low"] <= truth.processors <= found["high"]
    assert found["given"] == 128
    assert facts["judgement"]["matched"] is True
    assert facts["judgement"]["unit"] == "day"
    kinds = {group["by"] for group in facts["judgement"]["groups"]}
    assert kinds == {"all", "partition", "qos", "user class", "width"}
    made = tomllib.loads((tmp_path / "dump" / "campaign.toml").read_text())
    assert made["traces"][0]["processors"] == found["value"]

"""Sites with known parameters: their intervals hold them, and other rules are noticed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from schedfarm.core.policy.policy import Policy
from schedfarm.farm.site.example import Truth, write_dump
from schedfarm.farm.site.judgement import AGREEMENT
from schedfarm.farm.site.model import read_site
from tests.oracles.calibrated import NAMES, UNOFFERED, judged, known_site
from tests.support.command_line import Farm
from tests.support.slurm_dumps import change, write_small_dump


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


def test_the_time_of_cycles_is_fitted(tmp_path: Path, farm: Farm) -> None:
    """A cycle that takes time ends at bf_max_time; without a fit a caution says what is missing."""
    dump = tmp_path / "dump"
    dump.mkdir()
    write_small_dump(dump)
    change(dump / "slurm.conf", "bf_max_job_test=50", "bf_max_job_test=50,bf_max_time=20")
    assert "the time that backfill cycles take" in farm("site", dump, "--no-fit").stderr
    site = read_site(dump)
    assert "bf_max_time" not in site.policy()
    assert Policy.parse(site.policy(rate=7)).given == {
        "bf_max_job_test": "50", "bf_rate": "7", "bf_max_time": "20s"
    }  # fmt: skip
    done = farm("site", dump, "--fit", "bf_rate", "--trials", 10, "--json")
    assert "the time that backfill cycles take" not in done.stderr
    facts = json.loads(done.stdout)
    (found,) = facts["fitted"]
    assert (found["name"], found["given"]) == ("bf_rate", None)
    assert f"bf_rate={found['value']}" in facts["policy"]
    tables = tomllib.loads((dump / "site.toml").read_text())
    assert tables["scheduler"]["bf_rate"] == str(found["value"])
    assert tables["scheduler"]["bf_max_time"] == "20s"
    printed = Policy.parse(farm("policies", "--site", dump / "site.toml").stdout.strip())
    assert printed.given == Policy.parse(facts["policy"]).given


def test_an_example_is_a_new_folder(farm: Farm, tmp_path: Path) -> None:
    said = farm("site", "--example", tmp_path / "new", "--jobs", 1000, "--json").stdout
    assert json.loads(said) == {"dump": str(tmp_path / "new"), "jobs": 1000, "seed": 1}

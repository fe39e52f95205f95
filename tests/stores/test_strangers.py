"""Stores and campaigns of strangers: nothing in them runs, nor is anything outside altered."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.core.errors import InputError
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.verify import Again, repair, verify
from tests.support.command_line import farm_in
from tests.support.harness import snapshot

MODULE = """
import os
from pathlib import Path

from schedfarm.core.metrics.metric import Metric

with Path(os.environ["RAN"]).open("a") as ran:
    ran.write("ran\\n")

longest = Metric("longest", "s", "longest wait", lambda c: float(c.wait.max()))

def oldest(submit):
    return submit
"""

CAMPAIGN = """
name = "strange"
policies = ["fcfs+easy", "mine:oldest+easy"]
metrics = ["mine:longest"]
resamples = 2

[[traces]]
name = "m"
model = "lublin"
processors = 64
jobs = 50
"""

READERS = (
    ("verify", "strange.farm", "--sample", "0"),
    ("verify", "strange.farm"),
    ("verify", "strange.farm", "--repair"),
    ("status", "strange.farm"),
    ("bands", "strange.farm"),
    ("compare", "strange.farm"),
    ("watch", "strange.farm"),
)


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file to which the stranger's module writes, and a store that brings the module."""
    made = tmp_path / "stranger"
    made.mkdir()
    (made / "mine.py").write_text(MODULE)
    (made / "strange.toml").write_text(CAMPAIGN)
    monkeypatch.setenv("RAN", str(tmp_path / "ran"))
    # What has been executed is not executed again in one process.
    monkeypatch.setattr("schedfarm.core.own._compiled", {})
    farm.run(Campaign.from_toml(made / "strange.toml"), tmp_path / "strange.farm")
    (tmp_path / "ran").unlink()
    monkeypatch.setattr("schedfarm.core.own._compiled", {})
    return tmp_path / "ran"


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_store_that_brings_python_text__is_read_without_running_it(
    ran: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    ended = farm_in(tmp_path, *words)
    assert ended.exit_code == 0, ended
    assert not ran.exists()


def test_open__runs_nothing(ran: Path, tmp_path: Path) -> None:
    data = farm.open(tmp_path / "strange.farm")
    assert float(data["longest"].max()) >= 0
    assert not ran.exists()


def test_verify__says_what_it_leaves_out_and_does_it_when_trusted(
    ran: Path, tmp_path: Path
) -> None:
    said = farm_in(tmp_path, "verify", "strange.farm")
    sentence = "again, since that would run Python code of the store (mine); allow it with --trust"
    assert sentence in said.stderr
    trusted = farm_in(tmp_path, "verify", "strange.farm", "--trust")
    assert "simulated 2 of 4 cells again" in trusted.stdout
    assert ran.exists()


def test_plan__asks_to_be_trusted(ran: Path, tmp_path: Path) -> None:
    """Modules beside a campaign run at an import, and so does any that is installed."""
    campaign = tmp_path / "stranger" / "strange.toml"
    refused = farm_in(tmp_path, "plan", str(campaign))
    assert refused.exit_code == 2
    assert "'mine:oldest' is Python code, which farm plan runs only with --trust" in refused.stderr
    assert not ran.exists()
    campaign.write_text(campaign.read_text().replace("mine:oldest", "antigravity:fly"))
    refused = farm_in(tmp_path, "plan", str(campaign))
    assert "'antigravity:fly' is Python code" in refused.stderr


@pytest.mark.parametrize("name", ["records", "results.zarr"])
def test_repair__follows_no_link_out_of_the_store(ran: Path, tmp_path: Path, name: str) -> None:
    """The folder that a link names is not the store's, and stays as it is."""
    store, elsewhere = tmp_path / "strange.farm", tmp_path / "elsewhere"
    shutil.move(store / name, elsewhere)
    (store / name).symlink_to(elsewhere)
    for path in elsewhere.rglob("*.json"):
        path.write_text("{}")
    before = snapshot(elsewhere)
    ended = farm_in(tmp_path, "verify", "strange.farm", "--repair")
    assert ended.exit_code == 2
    assert f"{name} is a link to {elsewhere}, outside of the store" in ended.stderr
    with pytest.raises(InputError, match="outside of the store"):
        repair(store, list(verify(store, Again(0))))
    assert snapshot(elsewhere) == before

"""Orders, rules and metrics of one's own: wherever the campaign runs, its text comes along."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from schedfarm import farm
from schedfarm.core import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.format.names import MANIFEST
from schedfarm.core.models.lublin import lublin
from schedfarm.core.own import sources
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.verify import Again, verify
from tests.support.command_line import farm_in
from tests.support.growing import counts as outcome_counts
from tests.support.harness import counts, snapshot
from tests.support.made import MadeStores
from tests.support.own_things import MODULE, TEXT, lay
from tests.support.refusals import Said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write the campaign and the file of its module into a folder of their own."""
    return lay(tmp_path / "campaigns")


@pytest.fixture
def serial(path: Path, made_store: MadeStores) -> Path:
    """Return the campaign's store, made in this process, which cannot import the module."""
    return made_store(Campaign.from_toml(path))


def test_serially__values_are_those_of_the_functions(serial: Path) -> None:
    """What is stored is what the same functions give by hand; nothing of the module is left."""
    assert MODULE not in sys.modules
    jobs = lublin(64, jobs=80, seed=4, index=2, users=4)
    with farm.open(serial) as tree, sources({MODULE: TEXT}):
        for policy in tree["policy"].values.tolist():
            schedule = simulate(jobs, policy)
            cell = {"resample": 2, "load": "original", "policy": policy}
            group = tree["m"].to_dataset().sel(cell)
            np.testing.assert_array_equal(group["wait"], schedule.wait)
            ranked = np.sort(schedule.wait)
            assert float(tree["p95_wait"].sel(trace="m", **cell)) == ranked[75]
            longest = [schedule.wait[jobs.user == u].max(initial=0) for u in (1, 2, 3, 4)]
            np.testing.assert_array_equal(group["user_longest"].sel(user=[1, 2, 3, 4]), longest)
        assert tree["p95_wait"].attrs["units"] == "s"
        waits = tree["m"]["wait"]
        assert (waits[:, :, 0] != waits[:, :, 1]).any()
        assert (waits[:, :, 0] != waits[:, :, 2]).any()


def test_energy_is_stored_on_request(tmp_path: Path, made_store: MadeStores) -> None:
    """Drawn jobs keep the power of the log's; the time held does not depend on the policy."""
    lines = [f"{60 * k},{600 * (1 + k % 5)},1,{100 * (1 + k % 3)},{k % 4}" for k in range(90)]
    (tmp_path / "jobs.csv").write_text("\n".join(["t,r,p,w,u", *lines]) + "\n")
    columns = {
        "submit": {"column": "t", "unit": "s"},
        "run": {"column": "r", "unit": "s"},
        "watts": {"column": "w", "unit": "W"},
        **{"procs": "p", "user": "u"},
    }
    trace = Trace(name="m", file=str(tmp_path / "jobs.csv"), map={"columns": columns}, processors=4)
    campaign = Campaign(
        name="power", traces=(trace,), policies=("fcfs+easy", "saf+easy"), log=True, resamples=0,
        metrics=("energy",),
    )  # fmt: skip
    work = sum(100 * (1 + k % 3) * 600 * (1 + k % 5) for k in range(90))
    with farm.open(made_store(campaign)) as tree:
        assert tree["energy"].attrs["units"] == "kWh"
        found = tree["energy"].sel(trace="m", load="original")
        assert found.values.ravel().tolist() == [work / 3.6e6] * 2


def test_store_holds_the_text(serial: Path) -> None:
    """With its SHA-256, under the name by which the campaign names it."""
    held = json.loads((serial / MANIFEST).read_bytes())["own"]
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    assert held == {MODULE: {"sha256": digest, "text": TEXT}}


def test_a_changed_text__is_refused(tmp_path: Path) -> None:
    """In one sentence, before anything is written; the old text goes on."""
    path = lay(tmp_path / "campaigns", jobs=20)
    farm.run(Campaign.from_toml(path), tmp_path / "owned.farm")
    before = snapshot(tmp_path / "owned.farm")
    lay(tmp_path / "campaigns", text=TEXT + "\n# another word\n", jobs=20)
    for command in (("run",), ("plan", "--trust")):
        ended = farm_in(tmp_path, *command, str(path))
        assert ended.exit_code == 2, ended
        (said,) = ended.stderr.splitlines()
        for word in ("farm: ", "owned.farm", f"'{MODULE}'", "changed", "give another --store"):
            assert word in said
    assert snapshot(tmp_path / "owned.farm") == before
    lay(tmp_path / "campaigns", jobs=20)
    ended = farm_in(tmp_path, "run", str(path))
    assert counts(ended.stdout) == {"cells": 12, "before": 12, "done": 0, "failed": 0}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mine:by_history+easy", "mine:by_histry+easy", ("policy", "order", "'by_histry'")),
        ("mine:by_history+easy", "mien:by_history+easy", ("no module 'mien'", "next to")),
        ("mine:by_history+easy", "by_history+easy", ("unknown order 'by_history'",)),
        ("fcfs+mine:alone", "fcfs+mine:alon", ("policy", "rule", "'alon'")),
        ("fcfs+mine:alone", "fcfs+mine:by_history", ("rule", "by_history", "(workload, policy)")),
        ("mine:alone", "mine:alone,walk=arrival", ("walk=arrival", "'planned'")),
        ("mine:by_history+easy", "mine:alone+easy", ("order", "'workload'", "submit")),
        ("mine:p95_wait", "mine:p96_wait", ("metric", "'p96_wait'")),
        ("mine:p95_wait", "p95_wait", ("metric 'p95_wait' is unknown", "mine.py")),
        ("mine:p95_wait", "mine:np", ("metric 'mine:np'", "function")),
        ("mine:p95_wait", "mine:", ("metric 'mine:'",)),
    ],
)
def test_misspelt__is_refused_before_anything_is_written(
    said: Said, tmp_path: Path, old: str, new: str, words: tuple[str, ...]
) -> None:
    """A name that is nowhere, or is something else: one sentence, and no store."""
    path = lay(tmp_path, module="mine")
    path.write_text(path.read_text().replace(old, new, 1))
    for command in (("run",), ("plan", "--trust")):
        text = said(*command, str(path))
        for word in ("c.toml", *words):
            assert word in text, text
    assert not (tmp_path / "owned.farm").exists()


@pytest.mark.parametrize(
    ("name", "over"),
    [("start", "user"), ("job_user", "week"), ("user", "user"), ("weeks", "week"),
     ("width", "width"), ("fst_strict", "user"), ("max_estimate", "user"),
     ("unfairness_strict", "cell")],
)  # fmt: skip
def test_a_metric_named_like_another_array__is_refused(
    said: Said, tmp_path: Path, name: str, over: str
) -> None:
    """Two arrays of a store cannot have one name."""
    path = lay(tmp_path, module="mine")
    text = f"{TEXT}\ndef {name}(counted):\n    return 0.0\n{name}.over = {over!r}\n"
    (tmp_path / "mine.py").write_text(text)
    path.write_text(path.read_text().replace("mine:p95_wait", f"mine:{name}"))
    assert f"would be called {name!r} in the store" in said("run", str(path))


def test_a_store_goes_on_without_the_file(path: Path, tmp_path: Path) -> None:
    """What a store is verified with, and read with, is the text that it holds."""
    gone = lay(tmp_path / "gone", jobs=20)
    campaign = Campaign.from_toml(gone)
    farm.run(campaign, tmp_path / "s")
    gone.with_name(f"{MODULE}.py").unlink()
    assert list(verify(tmp_path / "s", Again(100, trust=True))) == []
    with pytest.raises(InputError, match=f"there is no module '{MODULE}' at "):
        Campaign.from_toml(gone)
    larger = dataclasses.replace(campaign, resamples=3)
    assert outcome_counts(farm.run(larger, tmp_path / "s")) == (18, 12, 6, 0)
    assert os.listdir(tmp_path / "gone") == ["c.toml"]

"""Orders, rules and metrics of one's own: wherever the campaign runs, its text comes along."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import farm
from cluster import connect
from core import simulate
from core.errors import InputError
from core.models.lublin import lublin
from core.own import sources
from farm.campaign.campaign import Campaign
from farm.store.manifest import MANIFEST
from farm.store.records import read_heads
from farm.verify import Again, verify
from tests.cluster.processes import site
from tests.farm.growing import counts as outcome_counts
from tests.farm.harness import Command, arrays, assert_same_results, counts, snapshot, wait_for
from tests.farm.harness import farm as farm_process
from tests.farm.refusals import Said

TEXT = '''
"""An order, a rule and two metrics."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Weight:
    """Weighs what a user waited; found by a module of its own."""

    waited: float = 2.0


def by_history(waited, worked, submit, procs, now):
    """Who waited long for little work goes first."""
    return -Weight().waited * waited / (worked + 1) - (now - submit) * procs


def alone(workload, policy):
    """One job at a time, in order of arrival."""
    start, now = [], 0
    for submit, run in zip(workload.submit.tolist(), workload.run.tolist()):
        start.append(max(now, submit))
        now = start[-1] + run
    return start


def p95_wait(counted):
    """Wait that 95 percent do not exceed."""
    return float(np.percentile(counted.wait, 95, method="inverted_cdf"))


p95_wait.unit = "s"


def user_longest(counted):
    """Longest wait of the user."""
    index, longest = counted.users, np.zeros(counted.users.label.size)
    for place, wait in zip(index.place[counted.kept].tolist(), counted.wait.tolist()):
        if place < longest.size:
            longest[place] = max(longest[place], wait)
    return longest


user_longest.over = "user"
user_longest.unit = "s"
'''

TOML = """
name = "owned"
seed = 4
resamples = 2
loads = ["original", 0.9]
policies = ["{module}:by_history+easy", "fcfs+{module}:alone", "saf+easy,backfill={module}:by_history"]
metrics = ["{module}:p95_wait", "{module}:user_longest"]
block_seconds = 0.02

[[traces]]
name = "m"
model = "lublin"
processors = 64
jobs = {jobs}
parameters = {{ users = 4 }}
"""  # noqa: E501

MODULE = "mine_of_owned"
"""Of no module that can be imported."""


def lay(folder: Path, *, text: str = TEXT, module: str = MODULE, jobs: int = 80) -> Path:
    """Write a campaign and the file of its module into a folder of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(text)
    path = folder / "c.toml"
    path.write_text(TOML.format(module=module, jobs=jobs))
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay(tmp_path_factory.mktemp("beside") / "campaigns")


@pytest.fixture(scope="module")
def serial(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign's store, made in this process, which cannot import the module."""
    store = tmp_path_factory.mktemp("serial") / "owned.farm"
    outcome = farm.run(Campaign.from_toml(path), store)
    assert outcome_counts(outcome) == (12, 0, 12, 0)
    return store


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A scheduler and a worker, processes of their own in a folder of their own; its file."""
    with site(tmp_path_factory.mktemp("elsewhere")) as there:
        there.worker()
        yield there.file


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


def test_store_holds_the_text(serial: Path) -> None:
    """With its SHA-256, under the name by which the campaign names it."""
    held = json.loads((serial / MANIFEST).read_bytes())["own"]
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    assert held == {MODULE: {"sha256": digest, "text": TEXT}}


def test_by_the_command_line__from_another_folder(path: Path, serial: Path, tmp_path: Path) -> None:
    """Workers of a local cluster have the text, wherever the command is given; so has the rest."""
    planned = farm_process(tmp_path, "plan", str(path), "--json")
    assert planned.returncode == 0, planned
    assert json.loads(planned.stdout)["cells_to_simulate"] == 12
    ended = farm_process(tmp_path, "run", str(path), "--workers", "2")
    assert ended.returncode == 0, ended
    assert counts(ended.stdout) == {"cells": 12, "before": 0, "done": 12, "failed": 0}
    store = tmp_path / "owned.farm"
    assert_same_results(store, serial)
    again = farm_process(tmp_path, "plan", str(path), "--json")
    assert json.loads(again.stdout)["cells_to_simulate"] == 0
    sound = farm_process(tmp_path, "verify", "owned.farm", "--sample", "100")
    assert (sound.returncode, sound.stdout.splitlines()[-1]) == (0, "owned.farm is sound"), sound
    assert "simulated 12 of 12 cells again" in sound.stdout
    told = farm_process(tmp_path, "status", "owned.farm", "--json")
    assert json.loads(told.stdout)["done"] == 12


def test_on_workers_elsewhere(path: Path, serial: Path, workers: Path, tmp_path: Path) -> None:
    """Processes that somebody else started in a folder of theirs need no file of the user's."""
    (tmp_path / "here").mkdir()
    ended = farm_process(
        tmp_path / "here", "run", str(path), "--scheduler-file", str(workers), "--store", "s"
    )
    assert ended.returncode == 0, ended
    assert_same_results(tmp_path / "here" / "s", serial)


def test_learnt_on_workers_elsewhere(
    path: Path, serial: Path, workers: Path, tmp_path: Path
) -> None:
    """A store that was made without the metrics gets them there; an order comes with them."""
    whole = Campaign.from_toml(path)
    bare = dataclasses.replace(whole, metrics=())
    with connect(f"scheduler-file:{workers}") as client:
        assert outcome_counts(farm.run(bare, tmp_path / "s", client)) == (12, 0, 12, 0)
        assert outcome_counts(farm.run(whole, tmp_path / "s", client)) == (12, 12, 0, 0)
    assert_same_results(tmp_path / "s", serial)


def test_two_texts_of_one_name__on_one_cluster(
    path: Path, serial: Path, workers: Path, tmp_path: Path
) -> None:
    """Each campaign has its own, whichever ran before on the same worker."""
    other = TEXT.replace("percentile(counted.wait, 95", "percentile(counted.wait, 50").replace(
        "-Weight().waited", "0 * submit - procs  # "
    )
    one = Campaign.from_toml(path)
    two = Campaign.from_toml(lay(tmp_path / "two", text=other))
    assert one.own != two.own
    with connect(f"scheduler-file:{workers}") as client:
        for name, campaign in (("a", one), ("b", two), ("c", one)):
            assert farm.run(campaign, tmp_path / name, client).failed == 0
    farm.run(two, tmp_path / "serial")
    for name in ("a", "c"):
        assert_same_results(tmp_path / name, serial)
    assert_same_results(tmp_path / "b", tmp_path / "serial")
    mine, theirs = arrays(tmp_path / "a"), arrays(tmp_path / "b")
    assert (mine["m/wait"][:, :, 0] != theirs["m/wait"][:, :, 0]).any()
    np.testing.assert_array_equal(theirs["p95_wait"][..., 1], mine["wait_p50"][..., 1])


def test_a_changed_text__is_refused(tmp_path: Path) -> None:
    """In one sentence, before anything is written; the old text goes on."""
    path = lay(tmp_path / "campaigns", jobs=20)
    assert farm_process(tmp_path, "run", str(path), "--workers", "1").returncode == 0
    before = snapshot(tmp_path / "owned.farm")
    lay(tmp_path / "campaigns", text=TEXT + "\n# another word\n", jobs=20)
    for command in ("run", "plan"):
        ended = farm_process(tmp_path, command, str(path))
        assert ended.returncode == 2, ended
        (said,) = ended.stderr.splitlines()
        for word in ("farm: ", "owned.farm", f"'{MODULE}'", "changed", "give another --store"):
            assert word in said
    assert snapshot(tmp_path / "owned.farm") == before
    lay(tmp_path / "campaigns", jobs=20)
    ended = farm_process(tmp_path, "run", str(path))
    assert counts(ended.stdout) == {"cells": 12, "before": 12, "done": 0, "failed": 0}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mine:by_history+easy", "mine:by_histry+easy", ("policy", "order", "'by_histry'")),
        ("mine:by_history+easy", "mien:by_history+easy", ("no module 'mien'", "beside")),
        ("mine:by_history+easy", "by_history+easy", ("unknown order 'by_history'",)),
        ("fcfs+mine:alone", "fcfs+mine:alon", ("policy", "rule", "'alon'")),
        ("fcfs+mine:alone", "fcfs+mine:p95_wait", ("rule", "p95_wait", "(workload, policy)")),
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
    for command in ("run", "plan"):
        text = said(command, str(path))
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


def test_interrupted__goes_on(tmp_path: Path) -> None:
    """Ctrl-C, then the same command from another folder: equal to what was never interrupted."""
    text = TEXT.replace('    """Who waited', '    import time; time.sleep(1e-3)\n    """Who waited')
    path = lay(tmp_path / "campaigns", text=text, jobs=30)
    path.write_text(
        path.read_text().replace("resamples = 2", "resamples = 4").replace("0.02", "1e-3")
    )
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    store = tmp_path / "one" / "owned.farm"
    run = Command(tmp_path / "one", "run", str(path), "--workers", "1")
    try:
        wait_for(lambda: list((store / "records").rglob("*.json")), "a record")
        run.signal_group(signal.SIGINT)
        assert run.finish() == 130, run.err
    finally:
        run.kill()
    opened = farm.Store.open(store)
    assert len(read_heads(opened.place, opened.identity)) < len(opened.blocks())
    ended = farm_process(tmp_path / "two", "run", str(path), "--store", str(store))
    assert ended.returncode == 0, ended
    assert 0 < counts(ended.stdout)["before"] < 24
    farm.run(Campaign.from_toml(path), tmp_path / "whole")
    assert_same_results(store, tmp_path / "whole")
    assert list(verify(store)) == []


def test_a_store_goes_on_without_the_file(path: Path, tmp_path: Path) -> None:
    """What a store is verified with, and read with, is the text that it holds."""
    gone = lay(tmp_path / "gone", jobs=20)
    campaign = Campaign.from_toml(gone)
    farm.run(campaign, tmp_path / "s")
    gone.with_name(f"{MODULE}.py").unlink()
    assert list(verify(tmp_path / "s", Again(100))) == []
    with pytest.raises(InputError, match=f"there is no module '{MODULE}' at "):
        Campaign.from_toml(gone)
    larger = dataclasses.replace(campaign, resamples=3)
    assert outcome_counts(farm.run(larger, tmp_path / "s")) == (18, 12, 6, 0)
    assert os.listdir(tmp_path / "gone") == ["c.toml"]

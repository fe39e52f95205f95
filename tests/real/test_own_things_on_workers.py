"""Orders, rules and metrics of a user's own on workers, which have their text and no file."""

from __future__ import annotations

import dataclasses
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from schedfarm import farm
from schedfarm.cluster import connect
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.store.records import read_headers
from schedfarm.farm.verify import Again, verify
from tests.support.dask_processes import site
from tests.support.growing import counts as outcome_counts
from tests.support.harness import (
    Command,
    arrays,
    assert_same_results,
    counts,
    farm as farm_process,
    wait_for,
)
from tests.support.made import MadeStores
from tests.support.own_things import TEXT, lay


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write the campaign and the file of its module into a folder of their own."""
    return lay(tmp_path / "campaigns")


@pytest.fixture
def serial(path: Path, made_store: MadeStores) -> Path:
    """Return the campaign's store, made in this process, which cannot import the module."""
    return made_store(Campaign.from_toml(path))


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A scheduler and a worker, processes of their own in a folder of their own; its file."""
    with site(tmp_path_factory.mktemp("elsewhere")) as there:
        there.worker()
        yield there.file


def test_by_the_command_line__from_another_folder(path: Path, serial: Path, tmp_path: Path) -> None:
    """Workers of a local cluster have the text, wherever the command is given; so has the rest."""
    planned = farm_process(tmp_path, "plan", str(path), "--trust", "--json")
    assert planned.returncode == 0, planned
    assert json.loads(planned.stdout)["cells_to_simulate"] == 12
    ended = farm_process(tmp_path, "run", str(path), "--workers", "2")
    assert ended.returncode == 0, ended
    assert counts(ended.stdout) == {"cells": 12, "before": 0, "done": 12, "failed": 0}
    store = tmp_path / "owned.farm"
    assert_same_results(store, serial)
    again = farm_process(tmp_path, "plan", str(path), "--trust", "--json")
    assert json.loads(again.stdout)["cells_to_simulate"] == 0
    sound = farm_process(tmp_path, "verify", "owned.farm", "--sample", "100", "--trust")
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
    assert len(read_headers(opened)) < len(opened.blocks())
    ended = farm_process(tmp_path / "two", "run", str(path), "--store", str(store))
    assert ended.returncode == 0, ended
    assert 0 < counts(ended.stdout)["before"] < 24
    farm.run(Campaign.from_toml(path), tmp_path / "whole")
    assert_same_results(store, tmp_path / "whole")
    assert list(verify(store, Again(trust=True))) == []

"""A scheduler that someone else has started: by its address, and by its file."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.cluster import connect
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from tests.support.dask_processes import site
from tests.support.harness import assert_same_results, counts, farm as farm_process
from tests.support.made import MadeStores

CAMPAIGN = Campaign(
    name="there",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=90),),
    policies=("fcfs+easy", "saf+easy"),
    loads=("original", "0.9"),
    resamples=4,
)


@pytest.fixture(scope="module")
def scheduler_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A real scheduler with one real worker, each a process of its own."""
    with site(tmp_path_factory.mktemp("dask")) as there:
        there.worker()
        yield there.file


@pytest.fixture
def serial(made_store: MadeStores) -> Path:
    """The campaign's store, made in this process."""
    return made_store(CAMPAIGN)


def test_by_address(scheduler_file: Path, serial: Path, tmp_path: Path) -> None:
    """A campaign over a scheduler's address equals the serial run, and the scheduler stays."""
    address = json.loads(scheduler_file.read_text())["address"]
    assert address.startswith("tcp://127.0.0.1:")
    with connect(address) as client:
        assert farm.run(CAMPAIGN, tmp_path / "s", client).done == 16
        assert client.run(os.getpid)
    assert_same_results(tmp_path / "s", serial)
    with connect(address) as client:
        assert client.submit(sum, [1, 2]).result() == 3


@pytest.mark.parametrize("form", ["--scheduler-file", "--on"])
def test_by_file(scheduler_file: Path, serial: Path, tmp_path: Path, form: str) -> None:
    """The command line finds a scheduler by its file."""
    (tmp_path / "c.toml").write_text(CAMPAIGN.to_toml())
    where = f"{'scheduler-file:' if form == '--on' else ''}{scheduler_file}"
    ended = farm_process(tmp_path, "run", "c.toml", form, where)
    assert ended.returncode == 0, ended
    assert counts(ended.stdout) == {"cells": 16, "before": 0, "done": 16, "failed": 0}
    assert_same_results(tmp_path / "there.farm", serial)


def test_by_file__of_a_scheduler_that_is_only_starting(
    scheduler_file: Path, tmp_path: Path
) -> None:
    """Batch scripts start it just before the run: its file comes later, first without its text."""
    late = tmp_path / "late.json"

    def write() -> None:
        time.sleep(1)
        late.write_text("")
        time.sleep(0.3)
        late.write_bytes(scheduler_file.read_bytes())

    writer = threading.Thread(target=write)
    writer.start()
    with connect(f"scheduler-file:{late}") as client:
        assert client.submit(sum, [1, 2], pure=False).result() == 3
    writer.join()

"""A scheduler that someone else has started: by its address, and by its file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import farm
from cluster import connect
from farm.campaign import Campaign
from farm.traces import Trace
from tests.farm.harness import ROOT, assert_same_results, counts, wait_for
from tests.farm.harness import farm as farm_process

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
    folder = tmp_path_factory.mktemp("dask")
    path = folder / "scheduler.json"
    dask = shutil.which("dask", path=str(Path(sys.executable).parent))
    assert dask
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    local = ("--host", "127.0.0.1", "--scheduler-file", str(path), "--no-dashboard")
    started: list[subprocess.Popen[bytes]] = []
    with (folder / "log").open("wb") as log:
        try:
            for role in (
                ("scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0"),
                ("worker", "--no-nanny", "--nthreads", "1", "--dashboard-address", "127.0.0.1:0"),
            ):
                started.append(
                    subprocess.Popen(
                        [dask, *role, *local], stdout=log, stderr=log, cwd=folder, env=environment
                    )
                )
                wait_for(path.exists, "the scheduler's file")
            yield path
        finally:
            for process in reversed(started):
                process.terminate()
            for process in started:
                process.wait(60)


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign's store, made in this process."""
    store = tmp_path_factory.mktemp("serial") / "there.farm"
    assert farm.run(CAMPAIGN, store).done == 16
    return store


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

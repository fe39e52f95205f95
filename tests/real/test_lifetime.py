"""Workers whose jobs end soon begin nothing that they could not finish, and leave in peace."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schedfarm.cluster.walltime import ending
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import DEADLINE, run_task, seconds_left
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.tasks import block_costs
from schedfarm.farm.store.records import read_headers
from tests.support.dask_processes import Site, site
from tests.support.harness import (
    PATIENCE,
    Command,
    assert_same_results,
    campaign_of,
    counts,
    two_machines,
    wait_for,
)
from tests.support.made import MadeStores
from tests.support.paths import IMPORTED

POLICIES = ("fcfs+easy", "spf+easy")
CELLS = 2 * 4 * 2 * len(POLICIES)

CAMPAIGN = two_machines("ending", 3, 4, (0.7, 0.9), POLICIES)


@pytest.fixture
def whole(made_store: MadeStores) -> Path:
    """The campaign's store, of one process that nothing ends."""
    return made_store(campaign_of(CAMPAIGN))


@pytest.fixture
def there(tmp_path: Path, whole: Path) -> Iterator[Site]:
    """A scheduler without a worker."""
    (tmp_path / "ending.toml").write_text(CAMPAIGN)
    with site(tmp_path) as one:
        yield one


def test_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a variable that the scripts of jobs set."""
    assert ending(3600)[0][0].startswith(f"export {DEADLINE}=")
    monkeypatch.setenv(DEADLINE, str(time.time() + 1e6))
    assert 1e6 - PATIENCE < seconds_left() <= 1e6
    monkeypatch.setenv(DEADLINE, "never")
    assert seconds_left() == float("inf")


def test_block_that_does_not_fit__is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those before it are done and acknowledged, the others given back."""
    campaign = campaign_of(CAMPAIGN)
    asked = 0

    def until(number: float) -> Callable[[], float]:
        nonlocal asked
        asked = 0

        def answer() -> float:
            nonlocal asked
            asked += 1
            return float("inf") if asked < number else 0.0

        return answer

    monkeypatch.setattr("schedfarm.farm.execution.worker.drain", lambda: True)
    for place, last in (("all", float("inf")), ("some", None)):
        monkeypatch.setattr("schedfarm.farm.execution.worker.seconds_left", until(last or asked))
        with begin(campaign, tmp_path / place) as prepared:
            costs = block_costs(prepared.store, prepared.store.blocks())
            task = Backlog(prepared.tasks, costs).take()
            assert len(task.batches) > 1
            done = [one.block for one in run_task(task)]
            assert set(done) == read_headers(prepared.store).keys()
            assert (len(done) == len(task.blocks)) == (place == "all")
            assert done


def test_a_run_without_workers__has_nobody_to_hand_on_to(tmp_path: Path, whole: Path) -> None:
    """In a job whose time is over it does what it is asked for, and does not ask itself anew."""
    (tmp_path / "ending.toml").write_text(CAMPAIGN)
    text = "from schedfarm import farm; farm.run(farm.Campaign.from_toml('ending.toml'), 's')"
    late = {**os.environ, "PYTHONPATH": IMPORTED, DEADLINE: str(time.time() - 60)}
    subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, env=late, check=True, timeout=PATIENCE
    )
    assert_same_results(tmp_path / "s", whole)


def test_worker_that_ends__hands_its_tasks_on(there: Site, tmp_path: Path, whole: Path) -> None:
    """It closes by itself at its first task; the run goes on with another, and loses nothing."""
    ending = there.worker(**{DEADLINE: str(time.time())})
    run = Command(tmp_path, "run", "ending.toml", "--json", "--on", there.address)
    try:
        wait_for(lambda: ending.poll() is not None, "the worker's end")
        assert ending.returncode == 0
        there.worker()
        assert run.wait() == 0, run.err
    finally:
        run.kill()
    assert counts(run.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    assert_same_results(tmp_path / "ending.farm", whole)

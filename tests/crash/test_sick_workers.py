"""What one worker cannot do another one does; what none can stays missing, and is no failure."""

from __future__ import annotations

import platform
import resource
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedfarm import farm
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.execution import executors
from schedfarm.farm.execution.cancellation import CancellationToken
from schedfarm.farm.execution.messages import Killed
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.execution.workers import RunContext, SchedulerLost, Workers
from schedfarm.farm.store.place import place_of
from schedfarm.farm.watching.events import Said, read_events
from tests.support.dask_processes import Site, site
from tests.support.growing import SMALL
from tests.support.harness import (
    PATIENCE,
    Command,
    assert_same_results,
    campaign_of,
    counts,
    two_machines,
)
from tests.support.made import MadeStores
from tests.support.paths import PACKAGE

LOADS = (0.5, 0.7)
RESAMPLES = 4
POLICIES = ("fcfs+easy",)
CELLS = 2 * RESAMPLES * len(LOADS) * len(POLICIES)
CAMPAIGN = two_machines("sick", 3, RESAMPLES, LOADS, POLICIES)

FILE_BYTES = 200
"""No file of a worker may become longer: none of a block's is shorter."""

STARVED = """
from schedfarm.farm.execution import worker

def answers(simulations, requests):
    raise MemoryError("no room for 8 GiB")
    yield

worker.answers = answers
"""
"""A worker that has too little memory for whatever it is given."""

UNMAPPED = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "schedfarm.core.machines.pool.simulation":
            raise {error}

sys.meta_path.insert(0, Finder())
"""
"""A worker whose kernels cannot be loaded; `ulimit -v` leads to the first of these errors."""

REFUSALS = (
    "ImportError('libllvmlite.so: failed to map segment from shared object')",
    "MemoryError",
    "OSError(5, 'Input/output error')",
)

WORDS = """
import os

def name(submit):
    if os.environ.get("SICK"):
        raise ImportError("no module named words")
    return submit
"""


READER = """
def name(submit):
    return open("missing")

def rule(workload, policy):
    return open("missing")
"""
"""An order and a rule whose file is nowhere."""

UNLIKE = """
import os

{at_import}

def name(submit):
    {in_call}
    return submit
"""
"""An order that does something where the variable SICK is set: as it is imported, or is called."""

FAULTS = {
    "a package is missing": "import words_of_tomorrow",
    "a file is missing": "open('words of tomorrow')",
    "no memory": "raise MemoryError",
    "its process is killed": "os.abort()",
}
"""What goes wrong on one worker, and not on another one."""


def unlike(folder: Path, *, loading: str = "pass", calling: str = "pass") -> str:
    """Write such an order's module beside a campaign; return the campaign."""
    sick = "if os.environ.get('SICK'): "
    (folder / "unlike.py").write_text(
        UNLIKE.format(at_import=sick + loading, in_call=sick + calling)
    )
    return CAMPAIGN.replace("fcfs+easy", "unlike:name+easy")


@pytest.fixture
def undisturbed(made_store: MadeStores) -> Path:
    """A store of the campaign that nothing happened to."""
    return made_store(campaign_of(CAMPAIGN))


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "sick.toml").write_text(CAMPAIGN)
    (tmp_path / "starved.py").write_text(STARVED)
    with site(tmp_path) as one:
        yield one


def joined(there: Site) -> None:
    """Wait until both workers have joined."""
    from distributed import Client

    with Client(there.address) as client:
        client.wait_for_workers(2, timeout=PATIENCE)


def run(there: Site, folder: Path) -> Command:
    joined(there)
    return Command(folder, "run", "sick.toml", "--json", "--on", there.address)


def finished(there: Site, folder: Path, status: int) -> Command:
    """Run the campaign to its end, with that exit status."""
    command = run(there, folder)
    try:
        assert command.finish() == status, command.err
    finally:
        command.kill()
    return command


def limited(there: Site) -> subprocess.Popen[bytes]:
    worker = there.worker()
    resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    return worker


def starved(there: Site, folder: Path) -> None:
    there.worker(options=("--preload", str(folder / "starved.py")))


def said(store: Path) -> list[str]:
    return [event.text for event in read_events(store)[0] if isinstance(event, Said)]


def test_a_worker_that_cannot_write__is_set_aside(
    there: Site, tmp_path: Path, undisturbed: Path
) -> None:
    """Its host and what it could not use are named once; the other one does all."""
    sick = limited(there)
    there.worker()
    command = finished(there, tmp_path, 0)
    assert counts(command.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    [sentence] = [text for text in said(tmp_path / "sick.farm") if "cannot use" in text]
    assert f":{sick.pid} cannot use " in sentence
    assert sentence.endswith("(File too large); it is quarantined, the others continue")
    assert_same_results(tmp_path / "sick.farm", undisturbed)


def test_no_worker_can_write__the_run_ends(there: Site, tmp_path: Path) -> None:
    """In one sentence; the next run goes on."""
    limited(there)
    limited(there)
    command = finished(there, tmp_path, 2)
    assert "cannot be written: File too large" in command.err
    assert "Traceback" not in command.err


def foreign(folder: Path) -> str:
    """Copy the program, with another mean wait in it."""
    copied = shutil.copytree(PACKAGE, folder / "schedfarm", ignore=shutil.ignore_patterns("__pyc*"))
    declared = copied / "core" / "metrics" / "declared.py"
    text = declared.read_text()
    right, wrong = "lambda c: ratio(c.waited, len(c))", "lambda c: 1 + ratio(c.waited, len(c))"
    assert text.count(right) == 1
    declared.write_text(text.replace(right, wrong))
    return str(folder)


def test_another_program__is_refused_by_host(
    there: Site, tmp_path: Path, undisturbed: Path
) -> None:
    """Nothing of its results gets into the store, whichever worker is asked first."""
    there.worker(PYTHONPATH=foreign(tmp_path / "foreign"))
    there.worker()
    finished(there, tmp_path, 0)
    [sentence] = [text for text in said(tmp_path / "sick.farm") if "another program" in text]
    assert sentence.startswith(f"{platform.node()} has another program than this run (")
    assert_same_results(tmp_path / "sick.farm", undisturbed)


def test_no_worker_has_the_program__the_run_ends(there: Site, tmp_path: Path) -> None:
    there.worker(PYTHONPATH=foreign(tmp_path / "foreign"))
    there.worker(PYTHONPATH=str(tmp_path / "foreign"))
    command = finished(there, tmp_path, 2)
    assert "has another program than this run" in command.err
    assert "Traceback" not in command.err
    assert farm.status(tmp_path / "sick.farm").done == 0


def test_too_little_memory__another_worker_does_it(
    there: Site, tmp_path: Path, undisturbed: Path
) -> None:
    """None of its errors is recorded as a cell's."""
    starved(there, tmp_path)
    there.worker()
    finished(there, tmp_path, 0)
    assert farm.status(tmp_path / "sick.farm").failed == 0
    assert_same_results(tmp_path / "sick.farm", undisturbed)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_module_that_cannot_be_loaded_on_one_worker__another_one_has_it(
    there: Site, tmp_path: Path, fault: str
) -> None:
    """Neither is a cell recorded as failed, nor is the run ended."""
    (tmp_path / "sick.toml").write_text(unlike(tmp_path, loading=fault))
    there.worker(SICK="1")
    there.worker()
    command = finished(there, tmp_path, 0)
    assert counts(command.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}


@pytest.mark.parametrize("error", REFUSALS)
def test_kernels_that_cannot_be_loaded_on_one_worker__another_one_has_them(
    there: Site, tmp_path: Path, undisturbed: Path, error: str
) -> None:
    (tmp_path / "unmapped.py").write_text(UNMAPPED.format(error=error))
    there.worker(options=("--preload", str(tmp_path / "unmapped.py")))
    there.worker()
    finished(there, tmp_path, 0)
    assert farm.status(tmp_path / "sick.farm").failed == 0
    assert_same_results(tmp_path / "sick.farm", undisturbed)


def test_a_cell_that_kills_its_process__fails_once_nobody_else_is_left_to_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then it is the worker's fault, which is no record."""
    text = unlike(tmp_path, calling=FAULTS["its process is killed"])
    (tmp_path / "sick.toml").write_text(text)
    monkeypatch.setenv("SICK", "1")
    with begin(Campaign.from_toml(tmp_path / "sick.toml"), tmp_path / "s") as prepared:
        task = replace(prepared.tasks[0], isolate=True)
        with pytest.raises(Killed, match="SIGABRT"):
            run_task(task)
        assert farm.status(tmp_path / "s").failed == 0
        done = run_task(replace(task, last=True))
    assert sum(block.failed for block in done) == farm.status(tmp_path / "s").failed > 0


@pytest.mark.parametrize("policy", ["reader:name+easy", "fcfs+reader:rule"])
def test_an_order_or_a_rule_that_reads_a_missing_file__fails_its_own_cells(
    tmp_path: Path, policy: str
) -> None:
    """The store is not to blame, and the other policies' cells are simulated."""
    (tmp_path / "reader.py").write_text(READER)
    campaign = replace(SMALL, policies=("fcfs+easy", policy), folder=tmp_path)
    ended = farm.run(campaign, tmp_path / "s")
    half = campaign.cells // 2
    assert (ended.done, ended.failed) == (campaign.cells, half)
    failures = farm.status(tmp_path / "s").failures
    assert {failure.policy for failure in failures} == {policy}
    assert all("raised FileNotFoundError: [Errno 2]" in failure.error for failure in failures)


def test_a_package_that_no_worker_has__leaves_cells_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are reported as lost, not recorded, and simulated once it is installed."""
    (tmp_path / "words.py").write_text(WORDS)
    campaign = replace(SMALL, policies=("words:name+easy",), folder=tmp_path)
    monkeypatch.setenv("SICK", "1")
    first = farm.run(campaign, tmp_path / "s")
    assert (first.done, first.failed) == (0, campaign.cells)
    found = farm.status(tmp_path / "s")
    assert (found.done, found.failed, found.missing) == (0, 0, campaign.cells)
    monkeypatch.delenv("SICK")
    assert farm.run(campaign, tmp_path / "s").done == campaign.cells


@pytest.mark.parametrize("error", [OSError("in TLS"), RuntimeError("ConnectionPool is closed")])
def test_a_client_whose_connection_is_closed__has_lost_its_scheduler(error: Exception) -> None:
    """Whatever it raises then."""

    def nthreads() -> dict[str, int]:
        raise error

    client: Any = SimpleNamespace(scheduler=None, nthreads=nthreads)
    workers = Workers(
        client, CancellationToken(), lambda text: None, RunContext(place_of("s"), "", None)
    )
    with pytest.raises(SchedulerLost, match="the scheduler at its address was lost"):
        workers.count()


def test_a_machine_that_slept__is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look of 640 s was none; a scheduler that is lost after it is told of with the reason."""
    told: list[str] = []
    client: Any = SimpleNamespace(scheduler=SimpleNamespace(address="tcp://h:1"))
    workers = Workers(client, CancellationToken(), told.append, RunContext(place_of("s"), "", None))
    assert str(workers.lost()).startswith("the scheduler at tcp://h:1 was lost; the same command")
    completed = SimpleNamespace(
        thread_condition=threading.Condition(), has_ready=lambda: True, next_batch=lambda block: []
    )
    clock = iter((100.0, 101.0, 200.0, 840.0))
    monkeypatch.setattr(executors, "uptime", lambda: next(clock))
    assert executors._ended(completed, workers.note_suspension) == []
    assert told == []
    assert executors._ended(completed, workers.note_suspension) == []
    assert told == [
        "this machine was suspended for 10 min 40 s; the run continues if the cluster does"
    ]
    assert str(workers.lost()).startswith(
        "the scheduler at tcp://h:1 was lost after this machine was suspended for 10 min 40 s; "
    )

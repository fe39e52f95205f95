"""What a store knows of the jobs that work on it, where a batch system answers and where none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedfarm.cluster.queues import QUEUES, states
from schedfarm.farm.cli.jobs import Noted, end_leftovers, jobs_of, sentences
from schedfarm.farm.store.jobs import COORDINATOR, FILES, WORKERS, Jobs, read_jobs, write_jobs
from schedfarm.farm.store.place import place_of
from tests.support.harness import farm as farm_process

SQUEUE = """#!/bin/sh
echo '7 COMPLETED'
echo '8 RUNNING'
echo '9 PENDING'
"""

SCANCEL = """#!/bin/sh
echo "$@" >> "{log}"
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that only jobs are known of: its coordinator waits."""
    place = place_of(tmp_path / "s")
    write_jobs(place, COORDINATOR, Jobs("slurm", ("9",)))
    write_jobs(place, WORKERS, Jobs("slurm", ("6", "7", "8")))
    return tmp_path / "s"


@pytest.fixture
def answering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands in the place of Slurm's; the file holds what was to be cancelled."""
    log = tmp_path / "cancelled"
    for name, text in (("squeue", SQUEUE), ("scancel", SCANCEL.format(log=log))):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return log


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No command of a batch system."""
    monkeypatch.setenv("PATH", "")


@pytest.mark.usefixtures("answering")
def test_states(store: Path) -> None:
    """A job that is not listed any more has ended."""
    assert [(job.role, job.id, job.state) for job in jobs_of(place_of(store))] == [
        ("coordinator", "9", "PENDING"),
        ("workers", "6", "ended"),
        ("workers", "7", "COMPLETED"),
        ("workers", "8", "RUNNING"),
    ]
    assert list(sentences(jobs_of(place_of(store)))) == [
        "coordinator (slurm): PENDING 9",
        "workers (slurm): RUNNING 8, 2 jobs ended",
    ]


@pytest.mark.usefixtures("nobody")
def test_where_nobody_answers(store: Path) -> None:
    """The ids are there all the same, and nothing is taken for ended."""
    assert list(sentences(jobs_of(place_of(store)))) == [
        "coordinator (slurm): unknown 9",
        "workers (slurm): unknown 6 7 8",
    ]
    assert end_leftovers(place_of(store)) == 0
    refused = farm_process(store.parent, "cancel", "s")
    assert refused.returncode == 2
    assert "squeue cannot be queried about job 9 from this machine" in refused.stderr


def test_store_that_is_still_to_come(store: Path, answering: Path) -> None:
    """Its coordinator waits in the queue: `farm status` says so, in text and as JSON."""
    said = farm_process(store.parent, "status", "s")
    assert said.returncode == 0, said
    assert said.stdout.startswith("coordinator (slurm): PENDING 9\n")
    found = json.loads(farm_process(store.parent, "status", "s", "--json").stdout)
    assert found["jobs"][0] == {
        "role": "coordinator", "launcher": "slurm", "id": "9", "state": "PENDING",
    }  # fmt: skip
    ended = farm_process(store.parent, "cancel", "s")
    assert ended.stdout.splitlines() == [
        "coordinator 9 had not begun; cancelled",
        "1 job of workers cancelled",
    ]
    assert answering.read_text().splitlines() == ["9", "8"]


def test_ids_are_noted_as_they_come(tmp_path: Path) -> None:
    with Noted(place_of(tmp_path / "s"), "slurm") as note:
        note("1")
        note("2")
    assert read_jobs(place_of(tmp_path / "s"), WORKERS) == Jobs("slurm", ("1", "2"))


@pytest.mark.parametrize("text", ["", "[]", '{"launcher": "slurm"}', '{"launcher": 1, "ids": 2}'])
def test_broken_file__counts_for_none(store: Path, text: str) -> None:
    (store / FILES[WORKERS]).write_text(text)
    assert read_jobs(place_of(store), WORKERS) is None


def test_states_where_there_is_no_batch_system__are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A command that cannot be started says nothing about jobs."""
    monkeypatch.setenv("PATH", "")
    assert states(QUEUES["slurm"], ["1"]) is None

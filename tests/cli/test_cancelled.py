"""A coordinator that its user has ended is cancelled, whatever the batch system says of its end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from schedfarm.cluster import queues
from schedfarm.farm.store.jobs import COORDINATOR, WORKERS, Jobs, write_jobs
from schedfarm.farm.store.place import place_of
from tests.support.command_line import Farm


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Stand for Slurm: job 2 runs until it is told to stop, and has failed from then on."""
    given: list[list[str]] = []

    def said(command: Iterable[str]) -> str:
        words = list(command)
        if words[0] != "squeue":
            given.append(words)
        return f"2 {'FAILED' if given else 'RUNNING'}\n7 FAILED\n"

    monkeypatch.setattr(queues, "said", said)
    return given


def test_status_says_cancelled(farm: Farm, tmp_path: Path, commands: list[list[str]]) -> None:
    """After `farm cancel`, as text and as JSON; a job that failed by itself has failed."""
    store = place_of(tmp_path / "s.farm")
    (tmp_path / "s.farm").mkdir()
    write_jobs(store, COORDINATOR, Jobs("slurm", ("2",)))
    assert "coordinator (slurm): RUNNING 2" in farm("status", store).stdout
    assert "coordinator 2 has stopped" in farm("cancel", store).stdout
    assert commands == [["scancel", "--batch", "--signal=TERM", "2"]]
    assert "coordinator (slurm): cancelled 2" in farm("status", store).stdout
    (job,) = json.loads(farm("status", store, "--json").stdout)["jobs"]
    assert (job["role"], job["state"]) == ("coordinator", "cancelled")
    write_jobs(store, COORDINATOR, Jobs("slurm", ("7",)))
    write_jobs(store, WORKERS, Jobs("slurm", ()))
    assert "coordinator (slurm): FAILED 7" in farm("status", store).stdout

"""A disk that fills up, or will not be written, ends a run with one sentence and harms nothing."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import farm
from core.errors import InputError
from farm.campaign.campaign import Campaign
from farm.execution.runner import begin
from farm.execution.task import run_task
from farm.store import summary
from farm.store.geometry import Block
from farm.store.lock import Superseded, locked
from farm.store.records import record_name
from farm.watching.events import Event, Said
from tests.farm import harness
from tests.farm.harness import Command, assert_same_results, records

CAMPAIGN = """
name = "full"
block_seconds = 1e-6
seed = 2
resamples = 6
loads = [0.6, 0.7, 0.8, 0.9]
policies = ["fcfs+easy", "saf+easy"]

[[traces]]
name = "m"
model = "lublin"
processors = 64
jobs = 2000
"""
"""About 0.7 MiB of results, each cell a block."""

SMALL, ENOUGH = "400k", "16m"


def mounted(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system too small for the campaign."""
    path = tmp_path / "disk"
    path.mkdir()
    if os.geteuid() != 0 or not mounted("-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(path)):
        pytest.skip("a tmpfs cannot be mounted here: it takes root and CAP_SYS_ADMIN")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def test_full_disk__one_sentence_and_resume(tmp_path: Path, disk: Path) -> None:
    """The run ends with status 2; once there is space the store ends as if nothing was."""
    (tmp_path / "full.toml").write_text(CAMPAIGN)
    farm.run(Campaign.from_toml(tmp_path / "full.toml"), tmp_path / "undisturbed")
    store = disk / "full.farm"
    run = Command(tmp_path, "run", "full.toml", "--store", str(store), "--workers", "2")
    assert run.finish() == 2, run.err
    assert "Traceback" not in run.err
    told = [line for line in run.err.splitlines() if line.startswith("farm: ")]
    assert told == [f"farm: store {store} cannot be written: No space left on device"]
    before = records(store)
    assert mounted("-o", f"remount,size={ENOUGH}", str(disk))
    again = Command(tmp_path, "run", "full.toml", "--store", str(store), "--workers", "2")
    assert again.finish() == 0, again.err
    after = records(store)
    assert {name: after[name] for name in before} == before
    assert harness.partial(store) == []
    assert_same_results(store, tmp_path / "undisturbed")


def test_read_only_folder__is_refused(tmp_path: Path, disk: Path) -> None:
    """Root too cannot write where the file system is read-only; nothing is begun."""
    (tmp_path / "full.toml").write_text(CAMPAIGN)
    assert mounted("-o", "remount,ro", str(disk))
    with pytest.raises(InputError, match="cannot be written: Read-only file system"):
        farm.run(Campaign.from_toml(tmp_path / "full.toml"), disk / "full.farm")
    assert list(disk.iterdir()) == []


@pytest.fixture
def small(tmp_path: Path) -> Campaign:
    (tmp_path / "full.toml").write_text(CAMPAIGN.replace("2000", "60"))
    return Campaign.from_toml(tmp_path / "full.toml")


def test_task_of_an_ended_run__writes_nothing(tmp_path: Path, small: Campaign) -> None:
    """Neither while nobody holds the store nor while the next run does."""
    store = tmp_path / "s"
    with begin(small, store) as sweep:
        old = sweep.tasks[0]
    with pytest.raises(Superseded):
        run_task(old)
    with locked(store), pytest.raises(Superseded):
        run_task(old)
    assert records(store) == {}
    assert list((store / "results.zarr" / "m" / "wait").rglob("c/*")) == []


def test_task_done_before__is_not_written_again(tmp_path: Path, small: Campaign) -> None:
    """A second attempt, as of a task whose worker died after its last record, changes no file."""
    with begin(small, tmp_path / "s") as sweep:
        first = run_task(sweep.tasks[0])
        before = records(tmp_path / "s")
        again = run_task(sweep.tasks[0])
    assert [d.block for d in first] == [d.block for d in again]
    assert sum(d.cells for d in again) == 0
    assert records(tmp_path / "s") == before


@pytest.mark.parametrize("what", ["record", "shard"])
def test_unreadable_remains__are_simulated_again(
    tmp_path: Path, small: Campaign, what: str
) -> None:
    """What a worker finds altered in a block that it has to complete is not kept."""
    store = tmp_path / "s"
    farm.run(small, tmp_path / "undisturbed")
    with begin(small, store) as sweep:
        run_task(sweep.tasks[-1])
        block = next(b for b in sweep.tasks[-1].blocks if b.kind == "cells")
        if what == "record":
            (store / record_name(block)).write_bytes(b"rubbish")
        else:
            shard(store, block).unlink()
        run_task(sweep.tasks[-1])
    farm.run(small, store)
    assert_same_results(store, tmp_path / "undisturbed")


def shard(store: Path, block: Block) -> Path:
    place = (block.resample, block.load, block.policy, 0)
    return store.joinpath("results.zarr", "m", "wait", "c", *map(str, place))


@pytest.mark.parametrize("buffer", [8, 65_536])
def test_no_room_for_temporary_files__ends_in_one_sentence(
    tmp_path: Path, small: Campaign, monkeypatch: pytest.MonkeyPatch, buffer: int
) -> None:
    """It is not the store's fault, in which every cell is; the same command folds the summary."""
    farm.run(small, tmp_path / "undisturbed")
    told: list[Event] = []
    (folder := tmp_path / "small").mkdir()
    with monkeypatch.context() as patch:
        # Whatever is written there finds the disk full, at once or when the buffer is emptied.
        patch.setattr(summary, "_spool", partial(open, "/dev/full", "w+b", buffering=buffer))
        patch.setattr(summary, "REFRESH_SECONDS", 0.0)
        patch.setattr(tempfile, "tempdir", str(folder))
        with pytest.raises(InputError, match=f"does not fit {folder}, .* TMPDIR folds it"):
            farm.run(small, tmp_path / "s", watch=SimpleNamespace(see=told.append))
    assert len(records(tmp_path / "s")) == len(records(tmp_path / "undisturbed"))
    said = [event.text for event in told if isinstance(event, Said)]
    assert len(said) == 1
    assert "(No space left on device); what was simulated is stored" in said[0]
    again = farm.run(small, tmp_path / "s")
    assert (again.done, again.before) == (0, again.cells)
    assert_same_results(tmp_path / "s", tmp_path / "undisturbed")


def test_room_for_temporary_files_that_comes__is_enough(
    tmp_path: Path, small: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A summary that is folded while the run goes on may fail; the last one counts."""
    full, spool, none = True, summary._spool, partial(open, "/dev/full", "w+b")

    def files() -> object:
        return none() if full else spool()

    def see(event: Event) -> None:
        nonlocal full
        full = full and not isinstance(event, Said)

    monkeypatch.setattr(summary, "_spool", files)
    monkeypatch.setattr(summary, "REFRESH_SECONDS", 0.0)
    outcome = farm.run(small, tmp_path / "s", watch=SimpleNamespace(see=see))
    assert not full
    assert outcome.done == outcome.cells
    monkeypatch.undo()
    farm.run(small, tmp_path / "undisturbed")
    assert_same_results(tmp_path / "s", tmp_path / "undisturbed")

"""A disk that will not be written, and temporary files that do not fit, harm nothing."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from schedfarm import farm
from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block
from schedfarm.core.format.names import record_name
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.store import summary
from schedfarm.farm.store.lock import StaleRun, locked
from schedfarm.farm.watching.events import Event, Said
from tests.crash.stages import mounted
from tests.support.harness import assert_same_results, records
from tests.support.made import MadeStores

CAMPAIGN = Campaign(
    name="full",
    block_seconds=1e-6,
    seed=2,
    resamples=3,
    loads=("0.6", "0.9"),
    policies=("fcfs+easy", "saf+easy"),
    traces=(Trace(name="m", model="lublin", processors=64, jobs=60),),
)
"""Each cell a block."""


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A file system that nobody can write to."""
    path = tmp_path / "disk"
    path.mkdir()
    if not mounted("-t", "tmpfs", "-o", "ro", "tmpfs", str(path)):
        pytest.skip("a tmpfs cannot be mounted here: it takes root and CAP_SYS_ADMIN")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def test_read_only_folder__is_refused(read_only: Path) -> None:
    """Root too cannot write where the file system is read-only; nothing is begun."""
    with pytest.raises(InputError, match="cannot be written: Read-only file system"):
        farm.run(CAMPAIGN, read_only / "full.farm")
    assert list(read_only.iterdir()) == []


@pytest.fixture
def undisturbed(made_store: MadeStores) -> Path:
    """A store of the campaign that nothing happened to."""
    return made_store(CAMPAIGN)


def test_task_of_an_ended_run__writes_nothing(tmp_path: Path) -> None:
    """Neither while nobody holds the store nor while the next run does."""
    store = tmp_path / "s"
    with begin(CAMPAIGN, store) as sweep:
        old = sweep.tasks[0]
    with pytest.raises(StaleRun):
        run_task(old)
    with locked(store), pytest.raises(StaleRun):
        run_task(old)
    assert records(store) == {}
    assert list((store / "results.zarr" / "m" / "wait").rglob("c/*")) == []


def test_task_done_before__is_not_written_again(tmp_path: Path) -> None:
    """A second attempt, as of a task whose worker died after its last record, changes no file."""
    with begin(CAMPAIGN, tmp_path / "s") as sweep:
        first = run_task(sweep.tasks[0])
        before = records(tmp_path / "s")
        again = run_task(sweep.tasks[0])
    assert [d.block for d in first] == [d.block for d in again]
    assert sum(d.cells for d in again) == 0
    assert records(tmp_path / "s") == before


@pytest.mark.parametrize("what", ["record", "shard"])
def test_unreadable_remains__are_simulated_again(
    tmp_path: Path, undisturbed: Path, what: str
) -> None:
    """What a worker finds altered in a block that it has to complete is not kept."""
    store = tmp_path / "s"
    with begin(CAMPAIGN, store) as sweep:
        run_task(sweep.tasks[-1])
        block = next(b for b in sweep.tasks[-1].blocks if b.kind == "cells")
        if what == "record":
            (store / record_name(block)).write_bytes(b"rubbish")
        else:
            shard(store, block).unlink()
        run_task(sweep.tasks[-1])
    farm.run(CAMPAIGN, store)
    assert_same_results(store, undisturbed)


def shard(store: Path, block: Block) -> Path:
    place = (block.resample, block.load, block.policy, 0)
    return store.joinpath("results.zarr", "m", "wait", "c", *map(str, place))


@pytest.mark.parametrize("buffer", [8, 65_536])
def test_no_room_for_temporary_files__ends_in_one_sentence(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch, buffer: int
) -> None:
    """It is not the store's fault, in which every cell is; the same command folds the summary."""
    told: list[Event] = []
    (folder := tmp_path / "small").mkdir()
    with monkeypatch.context() as patch:
        # Whatever is written there finds the disk full, at once or when the buffer is emptied.
        patch.setattr(summary, "_spool", partial(open, "/dev/full", "w+b", buffering=buffer))
        patch.setattr(summary, "REFRESH_SECONDS", 0.0)
        patch.setattr(tempfile, "tempdir", str(folder))
        with pytest.raises(InputError, match=f"do not fit {folder} .* TMPDIR folds it"):
            farm.run(CAMPAIGN, tmp_path / "s", watch=SimpleNamespace(see=told.append))
    assert len(records(tmp_path / "s")) == len(records(undisturbed))
    said = [event.text for event in told if isinstance(event, Said)]
    assert len(said) == 1
    assert "(No space left on device); all simulated cells are stored" in said[0]
    again = farm.run(CAMPAIGN, tmp_path / "s")
    assert (again.done, again.before) == (0, again.cells)
    assert_same_results(tmp_path / "s", undisturbed)


def test_room_for_temporary_files_that_comes__is_enough(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
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
    outcome = farm.run(CAMPAIGN, tmp_path / "s", watch=SimpleNamespace(see=see))
    assert not full
    assert outcome.done == outcome.cells
    monkeypatch.undo()
    assert_same_results(tmp_path / "s", undisturbed)

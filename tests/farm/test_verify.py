"""Every altered byte of a store's arrays and records is found, and mended or run again."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import farm
from core.logs.swf import write_swf
from core.models.lublin import lublin
from farm.campaign.campaign import Campaign
from farm.campaign.trace import Trace
from farm.cli import cli
from farm.verify import repair, verify

NO_RESULT = {"events.jsonl"}
"""Says what runs did; nothing depends on it."""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    log = tmp_path_factory.mktemp("log") / "small.swf"
    write_swf(lublin(32, weeks=2, seed=3, users=5), log)
    return Campaign(
        name="verify",
        traces=(Trace(name="log", file=str(log)),),
        policies=("fcfs+easy",),
        resamples=1,
        log=True,
    )


@pytest.fixture(scope="module")
def sound(campaign: Campaign, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "store"
    farm.run(campaign, path)
    return path


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "store"))


def contents(store: Path) -> dict[str, bytes]:
    """Bytes of every array file."""
    root = store / "results.zarr"
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_sound_store_has_no_fault(sound: Path) -> None:
    """Nothing is found where nothing is wrong, with every block simulated again."""
    assert list(verify(sound, sample=100)) == []


def test_every_altered_byte_is_found(store: Path) -> None:
    """A bit turned in any file is found, be it at its beginning, its end or between."""
    files = [p for p in sorted(store.rglob("*")) if p.is_file() and p.name not in NO_RESULT]
    assert len(files) > 60
    places = itertools.cycle(range(5))
    for file in files:
        whole = file.read_bytes()
        at = next(places) * (len(whole) - 1) // 4
        altered = bytearray(whole)
        altered[at] ^= 1
        file.write_bytes(altered)
        assert next(verify(store, sample=0), None), f"{file} byte {at} of {len(whole)}"
        file.write_bytes(whole)
    assert list(verify(store, sample=0)) == []


def test_missing_file_is_found(store: Path) -> None:
    """A file that is gone is found, though Zarr reads a missing chunk as fill."""
    for file in sorted((store / "results.zarr" / "log").rglob("*")):
        if file.is_file():
            moved = file.rename(store / "elsewhere")
            assert next(verify(store, sample=0), None), file
            moved.rename(file)


@pytest.mark.parametrize(
    "pattern",
    [
        "results.zarr/log/start/c/**/*",
        "results.zarr/log/submit/c/**/*",
        "results.zarr/zarr.json",
        "results.zarr/wait/c/**/*",
        "results.zarr/log/policy/c/*",
        "records/log/**/*.json",
        "traces/*.npz",
        "store.json",
        "store.copy.json",
        "campaign.toml",
    ],
)
def test_repair_and_run_restore_the_store(
    campaign: Campaign, sound: Path, store: Path, pattern: str
) -> None:
    """After `--repair` and the next run, every array file has its old bytes again."""
    file = next(p for p in sorted(store.glob(pattern)) if p.is_file())
    altered = bytearray(file.read_bytes())
    altered[len(altered) // 2] ^= 4
    file.write_bytes(altered)
    result = CliRunner().invoke(cli, ["verify", str(store), "--repair"])
    assert result.exit_code == 1, result.output
    assert str(file.relative_to(store)).split("/c/")[0] in result.stdout
    farm.run(campaign, store)
    assert list(verify(store)) == []
    assert contents(store) == contents(sound)


def test_wrong_simulation_is_found_by_simulating_again(store: Path) -> None:
    """Values that agree with their record but not with the program are found by the sample."""
    from farm.store.arrays import open_results
    from farm.store.block import OpenBlock, commit
    from farm.store.geometry import Block
    from farm.store.records import record_path

    block = Block("log", "cells", 0, 0, 0)
    record_path(store / "records", block).unlink()
    draft = OpenBlock(farm.Store.open(store), block)
    group = open_results(store / "results.zarr")["log"]
    names = [v.name for v in draft.store.arrays_of("log", "cells")]
    for cell in draft.missing:
        jobs = int(group["jobs"][cell, 0])
        lengths = draft.store.lengths_of(block, draft.cells[cell], jobs)
        rows = {name: np.asarray(group[name][cell, 0, 0])[: lengths[name]] for name in names}
        rows["start"] = rows["start"] + 1
        draft.put(cell, jobs, rows, {}, 0.0)
    commit([draft])
    faults = [f for f in verify(store, sample=100) if f.block == block]
    assert faults
    assert "simulated again" in faults[0].why
    assert repair(store, faults) == [block]


def test_command_says_sound_and_exits_0(sound: Path) -> None:
    """`farm verify` on a sound store says so."""
    result = CliRunner().invoke(cli, ["verify", str(sound)])
    assert (result.exit_code, result.stdout) == (0, f"{sound} is sound\n")


def test_tree_opens_by_its_door(sound: Path) -> None:
    """`farm.open` gives the tree, and labels select."""
    tree = farm.open(sound)
    assert isinstance(tree, xr.DataTree)
    cell = tree["log"].to_dataset().sel(policy="fcfs+easy", load="original", resample=0)
    table = farm.job_table(sound, trace="log", policy="fcfs+easy", resample=0)
    assert len(table) == int(cell.jobs)
    assert (table.start - table.submit == table.wait).all()
    assert table.backfilled.dtype == bool

"""Fair start times as cells: cut by job ranges, joined in the summary, the same however cut."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile

import numpy as np
import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.core import scale_load, simulate
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.design import build, design
from schedfarm.farm.planning.survey import survey
from schedfarm.farm.planning.tasks import missing_blocks, plan
from schedfarm.farm.store import summary
from schedfarm.farm.store.summary import folded
from schedfarm.farm.verify import Again, verify

POLICIES = ("fcfs+easy", "spf+aggressive", "lxf+conservative")
JOBS = 150


@pytest.fixture
def campaign() -> Campaign:
    return Campaign(
        name="fair",
        traces=(Trace(name="m", model="lublin", processors=64, jobs=JOBS),),
        policies=POLICIES,
        loads=("0.9",),
        resamples=2,
        fairness=("strict", "relaxed"),
    )


def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut every cell into three pieces, the most that 150 jobs can have."""
    monkeypatch.setattr(farm.planning.block_shape, "BLOCK_SECONDS", 1e-6)
    monkeypatch.setattr(farm.planning.block_shape, "LEAST_SECONDS", 1e-6)


def test_fair_starts_come_after_the_cells(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although they take longest: a run that ends early has answers."""
    cut(monkeypatch)
    store = build(design(tmp_path / "store", survey(campaign)))
    tasks = plan(store, campaign, missing_blocks(store, {}, retry_failed=False))
    extra = [{block.kind for block in task.blocks} <= {"strict", "relaxed"} for task in tasks]
    assert extra == sorted(extra)
    assert {*extra} == {False, True}
    assert tasks[0].seconds < max(task.seconds for task in tasks)
    for part in (False, True):
        seconds = [
            task.seconds for task, is_extra in zip(tasks, extra, strict=True) if is_extra is part
        ]
        assert seconds == sorted(seconds, reverse=True)


@pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "cut"])
def test_stored_fair_start_times_are_those_of_core(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_pieces: bool
) -> None:
    """Every fair start time, and the mean lateness and share late, in one or many pieces."""
    if in_pieces:
        cut(monkeypatch)
    outcome = farm.run(campaign, tmp_path / "store")
    assert outcome.failed == 0
    layout = outcome.store.layouts["m"]
    assert (layout.long_jobs < JOBS) is in_pieces
    tree = xr.open_datatree(tmp_path / "store" / "results.zarr", engine="zarr", chunks=None)
    for policy in POLICIES:
        jobs = scale_load(lublin(64, jobs=JOBS, seed=0, index=2), 0.9)
        cell = {"resample": 2, "load": "0.9", "policy": policy}
        group, root = (
            tree["m"].ds.sel(cell),
            tree.ds.sel(
                cell,
            ).sel(trace="m"),
        )
        start = simulate(jobs, policy).start
        for kind in ("strict", "relaxed"):
            fst = fair_start_times(jobs, policy, kind)
            np.testing.assert_array_equal(group[f"fst_{kind}"].values[:JOBS], fst)
            late = np.maximum(start - fst, 0)
            assert float(root[f"unfairness_{kind}"]) == late.sum() / JOBS
            assert float(root[f"unfair_share_{kind}"]) == (late > 0).sum() / JOBS
    assert list(verify(tmp_path / "store", Again(100))) == []


@pytest.mark.parametrize(("kept", "rows"), [(1, 1), (2**20, 2)])
def test_summary_is_the_same_however_it_is_folded(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int, rows: int
) -> None:
    """Through files or in memory, means of pieces of few resamples at a time or of all."""
    cut(monkeypatch)
    store = farm.run(campaign, tmp_path / "store").store
    expected = dict(folded(store))
    assert expected.keys() == {variable.name for variable in store.figures}
    monkeypatch.setattr(summary, "_spool", partial(SpooledTemporaryFile, kept))
    monkeypatch.setattr(summary, "ROWS", rows)
    found = dict(folded(store))
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name, strict=True)
    assert not np.isnan(expected["unfairness_strict"]).any()


def test_missing_piece_leaves_no_mean(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell without one of its pieces has no mean lateness; the next run does that piece alone."""
    cut(monkeypatch)
    store = tmp_path / "store"
    first = farm.run(campaign, store)
    pieces = sorted((store / "records/m/strict").glob("00000-00000-00000.*.json"))
    assert len(pieces) == 3
    pieces[1].unlink()
    root = dict(folded(farm.Store.open(store)))
    assert np.isnan(root["unfairness_strict"][0, 0, 0, 0])
    assert not np.isnan(root["unfairness_relaxed"][0, 0, 0, 0])
    again = farm.run(campaign, store)
    assert (again.done, again.before) == (1, first.cells - 1)
    assert not np.isnan(dict(folded(farm.Store.open(store)))["unfairness_strict"]).any()


def test_pieces_of_a_cell_are_tasks_of_their_own(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that was cut spreads over the workers; the rest of its blocks stay together."""
    cut(monkeypatch)
    store = build(design(tmp_path / "store", survey(campaign)))
    tasks = plan(store, campaign, missing_blocks(store, {}, retry_failed=False))
    pieces = [task for task in tasks if any(block.piece for block in task.blocks)]
    assert len(pieces) == 2 * 2 * 3 * 2
    assert all(len(task.blocks) == 1 for task in pieces)
    assert sorted(b for task in tasks for b in task.blocks) == sorted(store.blocks())

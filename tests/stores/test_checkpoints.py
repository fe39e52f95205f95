"""Checkpoints in a store: used once by the next run, never by those who check results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.core.engine.checkpoint import FAIR, Checkpoints
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.format.names import CHECKPOINTS
from schedfarm.core.policy.policy import Policy
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.cell import Simulations
from schedfarm.farm.planning.design import build, design
from schedfarm.farm.planning.survey import survey
from schedfarm.farm.store.checkpoints import Kept
from schedfarm.farm.store.store import Store
from schedfarm.farm.verify import Again, verify

POLICY, JOB, WRONG = "spf+easy", 20, 77

CELL = (1, "0.9", POLICY)


@pytest.fixture
def campaign() -> Campaign:
    return Campaign(
        name="fair",
        traces=(Trace(name="m", model="lublin", processors=64, jobs=50),),
        policies=(POLICY,),
        loads=("0.9",),
        resamples=1,
        fairness=("strict",),
    )


def leave(store: Store, trace: Trace) -> None:
    """Leave the checkpoint of a worker that died when it knew one fair start, a wrong one."""
    jobs = Simulations(store, trace).jobs(*CELL[:2])
    known = np.full(len(jobs), -1)
    known[JOB] = WRONG
    kept = Kept(store, trace.name, "").of(CELL, "strict.00000")
    assert isinstance(kept, Checkpoints)
    what = "strict fair starts by arrival"
    with kept.of(jobs, Policy.parse(POLICY), what, {FAIR: known}, live=True):
        kept.save()


def test_next_run_continues__and_verify_does_not(campaign: Campaign, tmp_path: Path) -> None:
    store = build(design(tmp_path / "s", survey(campaign)))
    leave(store, campaign.traces[0])
    assert store.place.names(CHECKPOINTS)
    assert farm.run(campaign, tmp_path / "s").failed == 0
    assert not store.place.entries(CHECKPOINTS)
    tree = xr.open_datatree(tmp_path / "s" / "results.zarr", engine="zarr", chunks=None)
    stored = tree["m"].fst_strict.sel(resample=1, load="0.9", policy=POLICY).to_numpy()
    expected = fair_start_times(Simulations(store, campaign.traces[0]).jobs(*CELL[:2]), POLICY)
    assert expected[JOB] != WRONG
    expected[JOB] = WRONG
    np.testing.assert_array_equal(stored, expected)
    assert [one for one in verify(tmp_path / "s", Again(1)) if "fst_strict" in str(one)]


def test_run_that_has_lost_its_store__writes_none(campaign: Campaign, tmp_path: Path) -> None:
    """A late worker does not bring back the folder of a store."""
    store = build(design(tmp_path / "s", survey(campaign)))
    kept = Kept(store, "m", "an earlier run").of(CELL, "schedule")
    assert isinstance(kept, Checkpoints)
    jobs = Simulations(store, campaign.traces[0]).jobs(*CELL[:2])
    with (
        kept.of(jobs, Policy.parse(POLICY), "schedule", {FAIR: np.zeros(1)}, live=True),
        pytest.warns(RuntimeWarning, match="no checkpoint"),
    ):
        kept.save()
    assert not store.place.entries(CHECKPOINTS)

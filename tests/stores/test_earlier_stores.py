"""A store that an earlier version wrote is sound, answers, and goes on."""

from __future__ import annotations

import dataclasses
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from schedfarm import farm
from schedfarm.analysis.store import open_summary
from schedfarm.core.arrays import fixed
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.store.logs import load_log, log_bytes
from schedfarm.farm.verify import Again, Remedy, repair, verify
from tests.support.growing import assert_same_by_label, counts
from tests.support.paths import ROOT

STORES = ROOT / "tests" / "data" / "stores"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return the extracted store."""
    with tarfile.open(STORES / "format-6.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "old.farm"


def campaign_of(store: Path) -> Campaign:
    """Return the campaign of the store, with the log where it is now."""
    toml = (store / "campaign.toml").read_text()
    path = store.parent / "campaign.toml"
    path.write_text(toml.replace("/data/study/drawn.swf", str(STORES / "drawn.swf")))
    return Campaign.from_toml(path)


def test_it_is_sound(store: Path) -> None:
    """Every byte, and every simulated cell, agrees; nothing needs to be repaired."""
    again = Again(each=100)
    assert list(verify(store, again)) == []
    assert again.done == again.cells > 0


def test_it_opens(store: Path) -> None:
    """All policies have a mean wait in each cell."""
    summary = open_summary(store)
    assert summary.sizes["policy"] == 2
    assert np.isfinite(summary["wait"].values).all()


def test_it_grows_as_a_new_store_does(store: Path, tmp_path: Path) -> None:
    """Its cells are kept; with the new ones it equals a store that is made at once."""
    grown, at_once = dataclasses.replace(campaign_of(store), resamples=4), tmp_path / "at-once"
    assert counts(farm.run(grown, store))[1:] == (32, 32, 0)
    farm.run(grown, at_once)
    assert_same_by_label(store, at_once)
    assert list(verify(store)) == []


def test_damage_is_still_found(store: Path) -> None:
    """A log's content and bytes, and metadata apart from former names, are compared as ever."""
    (path,) = (store / "traces").glob("*.npz")
    whole, name = path.read_bytes(), f"traces/{path.name}"
    path.write_bytes(whole[:-1] + b"\1")
    (fault,) = verify(store)
    assert (fault.name, fault.remedy) == (name, Remedy.ENCODE)
    assert repair(store, [fault]) == []
    assert load_log(path.read_bytes()).digest() == path.stem
    assert list(verify(store)) == []
    log = load_log(whole)
    path.write_bytes(log_bytes(dataclasses.replace(log, submit=fixed(log.submit + 1))))
    found = list(verify(store))
    assert [fault.why for fault in found] == ["does not match the digest in its name"]
    repair(store, found)
    (missing,) = verify(store)
    assert missing.why.startswith("is missing; the next run writes it again")
    metadata = store / "results.zarr" / "load" / "zarr.json"
    described = json.loads(metadata.read_text())
    described["attributes"]["units"] = "s"
    metadata.write_text(json.dumps(described, indent=2))
    assert [fault.name for fault in verify(store)] == ["results.zarr/load/zarr.json"]

"""Growth by samples and loads that last longer, and of stores whose values were altered."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarr

from schedfarm import farm
from schedfarm.core.format.names import ARRAYS, CHUNKS
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.verify import verify
from tests.support.growing import (
    SMALL,
    assert_same_by_label,
    cut,
)
from tests.support.made import MadeStores


def alter_value(store: Path, variable: str) -> None:
    """Write another value, in the one cell of the second block, as Zarr would."""
    group: Any = zarr.open_group(store / ARRAYS, mode="r+", use_consolidated=False)
    array, third = group["m"][variable], (2, 0, 0, 0)
    array[third] = array[third] + 1


def alter_bytes(store: Path, variable: str) -> None:
    """Turn the bytes of the last file around, so that Zarr cannot read it."""
    folder = store / ARRAYS / "m" / variable / CHUNKS
    file = max(file for file in folder.rglob("*") if file.is_file())
    file.write_bytes(file.read_bytes()[::-1])


@pytest.mark.parametrize("alter", [alter_value, alter_bytes])
@pytest.mark.parametrize("variable", ["wait", "week_wait"])
def test_growth__altered_values_of_a_partly_filled_block_are_simulated_again(
    tmp_path: Path,
    made_store: MadeStores,
    monkeypatch: pytest.MonkeyPatch,
    alter: Callable[[Path, str], None],
    variable: str,
) -> None:
    """They agree with no checksum of their record; a new record would vouch for them."""
    one = dataclasses.replace(SMALL, policies=("fcfs+easy",), loads=("original",))
    grown, store = dataclasses.replace(one, resamples=5), tmp_path / "grown"
    at_once = made_store(grown)
    cut(monkeypatch, 2)
    farm.run(one, store)
    alter(store, variable)
    farm.run(grown, store)
    assert_same_by_label(store, at_once)
    assert list(verify(store)) == []


def test_growth__later_samples_may_span_more_weeks(tmp_path: Path, made_store: MadeStores) -> None:
    """Samples of a model differ in weeks; a later one that is longer is counted as it would be."""
    small = dataclasses.replace(
        SMALL, traces=(Trace(name="m", model="lublin", processors=64, jobs=2000),), resamples=1
    )
    larger = dataclasses.replace(small, resamples=6)
    farm.run(small, tmp_path / "grown")
    farm.run(larger, tmp_path / "grown")
    assert_same_by_label(tmp_path / "grown", made_store(larger))


def test_growth__later_samples_of_a_log_may_have_more_jobs(tmp_path: Path) -> None:
    """Weeks drawn with replacement differ in jobs: no sample is known to be the largest."""
    write_swf(lublin(64, weeks=6, seed=5, users=4), tmp_path / "a.swf")
    small = dataclasses.replace(
        SMALL, traces=(Trace(file=str(tmp_path / "a.swf")),), resamples=1, draw="replace"
    )
    larger = dataclasses.replace(small, resamples=12)
    farm.run(small, tmp_path / "grown")
    shard = farm.Store.open(tmp_path / "grown").layouts["a"].inner["job"]
    assert farm.run(larger, tmp_path / "grown").failed == 0
    assert farm.Store.open(tmp_path / "grown").jobs["a"] > shard
    farm.run(larger, tmp_path / "at-once")
    assert_same_by_label(tmp_path / "grown", tmp_path / "at-once")


def test_growth__a_lower_load_may_span_more_weeks(tmp_path: Path) -> None:
    """What spreads arrivals makes `week` longer: blocks then have several shards along it."""
    small = dataclasses.replace(
        SMALL, load_by="interarrival", loads=("0.9",), resamples=2, block_seconds=100
    )
    larger = dataclasses.replace(small, loads=("0.9", "0.01"), resamples=3)
    farm.run(small, tmp_path / "grown")
    farm.run(larger, tmp_path / "grown")
    farm.run(larger, tmp_path / "at-once")
    assert_same_by_label(tmp_path / "grown", tmp_path / "at-once")
    with farm.open(tmp_path / "grown") as tree:
        group = tree[SMALL.traces[0].name]
        assert group.sizes["week"] > 2 * group["week_jobs"].encoding["chunks"][-1]
        assert (group["week_jobs"].sum("week") == group["jobs"]).all()
    assert list(verify(tmp_path / "grown")) == []

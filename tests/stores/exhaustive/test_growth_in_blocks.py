"""Growth of every axis of a store that is cut into many blocks."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.store.product import PRODUCTS
from schedfarm.farm.verify import verify
from tests.support.growing import (
    GROWN,
    SMALL,
    assert_fills_up,
    assert_grows,
    assert_same_by_label,
    cut,
)  # fmt: skip
from tests.support.made import MadeStores


@pytest.mark.parametrize("axis", GROWN)
def test_growth__in_blocks_of_two_cells(
    tmp_path: Path, made_store: MadeStores, monkeypatch: pytest.MonkeyPatch, axis: str
) -> None:
    """Only the new cells run, and the store equals one made at once, in one block."""
    at_once = made_store(GROWN[axis])
    cut(monkeypatch, 2)
    farm.run(SMALL, tmp_path / "grown")
    assert_grows(tmp_path / "grown", axis, at_once)


def test_growth__of_all_axes_in_one_block(tmp_path: Path, made_store: MadeStores) -> None:
    """Only the new cells run, and the store equals one made at once."""
    at_once = made_store(GROWN["all"])
    assert_grows(made_store.copy(SMALL, tmp_path / "grown"), "all", at_once)


@pytest.mark.parametrize("axis", ["policies", "loads", "resamples"])
def test_growth__a_partly_filled_block_fills_up(
    tmp_path: Path, made_store: MadeStores, monkeypatch: pytest.MonkeyPatch, axis: str
) -> None:
    """Growing an axis from 3 to 5 labels in blocks of 2 leaves the first block's files alone."""
    assert_fills_up(axis, tmp_path / "s", made_store, monkeypatch)


@pytest.mark.parametrize(
    ("seconds", "blocks"), [(0.0, False), (1e-4, True)], ids=["whole", "cut along jobs"]
)
def test_growth__later_samples_may_have_more_jobs(
    tmp_path: Path, made_store: MadeStores, seconds: float, blocks: bool
) -> None:
    """The `job` axis grows beyond the shards that it had; fair start times get more pieces."""
    # The first two samples have 1,020 and 991 jobs, the third has 1,027.
    per_week = {"per_week": 340}
    trace = Trace(name="m", model="poisson", processors=64, weeks=3, parameters=per_week)
    small = dataclasses.replace(
        SMALL, traces=(trace,), policies=("fcfs+easy",), loads=("original",), seed=3,
        fairness=("strict", "resource"), resamples=2, block_seconds=seconds,
    )  # fmt: skip
    larger = dataclasses.replace(small, resamples=3)
    assert farm.run(small, tmp_path / "grown").failed == 0
    layout = farm.Store.open(tmp_path / "grown").layouts["m"]
    assert farm.run(larger, tmp_path / "grown").failed == 0
    assert farm.Store.open(tmp_path / "grown").jobs["m"] > layout.inner["job"]
    assert layout.cuts(PRODUCTS["strict"]) == blocks
    assert_same_by_label(tmp_path / "grown", made_store(larger))
    assert list(verify(tmp_path / "grown")) == []

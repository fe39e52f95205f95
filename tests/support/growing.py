"""A small campaign, its growth, and a comparison of two stores."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import Outcome
from schedfarm.farm.planning import block_shape
from tests.support.harness import records
from tests.support.made import MadeStores

SMALL = Campaign(
    name="grow",
    seed=5,
    traces=(Trace(name="m", model="lublin", processors=64, jobs=60),),
    policies=("fcfs+easy", "saf+easy"),
    loads=("original", "0.9"),
    resamples=3,
)
LARGER_TRACE = Trace(name="n", model="lublin", processors=32, jobs=80)

GROWN = {
    "policy": dataclasses.replace(SMALL, policies=("spf+easy", *SMALL.policies)),
    "load": dataclasses.replace(SMALL, loads=("0.7", *SMALL.loads)),
    "trace": dataclasses.replace(SMALL, traces=(LARGER_TRACE, *SMALL.traces)),
    "resample": dataclasses.replace(SMALL, resamples=5),
    "log": dataclasses.replace(SMALL, log=True),
    "all": dataclasses.replace(
        SMALL,
        policies=("spf+easy", *SMALL.policies),
        loads=("0.7", *SMALL.loads),
        traces=(LARGER_TRACE, *SMALL.traces),
        resamples=8,
    ),
}


def counts(outcome: Outcome) -> tuple[int, int, int, int]:
    return outcome.cells, outcome.before, outcome.done, outcome.failed


def tree(store: Path) -> xr.DataTree:
    return xr.open_datatree(store / "results.zarr", engine="zarr", chunks=None).load()


def assert_same_by_label(mine: Path, other: Path) -> None:
    """Assert that every value of a store equals the value with the same labels in another."""
    left, right = tree(mine), tree(other)
    assert set(left.children) == set(right.children)
    for path in ["/", *right.children]:
        a, b = left[path].to_dataset(), right[path].to_dataset()
        assert set(a.variables) == set(b.variables)
        labels = {d: b[d] for d in b.dims if d in b.coords}
        xr.testing.assert_equal(a.sel(labels), b)


def assert_grows(store: Path, axis: str, at_once: Path) -> None:
    """Grow a store of the small campaign; assert that only new cells run, and all values are
    right."""
    larger, before = GROWN[axis], tree(store)
    assert counts(farm.run(larger, store)) == (larger.cells, 12, larger.cells - 12, 0)
    after = tree(store)
    for path in ("/", "m"):
        old = before[path].to_dataset()
        labels = {d: old[d] for d in old.dims if d in old.coords}
        xr.testing.assert_equal(after[path].to_dataset().sel(labels), old)
    assert_same_by_label(store, at_once)
    assert counts(farm.run(larger, store)) == (larger.cells, larger.cells, 0, 0)


def cut(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    """Cut the small campaigns' traces into blocks of a number of cells."""
    monkeypatch.setattr(block_shape, "SHARD_BYTES", 8 * block_shape.JOB_STEP * cells)


def assert_fills_up(
    axis: str, store: Path, made_store: MadeStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grow an axis from 3 to 5 labels in blocks of 2; assert that the first block is unchanged."""
    labels: dict[str, tuple[Any, ...]] = {
        "policies": ("fcfs+easy", "saf+easy", "spf+easy", "sqf+easy", "fcfs+none"),
        "loads": ("original", "0.6", "0.7", "0.8", "0.9"),
        "resamples": (1, 2, 3, 4, 5),
    }
    one = dataclasses.replace(SMALL, policies=("fcfs+easy",), loads=("original",), resamples=1)

    def of(count: int) -> Campaign:
        value = count if axis == "resamples" else labels[axis][:count]
        return dataclasses.replace(one, **{axis: value})

    at_once = made_store(of(5))
    cut(monkeypatch, 2)
    farm.run(of(3), store)
    before = {k: v for k, v in records(store).items() if "/cells/" in k}
    assert counts(farm.run(of(5), store)) == (5, 3, 2, 0)
    after = records(store)
    assert len(before) == 2
    assert len([name for name in after if "/cells/" in name]) == 3
    for name, written in before.items():
        whole = name.endswith("/00000-00000-00000.00000.json")
        assert (after[name] == written) == whole
    assert_same_by_label(store, at_once)

"""A small campaign, what it may grow to, and when two stores hold the same."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import xarray as xr

from farm.campaign.campaign import Campaign
from farm.campaign.trace import Trace
from farm.execution.runner import Outcome

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
    """Hold every value of one store equal to that of another with the same labels."""
    left, right = tree(mine), tree(other)
    assert set(left.children) == set(right.children)
    for path in ["/", *right.children]:
        a, b = left[path].to_dataset(), right[path].to_dataset()
        assert set(a.variables) == set(b.variables)
        labels = {d: b[d] for d in b.dims if d in b.coords}
        xr.testing.assert_equal(a.sel(labels), b)

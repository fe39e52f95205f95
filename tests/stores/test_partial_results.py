"""The summary can be read while a run goes on, and while a store grows."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.farm.execution.run import begin
from schedfarm.farm.watching.events import BlockDone, Event
from tests.support.growing import GROWN, SMALL
from tests.support.made import MadeStores

MANY = dataclasses.replace(
    SMALL, traces=tuple(dataclasses.replace(SMALL.traces[0], name=name) for name in "abcd")
)
"""At least a task for each trace."""


def known(store: Path) -> int:
    """Return how many cells have a mean wait in the summary."""
    with xr.open_zarr(store / "results.zarr", chunks=None) as summary:
        return int(summary["wait"].notnull().sum())


class Reader:
    """Somebody who looks at the summary whenever a block is done."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.seen: list[int] = []

    def see(self, event: Event) -> None:
        if isinstance(event, BlockDone):
            self.seen.append(known(self.store))


@pytest.mark.parametrize(("seconds", "early"), [(0.0, True), (60.0, False)])
def test_summary__is_refreshed_while_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, early: bool
) -> None:
    """What is done counts, at the latest a minute later, and not only at the end."""
    monkeypatch.setattr("schedfarm.farm.store.summary.REFRESH_SECONDS", seconds)
    monkeypatch.setattr("schedfarm.farm.store.summary.REFRESH_SHARE", 1e9)
    reader = Reader(tmp_path)
    farm.run(MANY, tmp_path, watch=reader)
    assert len(reader.seen) > 6
    assert reader.seen == sorted(reader.seen)
    assert (0 < reader.seen[-1] < MANY.cells) == early
    assert known(tmp_path) == MANY.cells


def test_summary__outlasts_the_growth_of_its_store(made_store: MadeStores, tmp_path: Path) -> None:
    """Before the first new cell is done, the old ones are there."""
    store = made_store.copy(SMALL, tmp_path / "s")
    with begin(GROWN["all"], store) as sweep:
        assert sweep.before == known(store) == SMALL.cells

"""What a killed build leaves is in nobody's way: another campaign's, half a file, a growth."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr

from schedfarm import farm
from tests.support.deaths import kill_build
from tests.support.growing import GROWN, SMALL, counts, tree
from tests.support.harness import assert_same_results, partial
from tests.support.made import MadeStores


def test_killed_build__of_another_campaign_leaves_no_layout_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_store: MadeStores
) -> None:
    """Shards of an unfinished build must not outlive it: two tasks would write into one."""
    kill_build(monkeypatch, "store.template._consolidate", GROWN["all"], tmp_path / "s")
    farm.run(SMALL, tmp_path / "s")
    assert_same_results(tmp_path / "s", made_store(SMALL))


def test_killed_build__half_a_file_is_no_obstacle(tmp_path: Path, made_store: MadeStores) -> None:
    """A partial store.json, left by a kill in mid-write, is not taken for a stranger's file."""
    store = tmp_path / "s"
    store.mkdir()
    (store / "store.json.0123456789abcdef.partial").write_text('{"format": "sch')
    assert counts(farm.run(SMALL, store)) == (12, 0, 12, 0)
    assert partial(store) == []
    assert_same_results(store, made_store(SMALL))


@pytest.mark.parametrize("step", ["store.folder.Folder.publish", "store.store.Store.save"])
def test_killed_growth__may_be_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_store: MadeStores, step: str
) -> None:
    """The smaller campaign still runs on a store whose growth was killed."""
    store = made_store.copy(SMALL, tmp_path / "s")
    kill_build(monkeypatch, step, GROWN["all"], store)
    assert counts(farm.run(SMALL, store)) == (12, 12, 0, 0)
    smaller, whole = tree(store), tree(made_store(SMALL))
    xr.testing.assert_equal(smaller["m"].to_dataset(), whole["m"].to_dataset())
    xr.testing.assert_equal(smaller.to_dataset(), whole.to_dataset())

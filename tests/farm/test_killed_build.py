"""A build that was killed is begun again: nothing of it is in the way, nothing done is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import farm
import farm.planning.block_shape
import farm.store.folder
from farm.campaign.campaign import Campaign
from farm.store.place import Where
from farm.verify import Again, verify
from tests.farm.growing import GROWN, SMALL, assert_same_by_label, counts, tree
from tests.farm.harness import assert_same_results, partial


class Killed(BaseException):
    """Stands for the end of the process: nothing after it runs."""


STEPS = (
    "planning.design.install",
    "store.skeleton.consolidate",
    "store.folder.Folder.put",
    "store.folder.Folder.settle",
    "store.skeleton._remove_others",
    "store.folder.write_whole",
)
"""Functions of a build that die, by where they are called from."""


def kill_build(
    monkeypatch: pytest.MonkeyPatch, step: str, campaign: Campaign, store: Where
) -> None:
    """Run a campaign that dies at a step of building its store."""

    def die(*arguments: Any, **keys: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(f"farm.{step}", die)
        with pytest.raises(Killed):
            farm.run(campaign, store)


@pytest.mark.parametrize("step", STEPS)
def test_killed_build__is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A store that was never finished being built holds nobody up."""
    kill_build(monkeypatch, step, SMALL, tmp_path / "s")
    assert counts(farm.run(SMALL, tmp_path / "s")) == (12, 0, 12, 0)
    farm.run(SMALL, tmp_path / "whole")
    assert_same_results(tmp_path / "s", tmp_path / "whole")


def test_killed_build__of_another_campaign_leaves_no_layout_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shards of an unfinished build must not outlive it: two tasks would write into one."""
    kill_build(monkeypatch, "store.skeleton.consolidate", GROWN["all"], tmp_path / "s")
    farm.run(SMALL, tmp_path / "s")
    farm.run(SMALL, tmp_path / "whole")
    assert_same_results(tmp_path / "s", tmp_path / "whole")


def test_killed_build__half_a_file_is_no_obstacle(tmp_path: Path) -> None:
    """What a kill in the middle of writing store.json leaves is not taken for a stranger's."""
    farm.run(SMALL, tmp_path / "whole")
    store = tmp_path / "s"
    store.mkdir()
    (store / "store.json.0123456789abcdef.partial").write_text('{"format": "sch')
    assert counts(farm.run(SMALL, store)) == (12, 0, 12, 0)
    assert partial(store) == []
    assert_same_results(store, tmp_path / "whole")


@pytest.mark.parametrize("step", STEPS)
def test_killed_growth__is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A store that was killed while it grew has lost nothing, and grows at the next run."""
    farm.run(SMALL, tmp_path / "s")
    kill_build(monkeypatch, step, GROWN["all"], tmp_path / "s")
    cells = GROWN["all"].cells
    assert counts(farm.run(GROWN["all"], tmp_path / "s")) == (cells, 12, cells - 12, 0)
    farm.run(GROWN["all"], tmp_path / "whole")
    assert_same_by_label(tmp_path / "s", tmp_path / "whole")


@pytest.mark.parametrize("step", ["store.folder.Folder.put", "store.store.Store.save"])
def test_killed_growth__may_be_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The smaller campaign still runs on a store whose growth was killed."""
    farm.run(SMALL, tmp_path / "whole")
    farm.run(SMALL, tmp_path / "s")
    kill_build(monkeypatch, step, GROWN["all"], tmp_path / "s")
    assert counts(farm.run(SMALL, tmp_path / "s")) == (12, 12, 0, 0)
    smaller, whole = tree(tmp_path / "s"), tree(tmp_path / "whole")
    xr.testing.assert_equal(smaller["m"].to_dataset(), whole["m"].to_dataset())
    xr.testing.assert_equal(smaller.to_dataset(), whole.to_dataset())


@pytest.mark.parametrize("name", ["store.copy.json", "campaign.toml", "store.json"])
@pytest.mark.parametrize("there", [False, True], ids=["first build", "growth"])
def test_killed_while_saved__is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, there: bool
) -> None:
    """Whichever of the three files was the next to be written."""
    whole = farm.store.folder.write_whole

    def write(path: Path, data: bytes, *, private: bool = False) -> None:
        if path.name == name:
            raise Killed
        whole(path, data, private=private)

    store = tmp_path / "s"
    if there:
        farm.run(SMALL, store)
    with monkeypatch.context() as patch:
        patch.setattr("farm.store.folder.write_whole", write)
        with pytest.raises(Killed):
            farm.run(GROWN["all"], store)
    assert farm.run(GROWN["all"], store).failed == 0
    farm.run(GROWN["all"], tmp_path / "whole")
    assert_same_by_label(store, tmp_path / "whole")
    assert list(verify(store, Again(0))) == []

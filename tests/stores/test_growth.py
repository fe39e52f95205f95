"""A campaign may grow, which costs only what is new, and not shrink."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.core.errors import InputError
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import begin
from schedfarm.farm.verify import verify
from tests.support.growing import (
    GROWN,
    SMALL,
    assert_fills_up,
    assert_grows,
    cut,
    tree,
)
from tests.support.harness import snapshot
from tests.support.made import MadeStores


@pytest.mark.parametrize("axis", sorted(GROWN.keys() - {"log", "all"}))
def test_growth__only_the_new_cells_run(tmp_path: Path, made_store: MadeStores, axis: str) -> None:
    """A grown store equals one made at once, and what was there is not simulated again."""
    at_once = made_store(GROWN[axis])
    assert_grows(made_store.copy(SMALL, tmp_path / "grown"), axis, at_once)


def test_growth__in_many_blocks(
    tmp_path: Path, made_store: MadeStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in one block; tests/stores/exhaustive grows every axis."""
    at_once = made_store(GROWN["load"])
    cut(monkeypatch, 2)
    farm.run(SMALL, tmp_path / "grown")
    assert_grows(tmp_path / "grown", "load", at_once)


def test_growth__a_partly_filled_block_fills_up(
    tmp_path: Path, made_store: MadeStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Growing an axis from 3 to 5 labels in blocks of 2 leaves the first block's files alone."""
    assert_fills_up("resamples", tmp_path / "s", made_store, monkeypatch)


def test_growth__the_log_itself_comes_last_on_the_axis(
    tmp_path: Path, made_store: MadeStores
) -> None:
    """A store that gains the log keeps its axis and appends: labels say what is what."""
    at_once, store = made_store(GROWN["log"]), made_store.copy(SMALL, tmp_path / "grown")
    assert_grows(store, "log", at_once)
    assert tree(store)["resample"].values.tolist() == [1, 2, 3, 0]


def test_renaming__leaves_the_summary_as_it_is(tmp_path: Path, made_store: MadeStores) -> None:
    """What no result depends on may change; nothing is made anew for it, even if nothing runs."""
    made_store.copy(SMALL, tmp_path / "s")
    before = tree(tmp_path / "s")
    renamed = dataclasses.replace(SMALL, title="Another title")
    with begin(renamed, tmp_path / "s") as sweep:
        assert sweep.tasks == []
    assert tree(tmp_path / "s").identical(before)
    assert (tmp_path / "s" / "campaign.toml").read_text() == renamed.to_toml()
    assert list(verify(tmp_path / "s")) == []


def test_an_empty_sample__is_a_cell_of_no_jobs(tmp_path: Path) -> None:
    """A user who was there in few weeks may be drawn in none of them."""
    row = "{} {} -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    weeks = (0, 1, 20)
    text = "".join(row.format(k + 1, week * 604_800) for k, week in enumerate(weeks))
    (tmp_path / "a.swf").write_text("; MaxProcs: 8\n" + text)
    trace = Trace(file=str(tmp_path / "a.swf"), weeks=1)
    empty = dataclasses.replace(SMALL, traces=(trace,), seed=0, loads=("original",), resamples=1)
    farm.run(empty, tmp_path / "s")
    assert (tree(tmp_path / "s")["a/jobs"] == 0).all()
    assert list(verify(tmp_path / "s")) == []


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(SMALL, resamples=2),
        dataclasses.replace(SMALL, policies=("saf+easy",)),
        dataclasses.replace(SMALL, seed=6),
        dataclasses.replace(SMALL, tau=1),
        dataclasses.replace(SMALL, traces=(dataclasses.replace(SMALL.traces[0], jobs=61),)),
    ],
    ids=["resamples", "policies", "seed", "tau", "trace"],
)
def test_shrinking__is_refused(made_store: MadeStores, tmp_path: Path, other: Campaign) -> None:
    """What is in a store stays what it is."""
    store = made_store.copy(SMALL, tmp_path / "s")
    before = snapshot(store)
    with pytest.raises(InputError, match="give another --store"):
        farm.run(other, store)
    assert snapshot(store) == before


def test_changed_log__is_refused(tmp_path: Path) -> None:
    """A log that has changed under its name is another log."""
    row = "{} {} -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    log = tmp_path / "a.swf"
    log.write_text("; MaxProcs: 8\n" + "".join(row.format(k, 3600 * k) for k in range(1, 30)))
    campaign = dataclasses.replace(SMALL, traces=(Trace(file=str(log)),))
    farm.run(campaign, tmp_path / "s")
    log.write_text(log.read_text().replace(" 10 2 ", " 11 2 ", 1))
    with pytest.raises(InputError, match="trace 'a' differs from the one of the store"):
        farm.run(campaign, tmp_path / "s")


def test_folder_with_somebody_elses_traces__is_refused(tmp_path: Path) -> None:
    """A folder of logs beside a campaign file is not an unfinished store."""
    (tmp_path / "s" / "traces").mkdir(parents=True)
    with pytest.raises(InputError, match="is not a store"):
        farm.run(SMALL, tmp_path / "s")
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["traces"]


def test_names_of_the_package__are_functions(made_store: MadeStores) -> None:
    """No module of the package hides one of its names, once a run has imported them all."""
    store = made_store(SMALL)
    assert all(callable(getattr(farm, name)) for name in farm.__all__)
    assert farm.status(store).done == 12

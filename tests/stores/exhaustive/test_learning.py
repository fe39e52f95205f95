"""Stores that learn: what the program or a campaign has more than a store, the next run adds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from schedfarm import farm
from schedfarm.core.errors import InputError
from schedfarm.core.format.names import COPY, MANIFEST
from schedfarm.core.format.version import FORMAT
from schedfarm.core.metrics.declared import METRICS
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.store.block import OpenBlock, commit
from schedfarm.farm.store.store import sealed
from schedfarm.farm.verify import Again, verify
from tests.support.growing import assert_same_by_label, counts
from tests.support.harness import arrays, assert_same_results
from tests.support.learning import (
    BEHAVIOUR,
    CELLS,
    MINE,
    NEW,
    assert_grows_and_learns,
    grown,
    learn,
    learner,
    learnt,
)
from tests.support.made import MadeStores


@pytest.fixture
def campaign(made_store: MadeStores) -> Campaign:
    """Return the campaign that is to learn, whose store is there by then."""
    one = learner(made_store)
    made_store(one)
    return one


@pytest.fixture
def learns(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what adds the new metrics to the program."""
    return lambda: learn(monkeypatch)


def shards(store: Path, names: Mapping[str, Iterable[str]]) -> dict[Path, tuple[int, int, bytes]]:
    """Return inode, instant and bytes of every shard of some arrays of each trace."""
    folders = (store / "results.zarr" / trace / name for trace in names for name in names[trace])
    files = [p for f in folders for p in f.rglob("*") if p.is_file() and p.name != "zarr.json"]
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns, p.read_bytes()) for p in files}


def held(store: Path) -> dict[str, list[str]]:
    """Return the names of the arrays that a store has of each trace."""
    opened = farm.Store.open(store)
    return {
        trace: [v.name for kind in opened.holds for v in opened.arrays_of(trace, kind)]
        for trace in opened.axes["trace"]
    }


def done(store: Path) -> tuple[int, int, int, int, int]:
    found = farm.status(store)
    return found.cells, found.done, found.failed, found.missing, found.jobs


def test_a_metric_of_the_program__reaches_a_store(
    campaign: Campaign,
    tmp_path: Path,
    made_store: MadeStores,
    learns: Callable[[], None],
) -> None:
    """The same command adds it, simulates nothing, and leaves every shard that was there alone."""
    store = tmp_path / "s"
    made_store.copy(campaign, store)
    assert len(farm.Store.open(store).blocks()) >= 6
    names, values, counted = held(store), arrays(store), done(store)
    before = shards(store, names)
    learns()
    farm.run(campaign, tmp_path / "at-once")
    assert counts(learnt(campaign, store)) == (CELLS, CELLS, 0, 0)
    assert shards(store, names) == before
    assert done(store) == counted
    after = arrays(store)
    for name, old in values.items():
        np.testing.assert_array_equal(after[name], old, err_msg=name, strict=True)
    new = {name.rpartition("/")[2] for name in after.keys() - values.keys()}
    assert new == {metric.name for metric in NEW}
    assert np.isfinite(after["new_cell"]).all()
    assert np.nansum(after["log/new_user"]) > 0
    assert_same_results(store, tmp_path / "at-once")
    assert list(verify(store, Again(100, trust=True))) == []
    written = {p: p.stat().st_mtime_ns for p in (store / "records").rglob("*.json")}
    assert counts(learnt(campaign, store)) == (CELLS, CELLS, 0, 0)
    assert {p: p.stat().st_mtime_ns for p in written} == written


def test_a_metric_of_the_program__reaches_a_store_that_grows(
    campaign: Campaign, tmp_path: Path, made_store: MadeStores, learns: Callable[[], None]
) -> None:
    """New cells and what the old ones lack come with one run; the rest is in `exhaustive`."""
    made_store.copy(campaign, tmp_path / "s")
    learns()
    assert_grows_and_learns(campaign, tmp_path, "traces")


def test_a_metric_of_ones_own__reaches_a_store(
    campaign: Campaign, tmp_path: Path, made_store: MadeStores
) -> None:
    """One that a campaign names later, of a cell and of its users, is in the store as at once."""
    store, names = tmp_path / "s", ("mine:longest", "mine:waits")
    made_store.copy(campaign, store)
    before = shards(store, held(store))
    larger = grown(campaign, tmp_path, *names)
    assert counts(learnt(grown(campaign, tmp_path, names[0]), store)) == (CELLS, CELLS, 0, 0)
    assert counts(learnt(larger, store)) == (CELLS, CELLS, 0, 0)
    assert {path: was for path, was in shards(store, held(store)).items() if path in before} == (
        before
    )
    assert_same_results(store, made_store(larger))
    with farm.open(store) as tree:
        longest, waits = tree["longest"], tree["log"]["waits"]
        assert (longest.attrs["units"], waits.dims[-1]) == ("s", "user")
        assert longest.attrs["long_name"] == "Longest wait times two"
        assert (longest <= 2 * tree["wait_max"]).all()
        nuwt = tree["log"]["user_nuwt"] * tree["log"]["user_work"]
        np.testing.assert_allclose(waits.where(nuwt.notnull()), nuwt)


def test_what_failed_before__runs_again_and_learns(
    campaign: Campaign, tmp_path: Path, learns: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed cell of a block that learns stays a failed cell; its neighbours learn."""
    text = (
        "def picky(submit, procs):\n"
        "    if procs.max() > 30: raise RuntimeError('too wide')\n"
        "    return submit\n"
    )
    (tmp_path / "picky_one.py").write_text(text)
    policies = (*campaign.policies, "picky_one:picky+easy")
    whole = dataclasses.replace(campaign, policies=policies, folder=tmp_path)
    store = tmp_path / "s"
    failed = farm.run(whole, store).failed
    assert 0 < failed <= 6
    learns()
    assert farm.run(whole, store).failed == failed
    farm.run(whole, tmp_path / "at-once")
    assert_same_by_label(store, tmp_path / "at-once")
    assert list(verify(store, Again(100, trust=True))) == []


def test_a_run_that_ends_while_it_learns__goes_on(
    campaign: Campaign,
    tmp_path: Path,
    made_store: MadeStores,
    learns: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between shards and records, and after some of the blocks: the next run ends it."""
    store = tmp_path / "s"
    made_store.copy(campaign, store)
    learns()
    farm.run(campaign, tmp_path / "at-once")
    calls: list[int] = []

    def torn(blocks: Iterable[OpenBlock]) -> None:
        calls.append(1)
        if len(calls) < 2:
            commit(blocks)
            return
        for block in blocks:
            block.write()
        raise KeyboardInterrupt

    with monkeypatch.context() as torn_commit:
        torn_commit.setattr(farm.execution.worker, "commit", torn)
        assert learnt(campaign, store).interrupted
    lacking = farm.status(store)
    assert (lacking.done, lacking.missing) == (CELLS, 0)
    assert list(verify(store, Again(100, trust=True))) == []
    assert np.isnan(arrays(store)["new_cell"]).any()
    assert np.isfinite(arrays(store)["new_cell"]).any()
    assert counts(learnt(campaign, store)) == (CELLS, CELLS, 0, 0)
    assert_same_results(store, tmp_path / "at-once")


def test_a_metric_that_fails__leaves_a_store_as_it_was(
    campaign: Campaign, tmp_path: Path, made_store: MadeStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cells are told with the reason, and stay acknowledged; other blocks learn; it is again.

    Tried by each run: once whatever it needs is there, the store holds it.
    """
    store, larger = tmp_path / "s", grown(campaign, tmp_path, "mine:longest")
    made_store.copy(campaign, store)
    values = arrays(store)
    at_once = made_store(larger)
    monkeypatch.setenv(BEHAVIOUR, "fail")
    told: list[str] = []

    class Watch:
        def see(self, event: Any) -> None:
            told.append(getattr(event, "text", ""))

    for _ in range(2):
        told.clear()
        outcome = learnt(larger, store, watch=Watch())
        assert (outcome.before, outcome.done, outcome.failed) == (CELLS, 0, CELLS // 2)
        assert [text.partition(": ")[2] for text in told if text] == [
            "InputError: metric 'mine:longest': ArithmeticError: not this machine"
        ]
        found = farm.status(store)
        assert (found.done, found.failed, found.missing) == (CELLS, 0, 0)
        now = arrays(store)
        for name, old in values.items():
            np.testing.assert_array_equal(now[name], old, err_msg=name, strict=True)
        assert np.isfinite(now["longest"][0]).all()
        assert np.isnan(now["longest"][1]).all()
        assert list(verify(store, Again(100, trust=True))) == []
    monkeypatch.delenv(BEHAVIOUR)
    assert counts(learnt(larger, store)) == (CELLS, CELLS, 0, 0)
    assert_same_results(store, at_once)


def test_a_mended_metric__is_learnt_again(
    campaign: Campaign, tmp_path: Path, made_store: MadeStores
) -> None:
    """Its values change without a simulation, those of the program's own metrics do not."""
    store, larger = tmp_path / "s", grown(campaign, tmp_path, "mine:longest")
    made_store.copy(larger, store)
    before = arrays(store)
    text = MINE.replace("return 2.0 * ", "return 3.0 * ")
    assert text != MINE
    (tmp_path / "mine.py").write_text(text)
    assert counts(learnt(grown(campaign, tmp_path, "mine:longest"), store)) == (CELLS, CELLS, 0, 0)
    now = arrays(store)
    np.testing.assert_array_equal(now["longest"], 1.5 * before["longest"])
    for name, values in before.items():
        if name != "longest":
            np.testing.assert_array_equal(now[name], values, err_msg=name)
    assert list(verify(store, Again(100, trust=True))) == []
    assert farm.Store.open(store).own["mine"] == text


def test_a_mended_metric_of_users__is_written_again(campaign: Campaign, tmp_path: Path) -> None:
    """An array of which every value has changed, too; the others' files stay as they are."""
    store = tmp_path / "s"
    (tmp_path / "theirs.py").write_text(THEIRS.format(factor=2))
    farm.run(grown(campaign, tmp_path, "theirs:most"), store)
    (tmp_path / "theirs.py").write_text(THEIRS.format(factor=6))
    assert counts(learnt(grown(campaign, tmp_path, "theirs:most"), store)) == (CELLS, CELLS, 0, 0)
    (tmp_path / "theirs.py").write_text(THEIRS.format(factor=6))
    farm.run(grown(campaign, tmp_path, "theirs:most"), tmp_path / "at-once")
    assert_same_results(store, tmp_path / "at-once")
    assert list(verify(store, Again(100, trust=True))) == []
    (tmp_path / "theirs.py").write_text(THEIRS.format(factor=6).replace("user", "width"))
    with pytest.raises(InputError, match="metric 'theirs:most' is on resample, load, policy, w"):
        farm.run(grown(campaign, tmp_path, "theirs:most"), store)


THEIRS = """
import numpy as np
from schedfarm.core.metrics.metric import Metric


def count(counted):
    return np.bincount(counted.users.place, minlength=len(counted.users.label) + 1)[:-1] * {factor}


most = Metric("most", "1", "jobs of the user, times a number", count, over="user", dtype="int64")
"""
"""A metric of every user's."""


def test_kinds_of_fairness__reach_a_store(
    campaign: Campaign, tmp_path: Path, made_store: MadeStores
) -> None:
    """Those that are asked for later are there as if they had been at once; the rest stays."""
    kinds = ("strict", "promise", "resource")
    store, larger = tmp_path / "s", dataclasses.replace(campaign, fairness=kinds)
    made_store.copy(campaign, store)
    before = shards(store, held(store))
    assert counts(farm.run(larger, store)) == (4 * CELLS, CELLS, 3 * CELLS, 0)
    assert {path: now for path, now in shards(store, held(store)).items() if path in before} == (
        before
    )
    assert_same_by_label(store, made_store(larger))
    assert all(np.isfinite(arrays(store)[f"unfairness_{kind}"]).all() for kind in kinds)
    assert list(verify(store, Again(100, trust=True))) == []


def test_a_metric_that_is_named_no_more__is_refused(
    campaign: Campaign, tmp_path: Path, made_store: MadeStores
) -> None:
    """What a store holds, its campaign has to name; nothing is written for less."""
    store = tmp_path / "s"
    made_store.copy(grown(campaign, tmp_path, "mine:longest", "mine:waits"), store)
    before = (store / MANIFEST).read_bytes()
    for kept, gone in (("mine:longest", "mine:waits"), ("mine:waits", "mine:longest")):
        with pytest.raises(
            InputError, match=f"holds metric '{gone}', which the campaign no longer names"
        ):
            farm.run(grown(campaign, tmp_path, kept), store)
    assert (store / MANIFEST).read_bytes() == before


def test_a_kind_of_fairness_that_is_asked_no_more__is_refused(
    campaign: Campaign, tmp_path: Path, made_store: MadeStores
) -> None:
    """As for metrics."""
    made_store.copy(dataclasses.replace(campaign, fairness=("promise",)), tmp_path / "s")
    with pytest.raises(InputError, match="holds fairness 'promise', which the campaign no longer"):
        farm.run(campaign, tmp_path / "s")


@pytest.mark.parametrize("version", [5, 7])
def test_another_format__is_refused(
    campaign: Campaign, tmp_path: Path, made_store: MadeStores, version: int
) -> None:
    """One sentence says which, and what to do."""
    store = tmp_path / "s"
    made_store.copy(campaign, store)
    plain = json.loads((store / MANIFEST).read_bytes())
    for key in ("format", "version", "crc32"):
        del plain[key]
    with pytest.MonkeyPatch.context() as older:
        older.setattr("schedfarm.farm.store.store.VERSION", version)
        for name in (MANIFEST, COPY):
            (store / name).write_bytes(sealed(plain))
    remedy = "run its campaign into a new folder" if version < 6 else "use a newer one"
    sentence = f"has format {FORMAT} version {version}; .* {FORMAT} version 6: {remedy}"
    with pytest.raises(InputError, match=sentence):
        farm.run(campaign, store)
    with pytest.raises(InputError, match=sentence):
        farm.status(store)


def test_a_store_of_fewer_metrics__is_sound(
    campaign: Campaign, tmp_path: Path, made_store: MadeStores
) -> None:
    """What the program came to know since is no fault of a store; the next run adds it."""
    store, at_once = tmp_path / "s", made_store(campaign)
    # Not by pytest's monkeypatch, which would put them back at the end.
    with patch.dict(METRICS):
        for name in ("nuwt_gini", "offered_load", "week_wait", "width_jobs"):
            del METRICS[name]
        farm.run(campaign, store)
    assert "nuwt_gini" not in arrays(store)
    assert list(verify(store, Again(100, trust=True))) == []
    assert farm.status(store).missing == 0
    farm.run(campaign, store)
    assert_same_by_label(store, at_once)
    assert list(verify(store, Again(100, trust=True))) == []

"""A campaign may grow, a build may be killed, a cell may fail: each costs only what is new."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import farm
import farm.shapes
from core.errors import InputError
from farm.campaign import Campaign
from farm.runner import Outcome
from farm.traces import Trace
from tests.farm.harness import arrays, assert_same_results, partial, records
from tests.farm.harness import farm as farm_process

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


@pytest.fixture(params=[None, 2], ids=["one block", "blocks of 2"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also cut the campaign into many blocks."""
    if request.param:
        cut(monkeypatch, request.param)


def cut(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    """Cut the small campaigns' traces into blocks of so many cells."""
    size = 8 * farm.shapes.JOB_STEP * cells
    monkeypatch.setattr(farm.shapes, "SHARD_BYTES", size)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("axis", ["policy", "load", "trace", "resample", "all"])
def test_growth__only_the_new_cells_run(tmp_path: Path, axis: str) -> None:
    """A grown store equals one made at once, and what was there is not simulated again."""
    larger = GROWN[axis]
    first = farm.run(SMALL, tmp_path / "grown")
    assert counts(first) == (12, 0, 12, 0)
    before = tree(tmp_path / "grown")
    assert counts(farm.run(larger, tmp_path / "grown")) == (
        larger.cells,
        12,
        larger.cells - 12,
        0,
    )
    after = tree(tmp_path / "grown")
    for path in ("/", "m"):
        old = before[path].to_dataset()
        labels = {d: old[d] for d in old.dims if d in old.coords}
        xr.testing.assert_equal(after[path].to_dataset().sel(labels), old)
    farm.run(larger, tmp_path / "at-once")
    assert_same_by_label(tmp_path / "grown", tmp_path / "at-once")
    assert counts(farm.run(larger, tmp_path / "grown")) == (larger.cells, larger.cells, 0, 0)


@pytest.mark.parametrize("axis", ["policies", "loads", "resamples"])
def test_growth__a_partly_filled_block_fills_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, axis: str
) -> None:
    """Growing an axis from 3 to 5 labels in blocks of 2 leaves the first block's files alone."""
    cut(monkeypatch, 2)
    labels: dict[str, tuple[Any, ...]] = {
        "policies": ("fcfs+easy", "saf+easy", "spf+easy", "sqf+easy", "fcfs+none"),
        "loads": ("original", "0.6", "0.7", "0.8", "0.9"),
        "resamples": (1, 2, 3, 4, 5),
    }
    one = dataclasses.replace(SMALL, policies=("fcfs+easy",), loads=("original",), resamples=1)

    def of(count: int) -> Campaign:
        value = count if axis == "resamples" else labels[axis][:count]
        return dataclasses.replace(one, **{axis: value})

    farm.run(of(3), tmp_path / "s")
    before = {k: v for k, v in records(tmp_path / "s").items() if "/cells/" in k}
    assert counts(farm.run(of(5), tmp_path / "s")) == (5, 3, 2, 0)
    after = records(tmp_path / "s")
    assert len(before) == 2
    assert len([name for name in after if "/cells/" in name]) == 3
    for name, written in before.items():
        whole = name.endswith("/00000-00000-00000.00000.json")
        assert (after[name] == written) == whole
    farm.run(of(5), tmp_path / "at-once")
    assert_same_by_label(tmp_path / "s", tmp_path / "at-once")


def test_growth__the_log_itself_comes_last_on_the_axis(tmp_path: Path) -> None:
    """A store that gains the log keeps its axis and appends: labels say what is what."""
    farm.run(SMALL, tmp_path / "grown")
    assert counts(farm.run(GROWN["log"], tmp_path / "grown")) == (16, 12, 4, 0)
    assert tree(tmp_path / "grown")["resample"].values.tolist() == [1, 2, 3, 0]
    farm.run(GROWN["log"], tmp_path / "at-once")
    assert_same_by_label(tmp_path / "grown", tmp_path / "at-once")


@pytest.mark.xfail(reason="the length of `week` is fixed when a trace enters a store")
def test_growth__later_samples_may_span_more_weeks(tmp_path: Path) -> None:
    """Samples of a model differ in weeks; a later one that is longer is counted as it would be."""
    small = dataclasses.replace(
        SMALL, traces=(Trace(name="m", model="lublin", processors=64, jobs=2000),), resamples=1
    )
    larger = dataclasses.replace(small, resamples=6)
    farm.run(small, tmp_path / "grown")
    farm.run(larger, tmp_path / "grown")
    farm.run(larger, tmp_path / "at-once")
    assert_same_by_label(tmp_path / "grown", tmp_path / "at-once")


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
def test_shrinking__is_refused(tmp_path: Path, other: Campaign) -> None:
    """What is in a store stays what it is."""
    farm.run(SMALL, tmp_path / "s")
    before = arrays(tmp_path / "s")
    with pytest.raises(InputError, match="give another --store"):
        farm.run(other, tmp_path / "s")
    for name, values in arrays(tmp_path / "s").items():
        np.testing.assert_array_equal(values, before[name])


def test_changed_log__is_refused(tmp_path: Path) -> None:
    """A log that has changed under its name is another log."""
    row = "{} {} -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    log = tmp_path / "a.swf"
    log.write_text("; MaxProcs: 8\n" + "".join(row.format(k, 3600 * k) for k in range(1, 30)))
    campaign = dataclasses.replace(SMALL, traces=(Trace(file=str(log)),))
    farm.run(campaign, tmp_path / "s")
    log.write_text(log.read_text().replace(" 10 2 ", " 11 2 ", 1))
    with pytest.raises(InputError, match="trace 'a' is not the one"):
        farm.run(campaign, tmp_path / "s")


class Killed(BaseException):
    """Stands for the end of the process: nothing after it runs."""


STEPS = ("fit_group", "fit_summary", "consolidate", "write_whole")


def kill_build(monkeypatch: pytest.MonkeyPatch, step: str, campaign: Campaign, store: Path) -> None:
    """Run a campaign that dies at a step of building its store."""

    def die(*arguments: Any, **keys: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(f"farm.build.{step}", die)
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
    kill_build(monkeypatch, "consolidate", GROWN["all"], tmp_path / "s")
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


@pytest.mark.parametrize("step", ["fit_summary", "consolidate"])
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


ORDERS = '''
def picky(submit, estimate, procs, user, now):
    """Order by submission; refuse the logs of one of the two traces."""
    if submit.size == 60:
        raise RuntimeError("not these")
    return submit

picky.static = True
'''


@pytest.fixture
def picky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign in which the cells of one policy on one trace fail."""
    (tmp_path / "picky_order.py").write_text(ORDERS)
    monkeypatch.syspath_prepend(tmp_path)
    return dataclasses.replace(
        SMALL,
        traces=(*SMALL.traces, LARGER_TRACE),
        policies=("fcfs+easy", "picky_order:picky+easy"),
    )


def test_failed_cells__are_data(tmp_path: Path, picky: Campaign) -> None:
    """The other cells are done, the failed are told with their traceback and run again if asked."""
    store = tmp_path / "s"
    assert counts(farm.run(picky, store)) == (24, 0, 24, 6)
    found = farm.status(store)
    assert (found.done, found.failed, found.missing) == (18, 6, 0)
    assert {(f.trace, f.policy) for f in found.failures} == {("m", "picky_order:picky+easy")}
    assert "not these" in found.failures[0].error
    assert "in picky" in found.failures[0].traceback
    summary = tree(store).to_dataset()["wait"]
    assert summary.isnull().sum() == 6
    assert summary.sel(trace="m", policy="picky_order:picky+easy").isnull().all()
    starts = tree(store)["m/start"].sel(policy="picky_order:picky+easy")
    assert (starts == -1).all()
    assert counts(farm.run(picky, store)) == (24, 24, 0, 6)
    before = records(store)
    assert counts(farm.run(picky, store, retry_failed=True)) == (24, 18, 6, 6)
    again = {name for name, written in records(store).items() if written != before[name]}
    assert {name.split("/")[:2] == ["m", "cells"] for name in again} == {True}
    grown = dataclasses.replace(picky, resamples=4)
    assert farm.run(grown, store).failed == 8


def test_failed_cells__command_line(tmp_path: Path, picky: Campaign) -> None:
    """Exit status 1, and `farm status --failed` says why."""
    (tmp_path / "c.toml").write_text(picky.to_toml())
    farm.run(picky, tmp_path / "grow.farm")
    ended = farm_process(tmp_path, "run", "c.toml")
    assert ended.returncode == 1, ended
    assert "24 cells: 24 done before, 0 simulated now, 6 failed" in ended.stdout
    said = farm_process(tmp_path, "status", "grow.farm", "--failed")
    assert said.returncode == 0
    assert said.stdout.count("RuntimeError: not these") >= 6
    assert "Traceback" in said.stdout
    plain = farm_process(tmp_path, "status", "grow.farm", "--json")
    assert json.loads(plain.stdout)["failed"] == 6


def test_load_that_cannot_be_reached__fails_its_cells_alone(tmp_path: Path) -> None:
    """Jobs submitted at one instant have no offered load; the original load needs none."""
    row = "{} 0 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    (tmp_path / "a.swf").write_text("; MaxProcs: 8\n" + "".join(row.format(k) for k in range(9)))
    campaign = dataclasses.replace(SMALL, traces=(Trace(file=str(tmp_path / "a.swf")),))
    assert counts(farm.run(campaign, tmp_path / "s")) == (12, 0, 12, 6)
    failures = farm.status(tmp_path / "s").failures
    assert {f.load for f in failures} == {"0.9"}
    assert "offered load" in failures[0].error
    assert tree(tmp_path / "s")["wait"].sel(load="original").notnull().all()
    assert (tree(tmp_path / "s")["a/submit"].sel(load="original") == 0).all()


def test_status__is_a_function_however_it_was_imported(tmp_path: Path) -> None:
    """No module of the package hides one of its names."""
    farm.run(SMALL, tmp_path / "s")
    for name in farm.__all__:
        assert getattr(farm, name) is getattr(farm, name)
        assert callable(getattr(farm, name))
    assert farm.status(tmp_path / "s").done == farm.status(tmp_path / "s").done == 12


def test_folder_with_somebody_elses_traces__is_refused(tmp_path: Path) -> None:
    """A folder of logs beside a campaign file is not an unfinished store."""
    (tmp_path / "s" / "traces").mkdir(parents=True)
    with pytest.raises(InputError, match="is not a store"):
        farm.run(SMALL, tmp_path / "s")
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["traces"]

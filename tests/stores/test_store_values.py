"""A store read with plain xarray holds what `simulate` gives for the same cell."""

from __future__ import annotations

import itertools
import json
import zlib
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

from schedfarm import farm
from schedfarm.core import InputError, read_swf, resample_weekly, scale_load, simulate, summarise
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.metrics.declared import metrics_over
from schedfarm.core.metrics.metric import CELL
from schedfarm.core.metrics.weekly import weekly
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.cli import cli
from schedfarm.farm.store.product import PRODUCTS, WEEKS
from tests.support.made import MadeStores

UNITS = {"1", "s", "processor s", "1 / processor", "1 / processor^2"}
"""What the arrays of a store are counted in."""

POLICIES = ("fcfs+easy", "saf+easy,threshold=3x", "spf+conservative")


@pytest.fixture(scope="module")
def log(made_store: MadeStores) -> Path:
    def write(folder: Path) -> None:
        folder.mkdir()
        write_swf(lublin(64, weeks=3, seed=5, users=8), folder / "small.swf.gz")

    return made_store.once("log-of-values", write) / "small.swf.gz"


@pytest.fixture(scope="module")
def campaign(log: Path) -> Campaign:
    return Campaign(
        name="values",
        traces=(
            Trace(name="small", file=str(log)),
            Trace(name="model", model="lublin", processors=32, jobs=80, parameters={"f": 1.0}),
        ),
        policies=POLICIES,
        loads=("original", "0.95"),
        resamples=3,
        log=True,
        seed=11,
    )


@pytest.fixture(scope="module")
def store(campaign: Campaign, made_store: MadeStores) -> Path:
    return made_store(campaign)


@pytest.mark.parametrize("resample", [0, 2])
@pytest.mark.parametrize("load", ["original", "0.95"])
@pytest.mark.parametrize("policy", POLICIES)
def test_cell_equals_a_simulation_by_hand(
    log: Path, store: Path, resample: int, load: str, policy: str
) -> None:
    """Every per-job, per-week and summary value is that of `core` on the same jobs."""
    jobs = read_swf(log)
    if resample:
        jobs = resample_weekly(jobs, seed=11, index=resample)
    if load != "original":
        jobs = scale_load(jobs, float(load))
    schedule = simulate(jobs, policy)
    n = len(jobs)

    group = xr.open_zarr(store / "results.zarr", group="small", chunks=None)
    cell = group.sel(resample=resample, load=load, policy=policy)
    assert int(cell.jobs) == n
    for name, values in {
        "submit": jobs.submit,
        "run": jobs.run,
        "estimate": jobs.estimate,
        "procs": jobs.procs,
        "job_user": jobs.user,
        "number": jobs.job,
        "wait": schedule.wait,
        "backfilled": schedule.backfilled,
        "killed": schedule.killed,
    }.items():
        np.testing.assert_array_equal(cell[name].values[:n], values, err_msg=name)
        assert (cell[name].values[n:] == -1).all()
    for name, values in weekly(schedule, 10, group.sizes["week"]).items():
        np.testing.assert_array_equal(cell[name].values, values, err_msg=name)

    root = xr.open_zarr(store / "results.zarr", chunks=None)
    summary = root.sel(trace="small", resample=resample, load=load, policy=policy)
    for name, value in summarise(schedule, 10).items():
        np.testing.assert_equal(float(summary[name]), value, err_msg=name)


def test_ends_left_out_are_a_setting_of_the_store(tmp_path: Path) -> None:
    """Warm-up and cool-down thin summary and weeks, not the jobs; other ends need another store."""
    trace = Trace(name="m", model="lublin", processors=64, jobs=200)
    plain = Campaign(name="ends", traces=(trace,), policies=("fcfs+easy",), log=True)
    cut = replace(plain, warmup=0.1, cooldown=True)
    farm.run(cut, tmp_path / "cut")
    root = xr.open_zarr(tmp_path / "cut" / "results.zarr", chunks=None)
    group = xr.open_zarr(tmp_path / "cut" / "results.zarr", group="m", chunks=None)
    schedule = simulate(lublin(64, jobs=200, seed=0), "fcfs+easy")
    expected = summarise(schedule, warmup=0.1, cooldown=True)
    assert expected["counted"] < 180
    assert float(root["wait"].squeeze()) == expected["wait"]
    assert int(group["week_jobs"].sum()) == int(root["counted"].squeeze()) == expected["counted"]
    assert int((group["wait"] >= 0).sum()) == int(root["jobs"].squeeze()) == 200
    assert (root.attrs["warmup"], root.attrs["cooldown"]) == (0.1, True)
    with pytest.raises(InputError, match=r"made with warmup = 0\.1, but the campaign has 0"):
        farm.run(replace(plain, cooldown=True), tmp_path / "cut")
    farm.run(plain, tmp_path / "whole")
    with pytest.raises(InputError, match="made with cooldown = 0, but the campaign has True"):
        farm.run(replace(plain, cooldown=True), tmp_path / "whole")


def test_cell_equals_farm_simulate(log: Path, store: Path) -> None:
    """`farm simulate` with a cell's resample, seed and load prints the cell's numbers."""
    options = ["--policy", POLICIES[0], "--resample", "3", "--seed", "11", "--load", "0.95"]
    result = CliRunner().invoke(cli, ["simulate", str(log), *options, "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    root = xr.open_zarr(store / "results.zarr", chunks=None)
    cell = root.sel(trace="small", resample=3, load="0.95", policy=POLICIES[0])
    stored = {m.name: float(cell[m.name]) for m in metrics_over(CELL)}
    assert {k: None if np.isnan(v) else v for k, v in stored.items()} == printed["metrics"]


def test_tree_is_labelled_and_has_units(store: Path) -> None:
    """`xr.open_datatree` gives every variable a unit and a long name, and string labels."""
    tree = xr.open_datatree(store / "results.zarr", engine="zarr", chunks=None)
    assert sorted(tree.children) == ["model", "small"]
    assert list(tree["small"].ds.policy.values) == list(POLICIES)
    assert list(tree["small"].ds["load"].values) == ["original", "0.95"]
    assert list(tree.ds["resample"].values) == [0, 1, 2, 3]
    for node in tree.subtree:
        for name, variable in node.to_dataset(inherit=False).data_vars.items():
            assert variable.attrs["units"] in UNITS, name
            assert variable.attrs["long_name"], name
    kinds = [PRODUCTS["workload"].holding(), PRODUCTS["cells"].holding()]
    arrays = {v.name for kind in kinds for v in kind.arrays}
    assert arrays | {WEEKS.name} == set(tree["small"].ds.data_vars)


def test_record_carries_the_crc_of_what_is_stored(store: Path) -> None:
    """The CRC-32 in a record is that of the stored values without their padding."""
    group = xr.open_zarr(store / "results.zarr", group="small", chunks=None)
    cell = group.sel(resample=2, load="0.95", policy="fcfs+easy")
    found = 0
    for path in (store / "records/small/cells").iterdir():
        head, body, _ = map(json.loads, path.read_bytes().splitlines())
        cells = list(
            itertools.product(*(head["span"][a] for a in ("resamples", "loads", "policies")))
        )
        if (2, "0.95", "fcfs+easy") in cells:
            place = cells.index((2, "0.95", "fcfs+easy"))
            jobs = np.frombuffer(b64decode(body["jobs"]), "<i8")[place]
            crc = np.frombuffer(b64decode(body["crc"]["wait"]), "<u4")[place]
            assert jobs == int(cell.jobs)
            assert crc == zlib.crc32(cell.wait.values[:jobs].tobytes())
            found += 1
    assert found == 1


def test_status_counts_what_is_there(campaign: Campaign, store: Path) -> None:
    """Status adds up, by trace and in all."""
    found = farm.status(store)
    assert (found.cells, found.done, found.failed, found.missing) == (
        campaign.cells,
        campaign.cells,
        0,
        0,
    )
    assert {name: t["done"] for name, t in found.traces.items()} == {"small": 24, "model": 24}
    result = CliRunner().invoke(cli, ["status", str(store), "--json"])
    assert json.loads(result.stdout)["done"] == campaign.cells

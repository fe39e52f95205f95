"""What a reader does with a store in plain xarray, which knows nothing of schedfarm."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dask
import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

from schedfarm import farm
from schedfarm.analysis import StoreError, bands, compare, plain, weekly_bands
from schedfarm.analysis.store import named_values
from schedfarm.core.errors import InputError
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.cli import cli
from schedfarm.farm.store.reading import job_table, schedule_of
from schedfarm.farm.store.template import write_template
from tests.support.made import MadeStores

SPF = "spf+easy,threshold=3d"

CAMPAIGN = Campaign(
    name="habits",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=60),),
    policies=("fcfs+easy", SPF),
    loads=("original", "0.9", "0.95"),
    resamples=3,
)


@pytest.fixture(autouse=True)
def _without_a_cluster() -> Iterator[None]:
    """Let Dask compute here: it may still look for a cluster whose scheduler a test has killed."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def store(made_store: MadeStores) -> Path:
    return made_store(CAMPAIGN)


@pytest.fixture(params=["/", "m"])
def data(store: Path, request: pytest.FixtureRequest) -> xr.Dataset:
    """The summary, and a trace, by `open_zarr` as it comes."""
    return xr.open_zarr(store / "results.zarr", group=request.param).load()


def test_labels_are_plain_strings(data: xr.Dataset) -> None:
    """Of numpy's own kind, so that they can be cast and made tables of."""
    for name in ("load", "policy"):
        assert data[name].dtype.kind == "U"
        assert data[name].astype(object).values.tolist() == list(data[name].values)
    assert data["policy"].astype(str).values.tolist() == ["fcfs+easy", SPF]
    wait = data["wait"].isel({d: 0 for d in ("trace", "job") if d in data["wait"].dims})
    assert wait.to_dataframe().index.names == ["resample", "load", "policy"]


def test_the_load_is_a_number_too(data: xr.Dataset) -> None:
    """A coordinate of its own along `load`, in the summary and in each trace."""
    assert data["target_load"].dims == ("load",)
    assert "target_load" in data.coords
    np.testing.assert_array_equal(data["target_load"], [np.nan, 0.9, 0.95])
    assert data["target_load"].sel(load="0.95") == 0.95


def test_plots_have_true_axes(store: Path) -> None:
    """By the labels, and by the loads as numbers."""
    wait = xr.open_zarr(store / "results.zarr")["wait"].isel(trace=0).sel(policy="fcfs+easy")
    wait.plot()
    wait.plot.line(x="load")
    (line,) = wait.mean("resample").plot.line(x="target_load")
    np.testing.assert_array_equal(line.get_xdata(), [np.nan, 0.9, 0.95])


def test_netcdf_takes_it(data: xr.Dataset, tmp_path: Path) -> None:
    """Attributes and coordinates alike, and gives them back."""
    data.to_netcdf(tmp_path / "a.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as again:
        assert again["policy"].values.tolist() == ["fcfs+easy", SPF]
        assert set(again.coords) == set(data.coords)
        np.testing.assert_array_equal(again["target_load"], data["target_load"])


def test_no_reader_or_writer_is_warned(store: Path, tmp_path: Path) -> None:
    """To make a store, and to open it, raises no warning, also where each is shown."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        path = store / "results.zarr"
        xr.open_zarr(path, chunks=None).load()
        xr.open_zarr(path, group="m", chunks=None).load()
        xr.open_datatree(path, engine="zarr", chunks=None).load()
        write_template(farm.Store.open(store), tmp_path / "arrays")
    assert [str(one.message) for one in given] == []


def test_labels_are_taken_in_any_spelling(store: Path) -> None:
    """0.95 is a load and SJF an order, wherever a label is asked for."""
    at = {"trace": "m", "resample": 1}
    one = job_table(store, **at, policy=SPF, load="0.95")  # type: ignore[arg-type]
    other = job_table(store, **at, policy="SJF+easy,threshold=72h", load=0.95)  # type: ignore[arg-type]
    assert one.equals(other)
    schedule = schedule_of(store, trace="m", resample=1, policy="sjf+easy,threshold=72h", load=0.95)
    assert str(schedule.policy) == SPF
    band = bands(store, "wait", load=0.95, policy="sjf+easy,threshold=72h")
    assert band.identical(bands(store, "wait", load="0.95", policy=SPF))
    assert band["wait"].dims == ("trace", "load", "policy", "band")
    whole = bands(store, "wait").sel(load=["0.95"], policy=[SPF])
    xr.testing.assert_equal(band, whole)
    assert weekly_bands(store, "m", "wait", 0.95)["load"] == "0.95"
    found = compare(store, "FCFS+easy", ["sjf+easy,threshold=72h"], load=0.95)
    xr.testing.assert_identical(found, compare(store, "fcfs+easy", [SPF], load="0.95"))
    cells = plain(store, load=0.95, policy="sjf+easy,threshold=72h")
    assert cells.index.unique("policy").tolist() == [SPF]


def test_labels_that_are_not_there(store: Path) -> None:
    """A sentence with those that are."""
    known = "known: original, 0.9, 0.95"
    for refused, ask in (
        (StoreError, lambda: bands(store, "wait", load=0.8)),
        (StoreError, lambda: compare(store, load=0.8)),
        (StoreError, lambda: weekly_bands(store, "m", "wait", load=0.8)),
        (InputError, lambda: job_table(store, trace="m", policy=SPF, resample=1, load=0.8)),
    ):
        with pytest.raises(refused, match=f"unknown load 0.8; {known}"):
            ask()
    with pytest.raises(StoreError, match="unknown dimension 'policy'; known: trace, resample"):
        bands(store, "offered_load", policy="fcfs+easy")


def test_the_command_line_takes_them(store: Path, tmp_path: Path) -> None:
    """Of bands and comparisons, with the figure; and refuses what is not there."""
    chosen = ["--load", "0.950", "--policy", "sjf+easy,threshold=72h"]
    figure = tmp_path / "a.png"
    words = ["bands", str(store), *chosen, "--csv", "-", "--plot", str(figure)]
    table = CliRunner().invoke(cli, words, catch_exceptions=False).stdout.splitlines()
    assert [line.split(",")[1] for line in table[1:]] == ["0.95"]
    assert figure.exists()
    words = ["compare", str(store), "FCFS+easy", chosen[3], "--load", "0.950", "--csv", "-"]
    rows = CliRunner().invoke(cli, words, catch_exceptions=False).stdout.splitlines()[1:]
    assert {row.split(",")[2] for row in rows} == {"0.95"}


def test_a_store_of_before_is_read(store: Path, tmp_path: Path) -> None:
    """Version 4: strings of any width, no number of the load, attributes that are mappings."""
    old = tmp_path / "old"
    old.mkdir()
    with xr.open_datatree(store / "results.zarr", engine="zarr", chunks=None) as tree:
        for path, node in tree.subtree_with_keys:
            data = node.to_dataset().drop_vars("target_load").load()
            for name in ("trace", "load", "policy", "width"):
                if name in data.coords:
                    strings = data[name].values.astype(np.dtypes.StringDType())
                    data = data.assign_coords({name: strings})
            data = data.drop_encoding()
            if path != ".":
                data.attrs["dropped"] = {"no processors": 1}
            group = None if path == "." else path
            data.to_zarr(old / "results.zarr", group=group, zarr_format=3, consolidated=False)
    head = json.loads((store / "store.json").read_bytes())
    (old / "store.json").write_text(json.dumps({**head, "version": 4}))
    assert bands(old, "wait", load=0.95, policy="sjf+easy,threshold=3d")["n"].item() == 3
    xr.testing.assert_equal(
        bands(old, "wait")["wait"].drop_vars(["load", "policy", "trace"]),
        bands(store, "wait")["wait"].drop_vars(["load", "policy", "trace", "target_load"]),
    )
    assert named_values(
        xr.open_zarr(old / "results.zarr", group="m", consolidated=False).attrs, "dropped"
    )
    with pytest.raises(InputError, match="run its campaign into a new folder; farm bands and"):
        farm.run(CAMPAIGN, old)


def test_a_flipped_bit_in_a_coordinate_is_an_error(store: Path, tmp_path: Path) -> None:
    """And never another value, wherever in its file the bit is."""
    copy = Path(shutil.copytree(store, tmp_path / "copy"))
    sound = xr.open_zarr(copy / "results.zarr", group="m", chunks=None).load()
    names = [name for name in sound.coords if (copy / "results.zarr/m" / str(name) / "c").is_dir()]
    assert {"load", "policy", "resample", "target_load", "user", "week", "width"} <= set(names)
    for name in [*names, "weeks"]:
        (file,) = (p for p in (copy / "results.zarr/m" / str(name)).rglob("c/**/*") if p.is_file())
        whole = file.read_bytes()
        for at in {0, len(whole) // 2, len(whole) - 1}:
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            with pytest.raises(Exception, match=r".+"):
                xr.open_zarr(copy / "results.zarr", group="m", chunks=None)[name].load()
        file.write_bytes(whole)


def shard(store: Path, array: str) -> Path:
    (file,) = (p for p in (store / "results.zarr/m" / array / "c").rglob("*") if p.is_file())
    return file


@pytest.mark.parametrize("damage", ["deleted", "exchanged", "flipped"])
def test_a_cell_is_what_its_record_vouches_for(
    store: Path, made_store: MadeStores, tmp_path: Path, damage: str
) -> None:
    """A shard that Zarr reads without a word, as fill or as others' values, is refused."""
    copy = Path(shutil.copytree(store, tmp_path / "copy"))
    wait = shard(copy, "wait")
    if damage == "deleted":
        wait.unlink()
    elif damage == "exchanged":
        other = made_store(replace(CAMPAIGN, seed=1))
        wait.write_bytes(shard(other, "wait").read_bytes())
    else:
        whole = wait.read_bytes()
        wait.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    at = {"trace": "m", "policy": SPF, "resample": 2, "load": 0.9}
    for ask in (job_table, schedule_of):
        with pytest.raises(InputError, match="wait of block m/cells/0-0-0 does not match its"):
            ask(copy, **at)  # type: ignore[operator]

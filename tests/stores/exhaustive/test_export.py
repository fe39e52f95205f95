"""`farm export`: files are read back, and equal the store to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import xarray as xr

from schedfarm.analysis import open_summary, open_trace
from schedfarm.core import Schedule, Workload, read_log
from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import Clean
from schedfarm.core.logs.formats import FORMATS as LOG_FORMATS
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.export import formats, tables
from schedfarm.farm.export.processors import processors_of
from schedfarm.farm.store.reading import schedule_of
from tests.stores.platforms import IN_POOL, KINDS, LAST, LOAD, ON_GRID, Kind
from tests.support.command_line import Farm
from tests.support.made import MadeStores
from tests.support.refusals import Said, unlike

IDS = [kind.platform.name for kind in KINDS]

EVALYS = (
    "job_id", "workload_name", "submission_time", "requested_number_of_resources",
    "requested_time", "success", "starting_time", "execution_time", "finish_time",
    "waiting_time", "turnaround_time", "stretch", "allocated_resources",
)  # fmt: skip
"""`JobSet.columns` of evalys 4.0.7."""

MIXED = Campaign(
    name="export-mixed",
    traces=(IN_POOL, ON_GRID),
    policies=("fcfs+easy", "spf+easy"),
    loads=("original", 0.9),
    resamples=3,
    log=True,
)

LIGHT = Campaign(
    name="export-light", traces=(IN_POOL,), policies=("fcfs+easy",), resamples=1, keep="summary"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read_csv(name: str, labels: Sequence[str]) -> pd.DataFrame:
    """Read a table with its labels as text, and its numbers to the last bit."""
    frame = pd.read_csv(name, dtype=str)
    numbers = [column for column in frame if column not in labels]
    return frame.astype(dict.fromkeys(numbers, np.float64))


def rows_of(group: xr.Dataset, cell: Sequence[Any], name: str) -> Any:
    """Return the values of one cell's jobs, as xarray gives them."""
    axes = ("resample", "load", "policy")
    at = dict(zip(axes, cell, strict=True))
    jobs = int(group["jobs"].sel({axis: at[axis] for axis in axes[:2]}))
    values = group[name].sel({axis: at[axis] for axis in axes if axis in group[name].dims})
    return values.values[:jobs]


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_jobs_in_parquet_are_those_of_the_store(
    kind: Kind, made_store: MadeStores, farm: Farm
) -> None:
    """Every array of jobs of every cell, with its type, unit and meaning."""
    store = made_store(kind.campaign(made_store))
    farm("export", store, "--what", "jobs", "--out", "jobs.parquet")
    table = pq.read_table("jobs.parquet")
    trace = str(open_summary(store)["trace"].values[0])
    group = open_trace(store, trace)
    arrays = [str(name) for name, one in group.items() if one.dims[-1] == "job"]
    assert set(table.column_names) == {"trace", "resample", "load", "policy", "job", *arrays}
    axes = ("resample", "load", "policy")
    for name in arrays:
        field = table.schema.field(name)
        assert field.type.to_pandas_dtype() == group[name].dtype
        assert field.metadata[b"units"].decode() == group[name].attrs["units"]
        assert field.metadata[b"long_name"].decode() == group[name].attrs["long_name"]
        cells = product(*(group[axis].values.tolist() for axis in axes))
        there = np.concatenate([rows_of(group, cell, name) for cell in cells])
        np.testing.assert_array_equal(table[name].to_numpy(), there)
    assert table.schema.metadata[b"campaign"].decode() == open_summary(store).attrs["campaign"]


def test_parts_give_the_same_file_in_row_groups(
    made_store: MadeStores, farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A selection is read in slabs and written in groups; the rows and their order stay."""
    store = made_store(MIXED)
    farm("export", store, "--what", "jobs", "--out", "whole.parquet")
    farm("export", store, "--what", "jobs", "--out", "whole.csv")
    whole = pq.read_table("whole.parquet")
    assert pq.ParquetFile("whole.parquet").num_row_groups == 1
    monkeypatch.setattr(formats, "ROW_GROUP", 200)
    monkeypatch.setattr(tables, "SLAB_VALUES", 100)
    farm("export", store, "--what", "jobs", "--out", "parts.parquet")
    farm("export", store, "--what", "jobs", "--out", "parts.csv")
    assert pq.ParquetFile("parts.parquet").num_row_groups > 1
    assert pq.read_table("parts.parquet").to_pandas().equals(whole.to_pandas())
    assert Path("parts.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_a_column_that_a_trace_lacks_is_empty(made_store: MadeStores, farm: Farm) -> None:
    """Jobs in a pool have no place; those on a grid do."""
    farm("export", made_store(MIXED), "--what", "jobs", "--out", "jobs.parquet")
    frame = pq.read_table("jobs.parquet").to_pandas()
    empty = frame["place"].isna().groupby(frame["trace"], observed=True).mean()
    assert empty.to_dict() == {"plain": 1.0, "grid": 0.0}


def test_the_summary_in_csv_is_that_of_the_store(made_store: MadeStores, farm: Farm) -> None:
    store = made_store(MIXED)
    farm("export", store, "--out", "summary.csv.gz")
    axes = ["trace", "resample", "load", "policy"]
    frame = read_csv("summary.csv.gz", axes).set_index(axes)
    root = open_summary(store).load()
    assert len(frame) == root["wait"].size
    for name in frame:
        there = root[name].broadcast_like(root["wait"]).transpose(*axes).values.ravel()
        np.testing.assert_array_equal(frame[name].to_numpy(), there)
    assert {str(name) for name, one in root.items() if set(one.dims) <= set(axes)} == {*frame}
    first = Path("summary.csv.gz").read_bytes()
    farm("export", store, "--out", "summary.csv.gz", "--replace")
    assert Path("summary.csv.gz").read_bytes() == first


@pytest.mark.parametrize(
    ("what", "along", "name"),
    [
        ("weeks", "week", "week_wait"),
        ("users", "user", "user_work"),
        ("widths", "width", "width_wait"),
    ],
)
def test_tables_of_other_dimensions(
    made_store: MadeStores, farm: Farm, what: str, along: str, name: str
) -> None:
    store = made_store(MIXED)
    farm("export", store, "--what", what, "--out", "t.csv", "--trace", "grid", "--sample", 2)
    frame = read_csv("t.csv", ["trace", "resample", "load", "policy", along])
    group = open_trace(store, "grid")
    cell = {"load": "0.9", "policy": "spf+easy"}
    mine = frame[(frame["load"] == "0.9") & (frame["policy"] == "spf+easy")].set_index(along)
    there = group[name].sel(resample=2, **cell).to_series()
    there.index = there.index.astype(str)
    assert mine[name].to_dict() == pytest.approx(there[mine.index].to_dict(), rel=0, nan_ok=True)
    assert len(mine) == (
        int(group["weeks"].sel(resample=2, load="0.9")) + 1
        if along == "week"
        else group.sizes[along]
    )


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_netcdf_has_the_arrays_of_the_store(kind: Kind, made_store: MadeStores, farm: Farm) -> None:
    """As xarray opens the file: values, types, labels and attributes."""
    store = made_store(kind.campaign(made_store))
    farm("export", store, "--what", "jobs", "--load", LOAD, "--out", "jobs.nc")
    farm("export", store, "--out", "summary.nc")
    root = open_summary(store).load()
    with xr.open_datatree("jobs.nc", engine="netcdf4") as tree:
        (trace,) = tree.children
        found = tree[trace].to_dataset(inherit=False).load()
    group = open_trace(store, trace).sel(load=[LOAD])
    names = [name for name, one in group.items() if "job" in one.dims]
    xr.testing.assert_identical(found, group[[*names, "jobs"]].load())
    assert {n: found[n].dtype for n in names} == {n: group[n].dtype for n in names}
    with xr.open_dataset("summary.nc", engine="netcdf4") as summary:
        xr.testing.assert_identical(summary.load(), root)


def test_netcdf_is_written_in_chunks(
    made_store: MadeStores, farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = made_store(MIXED)
    monkeypatch.setattr(tables, "SLAB_VALUES", 100)
    farm("export", store, "--what", "jobs", "--out", "jobs.nc", "--trace", "grid")
    with xr.open_dataset("jobs.nc", engine="netcdf4", group="grid") as found:
        xr.testing.assert_equal(found["wait"].load(), open_trace(store, "grid")["wait"].load())


def one_cell(store: Path, trace: str) -> tuple[list[str], Schedule]:
    policy = str(open_summary(store)["policy"].values[-1])
    words = ["--load", LOAD, "--policy", policy, "--sample", str(LAST)]
    return words, schedule_of(store, trace, policy, LAST, LOAD)


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_swf_gives_the_schedule_back(made_store: MadeStores, farm: Farm, packed: str) -> None:
    store = made_store(MIXED)
    words, schedule = one_cell(store, "plain")
    farm("export", store, *words, "--trace", "plain", "--out", f"cell.swf{packed}")
    assert read_log(f"cell.swf{packed}").digest() == schedule.workload.digest()
    read = LOG_FORMATS["swf"].schedule
    assert read is not None
    found = read(f"cell.swf{packed}", None, Clean())
    np.testing.assert_array_equal(found.start, schedule.start)


def test_a_workload_of_batsim_has_the_jobs(made_store: MadeStores, farm: Farm, said: Said) -> None:
    """Those of a cell, with which Batsim may be compared; not of jobs on nodes."""
    store = made_store(MIXED)
    words, schedule = one_cell(store, "plain")
    farm("export", store, *words, "--trace", "plain", "--out", "cell.json.gz")
    again, jobs = read_log("cell.json.gz"), schedule.workload
    for name in ("submit", "run", "estimate", "procs", "user", "killed"):
        assert getattr(again, name).tolist() == getattr(jobs, name).tolist(), name
    assert (again.processors, again.max_estimate) == (jobs.processors, jobs.max_estimate)
    nodes = next(kind for kind in KINDS if kind.platform.name == "nodes")
    held = made_store(nodes.campaign(made_store))
    words, _ = one_cell(held, str(open_summary(held)["trace"].values[0]))
    refusal = said("export", held, *words, "--out", "no.json")
    assert "cannot hold the requests of jobs on a platform of kind 'nodes'" in refusal


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_evalys_has_the_columns_and_times(kind: Kind, made_store: MadeStores, farm: Farm) -> None:
    store = made_store(kind.campaign(made_store))
    trace = str(open_summary(store)["trace"].values[0])
    words, schedule = one_cell(store, trace)
    farm("export", store, *words, "--format", "evalys", "--out", "jobs.csv")
    frame = pd.read_csv("jobs.csv", dtype={"allocated_resources": str})
    ran = ~schedule.refused
    assert tuple(frame) == EVALYS
    assert frame["starting_time"].tolist() == schedule.start[ran].tolist()
    assert frame["finish_time"].tolist() == schedule.end[ran].tolist()
    assert frame["job_id"].tolist() == schedule.workload.job[ran].tolist()
    sizes = [
        sum(1 + int(run.split("-")[-1]) - int(run.split("-")[0]) for run in text.split())
        for text in frame["allocated_resources"]
    ]
    assert sizes == schedule.taken[ran].tolist()


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_no_processor_has_two_jobs_at_once(kind: Kind, made_store: MadeStores) -> None:
    """The runs of a job are in its places, and free from its start to its end."""
    store = made_store(kind.campaign(made_store))
    trace = str(open_summary(store)["trace"].values[0])
    schedule = one_cell(store, trace)[1]
    busy: dict[int, list[tuple[int, int]]] = {}
    for job, runs in enumerate(processors_of(schedule)):
        span = int(schedule.start[job]), int(schedule.end[job])
        for first, last in runs:
            for processor in range(first, last + 1):
                busy.setdefault(processor, []).append(span)
    assert busy.keys() <= set(range(schedule.workload.platform.size))
    for spans in busy.values():
        ordered = sorted(span for span in spans if span[0] < span[1])
        assert all(a[1] <= b[0] for a, b in zip(ordered, ordered[1:], strict=False))


def test_a_schedule_that_overfills_its_machine_has_no_processor_numbers() -> None:
    work = Workload.from_columns(
        submit=[0, 0], run=[5, 5], estimate=[5, 5], procs=[2, 2], processors=2
    )
    both = Schedule(work, "", np.zeros(2, np.int64), np.zeros(2, np.bool_))
    with pytest.raises(InputError, match="job 2 starts while its processors are not free"):
        processors_of(both)


def test_cells_without_results_are_left_out(
    made_store: MadeStores, farm: Farm, tmp_path: Path
) -> None:
    store = made_store.copy(MIXED, tmp_path / "part.farm")
    records = sorted((store / "records" / "plain" / "cells").iterdir())
    assert len(records) == 1
    records[0].unlink()
    done = farm("export", store, "--out", "part.csv")
    assert set(pd.read_csv("part.csv")["trace"]) == {"grid"}
    assert "16 selected cells without results are left out" in done.stderr


def test_standard_output_holds_the_file_alone(made_store: MadeStores, farm: Farm) -> None:
    store = made_store(MIXED)
    farm("export", store, "--out", "summary.csv")
    piped = farm("export", store, "--out", "-", "--format", "csv").stdout
    assert piped == Path("summary.csv").read_text(encoding="utf-8")


def test_what_is_refused(
    made_store: MadeStores, said: Said, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store, light = str(made_store(MIXED)), str(made_store(LIGHT))
    Path("there.csv").write_text("mine", encoding="utf-8")
    rows: list[tuple[list[str], tuple[str, ...]]] = [
        ([store, "--out", "there.csv"], ("there.csv", "exists already", "--replace")),
        ([store, "--out", "x.txt"], ("x.txt", ".parquet", "--format")),
        ([store, "--out", "-"], ("--format",)),
        ([store, "--out", "x.csv", "--format", "xls"], ("'xls'", "parquet")),
        ([store, "--out", "x.csv", "--what", "job"], ("'job'", "jobs")),
        ([store, "--out", "x.swf", "--what", "users"], ("swf", "jobs", "users")),
        ([store, "--out", "x.swf"], ("32 cells", "--trace", "--sample", "--load", "--policy")),
        ([store, "--out", "x.csv", "--policy", "spf+esay"], ("spf+esay", "fcfs+easy")),
        ([store, "--out", "x.csv", "--sample", "9"], ("sample", "9", "0, 1, 2, 3")),
        ([store, "--out", "x.csv", "--trace", "KTH"], ("'KTH'", "plain, grid")),
        ([store, "--out", "x.csv", "--what", "origins", "--trace", "plain"], ("no origins",)),
        ([light, "--out", "x.csv", "--what", "jobs"], ("keep = 'summary'", "keep = 'jobs'")),
        (["none.farm", "--out", "x.csv"], ("none.farm",)),
        ([store, "--out", "gone/x.csv"], ("no folder gone",)),
    ]  # fmt: skip
    assert unlike(rows, lambda words: said("export", *words)) == []
    monkeypatch.setattr(formats, "find_spec", no_module)
    needs = [
        ([store, "--out", "x.parquet"], ("pyarrow", "pip install 'schedfarm[export]'")),
        ([store, "--out", "x.nc"], ("netCDF4", "pip install 'schedfarm[export]'")),
    ]
    assert unlike(needs, lambda words: said("export", *words)) == []


def no_module(name: str) -> None:
    """Find no module, as where the extra is not installed."""


def test_nothing_is_left_of_an_export_that_fails(
    made_store: MadeStores, farm: Farm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = made_store(MIXED)
    (tmp_path / "old.csv").write_text("mine", encoding="utf-8")

    def fail(part: tables.Part, *_: object) -> None:
        raise RuntimeError("no more")

    monkeypatch.setattr(tables, "_rows", fail)
    for name in ("new.csv", "old.csv"):
        with pytest.raises(RuntimeError):
            farm("export", store, "--out", name, "--replace")
    assert [path.name for path in tmp_path.iterdir()] == ["old.csv"]
    assert (tmp_path / "old.csv").read_text(encoding="utf-8") == "mine"

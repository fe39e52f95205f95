"""Values that are read of a store match its records, or are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.analysis import StoreError, bands, changes, open_summary, open_trace, open_tree
from schedfarm.core.errors import InputError
from schedfarm.farm.planning import block_shape

ARRAYS = ("wait", "week_wait", "user_nuwt", "width_jobs", "fst_strict", "submit", "jobs")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of several blocks along every axis; fair starts are cut along the jobs, too."""
    folder = tmp_path_factory.mktemp("made") / "s"
    models = (farm.Trace(name=name, model="lublin", processors=64, jobs=60) for name in ("m", "n"))
    campaign = farm.Campaign(
        name="verified",
        traces=tuple(models),
        policies=("fcfs+easy", "saf+easy"),
        loads=("original", "0.9"),
        resamples=2,
        fairness=("strict",),
        block_seconds=1e-4,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_shape, "JOB_STEP", 32)
        farm.run(campaign, folder)
    return folder


def shards(store: Path, name: str) -> list[Path]:
    """Files of an array, the lowest places first."""
    folder = store / "results.zarr" / name / "c"
    return sorted(path for path in folder.rglob("*") if path.is_file())


Move = Callable[[Path, bytes | None], None]
"""Writes other bytes to a file, or takes it away."""


@pytest.fixture
def moved() -> Iterator[Move]:
    """All is put back after the test."""
    before: dict[Path, bytes] = {}

    def move(path: Path, content: bytes | None) -> None:
        before[path] = path.read_bytes()
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)

    yield move
    for path, content in before.items():
        path.write_bytes(content)


def plainly(store: Path, group: str | None) -> xr.Dataset:
    return xr.open_zarr(store / "results.zarr", group=group, consolidated=False, chunks=None)


def with_starts(data: xr.Dataset) -> xr.Dataset:
    """As docs/store-format.md has it."""
    start = (data["submit"] + data["wait"]).where(data["wait"] >= 0, -1)
    said = {**data["wait"].attrs, "long_name": "start instant"}
    return data.assign(start=start.transpose(*data["wait"].dims).assign_attrs(said))


def test_a_sound_store__reads_as_ever(made: Path) -> None:
    """Every value, dimension and attribute, also where only a part is asked for."""
    assert len(shards(made, "m/fst_strict")) > len(shards(made, "m/wait")) > 1
    trace, plain = open_trace(made, "m"), with_starts(plainly(made, "m"))
    parts = (
        {"resample": 0, "policy": [1, 0]},
        {"job": slice(3, 20), "resample": [1]},
        {"job": 5},
        {"job": [4, 1], "load": 1},
        {"resample": []},
    )
    for part in parts:
        assert trace.isel(part, missing_dims="ignore").identical(plain.isel(part))
    assert trace.identical(plain)
    assert open_summary(made).identical(plainly(made, None))
    assert open_trace(open_tree(made), "n").identical(with_starts(plainly(made, "n")))


@pytest.mark.parametrize("name", ARRAYS)
def test_a_shard_that_is_gone__is_refused(made: Path, moved: Move, name: str) -> None:
    """Only where it is asked for; `farm.open` looks for all of them at once."""
    moved(shards(made, f"m/{name}")[0], None)
    for data in (open_trace(made, "m"), open_tree(made)["m"].to_dataset(inherit=False)):
        with pytest.raises(StoreError, match=f"{name} of m does not match its records"):
            data[name].load()
    assert open_trace(made, "n")[name].load().identical(plainly(made, "n")[name].load())
    with pytest.raises(InputError, match=f"files of {name} of block m/"):
        farm.open(made)


@pytest.mark.parametrize("name", ARRAYS[:-1])
def test_exchanged_shards__are_refused(made: Path, moved: Move, name: str) -> None:
    """Each is sound by its own checksum."""
    first, *_, last = shards(made, f"m/{name}")
    content = first.read_bytes(), last.read_bytes()
    assert content[0] != content[1]
    moved(first, content[1])
    moved(last, content[0])
    with pytest.raises(StoreError, match=f"{name} of m does not match its records"):
        open_trace(made, "m")[name].load()


def test_answers_are_refused__not_given(made: Path, moved: Move) -> None:
    """By the functions that read arrays of cells."""
    moved(shards(made, "m/wait")[0], None)
    with pytest.raises(StoreError, match="wait of m does not match its records"):
        changes(made, "m", "saf+easy", "fcfs+easy", load="original")


def test_a_summary_of_other_values__is_refused(made: Path, moved: Move) -> None:
    """Though each is sound by its own checksum."""
    [wait], [response] = shards(made, "wait"), shards(made, "response")
    moved(wait, response.read_bytes())
    with pytest.raises(StoreError, match="wait in the summary of m does not match its records"):
        bands(made, "wait")


def test_what_nobody_has_acknowledged__is_taken_as_it_is(made: Path, moved: Move) -> None:
    """A run that was killed leaves arrays whose records are missing."""
    for path in list((made / "records" / "m" / "cells").glob("*.json")):
        moved(path, None)
    moved(shards(made, "m/wait")[0], None)
    assert (open_trace(made, "m")["wait"].values == -1).any()
    farm.open(made)


def test_an_altered_record__is_refused(made: Path, moved: Move) -> None:
    """It is named."""
    path = sorted((made / "records" / "m" / "cells").glob("*.json"))[0]
    moved(path, path.read_bytes().replace(b"crc32", b"crc33"))
    with pytest.raises(StoreError, match=rf"the record {path.name} of m/cells does not match"):
        open_trace(made, "m")["wait"].load()

"""A deleted object of the summary is refused; one that no run has written is read from records."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from obstore.store import MemoryStore

from schedfarm import farm
from schedfarm.analysis import StoreError, bands, open_summary, open_tree
from schedfarm.core.errors import InputError
from schedfarm.core.format.names import ARRAYS, LOCK, summary_object
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.store.place import place_of
from schedfarm.farm.store.store import Store
from schedfarm.farm.verify import Again, repair, verify
from tests.support.made import MadeStores

CAMPAIGN = Campaign(
    name="folded",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=60),),
    policies=("fcfs+easy", "saf+easy"),
    resamples=2,
    fairness=("strict", "resource"),
)

RUN = json.dumps({"run": "5a0c", "pid": 1, "host": "elsewhere"}).encode()
"""Content of lock.json of a run that is at work, or was killed."""

Put = Callable[..., None]

Open = Callable[[str], xr.Dataset]

READERS: dict[str, Open] = {
    "open_summary": open_summary,
    "open_tree": lambda store: open_tree(store).to_dataset(),
    "farm.open": lambda store: farm.open(store).to_dataset(),
}
"""Each returns the summary, lazily."""


@pytest.fixture(params=["folder", "bucket"])
def store(
    request: pytest.FixtureRequest,
    made_store: MadeStores,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    """A finished store; in memory, the objects below the arrays are under their own prefix, too."""
    if request.param == "folder":
        return str(made_store.copy(CAMPAIGN, tmp_path / "s"))
    made, root, arrays = made_store(CAMPAIGN), MemoryStore(), MemoryStore()
    for path in made.rglob("*"):
        if path.is_file():
            name = path.relative_to(made).as_posix()
            root.put(name, path.read_bytes())
            if name.startswith(f"{ARRAYS}/"):
                arrays.put(name.removeprefix(f"{ARRAYS}/"), path.read_bytes())

    def connected(text: str, environment: object) -> MemoryStore:
        return arrays if text.endswith(ARRAYS) else root

    for module in ("farm.store.bucket", "analysis.place"):
        monkeypatch.setattr(f"schedfarm.{module}._connected", connected)
    request.node.arrays = arrays
    return "s3://memory/s"


@pytest.fixture
def put(store: str, request: pytest.FixtureRequest) -> Put:
    """Put an object, or delete it."""

    def change(name: str, content: bytes | None = None) -> None:
        place = place_of(store)
        place.remove(name)
        if content is not None:
            place.write_if_match(name, content, None)
        if hasattr(request.node, "arrays"):
            below = name.removeprefix(f"{ARRAYS}/")
            if content is None:
                request.node.arrays.delete(below)
            else:
                request.node.arrays.put(below, content)

    return change


def objects(store: str) -> dict[str, str]:
    """Return the objects of the summary that are there, by their variable."""
    opened = Store.open(store)
    names = {v.name: summary_object(v.name, v.dims) for v in opened.figures}
    return {name: one for name, one in names.items() if opened.place.has(one)}


def values_of(data: xr.Dataset) -> dict[str, np.ndarray[Any, Any]]:
    return {str(name): values.values for name, values in data.data_vars.items()}


def test_every_object_that_is_gone__is_refused(store: str, put: Put) -> None:
    """By each reader, with its name and the command that repairs it; once it is back, all read."""
    sound, there = values_of(open_summary(store).load()), objects(store)
    # Without a job that they are of, or a platform that has them, some are nothing but fill.
    assert len(there) > 25
    assert {"wait", "jobs", "offered_load", "unfairness_strict", "unfair_share_resource"} <= {
        *there
    }
    opened = [read(store) for read in READERS.values()]
    for name, gone in there.items():
        content = place_of(store).read(gone)
        put(gone)
        for data in opened:
            with pytest.raises((StoreError, InputError)) as refused:
                data[name].load()
            for word in (gone, store, f"{name} in the summary", "verify", "--repair", "farm run"):
                assert word in str(refused.value)
        put(gone, content)
    for data in opened:
        for name, values in data.data_vars.items():
            assert np.array_equal(values.values, sound[str(name)], equal_nan=True)


def test_answers_are_refused__not_empty(store: str, put: Put) -> None:
    """By the functions that read the summary."""
    put(objects(store)["wait"])
    with pytest.raises(StoreError, match=r"results\.zarr/wait/c/0/0/0/0, which has all values"):
        bands(store, "wait")


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_summary_that_is_not_folded_yet__is_read_from_the_records(
    store: str, put: Put, read: Open
) -> None:
    """While a run is at work, or was killed; plain xarray reads NaN. Afterwards it is missing."""
    sound, there = values_of(open_summary(store).load()), objects(store)
    for gone in there.values():
        put(gone)
    place_of(store).write_if_match(LOCK, RUN, place_of(store).etag(LOCK))
    data = read(store)
    for name in there:
        values = data[name].values
        if read is READERS["farm.open"]:
            assert (np.isnan(values) if values.dtype.kind == "f" else values == 0).all()
        else:
            assert np.array_equal(values, sound[name], equal_nan=True)
            assert values.dtype == sound[name].dtype
    place_of(store).write_if_match(LOCK, b'{"run": null}', place_of(store).etag(LOCK))
    with pytest.raises((StoreError, InputError), match="is missing"):
        read(store)["wait"].load()


def test_nothing_is_missing__where_no_record_has_a_value(store: str, put: Put) -> None:
    """Cells that nobody has acknowledged are not in the summary."""
    gone = objects(store)
    for one in gone.values():
        put(one)
    for name in place_of(store).names("records"):
        place_of(store).remove(name)
    for read in READERS.values():
        assert {*gone} <= read(store).load().keys()


def test_repair_makes_it_again(made_store: MadeStores, tmp_path: Path) -> None:
    """Byte for byte, from the records alone."""
    store = made_store.copy(CAMPAIGN, tmp_path / "s")
    before = {name: (store / one).read_bytes() for name, one in objects(str(store)).items()}
    for one in objects(str(store)).values():
        (store / one).unlink()
    repair(store, list(verify(store, Again(each=0))))
    assert {name: (store / one).read_bytes() for name, one in objects(str(store)).items()} == before
    assert list(verify(store, Again(each=0))) == []

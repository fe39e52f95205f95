"""Opening a store by its documented format."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from schedfarm.analysis import StoreError, bands, open_summary, open_trace, open_tree, weekly_bands
from schedfarm.analysis.store import of_log, of_samples


def test_summary_is_labelled(store: Path) -> None:
    """The summary stands on the documented dimensions, with units."""
    wait = open_summary(store)["wait"]
    assert wait.dims == ("trace", "resample", "load", "policy")
    assert wait.attrs == {"units": "s", "long_name": "mean wait"}
    assert float(wait.sel(trace="ALPHA", resample=3, load="0.9", policy="fcfs+easy")) == 2000


def test_trace_keeps_integers_and_padding(store: Path) -> None:
    """Starts stay int64, and -1 says where no job is."""
    start = open_trace(store, "BETA")["start"]
    cell = start.sel(resample=1, load="original", policy="saf+easy")
    assert cell.dtype == "int64"
    assert cell.values.tolist() == [0, 1, 2, 3, 4, -1, -1, -1]
    failed = start.sel(resample=4, load="0.9", policy="saf+easy")
    assert failed.values.tolist() == [-1] * 8


def test_traces_differ_in_weeks(store: Path) -> None:
    """Each trace has weeks of its own."""
    assert open_trace(store, "ALPHA").sizes["week"] == 6
    assert open_trace(store, "BETA").sizes["week"] == 4


def test_tree_answers_as_the_folder_does(store: Path) -> None:
    """An open tree serves wherever a folder does."""
    tree = open_tree(store)
    assert set(tree.children) == {"ALPHA", "BETA"}
    assert open_trace(tree, "BETA").identical(open_trace(store, "BETA"))
    assert bands(tree, "wait").identical(bands(store, "wait"))
    assert weekly_bands(tree, "BETA", "wait").identical(weekly_bands(store, "BETA", "wait"))


def test_unknown_trace_lists_the_known(store: Path) -> None:
    """An unknown trace is refused with the known ones."""
    with pytest.raises(StoreError, match=r"^unknown trace 'GAMMA'; known: ALPHA, BETA$"):
        open_trace(store, "GAMMA")


def test_a_tree_hands_down_no_dimension(store: Path) -> None:
    """What only the root has, such as classes of width, is in no trace's group."""
    tree = open_tree(store)
    tree.dataset = tree.to_dataset().assign_coords(width=["1", "2"])
    assert open_trace(tree, "BETA").identical(open_trace(store, "BETA"))


def test_the_log_and_the_samples_are_told_apart(store: Path) -> None:
    """Resample 0 is the log; without it, or without others, a sentence says what to run."""
    wait = open_summary(store)["wait"]
    assert of_log(wait).identical(wait.sel(resample=0, drop=True))
    assert of_samples(wait)["resample"].values.tolist() == [*range(1, 11)]
    between = wait.isel(resample=[2, 0, 1])
    assert of_samples(between)["resample"].values.tolist() == [2, 1]
    with pytest.raises(StoreError, match=r"^the store lacks the log itself"):
        of_log(of_samples(wait))
    with pytest.raises(StoreError, match=r"^the store has no samples, only the log itself"):
        of_samples(wait.isel(resample=[0]))


def test_every_version_up_to_ours_is_read(store: Path) -> None:
    """Readers take older versions as ever."""
    for version in (1, 2, 3, 4, 5):
        head = {"format": "schedfarm-store", "version": version}
        (store / "store.json").write_text(json.dumps(head))
        assert open_summary(store)["trace"].values.tolist() == ["ALPHA", "BETA"], version


def test_newer_version_is_refused(store: Path) -> None:
    """A store of a newer version is refused, and the sentence says both versions."""
    head = {"format": "schedfarm-store", "version": 7}
    (store / "store.json").write_text(json.dumps(head))
    for opened in (open_summary, open_tree):
        with pytest.raises(StoreError, match=r"has format version 7; this schedfarm reads up to 6"):
            opened(store)


def test_other_heads_are_refused(store: Path) -> None:
    """A head that is not of the format is refused in one sentence."""
    for text, sentence in (
        ('{"format": "another", "version": 1}', "lacks 'format': 'schedfarm-store'"),
        ("[1]", "lacks 'format': 'schedfarm-store'"),
        ('{"format": "schedfarm-store"}', "has version None"),
        ('{"format": "schedfarm-store", "version": 0}', "has version 0"),
        ("{", "cannot be read as JSON"),
    ):
        (store / "store.json").write_text(text)
        with pytest.raises(StoreError, match=re.escape(sentence)):
            open_summary(store)


def test_what_is_no_store_is_refused(store: Path, tmp_path: Path) -> None:
    """A missing folder, a folder of something else and a store without arrays are told apart."""
    with pytest.raises(StoreError, match=r"nowhere' is not a folder"):
        open_summary(tmp_path / "nowhere")
    with pytest.raises(StoreError, match=r"has no store.json"):
        open_summary(tmp_path)
    shutil.rmtree(store / "results.zarr")
    with pytest.raises(StoreError, match=r"has no results.zarr; run its campaign"):
        open_tree(store)


@pytest.mark.parametrize("opened", [open_summary, open_tree])
@pytest.mark.parametrize("damage", ["removed", "garbled"])
def test_damaged_arrays_are_refused(store: Path, opened: object, damage: str) -> None:
    """Arrays whose metadata is gone or garbled end in a sentence that names them."""
    head = store / "results.zarr" / "zarr.json"
    if damage == "removed":
        head.unlink()
    else:
        head.write_text("{")
    assert callable(opened)
    with pytest.raises(StoreError, match=r"results.zarr' cannot be read \("):
        opened(store)

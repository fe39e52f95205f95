"""Single cells, where there are too few samples for a band."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from schedfarm.analysis import StoreError, open_tree, plain, plain_text


def only(store: Path, *resamples: int) -> xr.DataTree:
    return xr.DataTree(open_tree(store).to_dataset().isel(resample=list(resamples)))


TEXT = """\
Single cells, each one schedule: no samples stand behind these numbers

ALPHA, load original, the log itself
policy     wait (s)  bounded_slowdown
fcfs+easy     1 998             1 998
saf+easy        999               999
spf+easy        999               999

ALPHA, load 0.9, the log itself
policy     wait (s)  bounded_slowdown
fcfs+easy   199 800           199 800
saf+easy     99 900            99 900
spf+easy     99 900            99 900"""


def test_a_log_alone_has_a_plain_table(store: Path) -> None:
    """Policies by metrics, a block for each trace and load; the headline metrics that are there."""
    text = plain_text(plain(only(store, 0)))
    assert text.startswith(TEXT + "\n\nBETA, load original, the log itself\n")


def test_one_sample_and_the_log_are_told_apart(store: Path) -> None:
    """Each cell says whose it is; the metric that is asked for stands first."""
    frame = plain(only(store, 0, 3), ["bounded_slowdown"])
    assert frame.columns.tolist() == ["bounded_slowdown", "wait"]
    assert frame.loc[("ALPHA", "original", 3, "saf+easy"), "wait"] == 10
    labels = [line for line in plain_text(frame).splitlines() if line.startswith("ALPHA")]
    assert labels == [
        "ALPHA, load original, the log itself",
        "ALPHA, load original, sample 3",
        "ALPHA, load 0.9, the log itself",
        "ALPHA, load 0.9, sample 3",
    ]


def test_a_failed_cell_is_left_out(store: Path) -> None:
    """A row is a cell that is there."""
    frame = plain(only(store, 4))
    assert ("BETA", "0.9", 4, "saf+easy") not in frame.index
    assert ("BETA", "0.9", 4, "spf+easy") in frame.index


def test_a_model_has_no_log(store: Path) -> None:
    """Its resample 0 is a sample like others."""
    head = json.loads((store / "store.json").read_text())
    head["sources"] = {"BETA": {"model": "lublin"}}
    (store / "store.json").write_text(json.dumps(head))
    text = plain_text(plain(store))
    assert "BETA, load 0.9, sample 0\n" in text
    assert "ALPHA, load 0.9, the log itself\n" in text


def test_what_has_no_table_is_refused(store: Path) -> None:
    """A metric that no policy has, and a store without a finished cell."""
    with pytest.raises(
        StoreError, match=r"^unknown metric of each policy 'jobs'; known: bounded_s"
    ):
        plain(store, ["jobs"])
    empty = open_tree(store).to_dataset()
    empty["wait"] = empty["wait"] * np.nan
    empty["bounded_slowdown"] = empty["bounded_slowdown"] * np.nan
    with pytest.raises(StoreError, match=r"^the store has no finished cell yet; run its campaign"):
        plain(xr.DataTree(empty))

"""Tables of bands: frames, text, CSV and JSON, with the whole output as literals."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import xarray as xr
import zarr

from schedfarm.analysis import (
    bands,
    open_tree,
    table,
    table_csv,
    table_facts,
    table_text,
    weekly_bands,
)


def test_frame_keeps_order_counts_and_attributes(store: Path) -> None:
    """A row a cell in the store's order, not the alphabet's."""
    frame = table(bands(store, "wait"))
    assert frame.index.names == ["trace", "load", "policy"]
    assert frame.index[3] == ("ALPHA", "0.9", "fcfs+easy")
    standing = ["first", "last", "n", "missing", "coverage"]
    assert list(frame.columns) == ["low", "trimmed_mean", "high", "log", *standing]
    assert frame.iloc[1].tolist() == [2, 5.5, 9, 999, 2, 9, 10, 0, 7 / 11]
    assert frame.index[10] == ("BETA", "0.9", "saf+easy")
    assert frame["missing"].tolist() == [0] * 10 + [1, 0]
    assert (frame.attrs["units"], frame.attrs["kind"]) == ("s", "trimmed")


TEXT = """\
Mean wait (s): lowest, mean and highest of samples 2 to 9 of 10, which hold 63.6 % of all such \
samples in expectation; log: the log itself

ALPHA, load original
policy      low  trimmed mean   high       log       samples   holds  missing
fcfs+easy  4.00         11.00  18.00  1 998.00  2 to 9 of 10  63.6 %        0
saf+easy   2.00          5.50   9.00    999.00  2 to 9 of 10  63.6 %        0
spf+easy   2.00          5.50   9.00    999.00  2 to 9 of 10  63.6 %        0

ALPHA, load 0.9
policy     low  trimmed mean   high      log       samples   holds  missing
fcfs+easy  400         1 100  1 800  199 800  2 to 9 of 10  63.6 %        0
saf+easy   200           550    900   99 900  2 to 9 of 10  63.6 %        0
spf+easy   200           550    900   99 900  2 to 9 of 10  63.6 %        0

BETA, load original
policy      low  trimmed mean   high       log       samples   holds  missing
fcfs+easy  4.00         11.00  18.00  1 998.00  2 to 9 of 10  63.6 %        0
saf+easy   2.00          5.50   9.00    999.00  2 to 9 of 10  63.6 %        0
spf+easy   2.00          5.50   9.00    999.00  2 to 9 of 10  63.6 %        0

BETA, load 0.9
policy     low  trimmed mean   high      log       samples   holds  missing
fcfs+easy  400         1 100  1 800  199 800  2 to 9 of 10  63.6 %        0
saf+easy   200           529    900   99 900   2 to 8 of 9  60.0 %        1
spf+easy   200           550    900   99 900  2 to 9 of 10  63.6 %        0"""


def test_text(store: Path) -> None:
    """The text is aligned, rounded to its block, and says where samples are missing."""
    assert table_text(bands(store, "wait")) == TEXT


def test_text_of_quantiles(store: Path) -> None:
    """Quantiles are named in per cent; without units the head has none."""
    quantiles = bands(store, "bounded_slowdown", kind="quantile", q=(0.05, 0.5))
    lines = table_text(quantiles).splitlines()
    assert lines[0].startswith(
        "Mean bounded slowdown: 5, 50 % quantiles, samples 1.45 to 5.5 of 10, which hold about "
        "36.8 % of"
    )
    assert lines[3:5] == [
        "policy      5 %   50 %       log            samples         holds  missing",
        "fcfs+easy  2.90  11.00  1 998.00  1.45 to 5.5 of 10  about 36.8 %        0",
    ]


def test_text_of_an_interval(store: Path) -> None:
    """It is called one, has its level, and holds no share of the samples."""
    lines = table_text(bands(store, "wait", kind="interval").sel(trace=["ALPHA"])).splitlines()
    assert lines[0] == (
        "Mean wait (s): mean of 10 samples and its 90 % interval (Student's t, corrected for "
        "skewness); log: the log itself"
    )
    assert lines[3:5] == [
        "policy      low   mean   high       log        samples",
        "fcfs+easy  7.31  11.00  14.69  1 998.00  1 to 10 of 10",
    ]
    line = table_csv(bands(store, "wait", kind="interval")).splitlines()[1]
    assert line.startswith("ALPHA,original,fcfs+easy,wait,s,interval,0.9,7.31434")


def test_text_of_few_samples(store: Path) -> None:
    """Below ten samples min, median and max; nothing is called a mean that is none."""
    wait = zarr.open_group(store / "results.zarr")["wait"]
    assert isinstance(wait, zarr.Array)
    wait[:, 5:] = np.nan
    lines = table_text(bands(store, "wait").sel(trace=["ALPHA"])).splitlines()
    assert lines[0].startswith("Mean wait (s): least, median and largest of samples 1 to 4 of 4, ")
    assert lines[3:5] == [
        "policy     min  median  max    log      samples   holds  missing",
        "fcfs+easy    2      10   20  1 998  1 to 4 of 4  60.0 %        6",
    ]
    assert "mean" not in lines[3]


def test_text_says_the_loads_of_the_samples(store: Path) -> None:
    """Where the samples' offered loads differ, a block says from which to which, and the log's."""
    tree = open_tree(store)
    summary = tree.to_dataset()
    load = xr.zeros_like(summary["jobs"], dtype=np.float64) + 0.9
    load[:, :, 0] = np.linspace(0.5, 0.7, 11)
    tree.dataset = summary.assign(offered_load=load)
    lines = table_text(bands(tree, "wait")).splitlines()
    assert lines[2] == (
        "ALPHA, load original; offered load of the samples 0.520 to 0.700, of the log 0.500"
    )
    assert lines[8] == "ALPHA, load 0.9"
    alone = table_text(bands(tree, "offered_load")).splitlines()
    assert alone[2:4] == [
        "ALPHA",
        "load        low  trimmed mean   high    log       samples   holds",
    ]


def test_text_of_weeks_has_a_row_a_week(store: Path) -> None:
    """A weekly band has a block for each policy and a row for each week."""
    lines = table_text(weekly_bands(store, "BETA", "wait", "original")).splitlines()
    assert lines[0].startswith("Cumulative mean wait (s): ")
    assert lines[2:4] == [
        "policy fcfs+easy",
        "week  low  trimmed mean  high      log       samples   holds",
    ]
    assert lines[6] == "3     4.0          11.0  18.0  1 998.0  2 to 9 of 10  63.6 %"


def last_row(values: list[float]) -> list[str]:
    """Return the last row of a table with these two values."""
    cells = ("policy",)
    data = xr.Dataset(
        {"x": (("policy", "band"), [values]), "n": (cells, [2]), "missing": (cells, [0])},
        {"policy": ["saf+easy"], "band": ["low", "high"]},
        {"metric": "x", "description": "a band"},
    )
    return re.split(" {2,}", table_text(data).splitlines()[-1])


def test_numbers_are_rounded_sensibly() -> None:
    """Three digits for the middle value, thousands apart, whole numbers whole."""
    for values, shown in (
        ([1234.5, 45.6], ["1 234", "46"]),
        ([12.34, 11.0], ["12.3", "11.0"]),
        ([0.7012, 0.0004], ["0.701", "0.000"]),
        ([1234567.0, 3.0], ["1 234 567", "3"]),
        ([np.nan, 1.5], ["-", "1.50"]),
        ([0.0, 0.0], ["0", "0"]),
        ([-0.25, -0.5], ["-0.250", "-0.500"]),
    ):
        assert last_row(values) == ["saf+easy", *shown, "- of 2"]


def test_facts_are_the_same_numbers_under_identifiers(store: Path) -> None:
    """What a band is and its cells, as JSON takes it; null where there is none."""
    band = bands(store, "wait").sel(trace=["BETA"], load=["0.9"])
    few = band.assign(wait=band["wait"].where(band["policy"] != "fcfs+easy"))
    facts = json.loads(json.dumps(table_facts(few), allow_nan=False))
    assert {key: value for key, value in facts.items() if key != "cells"} == {
        **json.loads(json.dumps(band.attrs)),
        "units": "s",
    }
    assert [cell["policy"] for cell in facts["cells"]] == ["fcfs+easy", "saf+easy", "spf+easy"]
    assert facts["cells"][0]["trimmed_mean"] is None
    assert facts["cells"][1] == {
        **{"trace": "BETA", "load": "0.9", "policy": "saf+easy"},
        **{"low": 200.0, "trimmed_mean": 3700 / 7, "high": 900.0, "log": 99900.0},
        **{"first": 2.0, "last": 8.0, "n": 9, "missing": 1, "coverage": 0.6},
    }
    assert list(table_facts(bands(store, "wait", kind="quantile"))["cells"][0])[3:6] == [
        *("q0_1", "q0_5", "q0_9"),
    ]


def test_csv_keeps_every_digit(store: Path) -> None:
    """A cell without a band is empty; metric and units stand on every line."""
    band = bands(store, "wait").sel(trace=["BETA"], load=["0.9"])
    assert table_csv(band).splitlines() == [
        "trace,load,policy,metric,units,kind,low,trimmed_mean,high,log,first,last,n,missing,coverage",
        f"BETA,0.9,fcfs+easy,wait,s,trimmed,400.0,1100.0,1800.0,199800.0,2.0,9.0,10,0,{7 / 11}",
        "BETA,0.9,saf+easy,wait,s,trimmed,200.0,528.5714285714286,900.0,99900.0,2.0,8.0,9,1,0.6",
        f"BETA,0.9,spf+easy,wait,s,trimmed,200.0,550.0,900.0,99900.0,2.0,9.0,10,0,{7 / 11}",
    ]
    few = band.assign(wait=band["wait"].where(band["policy"] != "fcfs+easy"))
    assert table_csv(few).splitlines()[1].startswith("BETA,0.9,fcfs+easy,wait,s,trimmed,,,,")
    quantiles = table_csv(bands(store, "wait", kind="quantile"))
    assert quantiles.splitlines()[0].startswith(
        "trace,load,policy,metric,units,kind,q0.1,q0.5,q0.9,log,first"
    )

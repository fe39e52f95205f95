"""Tables of bands: frames, text and CSV, with the whole output as literals."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from analysis import bands, gains, table, table_csv, table_text, weekly_bands


def test_frame_keeps_order_counts_and_attributes(store: Path) -> None:
    """A row a cell in the store's order, not the alphabet's."""
    frame = table(bands(store, "wait"))
    assert frame.index.names == ["trace", "load", "policy"]
    assert frame.index[3] == ("ALPHA", "0.9", "fcfs+easy")
    assert list(frame.columns) == ["low", "mean", "high", "n", "missing"]
    assert frame.iloc[1].tolist() == [2, 5.5, 9, 10, 0]
    assert frame.index[10] == ("BETA", "0.9", "saf+easy")
    assert frame["missing"].tolist() == [0] * 10 + [1, 0]
    assert (frame.attrs["units"], frame.attrs["kind"]) == ("s", "trimmed")


TEXT = """\
Mean wait (s): lowest, mean and highest of the samples within the 10 to 90 % range

ALPHA, load original
policy      low   mean   high   n  missing
fcfs+easy  4.00  11.00  18.00  10        0
saf+easy   2.00   5.50   9.00  10        0
spf+easy   2.00   5.50   9.00  10        0

ALPHA, load 0.9
policy     low   mean   high   n  missing
fcfs+easy  400  1 100  1 800  10        0
saf+easy   200    550    900  10        0
spf+easy   200    550    900  10        0

BETA, load original
policy      low   mean   high   n  missing
fcfs+easy  4.00  11.00  18.00  10        0
saf+easy   2.00   5.50   9.00  10        0
spf+easy   2.00   5.50   9.00  10        0

BETA, load 0.9
policy     low   mean   high   n  missing
fcfs+easy  400  1 100  1 800  10        0
saf+easy   200    529    900   9        1
spf+easy   200    550    900  10        0"""


def test_text(store: Path) -> None:
    """The text is aligned, rounded to its block, and says where samples are missing."""
    assert table_text(bands(store, "wait")) == TEXT


def test_text_of_quantiles_and_gains(store: Path) -> None:
    """Quantiles are named in per cent; without units the head has none."""
    quantiles = bands(store, "bounded_slowdown", kind="quantile", q=(0.05, 0.5))
    lines = table_text(quantiles).splitlines()
    assert lines[0] == "Mean bounded slowdown: 5, 50 % quantiles of the samples"
    assert lines[3:5] == [
        "policy      5 %   50 %   n  missing",
        "fcfs+easy  2.90  11.00  10        0",
    ]
    gain = table_text(gains(store, "wait", "fcfs+easy").sel(trace=["ALPHA"])).splitlines()
    assert gain[0].startswith("Relative gain in mean wait over fcfs+easy: ")
    assert gain[2:5] == [
        "ALPHA, load original",
        "policy      low   mean   high   n",
        "saf+easy  0.500  0.500  0.500  10",
    ]


def test_text_of_weeks_has_a_row_a_week(store: Path) -> None:
    """A weekly band has a block for each policy and a row for each week."""
    lines = table_text(weekly_bands(store, "BETA", "wait", "original")).splitlines()
    assert lines[0].startswith("Cumulative mean wait (s): ")
    assert lines[2:4] == ["policy fcfs+easy", "week   low   mean   high   n"]
    assert lines[6] == "3     4.00  11.00  18.00  10"


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1234.5, 45.6], ["1 234", "46"]),
        ([12.34, 11.0], ["12.3", "11.0"]),
        ([0.7012, 0.0004], ["0.701", "0.000"]),
        ([1234567.0, 3.0], ["1 234 567", "3"]),
        ([np.nan, 1.5], ["-", "1.50"]),
        ([0.0, 0.0], ["0", "0"]),
        ([-0.25, -0.5], ["-0.250", "-0.500"]),
    ],
)
def test_numbers_are_rounded_sensibly(values: list[float], shown: list[str]) -> None:
    """Three digits for the middle value, thousands apart, whole numbers whole."""
    cells = ("policy",)
    data = xr.Dataset(
        {"x": (("policy", "band"), [values]), "n": (cells, [2]), "missing": (cells, [0])},
        {"policy": ["saf+easy"], "band": ["low", "high"]},
        {"metric": "x", "description": "a band"},
    )
    last = table_text(data).splitlines()[-1]
    assert re.split(" {2,}", last) == ["saf+easy", *shown, "2"]


def test_csv_keeps_every_digit(store: Path) -> None:
    """A cell without a band is empty; metric and units stand on every line."""
    band = bands(store, "wait").sel(trace=["BETA"], load=["0.9"])
    assert table_csv(band).splitlines() == [
        "trace,load,policy,metric,units,low,mean,high,n,missing",
        "BETA,0.9,fcfs+easy,wait,s,400.0,1100.0,1800.0,10,0",
        "BETA,0.9,saf+easy,wait,s,200.0,528.5714285714286,900.0,9,1",
        "BETA,0.9,spf+easy,wait,s,200.0,550.0,900.0,10,0",
    ]
    few = band.assign(wait=band["wait"].where(band["policy"] != "fcfs+easy"))
    assert table_csv(few).splitlines()[1] == "BETA,0.9,fcfs+easy,wait,s,,,,10,0"
    quantiles = table_csv(bands(store, "wait", kind="quantile"))
    assert quantiles.splitlines()[0] == "trace,load,policy,metric,units,q0.1,q0.5,q0.9,n,missing"

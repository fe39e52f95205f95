"""What stands in a paper's figures and tables for single samples: a band, and the log itself."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.band_rule import Trimmed, quantiles, ranks_text, share_text
from schedfarm.analysis.store import LOG, of_log, of_samples

RULE = Trimmed()
"""The rule of every band in a report: the published one (Carastan-Santos et al. 2019, section
V-A), also where there are fewer than ten samples."""

BAND = ("low", "median", "high")
"""Ends of the band, and the median of all samples."""

STANDING = ("log", "first", "last", "samples", "coverage")
"""Columns of a table with a band: the log's own value, from which to which of how many samples the
band reaches, in ascending order, and what share of all such samples it can be expected to hold."""


def spread(values: xr.DataArray) -> xr.Dataset:
    """Return the band of a number that each sample has, and the log's own.

    Parameters
    ----------
    values : DataArray
        On resample and others; NaN where there is no number.

    Returns
    -------
    Dataset
        On the others, `BAND` and `STANDING`; NaN where samples are too few, or the log is not
        there.

    Raises
    ------
    StoreError
        If there are no samples at all.

    Examples
    --------
    >>> of = spread(xr.DataArray(np.arange(11.0), {"resample": range(11)}))
    >>> [float(of[name]) for name in ("low", "median", "high", "log", "samples")]
    [2.0, 5.5, 9.0, 0.0, 10.0]
    """
    each = of_samples(values).transpose(..., "resample")
    cell = each.isel(resample=0, drop=True).reset_coords(drop=True)
    counts = np.isfinite(each.values).sum(axis=-1)
    low, _, high = np.moveaxis(RULE.reduce(each.values), -1, 0)
    first, last = RULE.ranks(counts)
    numbers = {
        "low": low,
        "median": quantiles(each.values, [0.5])[..., 0],
        "high": high,
        "first": first,
        "last": last,
        "samples": counts,
        "coverage": RULE.coverage(counts),
    }
    found = xr.Dataset({name: cell.copy(data=data) for name, data in numbers.items()})
    there = LOG in values["resample"].values
    return found.assign(log=of_log(values) if there else xr.full_like(cell, np.nan, np.float64))


def span_text(samples: Iterable[int]) -> str:
    """Say which samples the bands of a figure reach over, and what these can be expected to hold.

    Parameters
    ----------
    samples : iterable of int
        How many each cell has; those with too few have no band.

    Examples
    --------
    >>> span_text([4, 4, 0])
    'samples 2 to 3 of 4, which hold 20.0 % of all such samples in expectation'
    """
    fewest, most = ends(samples)
    text = RULE.span(most)
    return text if fewest == most else f"{text}\nAt the fewest {RULE.span(fewest)}"


def ends(samples: Iterable[int]) -> tuple[int, int]:
    """Return how many samples the cells with the fewest and the most have, of those with a band.

    Examples
    --------
    >>> ends([4, 10, 3]), ends([2, 3])
    ((4, 10), (3, 3))
    """
    counts, need = {int(n) for n in samples}, RULE.need
    enough = [n for n in counts if n >= need] or [max(counts)]
    return min(enough), max(enough)


def table_text(frame: pd.DataFrame) -> str:
    """Write a table for a terminal, the columns on samples in words.

    Examples
    --------
    >>> row = {"low": 2.0, "first": 2.0, "last": 9.0, "samples": 10, "coverage": 7 / 11}
    >>> print(table_text(pd.DataFrame([row], index=["KTH"])))
         low       samples   holds
    KTH 2.00  2 to 9 of 10  63.6 %
    """
    if {"first", "last", "samples", "coverage"} <= set(frame.columns):
        spans = zip(frame["first"], frame["last"], frame["samples"], strict=True)
        said = [ranks_text(*span) if np.isfinite(span[0]) else f"- of {span[2]}" for span in spans]
        shares = zip(frame["first"], frame["last"], frame["coverage"], strict=True)
        holds = [share_text(*share) if np.isfinite(share[2]) else "-" for share in shares]
        frame = frame.assign(samples=said, coverage=holds).drop(columns=["first", "last"])
        frame = frame.rename(columns={"coverage": "holds"})
    return frame.to_string(float_format=lambda x: f"{x:.2f}", na_rep="-")

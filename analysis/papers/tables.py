"""Bands of samples as columns of a paper's tables, next to the value of the log itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from schedfarm.analysis.band_rule import TrimmedMedian, ranks_text, share_text
from schedfarm.analysis.bands import standing
from schedfarm.analysis.store import LOG, of_log, of_samples

RULE = TrimmedMedian()
"""Rule of the bands in all reports, even for fewer than ten samples: the published trimming
(Carastan-Santos et al. 2019, section V-A) with the median of all samples."""

BAND = tuple(RULE.labels)
"""Labels of the ends of the band and of the median."""

STANDING = ("log", "first", "last", "samples", "coverage")
"""Columns next to a band: value of the log itself, ranks of the samples that the band spans, number
of samples, and expected share of all possible samples within the band."""


class Measure(NamedTuple):
    """A number in figures and tables: its meaning, and its units."""

    meaning: str
    units: str

    @property
    def label(self) -> str:
        """The label of an axis.

        Examples
        --------
        >>> Measure("Mean wait", "s").label, Measure("Share", "1").label
        ('Mean wait, s', 'Share')
        """
        return self.meaning + (f", {self.units}" if self.units != "1" else "")


def spread(values: xr.DataArray) -> xr.Dataset:
    """Return `BAND` and `STANDING` of values along resample; NaN with too few samples.

    Examples
    --------
    >>> found = spread(xr.DataArray(np.arange(11.0), {"resample": range(11)}))
    >>> [float(found[name]) for name in ("low", "median", "high", "log", "samples")]
    [2.0, 5.5, 9.0, 0.0, 10.0]
    """
    each = of_samples(values).transpose(..., "resample")
    cell = each.isel(resample=0, drop=True).reset_coords(drop=True)
    counts = cell.copy(data=np.isfinite(each.values).sum(axis=-1))
    band = np.moveaxis(RULE.reduce(each.values), -1, 0)
    found = xr.Dataset({n: cell.copy(data=x) for n, x in zip(BAND, band, strict=True)})
    has_log = LOG in values["resample"].values
    own = of_log(values) if has_log else xr.full_like(cell, np.nan, np.float64)
    return found.assign(standing(RULE, counts)).assign(samples=counts, log=own)


def band_table(
    values: xr.DataArray,
    order: Sequence[str],
    columns: Sequence[str] = (*BAND, *STANDING),
    **more: xr.DataArray,
) -> pd.DataFrame:
    """Return `spread` as a table indexed by `order`; `more` adds or replaces columns."""
    found = spread(values).assign(more).to_dataframe(dim_order=list(order))
    return found[list(columns)]


def span_text(samples: npt.ArrayLike) -> str:
    """Describe the samples that the bands of cells with these numbers of samples span.

    Examples
    --------
    >>> span_text([4, 4, 0])
    'samples 2 to 3 of 4, which hold 20.0 % of all such samples in expectation'
    """
    return RULE.spans(*RULE.ends(np.ravel(samples).tolist()))


def table_text(frame: pd.DataFrame) -> str:
    """Return a table as text for a terminal, with one column for the ranks of its bands.

    Examples
    --------
    >>> row = {"low": 2.0, "first": 2.0, "last": 9.0, "samples": 10, "coverage": 7 / 11}
    >>> print(table_text(pd.DataFrame([row], index=["KTH"])))
         low       samples   holds
    KTH 2.00  2 to 9 of 10  63.6 %
    """
    if {"first", "last", "samples", "coverage"} <= set(frame.columns):
        rows = list(frame[["first", "last", "samples", "coverage"]].itertuples(index=False))
        ranks = [
            ranks_text(first, last, n) if np.isfinite(first) else f"- of {n}"
            for first, last, n, _ in rows
        ]
        shares = [
            share_text(first, last, share) if np.isfinite(share) else "-"
            for first, last, _, share in rows
        ]
        frame = frame.assign(samples=ranks, coverage=shares).drop(columns=["first", "last"])
        frame = frame.rename(columns={"coverage": "holds"})
    return frame.to_string(float_format=lambda x: f"{x:.2f}", na_rep="-")

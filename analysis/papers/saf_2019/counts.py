"""How many jobs: by class of slowdown, and backfilled (figures 3 and 4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from analysis.band_rule import Trimmed
from analysis.papers.saf_2019.study import Study

CLASSES = {
    "slowdown_1": "1",
    "slowdown_1_10": "1-10",
    "slowdown_10_100": "10-100",
    "slowdown_100": "100+",
}
"""Figure 3: the classes of slowdown, and what the paper calls them."""


ALL_LOGS = "all logs"
"""Stands for the jobs of every log together."""


def slowdown_classes(of: Study) -> pd.DataFrame:
    """Figure 3: percentage of the jobs in each class of slowdown, over all samples.

    Returns
    -------
    DataFrame
        A row a log, policy and class, `ALL_LOGS` first: ``percent`` over the jobs of all samples,
        ``low`` and ``high`` of single samples within the 10 to 90 % range.
    """
    counts = of.samples[list(CLASSES)].to_dataarray("slowdown")
    counts = counts.assign_coords(slowdown=list(CLASSES.values()))
    jobs = of.samples["counted"]
    counts, jobs = _with_all(counts), _with_all(jobs)
    percent = 100 * counts.sum("resample") / jobs.sum("resample")
    each = (100 * counts / jobs).transpose(*percent.dims, "resample").values
    low, _, high = np.moveaxis(Trimmed().reduce(each), -1, 0)
    columns = {"low": percent.copy(data=low), "percent": percent, "high": percent.copy(data=high)}
    frame = xr.Dataset(columns).to_dataframe(dim_order=["trace", "policy", "slowdown"])
    return frame[list(columns)]


def _with_all(counts: xr.DataArray) -> xr.DataArray:
    together = counts.sum("trace").expand_dims(trace=[ALL_LOGS])
    return xr.concat([together, counts], "trace", coords="minimal", compat="override")


def backfilled_jobs(of: Study) -> pd.DataFrame:
    """Figure 4: number of backfilled jobs of each sample, a row a log, policy and resample."""
    columns = of.samples[["backfilled", "counted"]]
    frame = columns.to_dataframe(dim_order=["trace", "policy", "resample"])
    return frame[["backfilled", "counted"]]
